//! JMeter's results as XML. They are streamed, because such a file has the same rows as the CSV and can be as long.
//!
//! Each child of `testResults` is a sample. Samples within a sample are its parts, such as redirects, which JMeter's
//! CSV leaves out too. The samples within a transaction are its requests.

use std::collections::HashMap;
use std::io::BufRead;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use truetail_model::record::Outcome;
use truetail_model::time::Nanos;
use truetail_run::{
    Claims, FilePlace, ForeignClock, ForeignLoad, ForeignRequest, ForeignRun, ForeignStarts, LatencyFrom, UnusedRows,
};
use truetail_tools::FailureClassifier;

use super::bounded::{Bounded, Progress};
use super::no_exchange;
use crate::exchange::{NoExchange, NoExchanges};
use crate::whole::file::{content, counted, leave_out, run, text};
use crate::{Excerpt, Format, FormatInfo, ImportError, ImportOptions, Likeness, RequestSink};

pub(crate) struct JMeterXml;

const INFO: &FormatInfo = &FormatInfo { name: "jmeter-xml", about: "JMeter results as XML", tool: Some("jmeter") };

const NANOS_PER_MILLI: u64 = 1_000_000;

/// Limit on the names of threads. Requests of later threads get no number.
const MAX_THREADS: usize = 1 << 20;

impl Format for JMeterXml {
    fn info(&self) -> &'static FormatInfo {
        INFO
    }

    fn likeness(&self, excerpt: &Excerpt<'_>) -> Likeness {
        let head = excerpt.text();
        match (head.contains("<testResults"), head.contains("<httpSample ") || head.contains("<sample ")) {
            (true, true) => Likeness::Yes,
            (true, false) => Likeness::Near("it has 'testResults', but no 'httpSample' and no 'sample'".to_owned()),
            (false, _) => Likeness::No,
        }
    }

    fn read(
        &self,
        input: &mut dyn BufRead,
        _options: &ImportOptions,
        sink: &mut RequestSink<'_>,
    ) -> Result<ForeignRun, ImportError> {
        counted(INFO, sink, |sink| read(input, sink))
    }
}

fn read(input: &mut dyn BufRead, sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    let progress = Progress::default();
    let mut reader = Reader::from_reader(Bounded::new(input, &progress));
    let mut samples = Samples::default();
    let mut buffer = Vec::new();
    let mut depth = 0u32;
    loop {
        buffer.clear();
        let place = progress.next_token();
        let event = match reader.read_event_into(&mut buffer) {
            Ok(event) => event,
            Err(error) => return samples.broken(place, &error),
        };
        match event {
            Event::Start(element) => {
                samples.take(depth, &element, place, sink);
                depth += 1;
            }
            Event::Empty(element) => samples.take(depth, &element, place, sink),
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Eof if depth > 0 => {
                samples.damage.truncated_at = Some(place);
                break;
            }
            Event::Eof => break,
            Event::Text(_) | Event::CData(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            Event::DocType(_) | Event::GeneralRef(_) => {}
        }
    }
    Ok(samples.finish())
}

/// Summary of the samples.
#[derive(Default)]
struct Samples {
    rows: u64,
    failed: u64,
    parts: u64,
    /// Number of transactions that enclose the current element.
    transactions: u32,
    no_exchanges: NoExchanges,
    users: Option<u32>,
    threads: HashMap<Box<[u8]>, u32>,
    failures: FailureClassifier,
    damage: UnusedRows,
}

/// The used attributes of a sample.
#[derive(Default)]
struct Sample {
    elapsed_ms: Option<u64>,
    start_ms: Option<u64>,
    code: String,
    message: String,
    thread: Option<Box<[u8]>>,
    succeeded: bool,
    bytes_in: Option<u64>,
    all_threads: Option<u32>,
}

impl Samples {
    fn take(&mut self, depth: u32, element: &BytesStart<'_>, place: FilePlace, sink: &mut RequestSink<'_>) {
        if !matches!(element.name().as_ref(), b"httpSample" | b"sample") {
            return;
        }
        // The samples of a transaction are within its own.
        self.transactions = self.transactions.min(depth.saturating_sub(1));
        if depth > self.transactions + 1 {
            self.parts += 1;
            return;
        }
        let sample = Sample::read(element);
        if let Some(why) = sample.as_ref().ok().and_then(|sample| no_exchange(sample.message.as_bytes())) {
            self.no_exchanges.add(why);
            if why == NoExchange::Transaction {
                self.transactions = depth;
            }
            return;
        }
        match sample.and_then(|sample| self.request(sample)) {
            Ok(request) => sink(&request),
            Err(why) => leave_out(&mut self.damage, || (place, why)),
        }
    }

    fn request(&mut self, sample: Sample) -> Result<ForeignRequest, String> {
        let lacks = |name: &str| format!("the attribute '{name}' is missing, negative or not a number");
        let elapsed = sample.elapsed_ms.and_then(|ms| ms.checked_mul(NANOS_PER_MILLI)).ok_or_else(|| lacks("t"))?;
        let start = sample.start_ms.and_then(|ms| ms.checked_mul(NANOS_PER_MILLI)).ok_or_else(|| lacks("ts"))?;
        let outcome = match sample.code.parse() {
            Ok(status) => Outcome::response(status),
            Err(_) if sample.succeeded => Outcome::ANSWERED,
            Err(_) => self.failures.classify(&format!("{}: {}", sample.code, sample.message)),
        };
        self.rows += 1;
        self.failed += u64::from(!sample.succeeded);
        self.users = self.users.max(sample.all_threads);
        let worker = sample.thread.and_then(|thread| self.number_of(thread));
        Ok(ForeignRequest {
            worker,
            bytes_in: sample.bytes_in,
            ..ForeignRequest::new(Some(start), Nanos(elapsed), outcome)
        })
    }

    /// Returns the number of a thread, in order of appearance.
    fn number_of(&mut self, thread: Box<[u8]>) -> Option<u32> {
        let next = self.threads.len();
        if next >= MAX_THREADS {
            return self.threads.get(&thread).copied();
        }
        Some(*self.threads.entry(thread).or_insert(next as u32))
    }

    /// Ends a file that is not XML from `place` on.
    fn broken(mut self, place: FilePlace, error: &quick_xml::Error) -> Result<ForeignRun, ImportError> {
        let what = format!("from byte {} on this is no XML: {error}", place.byte);
        if self.rows == 0 {
            return Err(content(place, what));
        }
        self.damage.first.get_or_insert((place, what));
        self.damage.truncated_at = Some(place);
        Ok(self.finish())
    }

    fn finish(self) -> ForeignRun {
        let Samples { rows, failed, parts, no_exchanges, users, failures, damage, .. } = self;
        let claims = Claims {
            measured: Some(rows),
            requests: Some(rows),
            failed: Some(failed),
            ..Claims::silent(LatencyFrom::Send)
        };
        let clock = ForeignClock {
            starts: ForeignStarts::Unix,
            start_resolution_ns: NANOS_PER_MILLI,
            duration_resolution_ns: NANOS_PER_MILLI,
        };
        let mut notes = failures.notes();
        notes.extend(no_exchanges.note());
        if parts > 0 {
            notes.push(format!("samples that are parts of others and were not read: {parts}"));
        }
        ForeignRun { clock, load: ForeignLoad { users, ..ForeignLoad::default() }, damage, notes, ..run(claims) }
    }
}

impl Sample {
    fn read(element: &BytesStart<'_>) -> Result<Sample, String> {
        let mut sample = Sample::default();
        for attribute in element.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| error.to_string())?;
            let value = &attribute.value;
            match attribute.key.as_ref() {
                b"t" => sample.elapsed_ms = number(value),
                b"ts" => sample.start_ms = number(value),
                b"rc" => sample.code = text(value).into_owned(),
                b"rm" => sample.message = text(value).into_owned(),
                b"tn" => sample.thread = Some(value.as_ref().into()),
                b"s" => sample.succeeded = value.as_ref() == b"true",
                b"by" => sample.bytes_in = number(value),
                b"na" => sample.all_threads = number(value).and_then(|threads| threads.try_into().ok()),
                _ => {}
            }
        }
        Ok(sample)
    }
}

fn number(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}
