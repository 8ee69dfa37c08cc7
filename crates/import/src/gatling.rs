//! Gatling's simulation.log: text up to 3.12, binary from 3.13 on.

use truetail_run::{Claims, FilePlace, ForeignClock, ForeignRun, ForeignStarts, LatencyFrom, UnusedRows};
use truetail_tools::files::{GatlingLog, gatling_log};

use crate::recognise::binary_likeness;
use crate::whole::file::{WholeFile, content, place_of, refused, request, run, text};
use crate::{Excerpt, FormatInfo, ImportError, Likeness, RequestSink};

pub(crate) static LOG: WholeFile = WholeFile {
    info: &FormatInfo { name: "gatling-log", about: "Gatling's simulation.log", tool: Some("gatling") },
    model: None,
    likeness,
    parse: read,
};

/// Recognises a log. A text log begins with a line `RUN`, possibly after assertions. A binary log begins with the kind
/// 0 and the version, which is a length of four bytes and its digits.
fn likeness(excerpt: &Excerpt<'_>) -> Likeness {
    if is_text(excerpt.head()) {
        return Likeness::Yes;
    }
    if matches!(excerpt.head(), [0, 0, 0, 0, 3..=60, b'0'..=b'9', ..]) {
        return binary_likeness(excerpt);
    }
    // Until 2.0 the line of the run began with its class and its name.
    let line = text(excerpt.first_line());
    match line.split('\t').nth(2) {
        Some("RUN") => Likeness::Near(
            "it is of Gatling 2.0 or older, whose logs are not read: run it with 2.1 or later".to_owned(),
        ),
        _ => Likeness::No,
    }
}

fn is_text(log: &[u8]) -> bool {
    log.starts_with(b"RUN\t") || log.starts_with(b"ASSERTION\t")
}

fn read(bytes: &[u8], sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    let log = gatling_log(bytes).map_err(|error| match is_text(bytes) {
        true => refused(bytes, &error),
        false => binary_refused(&error.what),
    })?;
    log.requests.iter().for_each(|one| sink(&request(one, None)));
    let made = Some(log.requests.len() as u64);
    let claims =
        Claims { measured: made, requests: made, failed: Some(log.failed), ..Claims::silent(LatencyFrom::Send) };
    let clock =
        ForeignClock { starts: ForeignStarts::Unix, start_resolution_ns: 1_000_000, duration_resolution_ns: 1_000_000 };
    let damage = damage(bytes, &log);
    Ok(ForeignRun { version: Some(log.version), clock, damage, notes: log.notes, ..run(claims) })
}

/// Converts a parser's message, which names the byte: `at byte 17: …`.
fn binary_refused(what: &str) -> ImportError {
    let at = what.strip_prefix("at byte ").and_then(|rest| rest.split_once(": "));
    let (byte, what) = at.and_then(|(byte, what)| Some((byte.parse().ok()?, what))).unwrap_or((0, what));
    content(FilePlace { byte, line: 0 }, what)
}

fn damage(bytes: &[u8], log: &GatlingLog) -> UnusedRows {
    // A binary file has no lines.
    let place = |byte| if is_text(bytes) { place_of(bytes, byte as usize) } else { FilePlace { byte, line: 0 } };
    let first = log.broken.first().map(|(byte, error)| (place(*byte), error.what.clone()));
    let truncated_at = log.ends_at.map(place);
    UnusedRows { rows_left_out: log.broken.len() as u64, first, truncated_at }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(log: &str) -> (ForeignRun, Vec<u64>) {
        let mut durations = Vec::new();
        let run = read(log.as_bytes(), &mut |request| durations.push(request.duration.0 / 1_000_000));
        (run.unwrap_or_else(|error| panic!("{error}: {log}")), durations)
    }

    #[test]
    fn logs_of_every_version_from_2_1_on_are_read() {
        let assertion = "ASSERTION\tAAECAAECAAAA\n";
        for (log, version) in [
            (
                "RUN\tTEST\t\ttest\t1795157763037\t\t2.0\nREQUEST\tTEST Test\t1\t\tsend\t1795157763047\t1795157763057\tOK\t \n",
                "2.0",
            ),
            (
                "RUN\tsim.Basic\t\tbasic\t1795157763037\tJob\t2.0\nUSER\tScn\t1\tSTART\t1795157763047\t1795157763047\nREQUEST\tScn\t1\tg\tr\t1795157763047\t1795157763057\tKO\tx\n",
                "2.0",
            ),
            (
                "RUN\tsim.Basic\tbasic\t1795157763037\t \t3.3.1\nREQUEST\t1\t\tr1\t1795157763047\t1795157763057\tOK\t \n",
                "3.3.1",
            ),
            (
                "RUN\tsim.Basic\tbasic\t1795157763037\t \t3.9.5\r\nREQUEST\tA,B\tr\t1\t1795157763047\t1795157763057\tOK\t \r\n",
                "3.9.5",
            ),
        ] {
            for log in [log.to_owned(), format!("{assertion}{assertion}{log}")] {
                assert_eq!(likeness(&Excerpt::new(log.as_bytes())), Likeness::Yes);
                let (run, durations) = read_text(&log);
                assert_eq!(
                    (run.version.as_deref(), &durations[..], run.damage.rows_left_out),
                    (Some(version), &[10][..], 0),
                    "{log}"
                );
            }
        }
    }

    #[test]
    fn what_was_no_exchange_is_left_out_and_counted() {
        let request = |end: &str| format!("REQUEST\t\tr1\t1795157763047\t{end}\tKO\tno answer\n");
        let begin = "RUN\tsim.Basic\tbasic\t1795157763037\t \t3.9.5\n";
        let log = format!(
            "{begin}{}{}{}  second line of a message\n\n{}",
            request("1795157763057"),
            request("-9223372036854775808"),
            request("1795157763000"),
            request("1795157763048")
        );
        let (run, durations) = read_text(&log);
        assert_eq!((durations, run.damage.rows_left_out), (vec![10, 1], 4));
        let old = "sim.Basic\tbasic\tRUN\t1795157763037\t \t2.0\nScn\t1\tREQUEST\t\tr1\t1\t2\t3\t4\tOK\t \n";
        assert!(
            matches!(likeness(&Excerpt::new(old.as_bytes())), Likeness::Near(why) if why.contains("Gatling 2.0 or older"))
        );
    }
}
