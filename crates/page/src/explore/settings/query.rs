//! Settings as the text of a link: `rate=1000&spacing=even&…`. Each time is a number in the unit of its slider.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use truetail_model::arrival::Spacing;
use truetail_model::service::{Fault, Gate, Service, Variation};
use truetail_model::time::{Nanos, Rate, Timestamp};
use truetail_model::workload::Limits;

use super::field::{Field, Unit};
use super::{ClosedEnd, Settings};

const MAX_BYTES: usize = 2_000;

/// Choices: each key, with the words for its values.
const SPACING: (&str, [(&str, Spacing); 2]) = ("spacing", [("even", Spacing::Even), ("poisson", Spacing::Poisson)]);
const CLOSED_END: (&str, [(&str, ClosedEnd); 2]) =
    ("closed-end", [("duration", ClosedEnd::Duration), ("requests", ClosedEnd::Requests)]);
const VARIATION: (&str, [(&str, Variation); 2]) =
    ("variation", [("constant", Variation::Constant), ("exponential", Variation::Exponential)]);
const GATE: (&str, [(&str, Gate); 2]) = ("stall-gate", [("answers", Gate::Answers), ("arrivals", Gate::Arrivals)]);

/// An error in settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingsError {
    /// Key of the faulty setting; empty if the error concerns no particular setting.
    pub key: String,
    /// Description of the problem, and a remedy.
    pub message: String,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SettingsError {}

type Result<T> = std::result::Result<T, SettingsError>;

fn error(key: &str, message: impl Into<String>) -> SettingsError {
    SettingsError { key: key.to_owned(), message: message.into() }
}

impl Settings {
    /// Parses the output of [`Settings::to_query`], in any order.
    ///
    /// # Errors
    /// [`SettingsError`] names the setting that is missing, unknown or out of range.
    pub fn parse(text: &str) -> Result<Settings> {
        let mut given = QueryValues::read(text)?;
        let service = service(&mut given)?;
        let settings = Settings {
            service,
            rate: Rate::per_second(given.number(Field::Rate)?).map_err(|e| error("rate", e.to_string()))?,
            spacing: given.choice(SPACING)?,
            duration: given.time(Field::Duration)?,
            users: given.number(Field::Users)? as u32,
            closed_end: given.choice(CLOSED_END)?,
            limits: limits(&mut given)?,
        };
        given.no_more()?;
        Ok(settings)
    }

    /// Formats the settings as the text of a link.
    pub fn to_query(&self) -> String {
        let mut query = QueryWriter::default();
        query.number(Field::Rate, self.rate.as_per_second());
        query.word(SPACING, self.spacing);
        query.time(Field::Duration, self.duration);
        query.number(Field::Users, f64::from(self.users));
        query.word(CLOSED_END, self.closed_end);
        query.time(Field::Baseline, self.service.baseline);
        query.word(VARIATION, self.service.variation);
        query.count(Field::Concurrency, self.service.concurrency);
        self.service.faults.iter().for_each(|fault| query.fault(fault));
        query.count(Field::Connections, self.limits.connections);
        if let Some(timeout) = self.limits.timeout {
            query.time(Field::Timeout, timeout);
        }
        query.time(Field::Drain, self.limits.drain);
        query.0
    }
}

fn service(given: &mut QueryValues<'_>) -> Result<Service> {
    let mut service = Service::healthy(given.time(Field::Baseline)?);
    service.variation = given.choice(VARIATION)?;
    service.concurrency = given.count(Field::Concurrency)?;
    let faults = [stall(given)?, ramp(given)?, every_nth(given)?];
    service.faults = faults.into_iter().flatten().collect();
    Ok(service)
}

fn limits(given: &mut QueryValues<'_>) -> Result<Limits> {
    Ok(Limits {
        connections: given.count(Field::Connections)?,
        timeout: given.time_if_any(Field::Timeout)?,
        drain: given.time(Field::Drain)?,
        ..Limits::default()
    })
}

fn stall(given: &mut QueryValues<'_>) -> Result<Option<Fault>> {
    let Some(length) = given.time_if_any(Field::StallFor)? else { return Ok(None) };
    let at = Timestamp(given.time(Field::StallAt)?.0);
    let gate = given.choice(GATE)?;
    let Some(every) = given.time_if_any(Field::StallEvery)? else {
        return Ok(Some(Fault::Stall { at, length, gate }));
    };
    if every <= length {
        let message = format!(
            "stalls of {length} every {every} leave no gap between them, so no request is ever answered; make them \
             shorter or rarer"
        );
        return Err(error(Field::StallEvery.spec().key, message));
    }
    let times = given.number_if_any(Field::StallTimes)?.map(|times| times as u64);
    Ok(Some(Fault::RecurringStall { first: at, every, length, times, gate }))
}

fn ramp(given: &mut QueryValues<'_>) -> Result<Option<Fault>> {
    let Some(target) = given.time_if_any(Field::RampTarget)? else { return Ok(None) };
    let from = given.time(Field::RampFrom)?;
    let to = given.time(Field::RampTo)?;
    if to <= from {
        let message = format!("a slowdown from {from} to {to} has no length; let it end later than it begins");
        return Err(error(Field::RampTo.spec().key, message));
    }
    Ok(Some(Fault::Ramp { from: Timestamp(from.0), to: Timestamp(to.0), target }))
}

fn every_nth(given: &mut QueryValues<'_>) -> Result<Option<Fault>> {
    let Some(every) = given.number_if_any(Field::NthEvery)? else { return Ok(None) };
    Ok(Some(Fault::EveryNth { every: every as u64, pause: given.time(Field::NthPause)? }))
}

/// The settings of a link by key. Parsed settings are removed.
struct QueryValues<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> QueryValues<'a> {
    fn read(text: &'a str) -> Result<QueryValues<'a>> {
        if text.len() > MAX_BYTES {
            return Err(error("", format!("a link of {} bytes is too long; at most {MAX_BYTES}", text.len())));
        }
        let mut given = BTreeMap::new();
        for part in text.split('&').filter(|part| !part.is_empty()) {
            let Some((key, value)) = part.split_once('=') else {
                return Err(error("", format!("'{part}' is no setting; write KEY=VALUE")));
            };
            if given.insert(key, value).is_some() {
                return Err(error(key, format!("'{key}' is there twice; keep one")));
            }
        }
        Ok(QueryValues(given))
    }

    fn number_if_any(&mut self, field: Field) -> Result<Option<f64>> {
        let spec = field.spec();
        let Some(text) = self.0.remove(spec.key) else { return Ok(None) };
        let wrong = |problem: &str| {
            let range = spec.range();
            error(spec.key, format!("'{}' {problem}, not '{text}'; it goes from {range}", spec.label))
        };
        let number: f64 = text.parse().map_err(|_| wrong("is a number"))?;
        if !(spec.least..=spec.most).contains(&number) {
            return Err(wrong("is out of range"));
        }
        if spec.unit == Unit::Count && number.fract() != 0.0 {
            return Err(wrong("is a whole number"));
        }
        Ok(Some(number))
    }

    fn number(&mut self, field: Field) -> Result<f64> {
        let spec = field.spec();
        let missing = || error(spec.key, format!("'{}' is missing; it goes from {}", spec.key, spec.range()));
        self.number_if_any(field)?.ok_or_else(missing)
    }

    fn count(&mut self, field: Field) -> Result<Option<u32>> {
        Ok(self.number_if_any(field)?.map(|number| number as u32))
    }

    fn time_if_any(&mut self, field: Field) -> Result<Option<Nanos>> {
        let unit = field.spec().unit.nanos().expect("the field is a time");
        Ok(self.number_if_any(field)?.map(|number| Nanos((number * unit).round() as u64)))
    }

    fn time(&mut self, field: Field) -> Result<Nanos> {
        let unit = field.spec().unit.nanos().expect("the field is a time");
        Ok(Nanos((self.number(field)? * unit).round() as u64))
    }

    fn choice<T: Copy, const N: usize>(&mut self, (key, words): (&str, [(&str, T); N])) -> Result<T> {
        let given = self.0.remove(key).unwrap_or_default();
        let found = words.iter().find(|(word, _)| *word == given).map(|(_, value)| *value);
        found.ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            error(key, format!("'{key}' is one of {}, not '{given}'", words.join(", ")))
        })
    }

    fn no_more(self) -> Result<()> {
        match self.0.into_keys().next() {
            None => Ok(()),
            Some(key) => Err(error(key, format!("'{key}' is no setting, or belongs to one that is not given"))),
        }
    }
}

/// A link under construction.
#[derive(Default)]
struct QueryWriter(String);

impl QueryWriter {
    fn put(&mut self, key: &str, value: impl fmt::Display) {
        let separator = if self.0.is_empty() { "" } else { "&" };
        let _ = write!(self.0, "{separator}{key}={value}");
    }

    fn number(&mut self, field: Field, number: f64) {
        self.put(field.spec().key, number);
    }

    fn count(&mut self, field: Field, count: Option<u32>) {
        if let Some(count) = count {
            self.put(field.spec().key, count);
        }
    }

    fn time(&mut self, field: Field, time: Nanos) {
        let unit = field.spec().unit.nanos().expect("the field is a time");
        self.put(field.spec().key, time.0 as f64 / unit);
    }

    fn word<T: PartialEq, const N: usize>(&mut self, (key, words): (&str, [(&str, T); N]), value: T) {
        if let Some((word, _)) = words.iter().find(|(_, one)| *one == value) {
            self.put(key, word);
        }
    }

    /// Omits faults without a slider, so that the text does not parse as the same settings.
    fn fault(&mut self, fault: &Fault) {
        match *fault {
            Fault::Stall { at, length, gate } => self.stall(at, length, gate),
            Fault::RecurringStall { first, every, length, times, gate } => {
                self.stall(first, length, gate);
                self.time(Field::StallEvery, every);
                if let Some(times) = times {
                    self.put(Field::StallTimes.spec().key, times);
                }
            }
            Fault::Ramp { from, to, target } => {
                self.time(Field::RampFrom, from.since_origin());
                self.time(Field::RampTo, to.since_origin());
                self.time(Field::RampTarget, target);
            }
            Fault::EveryNth { every, pause } => {
                self.put(Field::NthEvery.spec().key, every);
                self.time(Field::NthPause, pause);
            }
            Fault::ErrorStatus { .. }
            | Fault::Reset { .. }
            | Fault::BlackHole { .. }
            | Fault::SlowBody { .. }
            | Fault::ShortBody { .. }
            | Fault::Garbage { .. } => {}
        }
    }

    fn stall(&mut self, at: Timestamp, length: Nanos, gate: Gate) {
        self.time(Field::StallAt, at.since_origin());
        self.time(Field::StallFor, length);
        self.word(GATE, gate);
    }
}
