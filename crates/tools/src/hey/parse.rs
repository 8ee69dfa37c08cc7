//! `hey -o csv`: one row for each answer, in the order of completion, times in seconds with four digits.

use serde::Deserialize;
use truetail_model::record::Outcome;
use truetail_run::{Claims, LatencyFrom};

use super::{NAME, TESTED};
use crate::{ParseError, Report, Request, units};

/// The columns that are used, under the names in its header.
#[derive(Deserialize)]
struct Row {
    #[serde(rename = "response-time")]
    response_time: String,
    #[serde(rename = "status-code")]
    status: u16,
    offset: String,
}

/// Reads it. Requests without an answer have no row, so that nothing is known of them.
///
/// # Errors
/// [`ParseError`] for a row that is not as hey 0.1.4 writes them.
pub fn parse_csv(bytes: &[u8]) -> Result<Report, ParseError> {
    let mut reader = csv::Reader::from_reader(bytes);
    let mut requests = Vec::new();
    for row in reader.deserialize::<Row>() {
        let row = row.map_err(|error| broken(error.position().map(csv::Position::line), error.to_string()))?;
        requests.push(
            request(&row).ok_or_else(|| broken(Some(requests.len() as u64 + 2), "a time is no number".to_owned()))?,
        );
    }
    let measured = requests.len() as u64;
    let claims = Claims { measured: Some(measured), ..Claims::silent(LatencyFrom::Send) };
    Ok(Report { requests, ..Report::of(claims) })
}

fn request(row: &Row) -> Option<Request> {
    Some(Request {
        start_ns: Some(units::seconds(&row.offset)?.0),
        latency: units::seconds(&row.response_time)?,
        outcome: Outcome::Response { status: row.status },
    })
}

fn broken(line: Option<u64>, what: String) -> ParseError {
    ParseError { tool: NAME, tested: TESTED, file: "stdout", line, what }
}
