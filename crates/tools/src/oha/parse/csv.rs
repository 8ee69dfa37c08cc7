//! Parser of oha's `--output-format csv`, with times in seconds since the start of the run. With the correction, start
//! and duration count from the intended start.

use serde::Deserialize;
use truetail_model::record::Outcome;
use truetail_run::{Claims, LatencyFrom};

use super::common::STDOUT;
use crate::{ParseError, ReportedRequest, ToolReport, units};

#[derive(Deserialize)]
struct Row {
    #[serde(rename = "request-start")]
    start: f64,
    #[serde(rename = "request-duration")]
    duration: f64,
    status: u16,
}

pub(super) fn parse(bytes: &[u8]) -> Result<ToolReport, ParseError> {
    let rows = STDOUT.table::<Row>(bytes, b',')?;
    let requests = rows.iter().map(|(line, row)| STDOUT.require(*line, "two times of 0 s or more", request(row)));
    let requests = requests.collect::<Result<Vec<_>, _>>()?;
    let claims = Claims { measured: Some(requests.len() as u64), ..Claims::silent(LatencyFrom::Intended) };
    let notes = vec!["oha's CSV has no rows for failed and aborted requests".to_owned()];
    Ok(ToolReport { requests, notes, ..ToolReport::from_claims(claims) }
        .with_computed_quantiles()
        .with_counted_error_answers())
}

fn request(row: &Row) -> Option<ReportedRequest> {
    Some(ReportedRequest {
        start_ns: Some(units::nanos(row.start, 1e9)?.0),
        latency: units::nanos(row.duration, 1e9)?,
        outcome: Outcome::response(row.status),
    })
}
