//! Runs the rounds, and compares.

use truetail_analysis::compare::{CompareGate, Comparison, compare_at};
use truetail_analysis::verdict::SATURATED;
use truetail_run::{Findings, GateFinding, GateState, Reason, VerdictState};

use super::ending::Ending;

/// One of the two sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// What there was before.
    A,
    /// What it is compared with.
    B,
}

impl Side {
    /// Which side runs first and which second in a round, counted from 0: A B, B A, A B, …
    pub fn order(round: u32) -> [Side; 2] {
        if round.is_multiple_of(2) { [Side::A, Side::B] } else { [Side::B, Side::A] }
    }
}

/// What came of a run.
#[derive(Clone, Debug)]
pub enum Turn {
    /// It is measured.
    Done(Box<Findings>),
    /// The generator spoilt it, so that it says nothing about its side. It is made again.
    Spoilt,
    /// Its numbers are no property of the service, such as those of a server that falls behind. More runs would not help.
    Invalid,
    /// Somebody wants no more runs. What was measured of this one does not count.
    Stopped,
}

impl Turn {
    /// What came of a run with these findings. An INVALID one was spoilt by the generator, unless the service is saturated, or
    /// the books do not balance.
    pub fn of(findings: Findings) -> Turn {
        let verdict = &findings.verdict;
        let is_final = |reason: &Reason| {
            [SATURATED, "books_unbalanced", "no_answers", "all_failed"].contains(&reason.code.as_str())
        };
        match verdict.state {
            VerdictState::Valid | VerdictState::Suspect => Turn::Done(Box::new(findings)),
            VerdictState::Invalid if verdict.reasons.iter().any(is_final) => Turn::Invalid,
            VerdictState::Invalid => Turn::Spoilt,
        }
    }
}

/// Runs a side once: on sockets, or in the simulator.
pub trait RunSide {
    /// Why a run cannot be made.
    type Error;

    /// Runs `side` in `round`, counted from 0.
    ///
    /// # Errors
    /// If it cannot be made.
    fn run(&mut self, side: Side, round: u32) -> Result<Turn, Self::Error>;

    /// There have been `rounds`, and this is what is known of the conditions; the rounds may end now.
    fn looked(&mut self, rounds: u32, gates: &[GateFinding]);
}

/// What is to be done.
#[derive(Clone, Debug)]
pub struct AbPlan {
    /// When it ends.
    pub ending: Ending,
    /// What is to be decided.
    pub gates: Vec<CompareGate>,
}

/// Why there were no more rounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ended<E> {
    /// All of them were done.
    AllDone,
    /// Every condition was decided.
    Decided,
    /// Somebody wanted no more.
    Stopped,
    /// A run is INVALID, and not because of the generator.
    Invalid,
    /// More runs were spoilt than there may be rounds.
    Spoilt,
    /// A run could not be made.
    Failed(E),
}

/// What came of the rounds. It holds whatever was measured, however they ended.
#[derive(Clone, Debug)]
pub struct AbResult<E> {
    /// Rounds with a run of A and one of B.
    pub rounds: u32,
    /// How many runs the generator spoilt.
    pub spoilt: u32,
    /// Why there were no more.
    pub ended: Ended<E>,
    /// The sides compared; `None` where one has no run.
    pub comparison: Option<Comparison>,
    /// What becomes of the conditions, in their order; empty where there is no comparison.
    pub gates: Vec<GateFinding>,
}

/// Runs A and B in turns until the plan is done, and compares them.
pub fn run_rounds<R: RunSide>(plan: &AbPlan, runner: &mut R) -> AbResult<R::Error> {
    let mut rounds = Rounds { plan, a: Vec::new(), b: Vec::new(), done: 0, spoilt: 0 };
    let ended = rounds.run(runner).unwrap_or_else(|why| why);
    let comparison = rounds.compared();
    let gates = comparison.as_ref().map_or(Vec::new(), |found| rounds.judged(found));
    AbResult { rounds: rounds.done, spoilt: rounds.spoilt, ended, comparison, gates }
}

struct Rounds<'a> {
    plan: &'a AbPlan,
    a: Vec<Findings>,
    b: Vec<Findings>,
    done: u32,
    spoilt: u32,
}

impl Rounds<'_> {
    /// Why they ended: `Err` where that was before the end of a round.
    fn run<R: RunSide>(&mut self, runner: &mut R) -> Result<Ended<R::Error>, Ended<R::Error>> {
        let looks = self.plan.ending.looks();
        for round in 0..self.plan.ending.most() {
            for side in Side::order(round) {
                let findings = self.run_once(runner, side, round)?;
                match side {
                    Side::A => self.a.push(findings),
                    Side::B => self.b.push(findings),
                }
            }
            self.done += 1;
            if looks.contains(&self.done) && self.is_decided(runner) {
                return Ok(Ended::Decided);
            }
        }
        Ok(Ended::AllDone)
    }

    /// Runs a side until the generator does not spoil it.
    fn run_once<R: RunSide>(&mut self, runner: &mut R, side: Side, round: u32) -> Result<Findings, Ended<R::Error>> {
        loop {
            match runner.run(side, round).map_err(Ended::Failed)? {
                Turn::Done(findings) => return Ok(*findings),
                Turn::Invalid => return Err(Ended::Invalid),
                Turn::Stopped => return Err(Ended::Stopped),
                Turn::Spoilt => self.spoilt += 1,
            }
            if self.spoilt > self.plan.ending.most() {
                return Err(Ended::Spoilt);
            }
        }
    }

    /// Whether the rounds end before the last one.
    fn is_decided<R: RunSide>(&self, runner: &mut R) -> bool {
        let last = self.done == self.plan.ending.most();
        if last || self.plan.gates.is_empty() {
            return false;
        }
        let Some(found) = self.compared() else { return false };
        let gates = self.judged(&found);
        runner.looked(self.done, &gates);
        gates.iter().all(|gate| gate.state != GateState::Open)
    }

    fn compared(&self) -> Option<Comparison> {
        let (a, b): (Vec<_>, Vec<_>) = (self.a.iter().collect(), self.b.iter().collect());
        (!a.is_empty() && !b.is_empty()).then(|| compare_at(&a, &b, self.plan.ending.confidence()))
    }

    fn judged(&self, found: &Comparison) -> Vec<GateFinding> {
        self.plan.gates.iter().map(|gate| gate.judge(found)).collect()
    }
}
