//! HAR 1.2: recordings of a browser or a proxy.

mod exchange;

use serde::Deserialize;
use serde_json::value::RawValue;
use truetail_model::record::{Cause, Outcome};
use truetail_run::{Claims, ForeignClock, ForeignRequest, ForeignRun, ForeignStarts, LatencyFrom, UnusedRows};
use truetail_tools::units;

use crate::exchange::NoExchanges;
use crate::rows::instant::instant;
use crate::whole::file::{WholeFile, leave_out, place_of, run};
use crate::whole::json;
use crate::{FormatInfo, ImportError, RequestSink};

pub(crate) use exchange::no_exchange;

pub(crate) static HAR: WholeFile = WholeFile {
    info: &FormatInfo { name: "har", about: "an HTTP archive of a browser or a proxy", tool: None },
    model: None,
    likeness: |excerpt| json::has_keys(excerpt, &["log", "entries", "startedDateTime"]),
    parse: read,
};

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    log: Log<'a>,
}

#[derive(Deserialize)]
struct Log<'a> {
    #[serde(borrow)]
    entries: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    started_date_time: String,
    /// Milliseconds.
    time: f64,
    response: Response,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    /// 0 without an answer.
    status: u16,
    /// -1 if unknown.
    body_size: Option<i64>,
}

/// Returns the entries of an archive.
pub(crate) fn entries(bytes: &[u8]) -> Result<Vec<&RawValue>, ImportError> {
    json::read(bytes).map(|document: Document<'_>| document.log.entries)
}

fn read(bytes: &[u8], sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    let mut damage = UnusedRows::default();
    let mut made = 0;
    let mut failed = 0;
    let mut no_exchanges = NoExchanges::default();
    for raw in entries(bytes)? {
        if let Some(why) = no_exchange(raw.get()) {
            no_exchanges.add(why);
            continue;
        }
        let entry = serde_json::from_str::<Entry>(raw.get()).map_err(|error| error.to_string());
        match entry.and_then(|entry| request(&entry)) {
            Ok(one) => {
                made += 1;
                failed += u64::from(!one.outcome.is_success());
                sink(&one);
            }
            Err(why) => {
                // The entry is a part of the bytes.
                let byte = (raw.get().as_ptr() as usize).saturating_sub(bytes.as_ptr() as usize);
                leave_out(&mut damage, || (place_of(bytes, byte), why));
            }
        }
    }
    let claims = Claims {
        measured: Some(made),
        requests: Some(made),
        failed: Some(failed),
        ..Claims::silent(LatencyFrom::Send)
    };
    let clock =
        ForeignClock { starts: ForeignStarts::Unix, start_resolution_ns: 1_000_000, duration_resolution_ns: 1_000 };
    Ok(ForeignRun { clock, damage, notes: no_exchanges.note().into_iter().collect(), ..run(claims) })
}

fn request(entry: &Entry) -> Result<ForeignRequest, String> {
    let Some(duration) = units::nanos(entry.time, 1e6) else { return Err(format!("a time of {} ms", entry.time)) };
    let start = instant(entry.started_date_time.as_bytes());
    let start = start.map_err(|_| format!("'{}' is not a time of RFC 3339", entry.started_date_time))?.ns;
    let outcome = match entry.response.status {
        0 => Outcome::Reset(Cause::ClosedBeforeAnswer),
        status => Outcome::response(status),
    };
    let bytes_in = entry.response.body_size.and_then(|bytes| bytes.try_into().ok());
    Ok(ForeignRequest { bytes_in, ..ForeignRequest::new(Some(start), duration, outcome) })
}
