//! Values of response headers that the user chose (`--keep-header`).

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::{AnswerHead, AnswerReader, EndedRequest, ObserverFactory};
use truetail_model::arrival::Arrival;
use truetail_model::record::{KeptAnswers, Outcome, Samples};
use truetail_model::time::Timestamp;
use truetail_run::{HeaderPlace, HeaderRow, KeptHeader, KeptHeaders};

/// Limit on the bytes of a value that are kept.
const MAX_VALUE_BYTES: usize = 64;

/// Reads chosen headers of the answers during a run. Clones share the results.
#[derive(Clone, Debug)]
pub struct HeaderRun {
    measure_from: Timestamp,
    all: Arc<Mutex<HeaderResults>>,
    names: Arc<[String]>,
}

/// The values in one worker's answers, or in all.
#[derive(Debug)]
struct HeaderResults {
    headers: Vec<KeptHeader>,
    answers: KeptAnswers<HeaderRow>,
}

impl HeaderResults {
    fn new(names: &[String], answers: KeptAnswers<HeaderRow>) -> HeaderResults {
        HeaderResults { headers: names.iter().map(|name| KeptHeader::new(name)).collect(), answers }
    }

    /// Adds the values of another worker, which may have other places.
    fn merge(&mut self, mut other: HeaderResults) {
        let pairs = self.headers.iter_mut().zip(&other.headers);
        let places: Vec<Vec<HeaderPlace>> = pairs.map(|(header, other)| header.merge(other)).collect();
        other.answers.change_each(|row| row.moved(&places));
        self.answers.merge(other.answers);
    }
}

impl HeaderRun {
    /// Prepares to read the headers with these names, at most [`truetail_run::MAX_KEPT_HEADERS`]. Answers to arrivals
    /// before `measure_from` are left out.
    pub fn new(names: &[String], measure_from: Timestamp) -> HeaderRun {
        let names: Arc<[String]> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        let all = Arc::new(Mutex::new(HeaderResults::new(&names, KeptAnswers::with_room())));
        HeaderRun { measure_from, all, names }
    }

    /// Returns a factory of observers, for [`truetail_engine::Plan::observer`].
    pub fn observer_factory(&self) -> ObserverFactory {
        let run = self.clone();
        ObserverFactory::new(move || {
            let results = HeaderResults::new(&run.names, KeptAnswers::with_room());
            Box::new(HeaderObserver { run: run.clone(), results, open: Vec::new(), value: Vec::new() })
        })
    }

    /// Returns the values in the answers to the requests in `samples`. Call this after the run.
    pub fn facts(&self, samples: &Samples) -> KeptHeaders {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        KeptHeaders { headers: all.headers.clone(), rows: all.answers.of_samples(samples) }
    }
}

/// Reads the headers of one worker's answers. A new value allocates, and so does one that is no UTF-8.
struct HeaderObserver {
    run: HeaderRun,
    results: HeaderResults,
    /// Values in the answers to the requests in flight; `None` for the warm-up.
    open: Vec<Option<HeaderRow>>,
    value: Vec<u8>,
}

impl HeaderObserver {
    fn read(&mut self, request: u32, head: AnswerHead<'_>) {
        let Some(Some(row)) = self.open.get_mut(request as usize) else { return };
        for (nth, header) in self.results.headers.iter_mut().enumerate() {
            let value = &mut self.value;
            value.clear();
            head.each_value(&header.name, &mut |part| add(value, part));
            row.set(nth, header.place(&text(value)));
        }
    }
}

/// Adds a field to the value of an answer, up to the limit.
fn add(value: &mut Vec<u8>, field: &[u8]) {
    let separator: &[u8] = if value.is_empty() { b"" } else { b", " };
    for part in [separator, field.trim_ascii()] {
        let room = MAX_VALUE_BYTES - value.len();
        value.extend_from_slice(&part[..part.len().min(room)]);
    }
}

/// Returns a value as text, without a character that the limit cut.
fn text(value: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(value) {
        Err(cut) if cut.error_len().is_none() => String::from_utf8_lossy(&value[..cut.valid_up_to()]),
        _ => String::from_utf8_lossy(value),
    }
}

impl AnswerReader for HeaderObserver {
    fn begin(&mut self, request: u32, _: u32, arrival: Arrival) {
        let place = request as usize;
        if self.open.len() <= place {
            self.open.resize(place + 1, None);
        }
        let is_measured = arrival.intended_start >= self.run.measure_from;
        self.open[place] = is_measured.then(|| HeaderRow::new(arrival.index));
    }

    fn head(&mut self, request: u32, head: AnswerHead<'_>) {
        self.read(request, head);
    }

    fn body(&mut self, _: u32, _: &[u8]) {}

    fn end(&mut self, request: u32, ended: EndedRequest) {
        let Some(Some(row)) = self.open.get(request as usize) else { return };
        if !matches!(ended.outcome, Outcome::Response { .. }) {
            return;
        }
        for (nth, header) in self.results.headers.iter_mut().enumerate() {
            header.count(row.get(nth), 1);
        }
        self.results.answers.keep(row, ended.end.since(ended.arrival.intended_start));
    }

    fn finish(&mut self, _: Timestamp) {
        let empty = HeaderResults::new(&[], KeptAnswers::empty());
        let mut all = self.run.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.merge(std::mem::replace(&mut self.results, empty));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answered::observe_answers;

    fn read(run: &HeaderRun, answers: &[&[(&str, &str)]]) -> KeptHeaders {
        run.facts(&observe_answers(&run.observer_factory(), answers))
    }

    #[test]
    fn values_of_all_workers_are_one_list() {
        let run = HeaderRun::new(&["X-Cache".to_owned(), "via".to_owned()], Timestamp(1));
        let long = format!("{}é", "v".repeat(63));
        let kept = read(
            &run,
            &[
                &[("x-cache", "WARMUP")],
                &[("X-Cache", "HIT"), ("via", "a"), ("via", " b ")],
                &[("x-cache", "MISS"), ("via", &long)],
                &[("x-cache", ""), ("other", "HIT")],
                &[("x-cache", "HIT")],
            ],
        );
        let counts = |nth: usize| {
            let header: &KeptHeader = &kept.headers[nth];
            let values = header.values.iter().map(|value| (value.value.as_str(), value.answers));
            (values.collect::<Vec<_>>(), header.without, header.further)
        };
        assert_eq!(counts(0), (vec![("HIT", 2), ("MISS", 1)], 1, 0));
        assert_eq!(counts(1), (vec![("a, b", 1), (&long[..63], 1)], 2, 0));
        let first: Vec<_> = (0..5).map(|index| kept.of(index).map(|row| row.get(0))).collect();
        let value = |place| Some(HeaderPlace::Value(place));
        assert_eq!(first, [None, value(0), value(1), Some(HeaderPlace::Without), value(0)]);
    }
}
