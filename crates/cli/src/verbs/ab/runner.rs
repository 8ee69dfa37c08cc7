//! Runs of one side on sockets, saved in the folder of the comparison.

use std::ops::ControlFlow;
use std::path::Path;

use truetail_analysis::gates::PlannedRun;
use truetail_model::record::Snapshot;
use truetail_run::{GateFinding, GateState};
use truetail_study::ab::{RunSide, Side, SideFigures, SideOutcome};

use crate::args::ab::AbArgs;
use crate::args::gates::GateArgs;
use crate::args::run::RunArgs;
use crate::baseline;
use crate::error::{CliError, Result, usage_error};
use crate::output;
use crate::output_folder::{OutputFolder, SaveTo};
use crate::resolve::load::DEFAULT_SEED;
use crate::resolve::rows::refuse_once;
use crate::resolve::run::{ResolvedRun, resolve};
use crate::stages::{Judged, Prepared, Turns, name_of, preflight};
use crate::verbs::comparison;
use crate::verbs::named_run::Named;

/// Makes the runs of both sides and keeps their results.
pub(super) struct Runner<'a> {
    args: &'a AbArgs,
    most: u32,
    seed: u64,
    folder: OutputFolder,
    turns: Turns,
    a: Vec<Named>,
    b: Vec<Named>,
    /// True if the folder holds at least one run, even a spoilt or stopped one.
    has_saved: bool,
    /// Number of repeats, and name, of the latest run. A side that runs again in the same round gets a new name.
    begun: (u32, String),
}

impl<'a> Runner<'a> {
    /// Checks both sides, so that mistakes show before anything is sent, and creates the folder for their runs.
    pub(super) fn start(args: &'a AbArgs, most: u32) -> Result<Runner<'a>> {
        if args.run.value_of("data-file").is_some_and(|file| file == "-") {
            return Err(usage_error("--data-file - can be read once only, and every run needs it; write it to a file"));
        }
        let given = args.run.value_of("seed").map(|seed| seed.parse());
        let seed = given.transpose().map_err(usage_error)?.unwrap_or(DEFAULT_SEED);
        let of_second = args.run.run_args(&args.b, &[])?;
        refuse_once(of_second.feed, "ab")?;
        refuse_objectives_of_runs(&of_second.gates)?;
        let has_objectives = !of_second.gates.per_request().is_empty();
        let mut second = resolve(of_second)?;
        let first = resolve(args.run.run_args(&args.a, &[])?)?;
        let offered = first.plan.offered();
        let planned = PlannedRun {
            asks_again: first.observed.asks_again(),
            ..PlannedRun::new(&first.plan.workload, &offered, false, first.observed.reading())
        };
        baseline::refuse_undecidable("--fail-if", &args.result.fail_if, &planned, has_objectives)?;
        // Each run has its own preflight. B has one here as well, so that its mistakes show before A runs.
        preflight(&mut second.plan, second.trial, None)?;
        let save_to = args.out.clone().map_or(SaveTo::NewFolder, SaveTo::Folder);
        let name = format!("ab-{}", name_of(&first.plan.target));
        let folder = OutputFolder::prepare(&save_to, &name)?.expect("runs of ab are saved");
        let turns = Turns::start()?;
        let begun = (0, String::new());
        let a = Vec::new();
        let b = Vec::new();
        Ok(Runner { args, most, seed, folder, turns, a, b, has_saved: false, begun })
    }

    /// Returns the runs that count, of A and of B. Runs that cannot be compared are included.
    pub(super) fn sides(&self) -> (&[Named], &[Named]) {
        (&self.a, &self.b)
    }

    pub(super) fn has_saved(&self) -> bool {
        self.has_saved
    }

    /// Returns the folder that holds the folders of the runs.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn signal(&self) -> Option<i32> {
        self.turns.signal()
    }

    /// Arguments of one run. Each round has a different seed, and both sides of a round share it.
    fn run_args(&self, side: Side, round: u32, folder: &Path) -> Result<RunArgs> {
        let seed = self.seed.wrapping_add(u64::from(round)).to_string();
        let more = [("seed", seed), ("out", folder.display().to_string())];
        self.args.run.run_args(self.url(side), &more)
    }

    fn url(&self, side: Side) -> &str {
        match side {
            Side::A => &self.args.a,
            Side::B => &self.args.b,
        }
    }

    fn tell(&self, message: &str) {
        if !self.args.quiet {
            output::note(message);
        }
    }

    /// Returns the name of the next run: `round-2-b`, or `round-2-b-again-1` if the side is run again in its round.
    fn name(&mut self, side: Side, round: u32) -> String {
        let letter = if side == Side::A { "a" } else { "b" };
        let name = format!("round-{}-{letter}", round + 1);
        self.begun = if self.begun.1 == name { (self.begun.0 + 1, name.clone()) } else { (0, name.clone()) };
        if self.begun.0 == 0 { name } else { format!("{name}-again-{}", self.begun.0) }
    }

    /// Keeps a run for the final comparison. Only runs that a page draws keep all their data, because many whole runs
    /// would fill the memory. The folder of a run has everything.
    fn keep(&mut self, side: Side, mut named: Named) {
        let kept = match side {
            Side::A => &mut self.a,
            Side::B => &mut self.b,
        };
        if self.args.result.html.is_none() || kept.len() >= comparison::DRAWN {
            let Snapshot { tally, last_end, .. } = named.run.snapshot;
            named.run.snapshot = Snapshot { tally, last_end, ..Snapshot::default() };
        }
        kept.push(named);
    }

    /// Offers the load of a side and saves the run; `None` if a signal ended it.
    fn measure(&mut self, mut resolved: ResolvedRun) -> Result<Option<Judged>> {
        resolved.printing.quiet = self.args.quiet;
        let ControlFlow::Continue(measured) = Prepared::new(resolved, None)?.measure(Some(&self.turns))? else {
            return Ok(None);
        };
        let mut judged = measured.judge();
        judged.save()?;
        self.has_saved = true;
        Ok(Some(judged).filter(|judged| judged.signal.is_none()))
    }
}

/// Refuses objectives of a whole run, which decide nothing about a difference.
fn refuse_objectives_of_runs(gates: &GateArgs) -> Result<()> {
    match gates.gates().first() {
        Some(gate) => Err(usage_error(format!(
            "--slo '{gate}' is about a single run, and ab compares: write --fail-if 'p99 worse than 5%', or --slo 'ttft < 500ms' \
             for goodput"
        ))),
        None => Ok(()),
    }
}

impl RunSide for Runner<'_> {
    type Error = CliError;

    fn run(&mut self, side: Side, round: u32) -> Result<SideOutcome> {
        if self.signal().is_some() {
            return Ok(SideOutcome::Stopped);
        }
        let name = self.name(side, round);
        let saved = self.folder.path().join(&name);
        let resolved = resolve(self.run_args(side, round, &saved)?)?;
        self.tell(&format!("round {} of at most {}: {name}", round + 1, self.most));
        let Some(Judged { run, findings, .. }) = self.measure(resolved)? else { return Ok(SideOutcome::Stopped) };
        let named = Named { name: saved.display().to_string(), run, findings };
        let figures = SideFigures::of_run(&named.run, named.findings.clone());
        let turn = match self.args.anyway {
            true => SideOutcome::Done(Box::new(figures)),
            false => SideOutcome::from_figures(figures),
        };
        if matches!(turn, SideOutcome::Spoilt) {
            let why = named.findings.verdict.reasons.first().map_or("", |reason| reason.message.as_str());
            self.tell(&format!("{name} is INVALID because of the generator, and is repeated: {why}"));
            return Ok(turn);
        }
        self.keep(side, named);
        Ok(turn)
    }

    fn report_look(&mut self, rounds: u32, gates: &[GateFinding]) {
        let open = gates.iter().filter(|gate| gate.state == GateState::Open);
        for gate in open {
            self.tell(&format!("after {rounds} rounds, open: {}: {}", gate.text, gate.message));
        }
    }
}
