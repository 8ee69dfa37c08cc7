use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::{AnswerHead, AnswerReader, EndedRequest, FieldList, Trailers};
use truetail_model::arrival::Arrival;
use truetail_model::record::{KeptAnswers, Outcome};
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{MAX_PARTS, ReportedTimes};

use crate::remembered::{Notes, Remembered};
use crate::server_timing::entries;
use crate::source::{HeaderUnit, TimingSource};

/// What the observers of a run read, the same for all.
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

/// Reads the reported times of one worker's answers. A new name allocates, and so does an answer that is
/// kept to compare the next ones with it.
pub(crate) struct TimingObserver {
    plan: Arc<TimingPlan>,
    all: Arc<Mutex<TimingResults>>,
    results: TimingResults,
    /// Times of the answers to the requests in flight.
    open: Vec<ReportedTimes>,
    /// The names of the headers to read, in the order of the sources.
    headers: Vec<String>,
    /// A head of HTTP/1.1.
    head: Remembered,
    /// A value of `Server-Timing`.
    value: Remembered,
    fields: FieldList,
}

impl TimingObserver {
    pub(crate) fn new(plan: Arc<TimingPlan>, all: Arc<Mutex<TimingResults>>) -> TimingObserver {
        let results = TimingResults::new(&plan, KeptAnswers::with_room());
        let headers = plan.sources.iter().map(|source| source.header().to_owned()).collect();
        TimingObserver {
            plan,
            all,
            results,
            open: Vec::new(),
            headers,
            head: Remembered::default(),
            value: Remembered::default(),
            fields: FieldList::default(),
        }
    }

    /// Reads the head of an answer that is not like the one before.
    #[cold]
    #[inline(never)]
    fn read_head(&mut self, request: u32, head: AnswerHead<'_>) {
        let mut notes = head.text().and_then(|text| self.head.notes(text));
        let headers = std::mem::take(&mut self.headers);
        head.each_value_of(&headers, &mut |nth, value| self.read(request, nth, value, notes.as_mut()));
        self.headers = headers;
        if let Some(notes) = notes {
            self.head.keep(&notes);
        }
    }

    /// Reads a value of the header of source `nth`.
    fn read(&mut self, request: u32, nth: usize, value: &[u8], mut of_head: Option<&mut Notes<'_>>) {
        let Some(open) = self.open.get_mut(request as usize) else { return };
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

impl AnswerReader for TimingObserver {
    fn begin(&mut self, request: u32, _: u32, arrival: Arrival) {
        let place = request as usize;
        if self.open.len() <= place {
            self.open.resize(place + 1, ReportedTimes::none(0));
        }
        self.open[place] = ReportedTimes::none(arrival.index);
    }

    fn head(&mut self, request: u32, head: AnswerHead<'_>) {
        let Some(open) = self.open.get_mut(request as usize) else { return };
        if !head.text().is_some_and(|text| self.head.read(text, open)) {
            self.read_head(request, head);
        }
    }

    fn body(&mut self, _: u32, _: &[u8]) {}

    fn trailers(&mut self, request: u32, trailers: Trailers<'_>) {
        let mut fields = std::mem::take(&mut self.fields);
        trailers.copy_fields(&mut fields);
        let headers = std::mem::take(&mut self.headers);
        for (nth, name) in headers.iter().enumerate() {
            fields.all(name).for_each(|value| self.read(request, nth, value, None));
        }
        (self.headers, self.fields) = (headers, fields);
    }

    fn end(&mut self, request: u32, ended: EndedRequest) {
        let is_measured = ended.arrival.intended_start >= self.plan.measure_from;
        if !is_measured || !matches!(ended.outcome, Outcome::Response { .. }) {
            return;
        }
        let Some(times) = self.open.get(request as usize) else { return };
        if times.is_empty() {
            self.results.without += 1;
        } else {
            self.results.answers += 1;
            self.results.times.keep(times, ended.end.since(ended.arrival.intended_start));
        }
    }

    fn finish(&mut self, _: Timestamp) {
        let empty = TimingResults::new(&self.plan, KeptAnswers::empty());
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.merge(std::mem::replace(&mut self.results, empty));
    }
}
