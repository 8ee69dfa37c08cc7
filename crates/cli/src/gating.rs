//! Gates of a run: judged, written to files, and turned into an exit code.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use truetail_analysis::gates::{self, Gate, PlannedRun, RunOutcome};
use truetail_report::{JunitSuite, junit, markdown_summary};
use truetail_run::{Findings, GateFinding, GateState, Run};

use crate::after_load::AfterLoad;
use crate::args::gates::GateArgs;
use crate::error::{ExitCode, Result, runtime_error, usage_error};
use crate::output;

/// The variable that names the page of a job of GitHub Actions.
const GITHUB_PAGE: &str = "GITHUB_STEP_SUMMARY";

/// What is to be judged, and where the outcome goes.
#[derive(Clone, Default, Debug)]
pub struct Gating {
    gates: Vec<Gate>,
    /// A service that only fails is what the user wants to measure.
    pub allow_errors: bool,
    junit: Option<PathBuf>,
    markdown: Option<PathBuf>,
    /// The page of a job, which others write to as well.
    github: Option<PathBuf>,
}

impl Gating {
    /// Checks, before anything is done, that the files can have a place.
    ///
    /// # Errors
    /// If a folder is missing, or `--github` has no page.
    pub fn resolve(args: GateArgs) -> Result<Gating> {
        let github = if args.github { Some(github_page()?) } else { None };
        for (flag, file) in [("--junit", &args.junit), ("--markdown", &args.markdown)] {
            file.as_deref().map_or(Ok(()), |file| check_place(flag, file))?;
        }
        Ok(Gating { gates: args.gates(), allow_errors: false, junit: args.junit, markdown: args.markdown, github })
    }

    /// Refuses gates that this load cannot decide, whatever the service does.
    ///
    /// # Errors
    /// The first of them, and what would help.
    pub fn refuse_undecidable(&self, planned: &PlannedRun<'_>) -> Result<()> {
        match self.gates.iter().find_map(|gate| Some((gate, planned.objection(gate)?))) {
            Some((gate, objection)) => {
                let option = if gate.must_hold() { "--slo" } else { "--fail-if" };
                Err(usage_error(format!("{option} {objection}")))
            }
            None => Ok(()),
        }
    }

    /// Adds what becomes of the gates to the findings; without gates, of those that `stored` names.
    pub fn judge(&self, run: &Run, findings: &mut Findings, stored: &[GateFinding]) {
        findings.gates = if self.gates.is_empty() {
            stored.iter().map(|gate| again(gate, run, findings)).collect()
        } else {
            gates::judge_all(&self.gates, run, findings)
        };
    }

    /// The same of a run that goes on, without gates on checks, streams and sessions: what is found there is known after the run only.
    pub fn judge_so_far(&self, run: &Run, findings: &mut Findings) {
        let is_known = |gate: &&Gate| !gate.is_about_checks() && !gate.is_about_streams() && !gate.is_about_sessions();
        let gates: Vec<Gate> = self.gates.iter().filter(is_known).cloned().collect();
        findings.gates = gates::judge_all(&gates, run, findings);
    }

    /// Writes the files that were asked for, each of them if it can.
    pub fn write(&self, run: &Run, findings: &Findings, steps: &mut AfterLoad) {
        if let Some(file) = &self.junit {
            steps.tried(write_junit(file, &[JunitSuite::of(None, run, findings)]));
        }
        if self.markdown.is_none() && self.github.is_none() {
            return;
        }
        let summary = markdown_summary(run, findings);
        if let Some(file) = &self.markdown {
            steps.tried(fs::write(file, &summary).map_err(|error| cannot_write(file, &error)));
        }
        if let Some(page) = &self.github {
            let opened = OpenOptions::new().append(true).create(true).open(page);
            // A blank line apart from what other steps wrote.
            let written = opened.and_then(|mut page| page.write_all(format!("{summary}\n").as_bytes()));
            steps.tried(written.map_err(|error| cannot_write(page, &error)));
        }
    }
}

/// Writes a JUnit file of these runs.
///
/// # Errors
/// If it cannot be written.
pub fn write_junit(file: &Path, suites: &[JunitSuite]) -> Result<()> {
    let content = junit(suites).map_err(|error| cannot_write(file, &error))?;
    fs::write(file, content).map_err(|error| cannot_write(file, &error))
}

/// A gate of a saved run, judged again; as it was saved where this version cannot read it.
fn again(stored: &GateFinding, run: &Run, findings: &Findings) -> GateFinding {
    stored.text.parse().map_or_else(|_| stored.clone(), |gate: Gate| gate.judge(run, findings))
}

/// Tells standard error which gates failed or are open, for runs whose screen is not shown.
pub fn note_failures(findings: &Findings) {
    for gate in &findings.gates {
        let word = match gate.state {
            GateState::Holds => continue,
            GateState::Fails => "FAILED",
            GateState::Open => "OPEN",
        };
        output::note(&format!("{word} {}: {}", gate.text, gate.message));
    }
}

/// The exit code of a run whose gates were judged. `signal` ended it, if one did.
pub fn exit_code(run: &Run, findings: &Findings, signal: Option<i32>) -> ExitCode {
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
///
/// # Errors
/// What is wrong with it, and the option that names it.
pub fn check_place(flag: &str, file: &Path) -> Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if file.is_dir() {
        return Err(usage_error(format!("{flag} {} is a folder; name a file", file.display())));
    }
    match folder.filter(|folder| !folder.is_dir()) {
        Some(folder) => Err(usage_error(format!("{flag} {}: there is no folder {}", file.display(), folder.display()))),
        None => Ok(()),
    }
}

fn cannot_write(file: &Path, error: &dyn std::fmt::Display) -> crate::error::CliError {
    runtime_error(format!("cannot write {}: {error}", file.display()))
}
