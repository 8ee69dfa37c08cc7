//! `truetail run --all` and `truetail run api orders`: makes runs of truetail.toml in turn.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use serde_json::Value;
use truetail_report::{JunitSuite, RunEntry, RunLine, compare_json, markdown_summary, run_table, runs_json};
use truetail_run::wire;

use super::run::offer;
use crate::after_load::AfterLoad;
use crate::args::run::RunArgs;
use crate::baseline::Baseline;
use crate::config;
use crate::error::{CliError, ExitCode, Result, usage_error};
use crate::gating::{self, check_place, write_junit};
use crate::output;
use crate::output_folder::OutputFolder;
use crate::resolve;
use crate::setup;
use crate::stages::{Delivered, Turns};

/// Makes the runs in turn and prints a table. A failed run does not stop the next ones; a signal does.
///
/// # Errors
/// If a run is not valid, which is found before the first run; or if something cannot be written.
pub(super) fn several(args: &RunArgs) -> Result<ExitCode> {
    let runs = config::complete_several(args)?;
    check(&runs)?;
    let turns = Turns::start()?;
    let mut done = Done { json: args.json, ..Done::default() };
    for (nth, (name, run)) in runs.iter().enumerate() {
        if turns.signal().is_some() {
            done.not_made(name);
            continue;
        }
        if !args.json {
            output::print(&format!("{}Run {} of {}: {name}\n", if nth > 0 { "\n" } else { "" }, nth + 1, runs.len()))?;
        }
        let mut run = run.clone();
        let files = Files { junit: run.gates.junit.take(), markdown: run.gates.markdown.take() };
        let offered = offer(run, Some(&turns));
        done.add(name, offered, files);
    }
    done.end(turns.signal())
}

/// Checks all runs before the first is made. Sends nothing.
fn check(runs: &[(String, RunArgs)]) -> Result<()> {
    for (name, run) in runs {
        let of_run = |error: CliError| CliError { message: format!("[run.{name}]: {}", error.message), ..error };
        one_at_a_time(run).map_err(of_run)?;
        Baseline::resolve(run.baseline.clone(), run.out.as_deref(), &run.gates.per_request()).map_err(of_run)?;
        let mut stood_in = run.clone();
        setup::stand_in(&mut stood_in).map_err(of_run)?;
        let resolved = resolve::run::check(stood_in).map_err(of_run)?;
        OutputFolder::check(&resolved.save_to).map_err(of_run)?;
        for (option, file) in [("--junit", &run.gates.junit), ("--markdown", &run.gates.markdown)] {
            file.as_deref().map_or(Ok(()), |file| check_place(option, file)).map_err(of_run)?;
        }
    }
    let files_of = |run: &RunArgs| {
        [("out", run.out.clone()), ("html", run.page.html.clone()), ("vllm-json", run.vllm.vllm_json.clone())]
    };
    let mut written: BTreeMap<(&str, PathBuf), &str> = BTreeMap::new();
    for (name, run) in runs {
        for (option, file) in files_of(run) {
            let Some(file) = file else { continue };
            let shown = file.display().to_string();
            if let Some(other) = written.insert((option, file), name) {
                return Err(usage_error(format!(
                    "'{other}' and '{name}' both have {option} = \"{shown}\", and the second would overwrite the first; --out DIR \
                     saves each run and its page in a folder of its own"
                )));
            }
        }
    }
    Ok(())
}

/// Refuses options that only a single run can have.
fn one_at_a_time(run: &RunArgs) -> Result<()> {
    let machines = &run.machines;
    let is_dealt_out = machines.stripe.is_some() || machines.start_at.is_some() || run.pack;
    if is_dealt_out {
        return Err(usage_error("--stripe, --start-at and --pack are for one run; name it alone"));
    }
    if run.typed.words.iter().any(|word| word == "-" || word.ends_with("=-")) {
        return Err(usage_error(
            "standard input can be read once only, and there are several runs; write it to a file",
        ));
    }
    Ok(())
}

/// Files that several runs may write together.
struct Files {
    junit: Option<PathBuf>,
    markdown: Option<PathBuf>,
}

/// Results of the runs that were made.
#[derive(Default)]
struct Done {
    json: bool,
    lines: Vec<RunLine>,
    entries: Vec<RunEntry>,
    codes: Vec<ExitCode>,
    suites: BTreeMap<PathBuf, Vec<JunitSuite>>,
    pages: BTreeMap<PathBuf, String>,
    left_out: usize,
}

impl Done {
    fn add(&mut self, name: &str, offered: Result<ControlFlow<i32, Delivered>>, files: Files) {
        let (ended, entry) = match offered {
            Err(error) => (Err(error), None),
            Ok(ControlFlow::Break(signal)) => (Ok(ExitCode::Signal(signal)), None),
            Ok(ControlFlow::Continue(Delivered { code, steps, result })) => (steps.end(code), Some(result)),
        };
        let error = ended.as_ref().err().map(|error| error.message.clone());
        error.iter().for_each(|message| output::note(&format!("{name}: {message}")));
        let mut steps = AfterLoad::default();
        let (suite, page) = match &entry {
            Some(result) => (
                JunitSuite::for_run(Some(name), &result.run, &result.findings),
                markdown_summary(&result.run, &result.findings),
            ),
            None => {
                let why = error.clone().unwrap_or_else(|| "there is no result".to_owned());
                (JunitSuite::without_result(name, &why), format!("{why}\n"))
            }
        };
        // Written after each run, so that a failure of the next run loses nothing.
        if let Some(file) = &files.junit {
            let suites = self.suites.entry(file.clone()).or_default();
            suites.push(suite);
            steps.tried(write_junit(file, suites));
        }
        if let Some(file) = &files.markdown {
            let pages = self.pages.entry(file.clone()).or_default();
            pages.push_str(&format!("# {name}\n\n{page}\n"));
            steps.tried(output::write_file(file, pages));
        }
        let ended = ended.and_then(|code| steps.end(code));
        let code = match &ended {
            Ok(code) => *code,
            Err(error) => error.exit_code,
        };
        self.codes.push(code);
        let folder = entry.as_ref().and_then(|result| result.saved.as_ref().map(|path| path.display().to_string()));
        let json = |text: String| serde_json::from_str::<Value>(&text).ok();
        self.lines.push(match &entry {
            Some(result) => {
                let both = (&result.run, &result.findings);
                RunLine::for_run(name, both, result.compared.as_ref(), folder.as_deref())
            }
            None => RunLine::without_result(name, "no result"),
        });
        if self.json {
            entry.iter().for_each(|result| gating::note_failures(&result.findings));
            self.entries.push(RunEntry {
                name: name.to_owned(),
                exit_code: Some(code.into()),
                error: ended.err().map(|error| error.message).or(error),
                folder,
                run: entry
                    .as_ref()
                    .and_then(|result| json(wire::v1::run_file(&result.run, &result.findings).to_json())),
                comparison: entry.as_ref().and_then(|result| json(compare_json(result.compared.as_ref()?))),
            });
        }
    }

    fn not_made(&mut self, name: &str) {
        self.left_out += 1;
        self.lines.push(RunLine::without_result(name, "not made"));
        self.entries.push(RunEntry {
            name: name.to_owned(),
            exit_code: None,
            error: Some("not made: the runs were stopped".to_owned()),
            folder: None,
            run: None,
            comparison: None,
        });
    }

    /// Prints the table and returns the worst exit code. `signal` is the signal that stopped the runs, if any.
    fn end(mut self, signal: Option<i32>) -> Result<ExitCode> {
        self.codes.extend(signal.map(ExitCode::Signal));
        let worst = worst(&self.codes);
        match self.left_out {
            0 => {}
            1 => output::note("1 run was not made, because the runs were stopped"),
            n => output::note(&format!("{n} runs were not made, because the runs were stopped")),
        }
        if self.json {
            output::print(&runs_json(&self.entries, worst.into()))?;
        } else {
            output::print(&format!("\n{}", run_table(&self.lines, output::stdout_style())))?;
        }
        Ok(worst)
    }
}

/// Returns the worst exit code: an error, then a failed gate, a signal, an open question.
fn worst(codes: &[ExitCode]) -> ExitCode {
    let badness = |code: &ExitCode| match code {
        ExitCode::Success => 0,
        ExitCode::Open => 1,
        ExitCode::Signal(_) => 2,
        ExitCode::GateFailed => 3,
        ExitCode::Error | ExitCode::Usage => 4,
    };
    codes.iter().copied().max_by_key(badness).unwrap_or(ExitCode::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_exit_codes_make_the_worst_one() {
        use ExitCode::{Error, GateFailed, Open, Signal, Success};
        for (codes, is) in [
            (&[][..], Success),
            (&[Success, Open, Success], Open),
            (&[Open, Signal(2)], Signal(2)),
            (&[GateFailed, Signal(2), Open], GateFailed),
            (&[GateFailed, Error, Signal(15)], Error),
        ] {
            assert_eq!(worst(codes), is, "{codes:?}");
        }
    }
}
