//! `histograms.hlog`: an HdrHistogram interval log, V2 with deflate, that any HdrHistogram log tool opens.
//!
//! Each line is one interval and tag with a value. An interval is a second, or several seconds in a long run, and
//! contains the arrivals *intended* in it. Timestamps are seconds from the origin of the run, which is StartTime and
//! BaseTime (1970 in virtual time). Values are nanoseconds. The third field, the largest value, is in milliseconds, as
//! in Java.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hdrhistogram::serialization::interval_log::{
    IntervalLogHistogram, IntervalLogIterator, IntervalLogWriter, IntervalLogWriterBuilder, IntervalLogWriterError,
    LogEntry, Tag,
};
use hdrhistogram::serialization::{V2DeflateSerializeError, V2DeflateSerializer};
use truetail_model::record::{ByInterval, CompactHistogram, Distributions, Histogram, Metric, Snapshot};
use truetail_model::time::Nanos;

use super::LineError;
use super::encoded::{self, DIGITS};
use super::target_tag::TargetTag;
use crate::limits::MAX_ARRIVALS;
use crate::wire::v1::{self, IntervalWidth};
use crate::{Facts, StreamFacts};

/// Every line can hold at least an hour, so that intervals add up in tools that do not resize.
const HIGHEST_NS: u64 = 3_600_000_000_000;
/// Nanoseconds per unit of the third field.
const MAX_UNIT_NS: f64 = 1e6;

/// Beginning of every log. The first line is what the Java tools write.
const BEGINNING: &str = "[Histogram log format version 1.3]
A run of truetail. Values in nanoseconds; Interval_Max in milliseconds. Intervals go by intended start.
";

const ALL_TOGETHER: &str = "\
All planned arrivals are response_time, censored and failed together: quantiles of response_time alone leave out
every arrival without an answer.";

const ERROR_STATUS: &str = "the part of response_time with a status of 400 and above; one line for the whole run";

const BY_TARGET: &str = "
A tag with @1 holds the arrivals of the first target of scenario.mix in run.json; one line for the whole run.";

const BY_STREAM: &str = "
first_event_time, last_event_time, event_gap and longest_gap are times of streams, one line for the whole run each; with
_censored what was waited for an event that did not come, with _failed until it was clear that none would.";

const BY_LLM: &str = "
first_content_time (TTFT), first_content_service_time, content_gap (ITL) and time_per_output_token (TPOT) are the same for
events with content of a language model.";
const BY_SESSION: &str = "
session_time is over sessions that were completed, from their intended arrival to their end, less the planned think time; with
_censored what was waited for those that might have gone on, with _failed until a step ended them. One line for the whole run.
Where there are several flows, session_time@1 and its like are of the sessions of the first.
step_time@1 and its like are of the first step, from when it was due to the end of its last answer, where it may be several requests.";

/// Width of the column of tags, before their descriptions.
const TAG_WIDTH: usize = 19;

fn comment(snapshot: &Snapshot, streams: Option<&StreamFacts>, has_sessions: bool) -> String {
    let is_written = |metric: &Metric| metric.is_written(snapshot.metric(*metric).count());
    let metrics = Metric::with_parts().into_iter().filter(is_written);
    let tags = metrics.map(|metric| (metric.name(), metric.definition().description));
    let meanings = tags
        .chain([(v1::ERROR_STATUS_TIME, ERROR_STATUS)])
        .map(|(tag, meaning)| format!("{tag:TAG_WIDTH$}{}\n", meaning.replace('\n', &format!("\n{:TAG_WIDTH$}", ""))));
    let by_target = if snapshot.targets.is_empty() { "" } else { BY_TARGET };
    let by_stream = if streams.is_some() { BY_STREAM } else { "" };
    let by_llm = if streams.is_some_and(|streams| streams.llm.is_some()) { BY_LLM } else { "" };
    let by_session = if has_sessions { BY_SESSION } else { "" };
    format!("{BEGINNING}{}{ALL_TOGETHER}{by_target}{by_stream}{by_llm}{by_session}", meanings.collect::<String>())
}

pub(super) fn write(
    mut out: impl Write,
    facts: &Facts,
    snapshot: &Snapshot,
    intervals: IntervalWidth,
) -> io::Result<()> {
    let mut serializer = V2DeflateSerializer::new();
    let log = head(facts, &comment(snapshot, facts.stream.as_ref(), facts.sessions.is_some()))
        .begin_log_with(&mut out, &mut serializer)?;
    let mut lines = Lines { log, scratch: empty_histogram(facts, snapshot) };
    let whole = Interval::whole(snapshot);
    for (tag, histogram) in v1::tagged(snapshot) {
        if tag == v1::ERROR_STATUS_TIME || intervals.width_s().is_none() {
            lines.write(whole, tag, histogram.buckets().map(|(lowest, _, count)| (lowest, count)))?;
        }
    }
    for (tag, histogram) in v1::tagged_by_target(snapshot) {
        lines.write(whole, &tag.to_string(), histogram.buckets())?;
    }
    for (tag, times) in v1::tagged_by_observer(facts) {
        lines.write(whole, &tag, times.buckets())?;
    }
    if intervals.width_s().is_some() {
        for (i, row) in snapshot.intervals.rows().iter().enumerate() {
            let interval = Interval::number(&snapshot.intervals, i);
            for metric in Metric::ALL {
                lines.write(interval, metric.name(), row.metric(metric).buckets())?;
            }
        }
    }
    Ok(())
}

fn head(facts: &Facts, comment: &str) -> IntervalLogWriterBuilder {
    let origin: SystemTime = UNIX_EPOCH + Duration::from_nanos(facts.started_at_unix_ns.unwrap_or(0));
    let mut head = IntervalLogWriterBuilder::new();
    head.add_comment(comment).with_start_time(origin).with_base_time(origin).with_max_value_divisor(MAX_UNIT_NS);
    head
}

type Scratch = hdrhistogram::Histogram<u64>;

/// Returns an empty histogram with room for every value of the run.
fn empty_histogram(facts: &Facts, snapshot: &Snapshot) -> Scratch {
    let of_targets = v1::tagged_by_target(snapshot).filter_map(|(_, histogram)| histogram.max());
    let of_streams = v1::tagged_by_observer(facts).filter_map(|(_, times)| times.max());
    let all = v1::tagged(snapshot).filter_map(|(_, histogram)| histogram.max()).chain(of_targets).chain(of_streams);
    let highest = all.max();
    let highest = highest.map_or(HIGHEST_NS, |max| max.0.max(HIGHEST_NS));
    Scratch::new_with_bounds(1, highest, DIGITS).expect("1 and 3 digits are within bounds, and the highest is above 2")
}

#[derive(Clone, Copy)]
struct Interval {
    start: Duration,
    length: Duration,
}

impl Interval {
    fn number(intervals: &ByInterval<Distributions>, i: usize) -> Interval {
        let start = Duration::from_secs(intervals.seconds_of(i).start as u64);
        Interval { start, length: Duration::from_secs(intervals.width_s()) }
    }

    /// Returns the interval of whole seconds from the first measured one to the last end.
    fn whole(snapshot: &Snapshot) -> Interval {
        let start = snapshot.measure_from.second() as u64;
        let end = snapshot.last_end.second() as u64 + 1;
        Interval { start: Duration::from_secs(start), length: Duration::from_secs(end.saturating_sub(start).max(1)) }
    }
}

struct Lines<'a, 'b, W: Write> {
    log: IntervalLogWriter<'a, 'b, W, V2DeflateSerializer>,
    scratch: Scratch,
}

impl<W: Write> Lines<'_, '_, W> {
    /// Writes one line, or nothing if there are no values.
    fn write(&mut self, interval: Interval, tag: &str, counts: impl Iterator<Item = (Nanos, u64)>) -> io::Result<()> {
        self.scratch.reset();
        for (value, count) in counts {
            self.scratch.record_n(value.0, count).expect("made for the largest value of the run");
        }
        if self.scratch.is_empty() {
            return Ok(());
        }
        let written = self.log.write_histogram(&self.scratch, interval.start, interval.length, Tag::new(tag));
        written.map_err(|error| match error {
            IntervalLogWriterError::IoError(error)
            | IntervalLogWriterError::SerializeError(V2DeflateSerializeError::IoError(error)) => error,
            IntervalLogWriterError::SerializeError(error) => io::Error::other(error),
        })
    }
}

#[derive(Default)]
pub(super) struct Log {
    /// Distributions of the whole run, by tag, if the tag [is known](is_known).
    pub(super) whole: BTreeMap<String, Histogram>,
    /// Distributions with other tags: of streams and sessions, and tags that a later version may write.
    pub(super) unknown: BTreeMap<String, CompactHistogram>,
    /// Non-empty distributions by the first second of their interval; empty for [`IntervalWidth::WholeRun`].
    pub(super) intervals: BTreeMap<usize, Distributions>,
    pub(super) targets: BTreeMap<TargetTag, CompactHistogram>,
}

/// Returns true if the tag is the name of a metric, or [`v1::ERROR_STATUS_TIME`].
pub(super) fn is_known(tag: &str) -> bool {
    tag == v1::ERROR_STATUS_TIME || Metric::from_name(tag).is_some()
}

/// Reads a log that [`write()`] wrote.
pub(super) fn read(text: &str, intervals: IntervalWidth) -> Result<Log, LineError> {
    let mut log = Log::default();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let added = match LogLine::read(line) {
            Ok(Some(interval)) => log.add(interval, intervals),
            Ok(None) => Ok(()),
            Err(problem) => Err(problem),
        };
        added.map_err(|problem| LineError { line: number as u64 + 1, problem })?;
    }
    Ok(log)
}

struct LogLine {
    tag: String,
    second: usize,
    /// The non-empty buckets: (lowest value, count), ascending.
    buckets: Vec<(Nanos, u64)>,
}

impl LogLine {
    /// Returns `None` if the line has no histogram.
    fn read(line: &str) -> Result<Option<LogLine>, String> {
        if !line.ends_with('\n') {
            return Err("the line is cut off".to_owned());
        }
        match IntervalLogIterator::new(line.as_bytes()).next() {
            None | Some(Ok(LogEntry::StartTime(_) | LogEntry::BaseTime(_))) => Ok(None),
            Some(Ok(LogEntry::Interval(interval))) => LogLine::decode(&interval).map(Some),
            Some(Err(_)) => Err("neither a comment nor an interval of an HdrHistogram log".to_owned()),
        }
    }

    fn decode(interval: &IntervalLogHistogram<'_>) -> Result<LogLine, String> {
        let tag = interval.tag().ok_or("an interval without a tag")?.to_string();
        let buckets = encoded::buckets(interval.encoded_histogram())?;
        Ok(LogLine { tag, second: interval.start_timestamp().as_secs() as usize, buckets })
    }
}

impl Log {
    fn add(&mut self, line: LogLine, intervals: IntervalWidth) -> Result<(), String> {
        let values = line.buckets.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count));
        let held = if let Ok(tag) = line.tag.parse::<TargetTag>() {
            add_compact(self.targets.entry(tag).or_default(), &line, values)
        } else if is_known(&line.tag) {
            let whole = self.whole.entry(line.tag.clone()).or_default();
            add_to(whole.count(), values, &line, |value, count| whole.record_n(value, count))
        } else {
            add_compact(self.unknown.entry(line.tag.clone()).or_default(), &line, values)
        };
        held?;
        match (Metric::from_name(&line.tag), intervals.width_s()) {
            (Some(metric), Some(width_s)) => self.add_to_interval(&line, metric, width_s),
            _ => Ok(()),
        }
    }

    fn add_to_interval(&mut self, line: &LogLine, metric: Metric, width_s: u64) -> Result<(), String> {
        if !(line.second as u64).is_multiple_of(width_s) {
            return Err(format!("an interval starts at second {}, but intervals are {width_s} s long", line.second));
        }
        let row = &mut self.intervals.entry(line.second).or_default().metrics[metric as usize];
        line.buckets.iter().for_each(|&(value, count)| row.record_n(value, count));
        Ok(())
    }
}

fn add_compact(to: &mut CompactHistogram, line: &LogLine, values: u64) -> Result<(), String> {
    add_to(to.count(), values, line, |value, count| to.record_n(value, count))
}

/// Records the buckets of a line with `values` values into a histogram that already has `held` values.
fn add_to(held: u64, values: u64, line: &LogLine, mut record: impl FnMut(Nanos, u64)) -> Result<(), String> {
    if held.saturating_add(values) > MAX_ARRIVALS {
        return Err(format!(
            "with the lines before it, {} has {} values, more than a run can have",
            line.tag,
            u128::from(held) + u128::from(values)
        ));
    }
    line.buckets.iter().for_each(|&(value, count)| record(value, count));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_tells_what_the_tags_mean() {
        let expected = "[Histogram log format version 1.3]
A run of truetail. Values in nanoseconds; Interval_Max in milliseconds. Intervals go by intended start.
response_time      answered arrivals: end - intended start
censored           what was waited by arrivals that timed out, were in flight at the end or were never issued:
                   their response time is at least this
failed             what was waited until a connect failed, a reset or a malformed answer
service_time       answered arrivals: end - actual start
start_delay        issued arrivals: actual start - intended start = generator_lag + connection_wait + connecting
generator_lag      its part that the generator itself caused
connection_wait    its part spent waiting for the cap on connections
connect_time       arrivals that opened a connection, and channels opened before the load: TCP and TLS
tls_handshake_time its part from the TCP connection to the end of the TLS handshake
read_lag           answers: from their arrival in this host, where the other times end, to being read
error_status_time  the part of response_time with a status of 400 and above; one line for the whole run
All planned arrivals are response_time, censored and failed together: quantiles of response_time alone leave out
every arrival without an answer.";
        assert_eq!(comment(&Snapshot::default(), None, false), expected);
    }
}
