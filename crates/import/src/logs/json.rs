use truetail_model::time::Nanos;
use truetail_run::ForeignRequest;
use truetail_tools::FailureClassifier;

use super::ServerSeen;
use crate::rows::json::{JsonRow, Value};
use crate::rows::json_lines::{each_row, first_row};
use crate::rows::number::{Measured, NotUsable, Unit};
use crate::rows::{RowFormat, RowInput, RunFacts, Taken, Workers, Wrong};
use crate::tables::outcome_of;
use crate::{Excerpt, FormatInfo, ImportError, Likeness};

static INFO: FormatInfo =
    FormatInfo { name: "access-json", about: "an access log of nginx or Envoy as JSON lines", tool: None };

/// nginx's keys of the end of a request, the finest resolution first. Its durations are in seconds.
pub(crate) const ENDS: [&str; 5] = ["msec", "time_iso8601", "time_local", "@timestamp", "time"];
/// Other keys. Envoy logs the start of a request, and durations in milliseconds.
const OTHERS: [&str; 8] = [
    "request_time",
    "start_time",
    "duration",
    "status",
    "response_code",
    "body_bytes_sent",
    "bytes_sent",
    "connection",
];

/// An access log as JSON lines, with the names of nginx's variables or of Envoy's operators.
pub(crate) struct AccessJson;

struct Row(JsonRow);

impl Row {
    fn new() -> Row {
        Row(JsonRow::new(&Row::paths()))
    }

    fn paths() -> Vec<&'static str> {
        ENDS.into_iter().chain(OTHERS).collect()
    }

    fn end(&self) -> Option<&Value> {
        (0..ENDS.len()).map(|index| self.0.value(index)).find(|value| value.is_there())
    }

    fn value(&self, name: &str) -> &Value {
        let index = OTHERS.iter().position(|other| *other == name);
        self.0.value(ENDS.len() + index.unwrap_or_default())
    }

    fn either(&self, first: &str, second: &str) -> &Value {
        if self.value(first).is_there() { self.value(first) } else { self.value(second) }
    }

    fn request(
        &self,
        seen: &mut ServerSeen,
        failures: &mut FailureClassifier,
        workers: &mut Workers,
    ) -> Result<Taken, Wrong> {
        let nginx = self.value("request_time").is_there();
        let (length, unit) = if nginx { ("request_time", Unit::Seconds) } else { ("duration", Unit::Millis) };
        let duration = self.value(length).time(unit).map_err(|why| Wrong::Number(length, why))?;
        let (start_ns, time) = if nginx {
            let end = self.end().ok_or(Wrong::Missing("msec"))?;
            let end = end.instant().map_err(|why| Wrong::Number("time", why))?;
            let start_ns = end.ns.checked_sub(duration.ns);
            (start_ns.ok_or(Wrong::Number(length, NotUsable::TooLarge))?, end)
        } else {
            let start = self.value("start_time").instant().map_err(|why| Wrong::Number("start_time", why))?;
            (start.ns, start)
        };
        let request = ForeignRequest {
            worker: workers.number(self.value("connection").name(&mut [0; 8])),
            bytes_in: self.either("body_bytes_sent", "bytes_sent").whole().ok(),
            ..ForeignRequest::new(
                Some(start_ns),
                Nanos(duration.ns),
                outcome_of(failures, self.either("status", "response_code")),
            )
        };
        // JSON numbers do not show their resolution. Both programs write milliseconds.
        let millisecond = Unit::Millis.nanos();
        let coarse = |time: Measured| Measured { resolution_ns: time.resolution_ns.max(millisecond), ..time };
        Ok(seen.take(request, coarse(time), coarse(duration)))
    }
}

impl RowFormat for AccessJson {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn likeness(&self, excerpt: &Excerpt<'_>) -> Likeness {
        let Some(row) = first_row(excerpt, &Row::paths()).map(Row) else { return Likeness::No };
        let envoy = ["start_time", "duration", "response_code"].iter().all(|name| row.value(name).is_there());
        match (row.value("request_time").is_there(), row.end().is_some()) {
            (true, true) => Likeness::Yes,
            _ if envoy => Likeness::Yes,
            (true, false) => Likeness::Near("the key 'msec' or 'time_iso8601' is missing".to_owned()),
            (false, _) if row.value("body_bytes_sent").is_there() => {
                Likeness::Near("the key 'request_time' is missing".to_owned())
            }
            (false, _) => Likeness::No,
        }
    }

    fn in_order(&self) -> bool {
        false
    }

    fn read(&self, RowInput { lines, books, .. }: RowInput<'_, '_, '_>) -> Result<RunFacts, ImportError> {
        let mut row = Row::new();
        let mut seen = ServerSeen::default();
        let mut workers = Workers::default();
        let mut failures = FailureClassifier::default();
        each_row(lines, books, |line, _| {
            row.0.read(line)?;
            row.request(&mut seen, &mut failures, &mut workers)
        })?;
        let notes = failures.notes().into_iter().chain(workers.note()).collect();
        let mut facts = RunFacts { notes, ..RunFacts::default() };
        seen.close(&mut facts);
        Ok(facts)
    }
}
