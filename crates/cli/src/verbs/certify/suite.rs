//! `truetail certify --suite`: a load tool in the suite of situations.

use std::path::{Path, PathBuf};

use truetail_analysis::league::{SuiteResult, SuiteState};
use truetail_engine::host;
use truetail_lab::suite::{Adapter, SITUATIONS, Situation, Subject, go_through, plan};
use truetail_lab::{CancelToken, check_overwritable};
use truetail_model::time::Nanos;
use truetail_page::suite_page;
use truetail_report::league;
use truetail_run::input;
use truetail_tools::SearchPath;

use crate::args::certify::CertifyArgs;
use crate::error::{ExitCode, Result, runtime_error, usage_error};
use crate::{output, signals};

const FOLDER: &str = "truetail-lab/suite";
/// Shortest duration of a situation: its stalls and ramps shrink with it.
const SHORTEST: Nanos = Nanos(2_000_000_000);

/// Runs a tool through the situations, and prints what each shows.
///
/// # Errors
/// If the adapter cannot be read, the tool is not found, no server can be started, or files cannot be written.
pub(super) fn suite(args: &CertifyArgs) -> Result<ExitCode> {
    if args.duration.is_some_and(|duration| duration < SHORTEST) {
        return Err(usage_error(format!(
            "--suite: in less than {SHORTEST} nothing can be shown; give a longer --duration"
        )));
    }
    let subject = subject(args)?;
    let found = subject.plain.locate(&SearchPath::from_env()).map_err(runtime_error)?;
    let situations = chosen(&args.situations)?;
    let _ = host::raise_open_file_limit();
    let parent = args.out.clone().unwrap_or_else(|| Path::new(FOLDER).join(&subject.name));
    let folders: Vec<PathBuf> = situations.iter().map(|situation| parent.join(situation.name)).collect();
    for folder in &folders {
        check_overwritable(folder).map_err(|error| output::cannot_write(folder, &error))?;
    }
    let stop = CancelToken::new();
    let _watch = signals::end_tool_on_signal(&stop)?;
    let mut result = SuiteResult { tool: subject.name.clone(), version: found.version, situations: Vec::new() };
    for (situation, folder) in situations.iter().zip(&folders) {
        let plan = plan(situation, args.duration);
        if !args.quiet {
            output::note(&format!("{}, {} …", situation.name, plan.duration));
        }
        let row = go_through(&subject, situation, &plan, folder, &stop);
        let row = row.map_err(|error| output::cannot_write(folder, &error))?;
        result.situations.push(row.ok_or_else(|| runtime_error("stopped before the end of the suite"))?);
    }
    result.withdraw_unconfirmed();
    deliver(args, &result, &parent)
}

/// Returns the tool: that of the adapter, of the command, or truetail.
fn subject(args: &CertifyArgs) -> Result<Subject> {
    let adapter = match (&args.adapter, &args.command[..]) {
        (Some(file), _) => {
            let text = input::text(file)
                .map_err(|error| runtime_error(format!("cannot read the adapter {}: {error}", file.display())))?;
            Adapter::parse(&text, &file.display().to_string()).map_err(usage_error)?
        }
        (None, []) => Adapter::of_tool("truetail"),
        (None, command) => Adapter::of_command(command.to_vec()),
    };
    adapter.subject().map_err(usage_error)
}

/// Returns the situations of these names; without names, all.
fn chosen(names: &[String]) -> Result<Vec<Situation>> {
    if names.is_empty() {
        return Ok(SITUATIONS.to_vec());
    }
    let known = || SITUATIONS.map(|situation| situation.name).join(", ");
    let of = |name: &String| {
        let found = SITUATIONS.into_iter().find(|situation| situation.name == *name);
        found.ok_or_else(|| usage_error(format!("there is no situation '{name}'; use some of {}", known())))
    };
    names.iter().map(of).collect()
}

fn deliver(args: &CertifyArgs, result: &SuiteResult, folder: &Path) -> Result<ExitCode> {
    if let Some(file) = &args.html {
        output::write_file(file, suite_page(result))?;
    }
    if let Some(file) = &args.badge {
        output::write_file(file, league::suite_badge(result))?;
    }
    let printed = match args.json {
        true => league::suite_json(result),
        false => format!("{}\n  saved in {}\n", league::suite(result, output::stdout_style()), folder.display()),
    };
    output::print(&printed)?;
    let [passed, failed, open] =
        [SuiteState::Pass, SuiteState::Fail, SuiteState::CannotTell].map(|state| result.count(state));
    Ok(match (passed, failed, open) {
        (1.., 0, 0) => ExitCode::Success,
        (_, 0, _) => ExitCode::Open,
        _ => ExitCode::GateFailed,
    })
}
