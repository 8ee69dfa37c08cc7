//! HAR 1.2: what a browser or a proxy recorded.

use std::time::UNIX_EPOCH;

use serde::Deserialize;
use serde_json::value::RawValue;
use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Nanos;
use truetail_run::{Claims, Damage, ForeignClock, ForeignRequest, ForeignRun, ForeignStarts, LatencyFrom};
use truetail_tools::units;

use super::file::{WholeFile, leave_out, place_of, run};
use super::json;
use crate::{FormatInfo, ImportError, RequestSink};

pub(super) static HAR: WholeFile = WholeFile {
    info: &FormatInfo { name: "har", about: "an HTTP archive of a browser or a proxy", tool: None },
    model: None,
    likeness: |head| json::has_keys(head, &["log", "entries", "startedDateTime"]),
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
    /// 0 where there was no answer.
    status: u16,
    /// -1 where it is unknown.
    body_size: Option<i64>,
}

/// The entries of an archive.
///
/// # Errors
/// [`ImportError`], if it is none.
pub(crate) fn entries(bytes: &[u8]) -> Result<Vec<&RawValue>, ImportError> {
    json::read(bytes).map(|document: Document<'_>| document.log.entries)
}

fn read(bytes: &[u8], sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    let (mut damage, mut made, mut failed) = (Damage::default(), 0, 0);
    for raw in entries(bytes)? {
        let entry = serde_json::from_str::<Entry>(raw.get()).map_err(|error| error.to_string());
        match entry.and_then(|entry| request(&entry)) {
            Ok(one) => {
                made += 1;
                failed += u64::from(!matches!(one.outcome, Outcome::Response { status: ..=399 }));
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
    Ok(ForeignRun { clock, damage, ..run(claims) })
}

fn request(entry: &Entry) -> Result<ForeignRequest, String> {
    let Some(duration) = units::nanos(entry.time, 1e6) else { return Err(format!("a time of {} ms", entry.time)) };
    let start = unix_ns(&entry.started_date_time);
    let start = start.ok_or_else(|| format!("'{}' is not a time of RFC 3339", entry.started_date_time))?;
    let outcome = match entry.response.status {
        0 => Outcome::Reset(Cause::ClosedBeforeAnswer),
        status => Outcome::Response { status },
    };
    let bytes_in = entry.response.body_size.and_then(|bytes| bytes.try_into().ok());
    Ok(ForeignRequest { start_ns: Some(start), duration, outcome, worker: None, bytes_in, waited: Nanos::ZERO })
}

/// `2026-11-20T06:59:24.422Z`, or with an offset such as `+01:00`, as nanoseconds since 1970.
fn unix_ns(text: &str) -> Option<u64> {
    let text = text.trim();
    let local = |text: &str| {
        let since = humantime::parse_rfc3339(&format!("{text}Z")).ok()?.duration_since(UNIX_EPOCH).ok()?;
        u64::try_from(since.as_nanos()).ok()
    };
    if let Some(utc) = text.strip_suffix(['Z', 'z']) {
        return local(utc);
    }
    let (time, offset) = text.split_at_checked(text.len().checked_sub("+01:00".len())?)?;
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let seconds = 3_600 * hours.parse::<u64>().ok()? + 60 * minutes.parse::<u64>().ok()?;
    let ahead_ns = seconds.checked_mul(1_000_000_000)?;
    match offset.as_bytes().first()? {
        b'+' => local(time)?.checked_sub(ahead_ns),
        b'-' => local(time)?.checked_add(ahead_ns),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::unix_ns;

    #[test]
    fn times_with_offsets() {
        let noon = unix_ns("2026-11-20T12:00:00.5Z");
        assert_eq!(noon, Some(1_795_176_000_500_000_000));
        assert_eq!(unix_ns("2026-11-20T13:00:00.5+01:00"), noon);
        assert_eq!(unix_ns("2026-11-20T06:30:00.5-05:30"), noon);
        for none in [
            "",
            "Z",
            "2026-11-20",
            "2026-11-20T12:00:00",
            "2026-11-20T12:00:00 01:00",
            "2026-11-20T12:00:00+0100",
            "µµµµ",
        ] {
            assert_eq!(unix_ns(none), None, "{none}");
        }
    }
}
