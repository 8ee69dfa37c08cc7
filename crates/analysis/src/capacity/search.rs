//! The rates to probe, and what the answers prove.
//!
//! 1. A geometric bracket: from the first rate on, doubled while the service meets its objectives, halved while it misses
//!    them.
//! 2. Refinement of the bracket, between its logarithms, until it is as narrow as asked for ([`super::aim`] chooses the
//!    rate).
//! 3. Both ends are probed again at full length: the upper end coming from a higher rate, the lower one from a lower rate
//!    ([`super::ends`] says which rates those are).
//!
//! Only the third step decides how sure the result is. Its data is new, so it owes nothing to the search before it: whatever
//! rates the search came up with, each end is wrong with probability (1 − confidence)/2 at most. An end that has to be
//! proven several times gets a smaller part of that each time, and all parts add up to it.
//!
//! The state is a pure function of the probes recorded, so that a search can be continued from its journal.

use serde::{Deserialize, Serialize};
use truetail_model::time::Nanos;

use super::aim::{self, Seen};
use super::answer::Answer;
use super::ends::{Confirmed, Ends};
use super::limit_estimate::LimitEstimate;
use super::rates::{highest, lowest, rounded};
use super::trial::{Probed, Purpose, Trial};

/// The bracket grows by this factor.
const BRACKET_FACTOR: f64 = 2.0;
/// The part of its error probability that an end may spend the first time it is proven; and of the rest the second time,
/// and so on.
const FIRST_PART: f64 = 0.6;
/// An end that is probed again may take so many times the full length.
const LONGEST_CONFIRMATION: u64 = 8;
/// So often is the same rate probed while the generator spoils it.
const MAX_SPOILT_PROBES: u32 = 2;
/// The one-sided error probability of a probe that proves nothing, and only says where to probe next: a wrong answer costs time.
const SEARCH_LEVEL: f64 = 0.1;
/// A probe at full length counts as so many others where the limit is estimated.
const CONFIRMATION_WEIGHT: f64 = 4.0;
/// The first look at a probe comes when so many bad requests were allowed, and its time is not up before so many.
const ALLOWED_AT_LEAST: (f64, f64) = (5.0, 25.0);
/// Probes become longer at most so often: each time four times as long, because twice as long would rarely be enough.
const MAX_LENGTHENINGS: u32 = 10;

/// What a search must keep to.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct SearchLimits {
    /// No rate below this is probed. Requests per second.
    pub min_rate: f64,
    /// No rate above this is probed. Requests per second.
    pub max_rate: f64,
    /// The first rate. Requests per second.
    pub first_rate: f64,
    /// The bracket is narrow enough when its ends differ by this share, such as 0.05.
    pub resolution: f64,
    /// How sure the result is, such as 0.95.
    pub confidence: f64,
    /// The full length of a probe.
    pub full_length: Nanos,
    /// The smallest share of bad requests that an objective allows. Probes are long enough to see so rare requests.
    pub allowed: f64,
}

/// How a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchState {
    /// Both ends are proven, and the bracket is as narrow as asked for.
    Found,
    /// The service misses its objectives even at the lowest rate.
    BelowRange,
    /// It meets them even at the highest rate.
    AboveRange,
    /// The generator cannot offer more.
    GeneratorLimit,
    /// The time is up, or the search was interrupted.
    OutOfTime,
}

/// What comes next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Step {
    /// Probe this.
    Probe(Trial),
    /// Nothing is left to probe.
    Done(SearchState),
}

/// A search for capacity.
#[derive(Clone, PartialEq, Debug)]
pub struct Search {
    limits: SearchLimits,
    /// Rates that met, in the order of the probes; all below those that missed.
    met: Vec<f64>,
    missed: Vec<f64>,
    /// Rates whose probes stayed open since the probes became longer.
    open: Vec<f64>,
    /// The probes, as far as they help to aim.
    curve: Vec<Seen>,
    /// What became of ends that were probed again.
    confirmed: Confirmed,
    /// The lowest rate that the generator spoilt twice.
    ceiling: Option<f64>,
    /// A probe to repeat, and how often it was made.
    again: Option<(Trial, u32)>,
    lengthened: u32,
    /// Short probes say nothing more of where the limit is.
    is_aimed: bool,
}

impl Search {
    /// A search that has not begun.
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

    /// The rate that was proven at full length, and `true`; before that, the highest one at which a probe met the objectives.
    pub fn proven(&self) -> Option<(f64, bool)> {
        let met = || highest(&self.met).map(|rate| (rate, false));
        self.confirmed.proven.map(|rate| (rate, true)).or_else(met)
    }

    /// The rate that was refuted at full length, and `true`; before that, the lowest one at which a probe missed an objective.
    pub fn refuted(&self) -> Option<(f64, bool)> {
        let missed = || lowest(&self.missed).map(|rate| (rate, false));
        self.confirmed.refuted.map(|rate| (rate, true)).or_else(missed)
    }

    /// About where the limit is, if rates on both sides of it were probed.
    pub fn estimate(&self) -> Option<LimitEstimate> {
        let (lower, upper) = (self.proven()?.0, self.refuted()?.0);
        LimitEstimate::between(lower, upper, &self.curve, self.limits.resolution, self.limits.confidence)
    }

    /// What to do next.
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

    /// Takes the answer of a probe.
    pub fn record(&mut self, probed: &Probed) {
        let Probed { trial, answer, ratio } = *probed;
        let made = self.again.take().map_or(1, |(_, made)| made + 1);
        if answer != Answer::GeneratorLimit {
            let weight = self.weight(&trial, answer);
            self.curve.extend(ratio.map(|ratio| Seen { rate: trial.rate, ratio, weight }));
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

    /// How much a probe counts where the limit is estimated: by its length, as far as that is known.
    fn weight(&self, trial: &Trial, answer: Answer) -> f64 {
        match answer {
            Answer::Open => (trial.longest.0 as f64 / self.limits.full_length.0 as f64).min(CONFIRMATION_WEIGHT),
            _ if trial.purpose.proves() => CONFIRMATION_WEIGHT,
            _ => 1.0,
        }
    }

    /// The same probe once more. A confirmation that was spoilt has spent its part of the error all the same.
    fn repeated(&mut self, trial: Trial) -> Trial {
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

    fn record_answer(&mut self, trial: &Trial, answer: Answer) {
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
            // An end that did not hold when it was probed again: the answer depends on chance, or on where the load comes from.
            // So nothing closer to the limit is an end of the bracket either.
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

    fn did_not_hold(&mut self, trial: &Trial) {
        self.confirmed.did_not_hold(trial, self.limits.resolution);
        self.is_aimed |= self.limit().is_some();
        self.left_open(trial.rate);
    }

    fn left_open(&mut self, rate: f64) {
        self.forget(rate);
        self.open.push(rate);
        self.lengthen_where_stuck();
    }

    /// The rate has no answer any more.
    fn forget(&mut self, rate: f64) {
        self.met.retain(|met| *met != rate);
        self.missed.retain(|missed| *missed != rate);
    }

    /// No rate is left that shorter probes can decide: from now on they are longer.
    fn lengthen_where_stuck(&mut self) {
        let stuck = match (highest(&self.met), self.top()) {
            (Some(lower), Some(top)) => self.is_wide(lower, top) && self.aim(lower, top).is_none(),
            (None, None) => self.open.iter().any(|open| *open <= self.limits.min_rate),
            (Some(_), None) => self.open.iter().any(|open| *open >= self.limits.max_rate),
            (None, Some(_)) => self.open.iter().any(|open| *open <= self.limits.min_rate),
        };
        if stuck {
            self.open.clear();
            // Longer ones to aim with would take as long as those that prove.
            match self.limit() {
                Some(_) if !self.is_aimed && self.lengthened > 0 => self.is_aimed = true,
                _ => self.lengthened = (self.lengthened + 1).min(MAX_LENGTHENINGS),
            }
        }
    }

    /// The lowest rate that misses, or that the generator cannot offer.
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
        Step::Probe(Trial {
            rate,
            purpose,
            level: SEARCH_LEVEL,
            shortest: Nanos(full / 8).max(self.time_for(ALLOWED_AT_LEAST.0, rate)),
            longest: Nanos(longest).max(self.time_for(ALLOWED_AT_LEAST.1, rate)),
        })
    }

    /// How long it takes at `rate` until so many bad requests are allowed.
    fn time_for(&self, allowed: f64, rate: f64) -> Nanos {
        Nanos::from_secs_f64(allowed / self.limits.allowed / rate)
    }

    /// Where the limit seems to be, as a logarithm, in a bracket whose upper end misses.
    fn limit(&self) -> Option<f64> {
        let (lower, upper) = (highest(&self.met)?, lowest(&self.missed)?);
        aim::crossing(lower.ln(), upper.ln(), &self.curve, self.limits.resolution).filter(|_| self.top() == Some(upper))
    }

    /// Both ends of a bracket, the upper one first. Each that is proven says where the other has to be.
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

    /// The next end to probe again, the upper one first; `state` if all are proven.
    fn confirm(&self, lower: Option<f64>, upper: Option<f64>, state: SearchState) -> Step {
        let upper =
            upper.filter(|rate| self.confirmed.refuted != Some(*rate)).map(|rate| (rate, Purpose::ConfirmUpper));
        let lower = lower.filter(|rate| self.confirmed.proven != Some(*rate)).map(|rate| (rate, Purpose::ConfirmLower));
        match upper.or(lower) {
            Some((rate, purpose)) => Step::Probe(self.confirmation(rate, purpose)),
            None => Step::Done(state),
        }
    }

    fn confirmation(&self, rate: f64, purpose: Purpose) -> Trial {
        let Confirmed { uppers, lowers, lengthened, .. } = self.confirmed;
        let longest = LONGEST_CONFIRMATION << lengthened;
        let made = if purpose == Purpose::ConfirmLower { lowers } else { uppers };
        let full = self.limits.full_length.0;
        Trial {
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
