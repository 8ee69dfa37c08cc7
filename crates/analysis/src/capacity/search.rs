//! The rates to probe, and what their answers prove.
//!
//! 1. Bracketing doubles the rate while the service meets its objectives, and halves it while the service misses them.
//! 2. Refinement narrows the bracket on a logarithmic scale to the resolution. [`super::aim`] chooses the rates.
//! 3. Confirmation probes both ends again, at full length or longer: the upper end after a higher rate, the lower end
//!    after a lower one. [`super::ends`] chooses the ends.
//!
//! Only confirmation decides how sure the result is. It uses new data, so the first two steps do not bias it: each end
//! is wrong with probability at most (1 − confidence)/2. An end that needs several confirmations gets a smaller part of
//! this probability each time, and all parts add up to it. The state is a pure function of the recorded probes, so a
//! search can be resumed from its journal.

use serde::{Deserialize, Serialize};
use truetail_model::time::Nanos;

use super::aim::{self, ProbeRatio};
use super::answer::Answer;
use super::ends::{Confirmed, Ends};
use super::limit_estimate::LimitEstimate;
use super::probe_spec::{FinishedProbe, ProbeSpec, Purpose};
use super::rates::{highest, lowest, rounded};

const BRACKET_FACTOR: f64 = 2.0;
/// Part of its error probability that an end may spend at first. Each later confirmation gets that part of the rest.
const FIRST_PART: f64 = 0.6;
/// Longest confirmation, in multiples of the full length.
const LONGEST_CONFIRMATION: u64 = 8;
/// Limit on the probes of the same rate while the generator spoils it.
const MAX_SPOILT_PROBES: u32 = 2;
/// One-sided error probability of a probe that only chooses the next rate. A wrong answer there costs time.
const SEARCH_LEVEL: f64 = 0.1;
/// Largest weight of a probe in the estimate of the limit. A short probe with an answer has weight 1.
const CONFIRMATION_WEIGHT: f64 = 4.0;
/// The first look waits for this many allowed bad requests, and the probe lasts at least until the second number.
const ALLOWED_AT_LEAST: (f64, f64) = (5.0, 25.0);
/// Probes become four times as long at most this many times. Twice as long would rarely be enough.
const MAX_LENGTHENINGS: u32 = 10;

/// Limits of a search.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct SearchLimits {
    /// Lowest rate to probe, in requests per second.
    pub min_rate: f64,
    /// Highest rate to probe, in requests per second.
    pub max_rate: f64,
    /// First rate to probe, in requests per second.
    pub first_rate: f64,
    /// Largest relative distance between the ends of a narrow enough bracket, such as 0.05.
    pub resolution: f64,
    /// Confidence of the result, such as 0.95.
    pub confidence: f64,
    /// Full length of a probe.
    pub full_length: Nanos,
    /// Smallest share of bad requests that any objective allows. Probes are long enough to see events this rare.
    pub allowed: f64,
}

/// Outcome of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchState {
    /// Both ends are proven, and the bracket is narrow enough.
    Found,
    /// The service misses its objectives even at the lowest rate.
    BelowRange,
    /// The service meets its objectives even at the highest rate.
    AboveRange,
    /// The generator cannot offer a higher rate.
    GeneratorLimit,
    /// The time is up, or the search was interrupted.
    OutOfTime,
}

/// Next step of a search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Step {
    /// Make this probe.
    Probe(ProbeSpec),
    /// Stop, because nothing is left to probe.
    Done(SearchState),
}

/// Search for capacity.
#[derive(Clone, PartialEq, Debug)]
pub struct Search {
    limits: SearchLimits,
    /// Rates that met, in the order of their probes. All are below the rates that missed.
    met: Vec<f64>,
    missed: Vec<f64>,
    /// Rates that stayed open since probes last became longer.
    open: Vec<f64>,
    /// Probes that help to estimate the limit.
    curve: Vec<ProbeRatio>,
    confirmed: Confirmed,
    /// Lowest rate that the generator spoilt twice.
    ceiling: Option<f64>,
    /// Probe to repeat, with the number of attempts.
    again: Option<(ProbeSpec, u32)>,
    lengthened: u32,
    /// True if short probes can no longer improve the estimate of the limit.
    is_aimed: bool,
}

impl Search {
    /// Creates a search without probes.
    pub fn new(limits: SearchLimits) -> Search {
        Search {
            limits,
            met: Vec::new(),
            missed: Vec::new(),
            open: Vec::new(),
            curve: Vec::new(),
            confirmed: Confirmed::default(),
            ceiling: None,
            again: None,
            lengthened: 0,
            is_aimed: false,
        }
    }

    /// Returns the rate proven at full length and `true`. Before that, the highest rate that met and `false`.
    pub fn proven(&self) -> Option<(f64, bool)> {
        let met = || highest(&self.met).map(|rate| (rate, false));
        self.confirmed.proven.map(|rate| (rate, true)).or_else(met)
    }

    /// Returns the rate refuted at full length and `true`. Before that, the lowest rate that missed and `false`.
    pub fn refuted(&self) -> Option<(f64, bool)> {
        let missed = || lowest(&self.missed).map(|rate| (rate, false));
        self.confirmed.refuted.map(|rate| (rate, true)).or_else(missed)
    }

    /// Estimates the limit, if rates on both sides of it were probed.
    pub fn estimate(&self) -> Option<LimitEstimate> {
        let lower = self.proven()?.0;
        let upper = self.refuted()?.0;
        LimitEstimate::between(lower, upper, &self.curve, self.limits.resolution, self.limits.confidence)
    }

    /// Returns the next step.
    pub fn next_step(&self) -> Step {
        if let Some((trial, _)) = self.again {
            return Step::Probe(trial);
        }
        let lower = highest(&self.met);
        let upper = lowest(&self.missed);
        match (lower, self.top()) {
            (None, None) => self.bracket_from_nothing(),
            (Some(lower), None) if lower >= self.limits.max_rate => {
                self.confirm(Some(lower), None, SearchState::AboveRange)
            }
            (Some(_), None) => self.bracket_upwards(),
            (None, Some(top)) if top <= self.limits.min_rate => match upper.filter(|upper| *upper == top) {
                Some(_) => self.confirm(None, upper, SearchState::BelowRange),
                None => Step::Done(SearchState::GeneratorLimit),
            },
            (None, Some(_)) => self.bracket_downwards(),
            (Some(lower), Some(top)) => match (self.is_wide(lower, top), upper == Some(top)) {
                (is_wide, true) if !is_wide || self.is_aimed => self.confirm_both(lower, top),
                (true, _) => self.refine(lower, top),
                (false, _) => self.confirm(Some(lower), None, SearchState::GeneratorLimit),
            },
        }
    }

    /// Records the answer of a probe.
    pub fn record(&mut self, probed: &FinishedProbe) {
        let FinishedProbe { trial, answer, ratio } = *probed;
        let made = self.again.take().map_or(1, |(_, made)| made + 1);
        if answer != Answer::GeneratorLimit {
            let weight = self.weight(&trial, answer);
            self.curve.extend(ratio.map(|ratio| ProbeRatio { rate: trial.rate, ratio, weight }));
        }
        match answer {
            Answer::GeneratorLimit if made < MAX_SPOILT_PROBES => self.again = Some((self.repeated(trial), made)),
            Answer::GeneratorLimit => {
                let ceiling = self.ceiling.map_or(trial.rate, |ceiling| ceiling.min(trial.rate));
                self.forget(ceiling);
                self.ceiling = Some(ceiling);
            }
            Answer::Meets | Answer::Misses | Answer::Open => self.record_answer(&trial, answer),
        }
    }

    /// Weight of a probe in the estimate of the limit: by its length, as far as that is known.
    fn weight(&self, trial: &ProbeSpec, answer: Answer) -> f64 {
        match answer {
            Answer::Open => (trial.longest.0 as f64 / self.limits.full_length.0 as f64).min(CONFIRMATION_WEIGHT),
            _ if trial.purpose.proves() => CONFIRMATION_WEIGHT,
            _ => 1.0,
        }
    }

    /// Returns the probe to repeat. A spoilt confirmation has still spent its part of the error probability.
    fn repeated(&mut self, trial: ProbeSpec) -> ProbeSpec {
        self.count(trial.purpose);
        if trial.purpose.proves() { self.confirmation(trial.rate, trial.purpose) } else { trial }
    }

    fn count(&mut self, purpose: Purpose) {
        match purpose {
            Purpose::ConfirmUpper => self.confirmed.uppers += 1,
            Purpose::ConfirmLower => self.confirmed.lowers += 1,
            Purpose::Bracket | Purpose::Refine => {}
        }
    }

    fn record_answer(&mut self, trial: &ProbeSpec, answer: Answer) {
        let rate = trial.rate;
        self.count(trial.purpose);
        match (trial.purpose, answer) {
            (Purpose::ConfirmUpper, Answer::Misses) => self.confirmed.refuted = Some(rate),
            (Purpose::ConfirmLower, Answer::Meets) => self.confirmed.proven = Some(rate),
            (Purpose::Bracket | Purpose::Refine, Answer::Meets) => {
                self.met.push(rate);
                self.open.retain(|open| *open > rate);
            }
            (Purpose::Bracket | Purpose::Refine, Answer::Misses) => {
                self.missed.push(rate);
                self.open.retain(|open| *open < rate);
            }
            // The answer at an end that did not hold depends on chance or on the load before it: try no nearer rate.
            (Purpose::ConfirmUpper, _) => {
                self.missed.retain(|missed| *missed > rate);
                self.did_not_hold(trial);
            }
            (Purpose::ConfirmLower, _) => {
                self.met.retain(|met| *met < rate);
                self.did_not_hold(trial);
            }
            (Purpose::Bracket | Purpose::Refine, Answer::Open | Answer::GeneratorLimit) => self.left_open(rate),
        }
    }

    fn did_not_hold(&mut self, trial: &ProbeSpec) {
        self.confirmed.record_failure(trial, self.limits.resolution);
        self.is_aimed |= self.limit().is_some();
        self.left_open(trial.rate);
    }

    fn left_open(&mut self, rate: f64) {
        self.forget(rate);
        self.open.push(rate);
        self.lengthen_where_stuck();
    }

    fn forget(&mut self, rate: f64) {
        self.met.retain(|met| *met != rate);
        self.missed.retain(|missed| *missed != rate);
    }

    /// Makes probes longer if no rate is left that shorter probes can decide.
    fn lengthen_where_stuck(&mut self) {
        let stuck = match (highest(&self.met), self.top()) {
            (Some(lower), Some(top)) => self.is_wide(lower, top) && self.aim(lower, top).is_none(),
            (None, None) => self.open.iter().any(|open| *open <= self.limits.min_rate),
            (Some(_), None) => self.open.iter().any(|open| *open >= self.limits.max_rate),
            (None, Some(_)) => self.open.iter().any(|open| *open <= self.limits.min_rate),
        };
        if stuck {
            self.open.clear();
            // Longer probes that only estimate the limit would take as long as confirmations.
            match self.limit() {
                Some(_) if !self.is_aimed && self.lengthened > 0 => self.is_aimed = true,
                _ => self.lengthened = (self.lengthened + 1).min(MAX_LENGTHENINGS),
            }
        }
    }

    /// Lowest rate that misses or that the generator cannot offer.
    fn top(&self) -> Option<f64> {
        let upper = lowest(&self.missed);
        upper.into_iter().chain(self.ceiling).reduce(f64::min)
    }

    fn is_wide(&self, lower: f64, top: f64) -> bool {
        top / lower > (1.0 + self.limits.resolution) * (1.0 + 1e-9)
    }

    fn bracket_from_nothing(&self) -> Step {
        match (lowest(&self.open), highest(&self.open)) {
            (Some(_), Some(open)) if open < self.limits.max_rate => {
                self.search(open * BRACKET_FACTOR, Purpose::Bracket)
            }
            (Some(open), _) => self.search(open / BRACKET_FACTOR, Purpose::Bracket),
            (None, _) => self.search(self.limits.first_rate, Purpose::Bracket),
        }
    }

    fn bracket_upwards(&self) -> Step {
        let from = highest(&self.met).into_iter().chain(highest(&self.open)).fold(self.limits.min_rate, f64::max);
        self.search(from * BRACKET_FACTOR, Purpose::Bracket)
    }

    fn bracket_downwards(&self) -> Step {
        let from = self.top().into_iter().chain(lowest(&self.open)).fold(self.limits.max_rate, f64::min);
        self.search(from / BRACKET_FACTOR, Purpose::Bracket)
    }

    fn refine(&self, lower: f64, top: f64) -> Step {
        let rate = self.aim(lower, top).unwrap_or((lower * top).sqrt());
        self.search(rate, Purpose::Refine)
    }

    fn aim(&self, lower: f64, top: f64) -> Option<f64> {
        aim::rate(lower, top, &self.open, &self.curve, self.limits.resolution)
    }

    fn search(&self, rate: f64, purpose: Purpose) -> Step {
        let full = self.limits.full_length.0;
        let rate = rounded(rate).clamp(self.limits.min_rate, self.limits.max_rate);
        let longest = full.saturating_mul(1 << (2 * self.lengthened));
        Step::Probe(ProbeSpec {
            rate,
            purpose,
            level: SEARCH_LEVEL,
            shortest: Nanos(full / 8).max(self.time_for(ALLOWED_AT_LEAST.0, rate)),
            longest: Nanos(longest).max(self.time_for(ALLOWED_AT_LEAST.1, rate)),
        })
    }

    /// Time at `rate` until this many bad requests are allowed.
    fn time_for(&self, allowed: f64, rate: f64) -> Nanos {
        Nanos::from_secs_f64(allowed / self.limits.allowed / rate)
    }

    /// Logarithm of the estimated limit, if the upper end of the bracket misses.
    fn limit(&self) -> Option<f64> {
        let lower = highest(&self.met)?;
        let upper = lowest(&self.missed)?;
        aim::crossing(lower.ln(), upper.ln(), &self.curve, self.limits.resolution).filter(|_| self.top() == Some(upper))
    }

    /// Confirms both ends of a bracket, the upper one first. Each proven end determines the other.
    fn confirm_both(&self, lower: f64, top: f64) -> Step {
        let ends = Ends::new(lower, top, self.limit(), self.limits.resolution, self.confirmed.failed);
        if let (Some(proven), Some(refuted)) = (self.confirmed.proven, self.confirmed.refuted)
            && proven < refuted
            && !self.is_wide(proven, refuted)
        {
            return Step::Done(SearchState::Found);
        }
        let below =
            self.confirmed.refuted.and_then(|upper| ends.below(upper)).map(|rate| (rate, Purpose::ConfirmLower));
        let above =
            || self.confirmed.proven.and_then(|lower| ends.above(lower)).map(|rate| (rate, Purpose::ConfirmUpper));
        let (rate, purpose) = below.or_else(above).unwrap_or((ends.upper(), Purpose::ConfirmUpper));
        let rate = rounded(rate).clamp(self.limits.min_rate, self.limits.max_rate);
        Step::Probe(self.confirmation(rate, purpose))
    }

    /// Returns the next end to confirm, the upper one first, or `state` if all are proven.
    fn confirm(&self, lower: Option<f64>, upper: Option<f64>, state: SearchState) -> Step {
        let upper =
            upper.filter(|rate| self.confirmed.refuted != Some(*rate)).map(|rate| (rate, Purpose::ConfirmUpper));
        let lower = lower.filter(|rate| self.confirmed.proven != Some(*rate)).map(|rate| (rate, Purpose::ConfirmLower));
        match upper.or(lower) {
            Some((rate, purpose)) => Step::Probe(self.confirmation(rate, purpose)),
            None => Step::Done(state),
        }
    }

    fn confirmation(&self, rate: f64, purpose: Purpose) -> ProbeSpec {
        let Confirmed { uppers, lowers, lengthened, .. } = self.confirmed;
        let longest = LONGEST_CONFIRMATION << lengthened;
        let made = if purpose == Purpose::ConfirmLower { lowers } else { uppers };
        let full = self.limits.full_length.0;
        ProbeSpec {
            rate,
            purpose,
            level: self.one_side() * FIRST_PART * (1.0 - FIRST_PART).powi(made as i32),
            shortest: Nanos(full).max(self.time_for(ALLOWED_AT_LEAST.1, rate)),
            longest: Nanos(full.saturating_mul(longest)).max(self.time_for(ALLOWED_AT_LEAST.1 * longest as f64, rate)),
        }
    }

    fn one_side(&self) -> f64 {
        (1.0 - self.limits.confidence) / 2.0
    }
}
