//! Baseline that a run is compared with.

use std::fs;
use std::path::{Path, PathBuf};

use truetail_analysis::compare::{CompareGate, StreamFigures, compare, objections};
use truetail_analysis::gates::{self, PlannedRun, RunOutcome};
use truetail_report::CompareReport;
use truetail_run::{Findings, GateFinding, GateState, OfferedLoad, Run, folder};
use truetail_stream::Objective;

use crate::args::baseline::BaselineArgs;
use crate::args::gates::empty_goodput;
use crate::error::{Result, runtime_error, usage_error};
use crate::output;
use crate::output_folder::{OutputFolder, SaveTo};

/// Name of the compared run in the report.
const THIS_RUN: &str = "this run";

/// Baseline of a run.
pub(crate) struct Baseline {
    path: PathBuf,
    /// Empty if no baseline exists yet.
    runs: Vec<BaselineRun>,
    gates: Vec<CompareGate>,
    write: bool,
}

struct BaselineRun {
    name: String,
    run: Run,
    findings: Findings,
}

impl Baseline {
    /// Loads the baseline, so that its errors show before anything is sent. Returns `None` without `--baseline`.
    /// `objectives` are for each request of the run.
    ///
    /// # Errors
    /// If the baseline cannot be read, is not a run, or can never decide a condition. If an option needs a baseline and
    /// `--baseline` is missing. If `out` and the new baseline are the same folder.
    pub(crate) fn resolve(
        args: BaselineArgs,
        out: Option<&Path>,
        objectives: &[Objective],
    ) -> Result<Option<Baseline>> {
        let Some(path) = args.baseline else {
            let lost =
                [("--baseline-fail-if", !args.baseline_fail_if.is_empty()), ("--write-baseline", args.write_baseline)];
            return match lost.iter().find(|(_, given)| *given) {
                Some((option, _)) => Err(usage_error(format!("{option} needs a baseline; add --baseline DIR"))),
                None => Ok(None),
            };
        };
        let runs = folders(&path)?.iter().map(|folder| load(folder)).collect::<Result<Vec<_>>>()?;
        if args.write_baseline && runs.is_empty() && out.is_some_and(|out| is_one_path(out, &path)) {
            return Err(usage_error("--out and --baseline name the same folder; save the run in another one"));
        }
        refuse_missing(
            "--baseline-fail-if",
            &args.baseline_fail_if,
            runs.iter().map(|run| (run.name.as_str(), &run.run)),
        )?;
        let single = single(&runs, &path, out, args.write_baseline);
        if let Some(why) = never_decided(&args.baseline_fail_if, &runs, single.as_deref(), objectives) {
            return Err(usage_error(format!("--baseline-fail-if {why}")));
        }
        if runs.is_empty() {
            OutputFolder::check(&SaveTo::Folder(path.clone()))?;
        }
        Ok(Some(Baseline { path, runs, gates: args.baseline_fail_if, write: args.write_baseline }))
    }

    /// Returns a note if the prompts of this load, each of them different, are those of a run of the baseline.
    pub(crate) fn note_on_prompts(&self, offered: &OfferedLoad) -> Option<String> {
        let seed = offered.values_seed?;
        let seed_of = |old: &BaselineRun| old.run.facts.offered.values_seed;
        let same = self.runs.iter().find(|old| seed_of(old) == Some(seed))?;
        let is_free = |other: &u64| !self.runs.iter().any(|old| seed_of(old) == Some(*other));
        let other = (1..).find(is_free)?;
        let name = &same.name;
        Some(format!(
            "--cache-bust sends the prompts of the baseline {name} again, because both have the seed {seed}: a server that has run \
             since then may have them in its cache, which makes answers faster; another seed, such as --seed {other}, sends others"
        ))
    }

    /// Compares a run with the baseline, and adds the outcome of the conditions to the gates of the run. Without a
    /// baseline, returns `None` and adds a note to the run.
    pub(crate) fn judge(&self, run: &mut Run, findings: &mut Findings) -> Option<CompareReport> {
        if self.runs.is_empty() {
            // Streams need several runs.
            let is_enough = !self.write && !self.gates.iter().any(CompareGate::is_about_streams);
            let how = if is_enough { "; --write-baseline saves this run there" } else { "" };
            let note = format!("there is no baseline in {} yet, so nothing was compared{how}", self.path.display());
            output::note(&note);
            run.facts.notes.push(note);
            return None;
        }
        let a: Vec<_> = self.runs.iter().map(|old| (old.name.as_str(), &old.run, &old.findings.verdict)).collect();
        let objections = objections(&a, &[(THIS_RUN, run, &findings.verdict)]);
        let old: Vec<_> = self.runs.iter().map(|old| &old.findings).collect();
        let comparison = objections.is_empty().then(|| {
            let streams_of = |old: &BaselineRun| StreamFigures::of_run(&old.run, &old.findings);
            let of_old: Vec<_> = self.runs.iter().map(streams_of).collect();
            let of_new = StreamFigures::of_run(run, findings);
            compare(&old, &[&*findings]).with_streams(of_old.iter().map(Option::as_ref), [of_new.as_ref()])
        });
        let judged = |gate: &CompareGate| match &comparison {
            Some(found) => gate.judge(found),
            None => not_compared(gate, &objections),
        };
        let judged: Vec<_> = self.gates.iter().map(judged).collect();
        findings.gates.extend(judged);
        Some(CompareReport {
            a: self.runs.iter().map(|old| old.name.clone()).collect(),
            b: vec![THIS_RUN.to_owned()],
            runs: [self.runs.len(), 1],
            objections,
            help: None,
            anyway: false,
            comparison,
            gates: Vec::new(),
            rounds: None,
        })
    }

    /// Saves the run as the baseline, if `--write-baseline` asks for it, no baseline exists, and the run is fit.
    pub(crate) fn write(&self, run: &Run, findings: &Findings) -> Result<()> {
        if !self.write || !self.runs.is_empty() {
            return Ok(());
        }
        let path = self.path.display();
        if let Some(why) = unfit(run, findings) {
            output::note(&format!("this run is not saved as the baseline in {path}: {why}"));
            return Ok(());
        }
        let folder = OutputFolder::prepare(&SaveTo::Folder(self.path.clone()), "")?;
        folder.map(|folder| folder.save(run, findings)).transpose()?;
        output::note(&format!("this run is the baseline now, in {path}"));
        Ok(())
    }
}

/// Returns a condition that can never be decided with this baseline, the reason, and the remedy. `None` if all may be.
/// `single` says why the baseline has one run only.
fn never_decided(
    gates: &[CompareGate],
    runs: &[BaselineRun],
    single: Option<&str>,
    objectives: &[Objective],
) -> Option<String> {
    let not_repeated = |why: &str| {
        format!(
            "streams need several baseline runs, and {why}; save them in a new folder (--out NEW/1, --out NEW/2, …) and give \
             --baseline NEW"
        )
    };
    let why = |gate: &CompareGate| {
        let of_streams = || single.filter(|_| gate.is_about_streams()).map(not_repeated);
        let of_goodput = || other_objectives(runs, objectives).filter(|_| gate.is_about_goodput());
        too_short(gate, runs).or_else(of_streams).or_else(of_goodput)
    };
    gates.iter().find_map(|gate| Some(format!("'{gate}' cannot be decided: {}", why(gate)?)))
}

/// Explains why the baseline has, or will have, one run only. `None` if it has several or none, or if this run is saved
/// as another one of it.
fn single(runs: &[BaselineRun], path: &Path, out: Option<&Path>, write: bool) -> Option<String> {
    let is_added = || out.and_then(Path::parent).is_some_and(|folder| is_one_path(folder, path));
    match runs {
        [run] if !is_added() => Some(format!("{} is one", run.name)),
        [] if write => Some("--write-baseline saves one".to_owned()),
        _ => None,
    }
}

/// Explains that a run of the baseline is too short for a condition on a percentile.
fn too_short(gate: &CompareGate, runs: &[BaselineRun]) -> Option<String> {
    let needed = gate.fewest_arrivals();
    let planned = |run: &BaselineRun| run.run.snapshot.tally.planned;
    let run = runs.iter().find(|run| planned(run) < needed)?;
    Some(format!(
        "it needs {needed} arrivals, and the baseline {} has {}; make a longer baseline",
        run.name,
        planned(run)
    ))
}

/// Explains that a run of the baseline has other objectives of each request, in any order.
fn other_objectives(runs: &[BaselineRun], objectives: &[Objective]) -> Option<String> {
    let of = |run: &BaselineRun| {
        let slo = run.run.facts.stream.as_ref()?.llm.as_ref()?.slo.as_ref()?;
        Some(sorted(slo.objectives.clone()))
    };
    let here = sorted(objectives.iter().map(Objective::to_string).collect());
    let differs = |run: &BaselineRun| of(run).filter(|there| *there != here).map(|there| (run.name.clone(), there));
    let (name, there) = runs.iter().find_map(differs).filter(|_| !here.is_empty())?;
    let quoted = |texts: &[String]| texts.iter().map(|text| format!("'{text}'")).collect::<Vec<_>>().join(", ");
    Some(format!(
        "the objectives of each request are {} in the baseline {name} and {} in this run; give the same --slo, or make a \
         new baseline",
        quoted(&there),
        quoted(&here)
    ))
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort_unstable();
    texts
}

/// Refuses conditions on figures that this load does not have, or is too short to decide. `has_objectives` means that
/// each request has objectives for goodput.
pub(crate) fn refuse_undecidable(
    option: &str,
    gates: &[CompareGate],
    planned: &PlannedRun<'_>,
    has_objectives: bool,
) -> Result<()> {
    let objection = |gate: &CompareGate| {
        let without = || (gate.is_about_goodput() && !has_objectives).then(|| empty_goodput(gate));
        gate.objection(planned).or_else(without)
    };
    refuse(option, gates.iter().find_map(objection))
}

/// Refuses conditions on figures that a saved run does not have.
pub(crate) fn refuse_missing<'a>(
    option: &str,
    gates: &[CompareGate],
    runs: impl IntoIterator<Item = (&'a str, &'a Run)>,
) -> Result<()> {
    let objection = |(name, run): (&str, &Run)| gates.iter().find_map(|gate| gate.objection_to_run(name, run));
    refuse(option, runs.into_iter().find_map(objection))
}

fn refuse(option: &str, objection: Option<String>) -> Result<()> {
    objection.map_or(Ok(()), |objection| Err(usage_error(format!("{option} {objection}"))))
}

fn is_one_path(a: &Path, b: &Path) -> bool {
    let whole = |path: &Path| std::path::absolute(path).map(|path| path.components().collect::<PathBuf>());
    matches!((whole(a), whole(b)), (Ok(a), Ok(b)) if a == b)
}

/// Returns why a run is not fit to be the baseline.
fn unfit(run: &Run, findings: &Findings) -> Option<&'static str> {
    match gates::outcome(run, findings) {
        _ if run.facts.interrupted || run.facts.cut_short == Some(true) => Some("it was stopped early"),
        RunOutcome::Failed => Some("a gate or a check failed"),
        RunOutcome::Open => Some("it is INVALID, or a gate is open"),
        RunOutcome::Passed => None,
    }
}

fn not_compared(gate: &CompareGate, objections: &[String]) -> GateFinding {
    GateFinding {
        text: gate.to_string(),
        state: GateState::Open,
        value_ns: None,
        limit_ns: None,
        value: None,
        limit: None,
        message: format!("not compared with the baseline: {}", objections.join("; ")),
    }
}

fn load(folder: &Path) -> Result<BaselineRun> {
    let run = folder::load(folder).map_err(runtime_error)?.run;
    let findings = truetail_analysis::findings(&run);
    Ok(BaselineRun { name: folder.display().to_string(), run, findings })
}

/// Returns the folder itself if it holds a run, or the folders in it that do. Empty if nothing exists yet.
fn folders(path: &Path) -> Result<Vec<PathBuf>> {
    let cannot = |error| runtime_error(format!("--baseline {}: {error}", path.display()));
    if !path.exists() {
        return Ok(Vec::new());
    }
    let holds_run = |folder: &Path| folder.join(folder::RUN).is_file();
    if holds_run(path) {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path).and_then(Iterator::collect::<std::io::Result<Vec<_>>>).map_err(cannot)?;
    let mut found: Vec<_> = entries.iter().map(fs::DirEntry::path).filter(|folder| holds_run(folder)).collect();
    found.sort();
    Ok(found)
}
