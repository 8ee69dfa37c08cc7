//! `truetail certify`: what kind of load generator a command is.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use truetail_analysis::league::{Certificate, GeneratorKind, Trial, certify as judge, window};
use truetail_engine::host;
use truetail_lab::{CancelToken, CommandTemplate, ToolResult, TrialPlan, USERS, check_overwritable, run_trial};
use truetail_model::arrival::Profile;
use truetail_model::scenario::builtin;
use truetail_model::workload::LoadModel;
use truetail_report::pretty_json;
use truetail_tools::{InstalledTool, SearchPath, Tool};

use crate::args::certify::CertifyArgs;
use crate::error::{CliError, ExitCode, Result, runtime_error, usage_error};
use crate::{output, signals};

/// A healthy service, one that freezes once, and one that freezes repeatedly.
const SCENARIOS: [&str; 3] = ["01-healthy", "02-single-hiccup", "04-gc-pauses"];
/// The default folder.
const FOLDER: &str = "truetail-lab/certify";

/// Runs the command through all scenarios, and prints the certificate.
///
/// # Errors
/// If the command has no `{url}` or is not found, no server can be started, or files cannot be written.
pub fn certify(args: CertifyArgs) -> Result<ExitCode> {
    let command = CommandTemplate::new(args.command.clone());
    if !command.has_placeholder("url") {
        return Err(usage_error(
            "the command has no {url}, so it would not reach the server; write {url} where the URL belongs",
        ));
    }
    let found = command.locate(&SearchPath::from_env()).map_err(runtime_error)?;
    let _ = host::raise_open_file_limit();
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from(FOLDER));
    for name in SCENARIOS {
        let place = folder.join(name);
        check_overwritable(&place).map_err(|error| cannot(&place, error))?;
    }
    let stop = CancelToken::new();
    let _watch = signals::end_tool_on_signal(&stop)?;
    let mut trials = Vec::new();
    for name in SCENARIOS {
        if !args.quiet {
            output::note(&format!("{name}, {} …", args.duration));
        }
        trials.push(trial(&command, &found, &plan(name, &args)?, &folder.join(name), &stop)?);
        if stop.is_cancelled() {
            return Err(runtime_error("stopped before all three scenarios had run"));
        }
    }
    let certificate = judge(trials);
    output::print(&if args.json { json(&args, &certificate) } else { text(&args, &command, &certificate, &folder) })?;
    Ok(exit_code(&certificate))
}

fn exit_code(certificate: &Certificate) -> ExitCode {
    match certificate.kind {
        GeneratorKind::Open => ExitCode::Success,
        GeneratorKind::Unknown => ExitCode::Error,
        GeneratorKind::PartlyOpen
        | GeneratorKind::Closed
        | GeneratorKind::ClosedAndFilled
        | GeneratorKind::OffRate
        | GeneratorKind::Bursts => ExitCode::Open,
    }
}

fn plan(name: &str, args: &CertifyArgs) -> Result<TrialPlan> {
    let scenario = builtin::find(name).map_err(usage_error)?;
    let mut scenario = scenario.scaled_to(args.duration).map_err(usage_error)?;
    if let LoadModel::Open(schedule) = &mut scenario.workload.model {
        schedule.profile = Profile::constant(args.rate);
    }
    TrialPlan::new(scenario).map_err(usage_error)
}

fn trial(
    command: &CommandTemplate,
    found: &InstalledTool,
    plan: &TrialPlan,
    folder: &Path,
    stop: &CancelToken,
) -> Result<Trial> {
    run_trial(command, found, plan, folder, stop).map_err(|error| cannot(folder, error))?;
    let window = window(&plan.scenario, USERS);
    let planned = plan.truth.count();
    let Some(reading) = ToolResult::read(command, folder) else {
        return Err(runtime_error("stopped before all three scenarios had run"));
    };
    reading.write_report(folder).map_err(|error| cannot(folder, error))?;
    let row = reading.row(command, plan, &window);
    let truth_p99_ns = plan.truth.quantile(0.99).map(|p99| p99.0);
    Ok(Trial { scenario: plan.scenario.name.clone(), planned, truth_p99_ns, row })
}

fn cannot(folder: &Path, error: io::Error) -> CliError {
    runtime_error(format!("cannot test the command in {}: {error}", folder.display()))
}

fn text(args: &CertifyArgs, command: &CommandTemplate, certificate: &Certificate, folder: &Path) -> String {
    let program = args.command.first().map_or("", String::as_str);
    let unread = certificate.trials.iter().find(|trial| trial.row.reported.is_none());
    let parser = match (command.known_tool(), unread.and_then(|trial| trial.row.message.as_deref())) {
        (None, _) => "its output was not read: truetail has no parser for this program".to_owned(),
        (Some(_), Some(trouble)) => format!("its output could not be read: {trouble}"),
        (Some(tool), None) => format!("its output was read as output of {}", tool.name()),
    };
    let words = truetail_report::league::certificate(program, certificate, output::stdout_style());
    format!("{words}\n  {parser}\n  saved in {}\n", folder.display())
}

/// `--json`.
#[derive(Serialize)]
struct CertificateJson<'a> {
    command: &'a [String],
    rate_per_second: f64,
    duration_ns: u64,
    #[serde(flatten)]
    certificate: &'a Certificate,
}

fn json(args: &CertifyArgs, certificate: &Certificate) -> String {
    let printed = CertificateJson {
        command: &args.command,
        rate_per_second: args.rate.as_per_second(),
        duration_ns: args.duration.0,
        certificate,
    };
    pretty_json(&printed)
}
