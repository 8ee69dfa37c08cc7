//! `truetail certify`: tells what kind of load generator a command is.

mod suite;

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use truetail_analysis::league::{Certificate, GeneratorKind, StreamTrial, Trial, certify as judge, window};
use truetail_engine::host;
use truetail_lab::{CancelToken, CommandTemplate, ToolResult, TrialPlan, USERS, check_overwritable, run_trial};
use truetail_model::arrival::Profile;
use truetail_model::scenario::{Scenario, builtin};
use truetail_model::service::Service;
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModel;
use truetail_report::pretty_json;
use truetail_tools::{InstalledTool, SearchPath, Tool};

use crate::args::certify::CertifyArgs;
use crate::error::{CliError, ExitCode, Result, runtime_error, usage_error};
use crate::{output, signals};

/// A healthy service, one that freezes once, and one that freezes repeatedly.
const SCENARIOS: [&str; 3] = ["01-healthy", "02-single-hiccup", "04-gc-pauses"];
/// A language model.
const MODEL: &str = "06-model-that-stalls";
/// Name of the variant of [`MODEL`] that never stalls.
const HEALTHY_MODEL: &str = "06-without-stalls";
const FOLDER: &str = "truetail-lab/certify";
/// Default length of each run. A run against a language model is as long as its scenario.
const USUAL_DURATION: Nanos = Nanos::from_secs(20);

/// Runs the command through all scenarios and prints the certificate.
///
/// # Errors
/// If the command has no `{url}`, `{origin}` or `{address}`, or is not found, no server can be started, or files cannot
/// be written.
pub(super) fn certify(args: CertifyArgs) -> Result<ExitCode> {
    if args.suite {
        return suite::suite(&args);
    }
    let command = CommandTemplate::new(args.command.clone());
    if !command.names_the_server() {
        return Err(usage_error(
            "the command has no {url}, so it would not reach the server; write {url} where the URL belongs, or {origin} or {address}",
        ));
    }
    let found = command.locate(&SearchPath::from_env()).map_err(runtime_error)?;
    let _ = host::raise_open_file_limit();
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from(FOLDER));
    let plans = plans(&args)?;
    for plan in &plans {
        let place = folder.join(&plan.scenario.name);
        check_overwritable(&place).map_err(|error| cannot(&place, error))?;
    }
    let stop = CancelToken::new();
    let _watch = signals::end_tool_on_signal(&stop)?;
    let mut trials = Vec::new();
    for plan in &plans {
        let name = &plan.scenario.name;
        if !args.quiet {
            output::note(&format!("{name}, {} …", plan.duration));
        }
        trials.push(trial(&command, &found, plan, &folder.join(name), &stop)?);
        if stop.is_cancelled() {
            return Err(stopped());
        }
    }
    let certificate = judge(trials);
    let printed =
        if args.json { json(&args, &plans, &certificate) } else { text(&args, &command, &certificate, &folder) };
    output::print(&printed)?;
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

fn stopped() -> CliError {
    runtime_error("stopped before all scenarios had run")
}

/// Returns the scenarios that the command goes through.
fn plans(args: &CertifyArgs) -> Result<Vec<TrialPlan>> {
    let found = |name: &str| builtin::find(name).map_err(usage_error);
    let scenarios = if args.llm {
        let model = found(MODEL)?;
        let service = Service { faults: Vec::new(), ..model.service.clone() };
        vec![Scenario { name: HEALTHY_MODEL.to_owned(), service, ..model.clone() }, model]
    } else {
        SCENARIOS.into_iter().map(found).collect::<Result<_>>()?
    };
    scenarios.into_iter().map(|scenario| plan(scenario, args)).collect()
}

fn plan(scenario: Scenario, args: &CertifyArgs) -> Result<TrialPlan> {
    let usual = if args.llm { None } else { Some(USUAL_DURATION) };
    let mut scenario = match args.duration.or(usual) {
        Some(duration) => scenario.scaled_to(duration).map_err(usage_error)?,
        None => scenario,
    };
    if let (LoadModel::Open(schedule), Some(rate)) = (&mut scenario.workload.model, args.rate) {
        schedule.profile = Profile::constant(rate);
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
        return Err(stopped());
    };
    reading.write_report(folder).map_err(|error| cannot(folder, error))?;
    let row = reading.row(command, plan, &window);
    let truth_p99_ns = plan.truth.quantile(0.99).map(|p99| p99.0);
    let truth = plan.stream_truth.as_ref();
    let streams = truth.and_then(|truth| Some(StreamTrial::new(reading.stream_row(&row, plan)?, truth)));
    Ok(Trial { scenario: plan.scenario.name.clone(), planned, truth_p99_ns, row, streams })
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

/// Output of `--json`.
#[derive(Serialize)]
struct CertificateJson<'a> {
    command: &'a [String],
    rate_per_second: f64,
    duration_ns: u64,
    #[serde(flatten)]
    certificate: &'a Certificate,
}

fn json(args: &CertifyArgs, plans: &[TrialPlan], certificate: &Certificate) -> String {
    // All trials have the rate and duration of the first.
    let printed = CertificateJson {
        command: &args.command,
        rate_per_second: plans[0].rate.as_per_second(),
        duration_ns: plans[0].duration.0,
        certificate,
    };
    pretty_json(&printed)
}
