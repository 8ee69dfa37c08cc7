use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::{AnswerHead, AnswerReader, EndedRequest, FieldList, Trailers};
use truetail_model::arrival::Arrival;
use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{MAX_PARTS, ReportedTimes};

use crate::kept_answers::KeptAnswers;
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

/// Reads the reported times of one worker's answers. A new name allocates, and nothing else does.
pub(crate) struct TimingObserver {
    plan: Arc<TimingPlan>,
    all: Arc<Mutex<TimingResults>>,
    results: TimingResults,
    /// Times of the answers to the requests in flight.
    open: Vec<ReportedTimes>,
    fields: FieldList,
}

impl TimingObserver {
    pub(crate) fn new(plan: Arc<TimingPlan>, all: Arc<Mutex<TimingResults>>) -> TimingObserver {
        let results = TimingResults::new(&plan, KeptAnswers::with_room());
        TimingObserver { plan, all, results, open: Vec::new(), fields: FieldList::default() }
    }

    fn read(&mut self, request: u32, each_value: impl Fn(&str, &mut dyn FnMut(&[u8]))) {
        let Some(open) = self.open.get_mut(request as usize) else { return };
        let results = &mut self.results;
        for source in &self.plan.sources {
            match source {
                TimingSource::ServerTiming => each_value("server-timing", &mut |value| {
                    let is_read = entries(value, &mut |entry| {
                        if let Some(duration) = entry.duration {
                            add(results, open, entry.name, HeaderUnit::Milliseconds.duration(duration));
                        }
                    });
                    results.unread += u64::from(!is_read);
                }),
                TimingSource::Header { name, unit } => each_value(name, &mut |value| {
                    add(results, open, name.as_bytes(), unit.duration(value));
                }),
            }
        }
    }
}

/// Adds a time to those of an answer. Times with the same name are added up.
fn add(results: &mut TimingResults, open: &mut ReportedTimes, name: &[u8], duration: Option<Nanos>) {
    match duration.and_then(|duration| Some((results.place(name)?, duration))) {
        Some((place, duration)) => open.add(place, duration),
        None => results.unread += 1,
    }
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
        self.read(request, |name, found| head.each_value(name, found));
    }

    fn body(&mut self, _: u32, _: &[u8]) {}

    fn trailers(&mut self, request: u32, trailers: Trailers<'_>) {
        let mut fields = std::mem::take(&mut self.fields);
        trailers.copy_fields(&mut fields);
        self.read(request, |name, found| fields.all(name).for_each(found));
        self.fields = fields;
    }

    fn end(&mut self, request: u32, ended: EndedRequest) {
        let is_measured = ended.arrival.intended_start >= self.plan.measure_from;
        if !is_measured || !matches!(ended.outcome, Outcome::Response { .. }) {
            return;
        }
        let Some(times) = self.open.get(request as usize).copied() else { return };
        if times.is_empty() {
            self.results.without += 1;
        } else {
            self.results.answers += 1;
            self.results.times.keep(&times, ended.end.since(ended.arrival.intended_start));
        }
    }

    fn finish(&mut self, _: Timestamp) {
        let empty = TimingResults::new(&self.plan, KeptAnswers::empty());
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.merge(std::mem::replace(&mut self.results, empty));
    }
}
