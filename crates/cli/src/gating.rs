//! Gates of a run: judged, written to files, and turned into an exit code.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use truetail_analysis::capacity::AbortRule;
use truetail_analysis::gates::{self, Gate, PlannedRun, RunOutcome};
use truetail_report::{JunitSuite, junit, markdown_summary};
use truetail_run::{Findings, GateFinding, GateState, Run};

use crate::after_load::AfterLoad;
use crate::args::gates::GateArgs;
use crate::error::{ExitCode, Result, usage_error};
use crate::output::{self, cannot_write};

/// Variable that names the summary page of a GitHub Actions job.
const GITHUB_PAGE: &str = "GITHUB_STEP_SUMMARY";

/// Gates to judge, and files for the outcome.
#[derive(Clone, Default, Debug)]
pub(crate) struct Gating {
    gates: Vec<Gate>,
    /// Accepts a service that only fails, because the user wants to measure failures.
    pub allow_errors: bool,
    junit: Option<PathBuf>,
    markdown: Option<PathBuf>,
    /// Summary page of a job, shared with its other steps.
    github: Option<PathBuf>,
}

impl Gating {
    /// Returns the gates and files that `args` name. Called before the load, so that a bad file name costs no run.
    ///
    /// # Errors
    /// If a file is a folder or its folder is missing, or if `--github` has no page.
    pub(crate) fn resolve(args: GateArgs) -> Result<Gating> {
        args.refuse_empty_goodput()?;
        let github = if args.github { Some(github_page()?) } else { None };
        for (flag, file) in [("--junit", &args.junit), ("--markdown", &args.markdown)] {
            file.as_deref().map_or(Ok(()), |file| check_place(flag, file))?;
        }
        Ok(Gating { gates: args.gates(), allow_errors: false, junit: args.junit, markdown: args.markdown, github })
    }

    /// Refuses gates that no behaviour of the service can decide with this load.
    pub(crate) fn refuse_undecidable(&self, planned: &PlannedRun<'_>) -> Result<()> {
        self.gates.iter().try_for_each(|gate| {
            refuse_undecidable(if gate.must_hold() { "--slo" } else { "--fail-if" }, gate, planned)
        })
    }

    /// Adds a gate for each condition that ends the run early, and refuses conditions that this load cannot decide.
    pub(crate) fn add_abort_rules(&mut self, rules: &[AbortRule], planned: &PlannedRun<'_>) -> Result<()> {
        for gate in rules.iter().map(AbortRule::gate) {
            refuse_undecidable("--abort-on", gate, planned)?;
            if !self.gates.contains(gate) {
                self.gates.push(gate.clone());
            }
        }
        Ok(())
    }

    /// Adds the outcome of the gates to the findings. Without gates, judges the `stored` ones again.
    pub(crate) fn judge(&self, run: &Run, findings: &mut Findings, stored: &[GateFinding]) {
        findings.gates = if self.gates.is_empty() {
            stored.iter().map(|gate| again(gate, run, findings)).collect()
        } else {
            gates::judge_all(&self.gates, run, findings)
        };
    }

    /// Judges a run in progress. Leaves out gates on checks, streams, events and sessions, which have no results before
    /// the end of the run.
    pub(crate) fn judge_so_far(&self, run: &Run, findings: &mut Findings) {
        let is_of_the_end = |gate: &Gate| gate.is_about_checks() || gate.is_about_streams() || gate.is_about_events();
        let is_known = |gate: &&Gate| !is_of_the_end(gate) && !gate.is_about_sessions();
        let gates: Vec<Gate> = self.gates.iter().filter(is_known).cloned().collect();
        findings.gates = gates::judge_all(&gates, run, findings);
    }

    /// Writes the requested files, and continues after a failure.
    pub(crate) fn write(&self, run: &Run, findings: &Findings, steps: &mut AfterLoad) {
        if let Some(file) = &self.junit {
            steps.tried(write_junit(file, &[JunitSuite::for_run(None, run, findings)]));
        }
        if self.markdown.is_none() && self.github.is_none() {
            return;
        }
        let summary = markdown_summary(run, findings);
        if let Some(file) = &self.markdown {
            steps.tried(output::write_file(file, &summary));
        }
        if let Some(page) = &self.github {
            let opened = OpenOptions::new().append(true).create(true).open(page);
            // The blank line separates the summary from that of other steps.
            let written = opened.and_then(|mut page| page.write_all(format!("{summary}\n").as_bytes()));
            steps.tried(written.map_err(|error| cannot_write(page, &error)));
        }
    }
}

fn refuse_undecidable(option: &str, gate: &Gate, planned: &PlannedRun<'_>) -> Result<()> {
    planned.objection(gate).map_or(Ok(()), |objection| Err(usage_error(format!("{option} {objection}"))))
}

/// Writes a JUnit file of these runs.
pub(crate) fn write_junit(file: &Path, suites: &[JunitSuite]) -> Result<()> {
    let content = junit(suites).map_err(|error| cannot_write(file, &error))?;
    output::write_file(file, content)
}

/// Judges a saved gate again. If this version cannot parse the gate, returns its saved outcome.
fn again(stored: &GateFinding, run: &Run, findings: &Findings) -> GateFinding {
    stored.text.parse().map_or_else(|_| stored.clone(), |gate: Gate| gate.judge(run, findings))
}

/// Prints failed and open gates to standard error, for runs that print no summary.
pub(crate) fn note_failures(findings: &Findings) {
    for gate in &findings.gates {
        let word = match gate.state {
            GateState::Holds => continue,
            GateState::Fails => "FAILED",
            GateState::Open => "OPEN",
        };
        output::note(&format!("{word} {}: {}", gate.text, gate.message));
    }
}

/// Returns the exit code of a run whose gates were judged. `signal` ended the run, if given.
pub(crate) fn exit_code(run: &Run, findings: &Findings, signal: Option<i32>) -> ExitCode {
    match (gates::outcome(run, findings), signal) {
        (RunOutcome::Failed, _) => ExitCode::GateFailed,
        (_, Some(signal)) => ExitCode::Signal(signal),
        (RunOutcome::Open, None) => ExitCode::Open,
        (RunOutcome::Passed, None) => ExitCode::Success,
    }
}

fn github_page() -> Result<PathBuf> {
    env::var_os(GITHUB_PAGE).filter(|page| !page.is_empty()).map(PathBuf::from).ok_or_else(|| {
        usage_error(format!(
            "--github needs ${GITHUB_PAGE}, which GitHub Actions sets; elsewhere write --markdown FILE"
        ))
    })
}

/// Refuses a file that is a folder, or whose folder does not exist.
pub(crate) fn check_place(flag: &str, file: &Path) -> Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if file.is_dir() {
        return Err(usage_error(format!("{flag} {} is a folder; name a file", file.display())));
    }
    match folder.filter(|folder| !folder.is_dir()) {
        Some(folder) => Err(usage_error(format!("{flag} {}: there is no folder {}", file.display(), folder.display()))),
        None => Ok(()),
    }
}
