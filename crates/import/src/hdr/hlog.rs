//! HdrHistogram's log (`.hlog`): a line for each interval, with a compressed histogram.

use std::collections::BTreeMap;
use std::io::Read;
use std::time::Duration;

use base64::Engine;
use flate2::read::ZlibDecoder;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogHistogram, IntervalLogIterator, LogEntry};
use truetail_model::record::Histogram;
use truetail_model::time::Nanos;
use truetail_run::{Claims, ForeignClock, ForeignInterval, ForeignRun, LatencyFrom, UnusedRows};

use super::intervals::Intervals;
use super::{HdrFile, MAX_VALUES};
use crate::whole::file::{content, leave_out, place_of, run, text};
use crate::whole::rows::{Row, each_row};
use crate::{Excerpt, FormatInfo, ImportError, Likeness};

pub(crate) static HLOG: HdrFile =
    HdrFile { info: &FormatInfo { name: "hlog", about: "a log of HdrHistogram", tool: None }, likeness, read };

/// truetail and most Java programs record nanoseconds.
const USUAL_UNIT_NS: u64 = 1;

/// The tag of response times in truetail's logs, in nanoseconds.
const OURS: &str = "response_time";
/// The tags of arrivals without an answer in truetail's logs.
const UNANSWERED: [&str; 2] = ["censored", "failed"];

/// First characters of a histogram of version 2: in Base64, the bytes 1c 84 93 14, or 1c 84 93 13 without compression.
const PAYLOADS: [&str; 2] = ["HISTF", "HISTE"];

fn likeness(excerpt: &Excerpt<'_>) -> Likeness {
    let head = excerpt.text();
    let has_payload = PAYLOADS.iter().any(|payload| head.contains(payload));
    let has_head =
        head.contains("#[Histogram log format version") || head.contains("\"StartTimestamp\",\"Interval_Length\"");
    let first = text(excerpt.first_line());
    if !first.starts_with(['#', '"']) && !PAYLOADS.iter().any(|payload| first.contains(payload)) {
        return Likeness::No;
    }
    match (has_head, has_payload) {
        (_, true) => Likeness::Yes,
        (true, false) => Likeness::Near("it has the head of a log, but no histogram of version 2".to_owned()),
        (false, false) => Likeness::No,
    }
}

/// The histograms by tag; `""` for lines without a tag.
struct Log {
    unit_ns: u64,
    tags: BTreeMap<String, Intervals>,
    deserializer: Deserializer,
}

fn read(bytes: &[u8], said_unit_ns: Option<u64>) -> Result<ForeignRun, ImportError> {
    let unit_ns = said_unit_ns.unwrap_or(USUAL_UNIT_NS);
    let mut log = Log { unit_ns, tags: BTreeMap::new(), deserializer: Deserializer::new() };
    let mut damage = UnusedRows::default();
    damage.truncated_at = each_row(bytes, |Row { place, line }| {
        if let Err(why) = log.take(line) {
            leave_out(&mut damage, || (place, why));
        }
    });
    let tag = log.chosen().ok_or_else(|| match &damage.first {
        Some((place, why)) => content(*place, why.clone()),
        None => content(place_of(bytes, bytes.len()), "no histogram in this log"),
    })?;
    let histogram = log.tags.remove(&tag).unwrap_or_default().finish();
    let from_intended = tag == OURS;
    let claims = Claims {
        mean_ns: histogram.mean_ns().map(|mean| mean.round() as u64),
        max_ns: histogram.max().map(|max| max.0),
        measured: Some(histogram.count()),
        ..Claims::silent(if from_intended { LatencyFrom::Intended } else { LatencyFrom::Send })
    };
    let clock = ForeignClock { duration_resolution_ns: unit_ns, ..ForeignClock::default() };
    let mut notes = notes(&tag, &log.tags);
    if said_unit_ns.is_none() && tag != OURS {
        let note =
            "the log does not say its unit; its values are read as nanoseconds; --units duration=us says otherwise";
        notes.push(note.to_owned());
    }
    Ok(ForeignRun { clock, histogram: Some(histogram), damage, notes, ..run(claims) })
}

fn notes(tag: &str, others: &BTreeMap<String, Intervals>) -> Vec<String> {
    let mut notes = Vec::new();
    if tag != OURS {
        notes.push(
            "the log does not say where its latencies start; they are read as starting when a request was sent"
                .to_owned(),
        );
    }
    let unanswered: u64 = UNANSWERED.iter().filter_map(|tag| others.get(*tag)).map(Intervals::count).sum();
    if tag == OURS && unanswered > 0 {
        notes.push(format!("arrivals without an answer, which are slower than all of these: {unanswered}"));
    }
    if !others.is_empty() {
        let names: Vec<_> = others.keys().map(|name| format!("'{name}'")).collect();
        notes.push(format!("of its tags, '{tag}' was read; the others are {}", names.join(", ")));
    }
    notes
}

impl Log {
    /// Chooses lines without a tag, or else the tag of truetail's response times, or else the tag with most values.
    fn chosen(&self) -> Option<String> {
        let named = ["", OURS].into_iter().find(|name| self.tags.contains_key(*name)).map(str::to_owned);
        let most = || self.tags.iter().max_by_key(|(_, intervals)| intervals.count()).map(|(name, _)| name.clone());
        named.or_else(most)
    }

    fn take(&mut self, line: &str) -> Result<(), String> {
        // The column names of Java's logs, which the reader does not know.
        if line.starts_with('"') {
            return Ok(());
        }
        match IntervalLogIterator::new(format!("{line}\n").as_bytes()).next() {
            None | Some(Ok(LogEntry::StartTime(_) | LogEntry::BaseTime(_))) => Ok(()),
            Some(Ok(LogEntry::Interval(interval))) => self.add(&interval),
            Some(Err(_)) => Err("neither a comment nor an interval of a log".to_owned()),
        }
    }

    fn add(&mut self, interval: &IntervalLogHistogram<'_>) -> Result<(), String> {
        let decoded = base64::engine::general_purpose::STANDARD.decode(interval.encoded_histogram());
        let payload = decoded.map_err(|error| format!("the histogram is not valid base64: {error}"))?;
        let payload = inflated(&payload)?;
        let counts: hdrhistogram::Histogram<u64> = self
            .deserializer
            .deserialize(&mut payload.as_slice())
            .map_err(|error| format!("the histogram cannot be decoded: {error}"))?;
        let tag = interval.tag().map(|tag| tag.to_string()).unwrap_or_default();
        let sum = self.tags.entry(tag).or_default();
        let values = counts.iter_recorded().fold(0, |sum: u64, one| sum.saturating_add(one.count_at_value()));
        if sum.count().saturating_add(values) > MAX_VALUES {
            return Err("with this line, the log has more values than a run can have".to_owned());
        }
        let mut histogram = Histogram::new();
        for one in counts.iter_recorded() {
            let lowest = counts.lowest_equivalent(one.value_iterated_to());
            histogram.record_n(Nanos(lowest.saturating_mul(self.unit_ns)), one.count_at_value());
        }
        let from_ns = nanos(interval.start_timestamp());
        sum.add(ForeignInterval { from_ns, to_ns: from_ns.saturating_add(nanos(interval.duration())), histogram });
        Ok(())
    }
}

fn nanos(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}

/// First bytes of a compressed histogram.
const COMPRESSED: [u8; 4] = 0x1c84_9314_u32.to_be_bytes();
/// First bytes of an uncompressed histogram.
const PLAIN: [u8; 4] = 0x1c84_9313_u32.to_be_bytes();
/// Bytes before the counts.
const HEAD_BYTES: usize = 40;
/// Limit above the size of a histogram with five digits over all of `u64`.
const MAX_INFLATED_BYTES: u64 = 64 << 20;

/// Decompresses a histogram, and checks its length, because the deserializer trusts it when it reserves memory.
fn inflated(payload: &[u8]) -> Result<Vec<u8>, String> {
    let bytes = match payload.split_first_chunk::<4>() {
        Some((&COMPRESSED, rest)) => {
            let mut inflated = Vec::new();
            let read =
                ZlibDecoder::new(rest.get(4..).unwrap_or_default()).take(MAX_INFLATED_BYTES).read_to_end(&mut inflated);
            read.map_err(|error| format!("the histogram cannot be decompressed: {error}"))?;
            inflated
        }
        Some((&PLAIN, _)) => payload.to_vec(),
        Some(_) | None => return Err("not a histogram of version 2; versions 0 and 1 are not read".to_owned()),
    };
    let said = bytes.get(4..8).and_then(|length| length.try_into().ok()).map(u32::from_be_bytes);
    let there = bytes.len().saturating_sub(HEAD_BYTES);
    match said {
        Some(said) if said as usize <= there => Ok(bytes),
        _ => Err(format!("the histogram says that it has {} bytes of counts, but {there} follow", said.unwrap_or(0))),
    }
}
