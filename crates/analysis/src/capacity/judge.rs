//! Decides the answer of a probe.

use truetail_model::time::Nanos;
use truetail_run::Verdict;

use super::answer::Answer;
use super::evidence::Evidence;
use super::looks::Looks;
use super::objective::Objective;
use super::probe_spec::{ProbeSpec, Purpose};
use super::sample::Sample;
use crate::gates::LoadEffects;

/// A confirmation that shows the opposite of what it should prove is given up at this many times its full length.
const GIVE_UP_AFTER: u64 = 2;

/// State of a probe at one moment.
#[derive(Clone, PartialEq, Debug)]
pub struct ProbeState {
    /// Length of the probe until now.
    pub elapsed: Nanos,
    /// One sample for each objective, in their order.
    pub samples: Vec<Sample>,
    /// True if the backlog keeps growing.
    pub backlog_grows: bool,
}

/// Evidence of a probe about one objective.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ObjectiveEvidence {
    /// Answer about this objective alone.
    pub answer: Answer,
    /// Number of requests, streams or gaps that ended or are surely bad, after the first tenth of the probe.
    pub counted: u64,
    /// Number of bad ones among them.
    pub bad: u64,
    /// Share that may be bad, in (0, 1).
    pub allowed: f64,
}

/// Judges one probe during its run.
#[derive(Clone, Debug)]
pub struct ProbeJudge {
    allowed: Vec<f64>,
    looks: Looks,
    purpose: Purpose,
    give_up_from: Nanos,
    last: Option<ProbeState>,
    /// Evidence of the last look, by objective.
    evidence: Vec<ObjectiveEvidence>,
}

impl ProbeJudge {
    /// Creates a judge of the probe `trial` with these objectives.
    pub fn new(objectives: &[Objective], trial: &ProbeSpec) -> ProbeJudge {
        ProbeJudge {
            allowed: objectives.iter().map(Objective::allowed).collect(),
            looks: Looks::new(trial.shortest, trial.longest, trial.level),
            purpose: trial.purpose,
            give_up_from: Nanos(trial.shortest.0.saturating_mul(GIVE_UP_AFTER)),
            last: None,
            evidence: Vec::new(),
        }
    }

    /// Length of the probe at the next look. `None` if its time is up.
    pub fn next_look(&self) -> Option<Nanos> {
        self.looks.next()
    }

    /// Looks at the probe. Returns its answer if the probe may end.
    pub fn look(&mut self, look: ProbeState) -> Option<Answer> {
        let answer = self.decide(&look);
        let elapsed = look.elapsed;
        self.last = Some(look);
        answer.or_else(|| (elapsed >= self.give_up_from && self.is_beyond_the_limit()).then_some(Answer::Open))
    }

    /// Worst ratio of any objective at the last look: share of bad requests over allowed share. `None` before a look.
    pub fn ratio(&self) -> Option<f64> {
        let last = self.last.as_ref()?;
        let ratios = last.samples.iter().zip(&self.allowed).map(|(sample, allowed)| sample.share() / allowed);
        ratios.max_by(f64::total_cmp)
    }

    /// Evidence of the last look, in the order of the objectives. Empty before a look.
    pub fn each_objective(&self) -> &[ObjectiveEvidence] {
        &self.evidence
    }

    /// Returns true if the backlog kept growing at the last look.
    pub fn backlog_grows(&self) -> bool {
        self.last.as_ref().is_some_and(|last| last.backlog_grows)
    }

    /// Returns true if the service does the opposite of what the probe should prove. Giving up then only costs time.
    fn is_beyond_the_limit(&self) -> bool {
        match self.purpose {
            Purpose::ConfirmUpper => self.ratio().is_some_and(|ratio| ratio < 1.0),
            Purpose::ConfirmLower => self.ratio().is_some_and(|ratio| ratio > 1.0),
            Purpose::Bracket | Purpose::Refine => false,
        }
    }

    fn evidence<'a>(&self, sample: &'a Sample, allowed: f64, level: f64) -> Evidence<'a> {
        let evidence = Evidence::new(sample, allowed, level);
        if self.purpose == Purpose::Bracket { evidence.for_search() } else { evidence }
    }

    /// Evidence about one objective. Without a `level` nothing is decided.
    fn each(&self, sample: &Sample, allowed: f64, level: f64) -> ObjectiveEvidence {
        let shared = level / self.allowed.len().max(1) as f64;
        let answer = match level > 0.0 {
            true if self.evidence(sample, allowed, shared).misses() => Answer::Misses,
            true if self.evidence(sample, allowed, level).meets() => Answer::Meets,
            _ => Answer::Open,
        };
        let bad = sample.stretches.iter().map(|stretch| stretch.bad).sum::<u64>() + sample.overdue;
        ObjectiveEvidence { answer, counted: sample.requests() + sample.overdue, bad, allowed }
    }

    fn decide(&mut self, look: &ProbeState) -> Option<Answer> {
        let level = if look.backlog_grows { 0.0 } else { self.looks.take(look.elapsed) };
        self.evidence = look
            .samples
            .iter()
            .zip(&self.allowed)
            .map(|(sample, allowed)| self.each(sample, *allowed, level))
            .collect();
        if look.backlog_grows {
            return Some(Answer::Misses);
        }
        if level <= 0.0 {
            return None;
        }
        let judged = || look.samples.iter().zip(&self.allowed);
        // One objective that is missed by chance makes a wrong answer, so the objectives share the level. A wrong
        // `Meets` needs the objective that is truly missed to be met by chance, so each has the whole level.
        let shared = level / self.allowed.len().max(1) as f64;
        if judged().any(|(sample, allowed)| self.evidence(sample, *allowed, shared).misses()) {
            return Some(Answer::Misses);
        }
        if judged().all(|(sample, allowed)| self.evidence(sample, *allowed, level).meets()) {
            return Some(Answer::Meets);
        }
        let by_generator =
            judged().any(|(sample, allowed)| self.evidence(sample, *allowed, shared).misses_as_measured());
        (by_generator && self.looks.next().is_none()).then_some(Answer::GeneratorLimit)
    }
}

/// Returns true if the generator spoilt a probe with this answer. A service that misses under less load than planned
/// also misses under the full load, but meeting under less load proves nothing. Unplanned bursts can make a service
/// miss, but a service that meets despite bursts meets.
pub fn is_spoilt(answer: Answer, verdict: &Verdict) -> bool {
    let effects = LoadEffects::from_verdict(verdict);
    match answer {
        Answer::Meets => effects.unknown || effects.lower_load,
        Answer::Misses => effects.unknown || effects.bursts,
        Answer::Open => effects.unknown || effects.lower_load || effects.bursts,
        Answer::GeneratorLimit => true,
    }
}
