//! `samples.csv`: one row per arrival, in order of intended start.
//!
//! | column | meaning |
//! |---|---|
//! | `kept` | `all` (all measured arrivals), `one-in-N` (an even part, by hash of `index`), `slowest` (others, slow) |
//! | `index` | place in the whole schedule, from 0 |
//! | `intended_start_ns`, `actual_start_ns`, `end_ns` | from the origin |
//! | `generator_lag_ns`, `connection_wait_ns`, `connect_ns` | the parts of the start delay |
//! | `connected` | true if a connection was opened for it |
//! | `tls_handshake_ns` | the part of `connect_ns` in the TLS handshake; blank without a handshake |
//! | `read_lag_ns` | from `end_ns` until truetail read the answer; blank if its arrival is unknown |
//! | `outcome` | `response`, `connect_failed`, `reset`, `malformed`, `timed_out`, `in_flight_at_end`, `never_issued` |
//! | `status` | of a response; blank if the protocol has no status, and without a response |
//! | `cause` | of a failure; otherwise blank |
//! | `bytes_in` | bytes of the answer that were read |
//! | `first_byte_ns` | when the first byte of the answer reached the host, from the origin; blank if unknown |
//! | `send_wait_ns` | from the first byte of the request until its last was accepted; blank if both were at once |
//! | `knock_on_ns` | most that the generator may have added beyond `generator_lag_ns`; blank if 0 |
//! | `target` | place of the target in `by_target` of run.json, from 0; blank if the run has one target |
//! | `session`, `turn` | number of its session in the schedule, and its number in the session, from 0; blank without |
//! | `row` | row of data that it was made of, from 0; blank without |
//! | `connection` | number of the connection that carried it, from 0; blank if unknown |
//! | `trace_id` | trace id of the request, 32 hexadecimal digits |
//! | `header.NAME` | value of a header of `--keep-header`; blank without it, `(other)` beyond its known values |
//! | `stream`, `first_event_ns`, `last_event_ns` | ending of the stream, and instants from the origin; blank without |
//! | `gaps`, `gaps_ns` | number of its known gaps, and the first ones, with blanks between; blank if not kept |
//! | `first_content_ns`, `time_per_output_token_ns` | of an answer of a language model; blank if unknown |
//! | `input_tokens`, `cached_tokens`, `output_tokens`, `reasoning_tokens` | its tokens; blank if not counted |
//! | `finish` | reason why it ended; blank without |
//!
//! The columns from `first_byte_ns` on are omitted if every row would be blank. Response time is
//! `end_ns - intended_start_ns`, service time `end_ns - actual_start_ns`. For statistics, use `all` or `one-in-N`;
//! `slowest` is for inspecting the tail.

use std::io::{self, Read, Write};

use csv::StringRecord;
use serde::{Deserialize, Serialize};
use truetail_model::arrival::Arrival;
use truetail_model::record::{
    Cause, Ordinal, Outcome, RequestRecord, Samples, SamplesOptions, StartDelay, TargetPlace,
};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::trace::TraceIds;

use super::LineError;
use super::sample_streams::{self, StreamReader};
use crate::facts::OTHER_VALUE;
use crate::limits::{LONGEST_NS, MAX_BYTES};
use crate::wire::v1::SampleFacts;
use crate::{HeaderPlace, HeaderRow, KeptHeaders, RequestStreams, StreamFacts};

const ALL: &str = "all";
const SLOWEST: &str = "slowest";
const ONE_IN: &str = "one-in-";
/// Begins the name of a column of a response header.
const OF_HEADER: &str = "header.";

#[derive(Serialize, Deserialize)]
struct SampleRow<'a> {
    kept: &'a str,
    index: u64,
    intended_start_ns: u64,
    actual_start_ns: u64,
    end_ns: u64,
    generator_lag_ns: u64,
    connection_wait_ns: u64,
    connect_ns: u64,
    connected: bool,
    #[serde(default)]
    tls_handshake_ns: Option<u64>,
    #[serde(default)]
    read_lag_ns: Option<u64>,
    outcome: &'a str,
    status: Option<u16>,
    cause: Option<Cause>,
    bytes_in: u64,
}

/// The columns, in order: the fields of [`SampleRow`].
const HEADER: [&str; 15] = [
    "kept",
    "index",
    "intended_start_ns",
    "actual_start_ns",
    "end_ns",
    "generator_lag_ns",
    "connection_wait_ns",
    "connect_ns",
    "connected",
    "tls_handshake_ns",
    "read_lag_ns",
    "outcome",
    "status",
    "cause",
    "bytes_in",
];

/// A column of numbers that exists only if some request has a value.
pub struct OptionalColumn {
    /// Name in `samples.csv`.
    pub name: &'static str,
    /// Returns the value of a request.
    pub get: fn(&RequestRecord) -> Option<u64>,
    set: fn(&mut RequestRecord, u64),
}

impl OptionalColumn {
    /// Returns the columns that these samples have.
    pub fn of(samples: &Samples) -> Vec<&'static OptionalColumn> {
        let has_value = |column: &&OptionalColumn| {
            samples.even().iter().chain(samples.slowest_left_out()).any(|record| (column.get)(record).is_some())
        };
        OPTIONAL_COLUMNS.iter().filter(has_value).collect()
    }
}

const OPTIONAL_COLUMNS: [OptionalColumn; 8] = [
    OptionalColumn {
        name: "first_byte_ns",
        get: |record| record.first_byte.map(|first_byte| first_byte.0),
        set: |record, ns| record.first_byte = Some(Timestamp(ns)),
    },
    OptionalColumn {
        name: "send_wait_ns",
        get: |record| record.send_wait.map(|wait| wait.0),
        set: |record, ns| record.send_wait = Some(Nanos(ns)),
    },
    OptionalColumn {
        name: "knock_on_ns",
        get: |record| (!record.knock_on.is_zero()).then_some(record.knock_on.0),
        set: |record, ns| record.knock_on = Nanos(ns),
    },
    OptionalColumn {
        name: "target",
        get: |record| record.target.index().map(|index| index as u64),
        set: |record, index| record.target = u32::try_from(index).map_or(TargetPlace::UNKNOWN, TargetPlace::new),
    },
    OptionalColumn {
        name: "session",
        get: |record| record.place.session.get().map(u64::from),
        set: |record, number| record.place.session = Ordinal::new(number),
    },
    OptionalColumn {
        name: "turn",
        get: |record| record.place.turn.get().map(u64::from),
        set: |record, number| record.place.turn = Ordinal::new(number),
    },
    OptionalColumn {
        name: "row",
        get: |record| record.row.get().map(u64::from),
        set: |record, number| record.row = Ordinal::new(number),
    },
    OptionalColumn {
        name: "connection",
        get: |record| record.connection.get().map(u64::from),
        set: |record, number| record.connection = Ordinal::new(number),
    },
];

pub(super) fn write(
    out: impl Write,
    samples: &Samples,
    ids: Option<TraceIds>,
    kept_headers: Option<&KeptHeaders>,
    streams: Option<&StreamFacts>,
) -> io::Result<()> {
    let even = if samples.is_complete() { ALL.to_owned() } else { format!("{ONE_IN}{}", samples.one_in()) };
    let mut rows: Vec<(&str, &RequestRecord)> = samples.even().iter().map(|record| (even.as_str(), record)).collect();
    rows.extend(samples.slowest_left_out().map(|record| (SLOWEST, record)));
    rows.sort_by_key(|(_, record)| (record.intended_start, record.index));
    // The header is written separately, so that it exists even without rows.
    let mut csv = csv::WriterBuilder::new().has_headers(false).from_writer(out);
    let optional = OptionalColumn::of(samples);
    let trace_id = ids.map(|_| "trace_id");
    let names = HEADER.into_iter().chain(optional.iter().map(|column| column.name)).chain(trace_id);
    names.map(str::to_owned).chain(names_of_headers(kept_headers)).try_for_each(|name| csv.write_field(name))?;
    sample_streams::names(streams).try_for_each(|name| csv.write_field(name))?;
    csv.write_record(None::<&[u8]>)?;
    for (kept, record) in rows {
        let values: Vec<Option<u64>> = optional.iter().map(|column| (column.get)(record)).collect();
        let trace_id: Vec<String> = ids.iter().map(|ids| ids.trace_id(record.index)).collect();
        let of_headers: Vec<&str> =
            kept_headers.iter().flat_map(|kept| values_of_headers(kept, record.index)).collect();
        let of_stream = sample_streams::columns(streams, record.index);
        csv.serialize((SampleRow::new(kept, record), values, trace_id, of_headers, of_stream))?;
    }
    csv.flush()
}

fn names_of_headers(kept: Option<&KeptHeaders>) -> impl Iterator<Item = String> {
    kept.into_iter().flat_map(|kept| &kept.headers).map(|header| format!("{OF_HEADER}{}", header.name))
}

fn values_of_headers(kept: &KeptHeaders, index: u64) -> impl Iterator<Item = &str> {
    let row = kept.of(index);
    kept.headers.iter().enumerate().map(move |(nth, header)| match row.map(|row| row.get(nth)) {
        None | Some(HeaderPlace::Without) => "",
        Some(HeaderPlace::Further) => OTHER_VALUE,
        Some(HeaderPlace::Value(place)) => header.values.get(place).map_or(OTHER_VALUE, |value| &value.value),
    })
}

/// Reads the values of one request's answer. `places` has the column of each header.
fn header_row(kept: &KeptHeaders, places: &[Option<usize>], line: &StringRecord, index: u64) -> HeaderRow {
    let mut row = HeaderRow::new(index);
    for (nth, header) in kept.headers.iter().enumerate() {
        let text = places.get(nth).copied().flatten().and_then(|place| line.get(place)).unwrap_or_default();
        let known = header.values.iter().position(|value| value.value == text);
        let further = if text.is_empty() { HeaderPlace::Without } else { HeaderPlace::Further };
        row.set(nth, known.map_or(further, HeaderPlace::Value));
    }
    row
}

/// Reads the requests and their streams, and the values of `kept_headers` that their answers have.
pub(super) fn read(
    input: impl Read,
    facts: &SampleFacts,
    mut kept_headers: Option<&mut KeptHeaders>,
) -> Result<(Samples, RequestStreams), LineError> {
    let mut csv = csv::Reader::from_reader(input);
    let headers = csv.headers().map_err(LineError::from_csv)?.clone();
    let place = |column: &OptionalColumn| headers.iter().position(|name| name == column.name);
    let optional: Vec<_> = OPTIONAL_COLUMNS.iter().filter_map(|column| Some((place(column)?, column))).collect();
    let places_of_headers: Vec<Option<usize>> =
        names_of_headers(kept_headers.as_deref()).map(|name| headers.iter().position(|other| other == name)).collect();
    let mut even = Vec::new();
    let mut slow = Vec::new();
    let mut streams = StreamReader::new(&headers);
    let mut bytes_in = 0;
    let mut line = StringRecord::new();
    while csv.read_record(&mut line).map_err(LineError::from_csv)? {
        let row: SampleRow<'_> = line.deserialize(Some(&headers)).map_err(LineError::from_csv)?;
        let problem_here = |problem| LineError::in_record(&line, problem);
        let mut record = row.record().map_err(problem_here)?;
        for (place, column) in &optional {
            let field = line.get(*place).filter(|field| !field.is_empty());
            let value = field.map(str::parse::<u64>).transpose();
            let value = value.map_err(|error| problem_here(format!("{}: {error}", column.name)))?;
            value.into_iter().for_each(|ns| (column.set)(&mut record, ns));
        }
        bytes_in = record.bytes_in.saturating_add(bytes_in);
        check_sizes(&record, bytes_in).map_err(problem_here)?;
        if let Some(kept) = kept_headers.as_deref_mut().filter(|_| record.outcome.is_response()) {
            let row = header_row(kept, &places_of_headers, &line, record.index);
            kept.rows.push(row);
        }
        streams.read(&line, &headers, &record)?;
        if row.kept == SLOWEST { slow.push(record) } else { even.push(record) }
    }
    if let Some(kept) = kept_headers {
        kept.rows.sort_by_key(HeaderRow::index);
    }
    let options = SamplesOptions { capacity: facts.capacity, slowest: facts.slowest };
    Ok((Samples::from_parts(options, even, facts.one_in, &slow, facts.seen), streams.finish()))
}

/// Checks that the times of a request, and the bytes up to it, are possible.
fn check_sizes(record: &RequestRecord, bytes_in: u64) -> Result<(), String> {
    let delay = &record.delay;
    let times = [
        ("intended_start_ns", record.intended_start.0),
        ("actual_start_ns", record.actual_start.0),
        ("end_ns", record.end.0),
        ("generator_lag_ns", delay.generator_lag.0),
        ("connection_wait_ns", delay.connection_wait.0),
        ("connect_ns", delay.connect.0),
        ("tls_handshake_ns", record.tls_handshake.unwrap_or_default().0),
        ("read_lag_ns", record.read_lag.unwrap_or_default().0),
        ("first_byte_ns", record.first_byte.unwrap_or_default().0),
        ("send_wait_ns", record.send_wait.unwrap_or_default().0),
        ("knock_on_ns", record.knock_on.0),
    ];
    if let Some((name, ns)) = times.into_iter().find(|(_, ns)| *ns > LONGEST_NS) {
        return Err(format!("{name} is {ns}, but no run is longer than {LONGEST_NS} ns"));
    }
    if bytes_in > MAX_BYTES {
        return Err("up to this line bytes_in adds up to more than a run can have".to_owned());
    }
    Ok(())
}

impl<'a> SampleRow<'a> {
    fn new(kept: &'a str, record: &RequestRecord) -> SampleRow<'a> {
        SampleRow {
            kept,
            index: record.index,
            intended_start_ns: record.intended_start.0,
            actual_start_ns: record.actual_start.0,
            end_ns: record.end.0,
            generator_lag_ns: record.delay.generator_lag.0,
            connection_wait_ns: record.delay.connection_wait.0,
            connect_ns: record.delay.connect.0,
            connected: record.connected,
            tls_handshake_ns: record.tls_handshake.map(|time| time.0),
            read_lag_ns: record.read_lag.map(|lag| lag.0),
            outcome: record.outcome.name(),
            status: record.outcome.status(),
            cause: record.outcome.cause(),
            bytes_in: record.bytes_in,
        }
    }

    fn record(&self) -> Result<RequestRecord, String> {
        if self.kept != ALL && self.kept != SLOWEST && !self.kept.starts_with(ONE_IN) {
            return Err(format!("kept is '{}', but must be all, one-in-N or slowest", self.kept));
        }
        let arrival = Arrival { index: self.index, intended_start: Timestamp(self.intended_start_ns) };
        let actual_start = Timestamp(self.actual_start_ns);
        let end = Timestamp(self.end_ns);
        Ok(RequestRecord {
            delay: StartDelay {
                generator_lag: Nanos(self.generator_lag_ns),
                connection_wait: Nanos(self.connection_wait_ns),
                connect: Nanos(self.connect_ns),
            },
            connected: self.connected,
            tls_handshake: self.tls_handshake_ns.map(Nanos),
            read_lag: self.read_lag_ns.map(Nanos),
            bytes_in: self.bytes_in,
            ..RequestRecord::new(arrival, actual_start, end, self.outcome()?)
        })
    }

    fn outcome(&self) -> Result<Outcome, String> {
        match (self.outcome, self.status, self.cause) {
            // In older files the status of a protocol without one is 0.
            ("response", status, None) => Ok(status.map_or(Outcome::ANSWERED, Outcome::response)),
            ("connect_failed", None, Some(cause)) => Ok(Outcome::ConnectFailed(cause)),
            ("reset", None, Some(cause)) => Ok(Outcome::Reset(cause)),
            ("malformed", None, Some(cause)) => Ok(Outcome::Malformed(cause)),
            ("timed_out", None, None) => Ok(Outcome::TimedOut),
            ("in_flight_at_end", None, None) => Ok(Outcome::InFlightAtEnd),
            ("never_issued", None, None) => Ok(Outcome::NeverIssued),
            (outcome, status, cause) => {
                let has = |there: bool| if there { "a" } else { "no" };
                let status = has(status.is_some());
                let cause = has(cause.is_some());
                Err(format!("outcome '{outcome}' cannot have {status} status and {cause} cause"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use truetail_model::record::SessionPlace;
    use truetail_model::trace::TraceFormat;

    use super::*;
    use crate::KeptHeader;

    #[test]
    fn the_header_names_the_fields_of_a_row_in_order() {
        let record =
            RequestRecord::never_issued(Arrival { index: 0, intended_start: Timestamp::ZERO }, Timestamp::ZERO);
        let mut csv = csv::Writer::from_writer(Vec::new());
        csv.serialize(SampleRow::new(ALL, &record)).unwrap();
        let text = String::from_utf8(csv.into_inner().unwrap()).unwrap();
        assert_eq!(text.lines().next(), Some(HEADER.join(",").as_str()));
    }

    #[test]
    fn an_optional_column_is_written_if_it_has_a_value() {
        let arrival = |index| Arrival { index, intended_start: Timestamp(index) };
        let answered = Outcome::response(200);
        let bare = |index| RequestRecord::new(arrival(index), Timestamp(5), Timestamp(9), answered);
        let full = RequestRecord { first_byte: Some(Timestamp(7)), ..bare(1) };
        let of_target = RequestRecord { target: TargetPlace::new(3), ..full };
        let place = SessionPlace { session: Ordinal::new(4), turn: Ordinal::new(0) };
        let of_session = RequestRecord { place, row: Ordinal::new(2), connection: Ordinal::new(9), ..full };
        let ids = TraceIds::new(5, TraceFormat::W3c, 1.0);
        for (records, ids, columns) in [
            (vec![bare(0), bare(1)], None, HEADER.len()),
            (vec![bare(0), full], None, HEADER.len() + 1),
            (vec![bare(0), of_target], None, HEADER.len() + 2),
            (vec![bare(0), of_session], None, HEADER.len() + 5),
            (vec![bare(0), of_target], Some(ids), HEADER.len() + 3),
        ] {
            let options = SamplesOptions { capacity: 2, slowest: 0 };
            let samples = Samples::from_parts(options, records.clone(), 1, &[], 2);
            let mut written = Vec::new();
            write(&mut written, &samples, ids, None, None).unwrap();
            let text = String::from_utf8(written.clone()).unwrap();
            assert!(text.lines().all(|line| line.split(',').count() == columns), "{text}");
            assert!(ids.is_none_or(|ids| text.ends_with(&format!(",{}\n", ids.trace_id(1)))), "{text}");
            let (read, _) = read(written.as_slice(), &SampleFacts::from_samples(&samples), None).unwrap();
            assert_eq!(read.even(), records);
        }
    }

    #[test]
    fn values_of_headers_are_read_as_they_were_written() {
        let answer = |index| {
            let arrival = Arrival { index, intended_start: Timestamp(index) };
            RequestRecord::new(arrival, Timestamp(5), Timestamp(9), Outcome::response(200))
        };
        let mut header = KeptHeader::new("x-cache");
        let place = header.place("a, \"b\"\n");
        let mut rows: Vec<HeaderRow> = (0..3).map(HeaderRow::new).collect();
        rows[0].set(0, place);
        rows[2].set(0, HeaderPlace::Further);
        let kept = KeptHeaders { headers: vec![header], rows };
        let samples =
            Samples::from_parts(SamplesOptions { capacity: 3, slowest: 0 }, (0..3).map(answer).collect(), 1, &[], 3);
        let mut written = Vec::new();
        write(&mut written, &samples, None, Some(&kept), None).unwrap();
        let text = String::from_utf8_lossy(&written);
        assert!(
            text.lines().next().unwrap().ends_with(",bytes_in,header.x-cache") && text.ends_with(",(other)\n"),
            "{text}"
        );
        let mut read_back = KeptHeaders { rows: Vec::new(), ..kept.clone() };
        read(written.as_slice(), &SampleFacts::from_samples(&samples), Some(&mut read_back)).unwrap();
        assert_eq!(read_back, kept);
    }
}
