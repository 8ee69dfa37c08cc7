//! Runs the rounds, and compares.

use truetail_analysis::compare::{CompareGate, Comparison, StreamFigures, compare_at};
use truetail_analysis::verdict::code;
use truetail_run::{Findings, GateFinding, GateState, Reason, Run, VerdictState};

use super::ending::Ending;

/// One of the two sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The baseline.
    A,
    /// The side that is compared with the baseline.
    B,
}

impl Side {
    /// Returns the order of the sides in a round, counted from 0: A B, B A, A B, …
    pub fn order(round: u32) -> [Side; 2] {
        if round.is_multiple_of(2) { [Side::A, Side::B] } else { [Side::B, Side::A] }
    }
}

/// Figures of one run, as the comparison needs them.
#[derive(Clone, Debug)]
pub struct SideFigures {
    findings: Findings,
    streams: Option<StreamFigures>,
}

impl SideFigures {
    /// Returns the figures of a run with these findings.
    pub fn of_run(run: &Run, findings: Findings) -> SideFigures {
        let streams = StreamFigures::of_run(run, &findings);
        SideFigures { findings, streams }
    }
}

/// Outcome of one run.
#[derive(Clone, Debug)]
pub enum SideOutcome {
    /// The run is measured.
    Done(Box<SideFigures>),
    /// The generator spoilt the run, so that it says nothing about its side. The run is repeated.
    Spoilt,
    /// The numbers are not properties of the service, for example of an overloaded server. More runs would not help.
    Invalid,
    /// The user wants no more runs. The measurements of this run do not count.
    Stopped,
}

impl SideOutcome {
    /// Classifies a run. An INVALID run was spoilt by the generator unless a reason concerns the service or the books.
    pub fn from_figures(figures: SideFigures) -> SideOutcome {
        let verdict = &figures.findings.verdict;
        let is_final = |reason: &Reason| {
            [code::SATURATED, code::BOOKS_UNBALANCED, code::NO_ANSWERS, code::ALL_FAILED]
                .contains(&reason.code.as_str())
        };
        match verdict.state {
            VerdictState::Valid | VerdictState::Suspect => SideOutcome::Done(Box::new(figures)),
            VerdictState::Invalid if verdict.reasons.iter().any(is_final) => SideOutcome::Invalid,
            VerdictState::Invalid => SideOutcome::Spoilt,
        }
    }
}

/// Runs a side once: on sockets, or in the simulator.
pub trait RunSide {
    /// Reason why a run cannot be made.
    type Error;

    /// Runs `side` in `round`, counted from 0.
    ///
    /// # Errors
    /// If the run cannot be made.
    fn run(&mut self, side: Side, round: u32) -> Result<SideOutcome, Self::Error>;

    /// Receives the state of the conditions after `rounds`. The rounds may end now.
    fn report_look(&mut self, rounds: u32, gates: &[GateFinding]);
}

/// Plan of a comparison.
#[derive(Clone, Debug)]
pub struct AbPlan {
    /// End of the rounds.
    pub ending: Ending,
    /// The conditions to decide.
    pub gates: Vec<CompareGate>,
}

/// Reason why the rounds ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EndReason<E> {
    /// All rounds were done.
    AllDone,
    /// Every condition was decided.
    Decided,
    /// The user wanted no more.
    Stopped,
    /// A run is INVALID, and not because of the generator.
    Invalid,
    /// More runs were spoilt than there may be rounds.
    Spoilt,
    /// A run could not be made.
    Failed(E),
}

/// Result of the rounds. It contains everything measured, however the rounds ended.
#[derive(Clone, Debug)]
pub struct AbResult<E> {
    /// Rounds with a run of A and one of B.
    pub rounds: u32,
    /// Number of runs that the generator spoilt.
    pub spoilt: u32,
    /// Reason why the rounds ended.
    pub ended: EndReason<E>,
    /// The comparison of the sides; `None` if a side has no run.
    pub comparison: Option<Comparison>,
    /// State of the conditions, in their order; empty without a comparison.
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
    a: Vec<SideFigures>,
    b: Vec<SideFigures>,
    done: u32,
    spoilt: u32,
}

impl Rounds<'_> {
    /// Returns why the rounds ended; `Err` if that was before the end of a round.
    fn run<R: RunSide>(&mut self, runner: &mut R) -> Result<EndReason<R::Error>, EndReason<R::Error>> {
        let looks = self.plan.ending.looks();
        for round in 0..self.plan.ending.most() {
            for side in Side::order(round) {
                let figures = self.run_once(runner, side, round)?;
                match side {
                    Side::A => self.a.push(figures),
                    Side::B => self.b.push(figures),
                }
            }
            self.done += 1;
            if looks.contains(&self.done) && self.is_decided(runner) {
                return Ok(EndReason::Decided);
            }
        }
        Ok(EndReason::AllDone)
    }

    /// Runs a side until the generator does not spoil the run.
    fn run_once<R: RunSide>(
        &mut self,
        runner: &mut R,
        side: Side,
        round: u32,
    ) -> Result<SideFigures, EndReason<R::Error>> {
        loop {
            match runner.run(side, round).map_err(EndReason::Failed)? {
                SideOutcome::Done(figures) => return Ok(*figures),
                SideOutcome::Invalid => return Err(EndReason::Invalid),
                SideOutcome::Stopped => return Err(EndReason::Stopped),
                SideOutcome::Spoilt => self.spoilt += 1,
            }
            if self.spoilt > self.plan.ending.most() {
                return Err(EndReason::Spoilt);
            }
        }
    }

    /// Returns true if the rounds end before the last one.
    fn is_decided<R: RunSide>(&self, runner: &mut R) -> bool {
        let last = self.done == self.plan.ending.most();
        if last || self.plan.gates.is_empty() {
            return false;
        }
        let Some(found) = self.compared() else { return false };
        let gates = self.judged(&found);
        runner.report_look(self.done, &gates);
        gates.iter().all(|gate| gate.state != GateState::Open)
    }

    fn compared(&self) -> Option<Comparison> {
        let [a, b] = [&self.a, &self.b].map(|side| side.iter().map(|run| &run.findings).collect::<Vec<_>>());
        (!a.is_empty() && !b.is_empty()).then(|| {
            let compared = compare_at(&a, &b, self.plan.ending.confidence());
            compared.with_streams(streams_of(&self.a), streams_of(&self.b))
        })
    }

    fn judged(&self, found: &Comparison) -> Vec<GateFinding> {
        self.plan.gates.iter().map(|gate| gate.judge(found)).collect()
    }
}

fn streams_of(side: &[SideFigures]) -> impl Iterator<Item = Option<&StreamFigures>> {
    side.iter().map(|run| run.streams.as_ref())
}
