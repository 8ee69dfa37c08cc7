//! Rounds of A and B: their order, their ends, and how often they are wrong if the truth is known.

mod sides;

use std::collections::VecDeque;

use sides::Sides;
use truetail_analysis::compare::Difference;
use truetail_run::{GateFinding, GateState};
use truetail_study::ab::{AbPlan, AbResult, EndReason, Ending, RunSide, Side, SideFigures, SideOutcome, run_rounds};

fn plan(ending: Ending, gates: &[&str]) -> AbPlan {
    AbPlan { ending, gates: gates.iter().map(|gate| gate.parse().expect("a condition")).collect() }
}

fn at<E>(result: &AbResult<E>, q: f64) -> Difference {
    result.comparison.as_ref().and_then(|found| found.at(q)).expect("it is compared").difference
}

/// Returns prepared outcomes, and records the calls.
struct Told {
    turns: VecDeque<Result<SideOutcome, &'static str>>,
    asked: String,
    looks: Vec<u32>,
    figures: SideFigures,
}

impl Told {
    fn new(turns: impl IntoIterator<Item = Result<SideOutcome, &'static str>>) -> Told {
        let Ok(SideOutcome::Done(figures)) = Sides::new(1, 1.0).run(Side::A, 0) else { panic!("a run") };
        Told { turns: turns.into_iter().collect(), asked: String::new(), looks: Vec::new(), figures: *figures }
    }
}

impl RunSide for Told {
    type Error = &'static str;

    fn run(&mut self, side: Side, round: u32) -> Result<SideOutcome, &'static str> {
        self.asked += &format!("{side:?}{round} ");
        self.turns.pop_front().unwrap_or_else(|| Ok(SideOutcome::Done(Box::new(self.figures.clone()))))
    }

    fn report_look(&mut self, rounds: u32, gates: &[GateFinding]) {
        assert!(!gates.is_empty());
        self.looks.push(rounds);
    }
}

#[test]
fn sides_alternate_in_who_is_first() {
    let mut told = Told::new([]);
    let result = run_rounds(&plan(Ending::After(4), &["p50 worse than 5%"]), &mut told);
    assert_eq!(told.asked, "A0 B0 B1 A1 A2 B2 B3 A3 ");
    assert_eq!((result.rounds, result.ended), (4, EndReason::AllDone));
    assert_eq!(result.gates[0].state, GateState::Holds, "all runs are the same");
    assert!(told.looks.is_empty(), "a stated number of rounds has one look, at the end");
}

#[test]
fn what_is_decided_ends_early_and_what_is_open_does_not() {
    let mut told = Told::new([]);
    let result = run_rounds(&plan(Ending::Decided { most: 12 }, &["p50 worse than 5%"]), &mut told);
    assert_eq!((result.rounds, result.ended, told.looks), (3, EndReason::Decided, vec![3]));
    assert_eq!(result.comparison.map(|found| found.confidence), Some(0.9875), "the looks are paid for");
    let mut told = Told::new([]);
    // There are too few requests for that percentile.
    let gates = ["p50 worse than 5%", "p99.99 worse than 5%"];
    let result = run_rounds(&plan(Ending::Decided { most: 6 }, &gates), &mut told);
    assert_eq!((result.rounds, result.ended, told.looks), (6, EndReason::AllDone, vec![3, 5]));
    let states: Vec<_> = result.gates.iter().map(|gate| gate.state).collect();
    assert_eq!(states, [GateState::Holds, GateState::Open]);
}

#[test]
fn a_spoilt_run_is_made_again_but_not_for_ever() {
    let mut told = Told::new([Ok(SideOutcome::Spoilt)]);
    let result = run_rounds(&plan(Ending::After(2), &[]), &mut told);
    assert_eq!((told.asked.as_str(), result.spoilt, result.rounds), ("A0 A0 B0 B1 A1 ", 1, 2));
    let mut told = Told::new(std::iter::repeat_n(Ok(SideOutcome::Spoilt), 9));
    let result = run_rounds(&plan(Ending::After(2), &[]), &mut told);
    assert_eq!((told.asked.as_str(), result.ended), ("A0 A0 A0 ", EndReason::Spoilt));
    assert!(result.comparison.is_none());
}

#[test]
fn what_was_measured_is_kept_however_it_ends() {
    let first = || Ok(SideOutcome::Done(Box::new(Told::new([]).figures)));
    for (turn, ended) in [
        (Ok(SideOutcome::Stopped), EndReason::Stopped),
        (Ok(SideOutcome::Invalid), EndReason::Invalid),
        (Err("gone"), EndReason::Failed("gone")),
    ] {
        let mut told = Told::new([first(), first(), first(), turn]);
        let result = run_rounds(&plan(Ending::After(5), &["p50 worse than 5%"]), &mut told);
        assert_eq!((result.ended, result.rounds, result.gates.len()), (ended, 1, 1));
        let found = result.comparison.expect("both sides have a run");
        assert_eq!((found.runs_a, found.runs_b), (1, 2));
    }
    let result = run_rounds(&plan(Ending::After(5), &["p50 worse than 5%"]), &mut Told::new([first(), Err("gone")]));
    assert!(result.comparison.is_none() && result.gates.is_empty(), "B has no run");
}

/// 5 % may be. 12 pairs have more than 4 only twice in 10 000 (binomial). `--example ab_study` has the figures for 500.
#[test]
fn the_same_build_twice_is_seldom_called_different() {
    for (ending, drift) in [(Ending::Decided { most: 5 }, 0.0), (Ending::After(4), 0.01)] {
        let plan = plan(ending, &["p50 worse than 0%"]);
        let is_different = |seed: &u64| {
            let result = run_rounds(&plan, &mut Sides { drift, requests: 2_000, ..Sides::new(*seed, 1.0) });
            matches!(at(&result, 0.5), Difference::Slower | Difference::Faster)
        };
        let different = (0..12).filter(is_different).count();
        assert!(different <= 4, "{ending:?}, drift {drift}: {different} of 12");
    }
}

/// A queue that is half busy turns a tenth of service time into a fifth of response time or more.
#[test]
fn a_tenth_is_found() {
    let plan = plan(Ending::After(4), &["p50 worse than 5%"]);
    let found = (0..5).filter(|seed| at(&run_rounds(&plan, &mut Sides::new(*seed, 1.1)), 0.5) == Difference::Slower);
    assert!(found.count() >= 4);
}
