//! Reading of the answers of one worker.

use std::sync::Arc;

use truetail_engine::AnswerHead;
use truetail_model::record::KeptAnswers;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{MAX_PARTS, ReportedTimes};

use crate::head_log::{Entry, HeadLog};
use crate::remembered::{Notes, Remembered};
use crate::server_timing::entries;
use crate::source::{HeaderUnit, TimingSource};

/// The headers to read, the same for all workers.
#[derive(Clone, Debug)]
pub(crate) struct TimingPlan {
    pub(crate) sources: Vec<TimingSource>,
    /// Names that have a place before any answer came.
    pub(crate) names: Vec<String>,
    pub(crate) measure_from: Timestamp,
}

/// The times of one worker's answers, or of all.
#[derive(Clone, Debug)]
pub(crate) struct TimingResults {
    pub(crate) names: Vec<String>,
    pub(crate) answers: u64,
    pub(crate) without: u64,
    pub(crate) unread: u64,
    pub(crate) times: KeptAnswers<ReportedTimes>,
}

impl TimingPlan {
    /// Returns the names of the headers, in the order of the sources.
    pub(crate) fn headers(&self) -> Vec<String> {
        self.sources.iter().map(|source| source.header().to_owned()).collect()
    }
}

impl TimingResults {
    pub(crate) fn new(plan: &TimingPlan, times: KeptAnswers<ReportedTimes>) -> TimingResults {
        TimingResults { names: plan.names.clone(), answers: 0, without: 0, unread: 0, times }
    }

    /// Returns the place of a name; `None` if all places are taken.
    fn place(&mut self, name: &[u8]) -> Option<usize> {
        let known = self.names.iter().position(|other| other.as_bytes() == name);
        known.or_else(|| {
            let name = std::str::from_utf8(name).ok().filter(|_| self.names.len() < MAX_PARTS)?;
            self.names.push(name.to_owned());
            Some(self.names.len() - 1)
        })
    }

    /// Adds the times of another worker, whose names may have other places.
    pub(crate) fn merge(&mut self, mut other: TimingResults) {
        self.answers += other.answers;
        self.without += other.without;
        self.unread += other.unread;
        let places: Vec<Option<usize>> = other.names.iter().map(|name| self.place(name.as_bytes())).collect();
        self.unread += places.iter().filter(|place| place.is_none()).count() as u64;
        if places.iter().enumerate().any(|(from, to)| Some(from) != *to) {
            other.times.change_each(|times| times.moved(&places));
        }
        self.times.merge(other.times);
    }
}

/// Reads the reported times of one worker's answers.
#[derive(Debug)]
pub(crate) struct TimingReader {
    plan: Arc<TimingPlan>,
    pub(crate) results: TimingResults,
    /// Times of the answers that have begun, by slot. Their index is not known yet.
    open: Vec<ReportedTimes>,
    /// The names of the headers to read, in the order of the sources.
    headers: Vec<String>,
    /// A head of HTTP/1.1.
    head: Remembered,
    /// A value of `Server-Timing`.
    value: Remembered,
}

impl TimingReader {
    pub(crate) fn new(plan: Arc<TimingPlan>) -> TimingReader {
        let results = TimingResults::new(&plan, KeptAnswers::with_room());
        let (head, value) = Default::default();
        TimingReader { results, open: Vec::new(), headers: plan.headers(), plan, head, value }
    }

    /// Reads the entries of a log. The logs that the worker handed over before must have been read.
    pub(crate) fn read_log(&mut self, log: &HeadLog) {
        log.each(|slot, entry| {
            if self.open.len() <= slot as usize {
                self.open.resize(slot as usize + 1, ReportedTimes::none(0));
            }
            match entry {
                Entry::Fields => self.open[slot as usize] = ReportedTimes::none(0),
                Entry::Head(text) => self.begin(slot, text),
                Entry::Value(source, value) => self.read(slot, source.into(), value, None),
                Entry::End { index, response_time } => self.end(slot, index, response_time),
            }
        });
    }

    fn begin(&mut self, slot: u32, text: &[u8]) {
        let open = &mut self.open[slot as usize];
        *open = ReportedTimes::none(0);
        if !self.head.read(text, open) {
            self.read_head(slot, text);
        }
    }

    fn end(&mut self, slot: u32, index: u64, response_time: Nanos) {
        let times = std::mem::replace(&mut self.open[slot as usize], ReportedTimes::none(0));
        if times.is_empty() {
            self.results.without += 1;
        } else {
            self.results.answers += 1;
            self.results.times.keep(&times.of_request(index), response_time);
        }
    }

    /// Reads a head that is not like the one before.
    fn read_head(&mut self, slot: u32, text: &[u8]) {
        let mut notes = self.head.notes(text);
        let headers = std::mem::take(&mut self.headers);
        let head = AnswerHead::with_text(200, text);
        head.each_value_of(&headers, &mut |nth, value| self.read(slot, nth, value, notes.as_mut()));
        self.headers = headers;
        if let Some(notes) = notes {
            self.head.keep(&notes);
        }
    }

    /// Reads a value of the header of source `nth`.
    fn read(&mut self, slot: u32, nth: usize, value: &[u8], mut of_head: Option<&mut Notes<'_>>) {
        let open = &mut self.open[slot as usize];
        let results = &mut self.results;
        match &self.plan.sources[nth] {
            TimingSource::ServerTiming => {
                // A head is kept with its numbers, so it needs them.
                if of_head.is_none() && self.value.read(value, open) {
                    return;
                }
                let mut of_value = self.value.notes(value);
                let is_read = entries(value, &mut |entry| {
                    let Some(duration) = entry.duration else { return };
                    let place = add(results, open, entry.name, HeaderUnit::Milliseconds.duration(duration));
                    if let Some(notes) = &mut of_value {
                        notes.time(duration, HeaderUnit::Milliseconds, place);
                    }
                    if let Some(notes) = &mut of_head {
                        notes.time(duration, HeaderUnit::Milliseconds, place);
                    }
                });
                results.unread += u64::from(!is_read);
                if let Some(mut notes) = of_value {
                    notes.end(is_read);
                    self.value.keep(&notes);
                }
                if let Some(notes) = of_head {
                    notes.end(is_read);
                }
            }
            TimingSource::Header { name, unit } => {
                let place = add(results, open, name.as_bytes(), unit.duration(value));
                if let Some(notes) = of_head {
                    notes.time(value, *unit, place);
                }
            }
        }
    }
}

/// Adds a time to an answer's, and returns the place of its name. Times with the same name are added up. Returns
/// `None` if it is left out.
fn add(results: &mut TimingResults, open: &mut ReportedTimes, name: &[u8], duration: Option<Nanos>) -> Option<usize> {
    let added = duration.and_then(|duration| Some((results.place(name)?, duration)));
    match added {
        Some((place, duration)) => open.add(place, duration),
        None => results.unread += 1,
    }
    added.map(|(place, _)| place)
}
