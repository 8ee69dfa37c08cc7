//! `truetail run`: offers load, measures, judges, and reports.

use std::path::{Path, PathBuf};

use truetail_checks::CheckRun;
use truetail_engine::{Control, Plan, PreflightError, Target, TlsFault};
use truetail_model::record::Cause;
use truetail_report::{CompareReport, SummaryOptions, compare_text, summary};
use truetail_run::{Findings, Run, folder, wire};

use crate::after_load::AfterLoad;
use crate::args::run::RunArgs;
use crate::args::screen::ScreenArgs;
use crate::baseline::Baseline;
use crate::config;
use crate::error::{CliError, ExitCode, Result, runtime_error};
use crate::gating;
use crate::judging::Judge;
use crate::live::{Checkpoints, FeedSource, LiveView};
use crate::measure::{MeasuredRun, RunContext, measure, measure_under};
use crate::output;
use crate::output_folder::OutputFolder;
use crate::page;
use crate::resolve::run::{Printed, Trial};
use crate::setup;
use crate::signals::{CurrentRun, SignalHandler};
use crate::start::{self, Told};
use crate::supervisor::not_reached;
use crate::vllm;

/// Offers the load, judges the gates, and saves and prints the result.
///
/// # Errors
/// If the load cannot be offered, or the result cannot be saved or printed.
pub fn run(args: RunArgs) -> Result<ExitCode> {
    let Offered { code, steps, .. } = offer(config::complete(args)?, None)?;
    steps.end(code)
}

/// State that consecutive runs share.
pub struct Turns<'a> {
    /// Handler of the signals that stop a run.
    pub signals: &'a SignalHandler,
    /// The run that a signal stops.
    pub current: &'a CurrentRun,
}

/// Outcome of an attempt to offer a load.
pub struct Offered {
    /// Exit code if no step after the load fails.
    pub code: ExitCode,
    /// Results of the steps after the load.
    pub steps: AfterLoad,
    /// Result; `None` if the load was stopped before it began, or if the run was printed as packed.
    pub result: Option<RunResult>,
}

/// Result of a run.
pub struct RunResult {
    pub run: Run,
    /// Findings, including gates.
    pub findings: Findings,
    /// Comparison with the baseline.
    pub compared: Option<CompareReport>,
    /// Folder of the saved run.
    pub saved: Option<PathBuf>,
}

impl Offered {
    fn stopped_before(signal: i32) -> Offered {
        Offered { code: ExitCode::Signal(signal), steps: AfterLoad::default(), result: None }
    }
}

/// Offers the load, judges the gates, saves the result, and prints it. With `turns`, JSON is left to the caller.
pub fn offer(args: RunArgs, turns: Option<&Turns<'_>>) -> Result<Offered> {
    let screen = args.screen;
    let baseline = Baseline::resolve(args.baseline.clone(), args.out.as_deref())?;
    let mut resolved = setup::resolve(args)?;
    let packed = resolved.printing.result == Printed::Packed;
    OutputFolder::check(&resolved.save_to)?;
    let view = LiveView::prepare(&resolved.live)?;
    resolved.plan.other_files = view.files();
    // A signal during this request ends the process, which has created nothing yet.
    let mut notes = preflight(&mut resolved.plan, resolved.trial, resolved.observed.checks.as_ref())?;
    if let Some(file) = &resolved.start_file {
        match start::told(file, packed)? {
            Told::At(instant) => resolved.plan.start_at_unix_ns = Some(instant),
            Told::ToStop(signal) => return Ok(Offered::stopped_before(signal)),
        }
    }
    start::wait_for(resolved.plan.start_at_unix_ns, resolved.printing.quiet);
    let folder = OutputFolder::prepare(&resolved.save_to, &name_of(&resolved.plan.target))?;
    resolved.notes.iter().for_each(|note| output::note(note));
    notes.append(&mut resolved.notes);
    let until = resolved.stop_conditions.until;
    let control = Control::new();
    let judge = Judge {
        gating: resolved.gating.clone(),
        observed: resolved.observed.clone(),
        cut_warmup: resolved.stop_conditions.cut_warmup,
    };
    let source = FeedSource {
        plan: resolved.plan.clone(),
        control: control.clone(),
        judge: judge.clone(),
        command: resolved.command.clone(),
    };
    let checkpoints = folder.as_ref().map(|folder| Checkpoints::start(folder.path(), source.clone()));
    let mut view = view.start(source)?;
    let context = RunContext {
        notes,
        stop_conditions: resolved.stop_conditions.clone(),
        quiet: resolved.printing.quiet,
        scenario: None,
        command: Some(resolved.command),
        control,
        watched: view.watched(),
        for_machines: packed,
    };
    let measured = match turns {
        None => measure(&resolved.plan, context),
        Some(turns) => {
            turns.current.set(context.control.clone());
            // A signal that came before the run was set as current did not stop it.
            if let Some(signal) = turns.signals.first_signal() {
                return Ok(Offered::stopped_before(signal));
            }
            measure_under(turns.signals, &resolved.plan, context)
        }
    };
    drop(checkpoints);
    let MeasuredRun { mut run, signal } = measured?;
    if let Some(note) = start::said_of_late(&run) {
        output::note(&note);
        run.facts.notes.push(note);
    }
    let (mut run, mut findings) = judge.findings(run);
    if let Some(note) = until.and_then(|until| not_reached(until, &run)) {
        output::note(&note);
        run.facts.notes.push(note);
    }
    resolved.gating.judge(&run, &mut findings, &[]);
    let compared = baseline.as_ref().and_then(|baseline| baseline.judge(&mut run, &mut findings));
    let mut steps = AfterLoad::default();
    let saved = folder.and_then(|folder| steps.tried(folder.save(&run, &findings)));
    view.finish(&run, &findings);
    if packed {
        steps.tried(print_packed(&run, &findings));
        view.end();
        let code = match run.facts.stripe {
            // A stripe is judged when it is merged.
            Some(_) => signal.map_or(ExitCode::Success, ExitCode::Signal),
            None => gating::exit_code(&run, &findings, signal),
        };
        return Ok(Offered { code, steps, result: None });
    }
    let json = resolved.printing.result == Printed::Json;
    if !json || turns.is_none() {
        show(&run, &findings, saved.as_deref(), json, screen, &mut steps);
    } else {
        gating::note_failures(&findings);
    }
    if let Some(compared) = compared.as_ref().filter(|_| !json) {
        steps.tried(output::print(&format!("\n{}", compare_text(compared, output::stdout_style()))));
    }
    resolved.gating.write(&run, &findings, &mut steps);
    steps.tried(baseline.map_or(Ok(()), |baseline| baseline.write(&run, &findings)));
    if let Some(file) = &resolved.files.html {
        steps.tried(page::write(file, &page::page_of(&run, &findings)));
    }
    steps.tried(vllm::write(resolved.files.vllm_json.as_deref(), &run, &findings));
    view.end();
    let code = gating::exit_code(&run, &findings, signal);
    Ok(Offered { code, steps, result: Some(RunResult { run, findings, compared, saved }) })
}

/// Most bytes of a packed run. Kubernetes keeps 10 MiB of a log, which also holds the lines before the run.
const MAX_PACKED: usize = 8 << 20;

/// Prints the run as text with everything that its folder would hold.
fn print_packed(run: &Run, findings: &Findings) -> Result<()> {
    let name = run.facts.stripe.as_ref().map_or("run".to_owned(), |stripe| format!("stripe-{}", stripe.index));
    let packed = folder::pack(run, findings, &name, MAX_PACKED);
    let (text, whole) = packed.map_err(|error| runtime_error(format!("cannot print the run: {error}")))?;
    if !whole {
        output::note("the single requests of samples.csv are left out: with them the run is longer than a log may be");
    }
    output::print(&text)
}

/// Prints a run whose gates were judged.
pub fn show(
    run: &Run,
    findings: &Findings,
    saved: Option<&Path>,
    json: bool,
    screen: ScreenArgs,
    steps: &mut AfterLoad,
) {
    steps.tried(output::print(&result(run, findings, saved, json, screen)));
    if json {
        gating::note_failures(findings);
    }
}

/// Returns the text for standard output: the summary, or `run.json`.
pub fn result(run: &Run, findings: &Findings, saved: Option<&Path>, json: bool, screen: ScreenArgs) -> String {
    if json {
        return wire::v1::run_file(run, findings).to_json();
    }
    let saved = saved.map(|folder| folder.display().to_string());
    let options = SummaryOptions { saved: saved.as_deref(), details: screen.details };
    summary(run, findings, options, output::stdout_style())
}

/// Returns the name of the folder for runs against `target`.
pub fn name_of(target: &Target) -> String {
    let origin = target.origin();
    let port = if origin.has_default_port() { String::new() } else { format!("-{}", origin.port) };
    format!("{}{port}", origin.host)
}

/// Tries the connection or a request before the load, as `trial` says, and returns notes for the run.
///
/// # Errors
/// If the server cannot be reached, or does not answer.
pub fn preflight(plan: &mut Plan, trial: Trial, checks: Option<&CheckRun>) -> Result<Vec<String>> {
    match trial {
        Trial::Nothing => Ok(Vec::new()),
        Trial::Connection => {
            plan.try_connection().map_err(|error| preflight_error(&plan.target, &error))?;
            Ok(Vec::new())
        }
        Trial::Request => try_request(plan, checks),
    }
}

fn try_request(plan: &mut Plan, checks: Option<&CheckRun>) -> Result<Vec<String>> {
    let checks = checks.map(CheckRun::before_the_run);
    let observer = checks.as_ref().map(CheckRun::observer_factory);
    let answer = plan.preflight(observer.as_ref()).map_err(|error| preflight_error(&plan.target, &error))?;
    for failed in checks.iter().flat_map(CheckRun::failed_answers).flat_map(|answer| answer.failed) {
        output::note(&format!("the answer before the load fails the check '{}': {}", failed.check, failed.why));
    }
    let note = answer.note();
    if note.is_some() {
        let first = plan.target.first_requests();
        let status = answer.status;
        output::note(&format!("{first} answers with status {status}; sending the load all the same"));
    }
    Ok(note.into_iter().collect())
}

fn preflight_error(target: &Target, error: &PreflightError) -> CliError {
    let help = match error.innermost() {
        PreflightError::NoTls(_) => "install ca-certificates, use --ca FILE, or accept any certificate with --insecure",
        PreflightError::Tls { fault, .. } => tls_help(fault),
        PreflightError::InHttp2Only { .. } => "add --http2",
        PreflightError::NoAnswer { cause: Cause::NoHttp2, .. } => "leave out --http2 to use HTTP/1.1",
        PreflightError::NoAnswer { cause, .. } if has_answered(*cause) => "--no-preflight sends the load all the same",
        PreflightError::Connect { .. }
        | PreflightError::TimedOut { .. }
        | PreflightError::NoAnswer { .. }
        | PreflightError::At { .. } => "is the server running? --no-preflight sends the load all the same",
    };
    runtime_error(format!("{}: {error}; {help}", error.asked_for(target)))
}

/// Returns true if the server sent something that was no valid answer.
fn has_answered(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::BadChunk
            | Cause::BadHead
            | Cause::BadLength
            | Cause::EarlyAnswer
            | Cause::HeadTooLarge
            | Cause::Http2Protocol
            | Cause::Http2Window
            | Cause::LeftoverBytes
            | Cause::StreamReset
            | Cause::TooManyInterim
            | Cause::Truncated
            | Cause::UnexpectedUpgrade
    )
}

fn tls_help(fault: &TlsFault) -> &'static str {
    match fault {
        TlsFault::UnknownIssuer | TlsFault::Certificate(_) => {
            "trust it with --ca FILE, or accept any certificate with --insecure"
        }
        TlsFault::OfAnAuthority => {
            "trust this very certificate with --ca FILE, or accept any certificate with --insecure"
        }
        TlsFault::Expired | TlsFault::NotYetValid => {
            "check the clock of this machine, or accept any certificate with --insecure"
        }
        TlsFault::WrongName { .. } => {
            "use that name in the URL (--resolve sets its address), or accept any certificate with --insecure"
        }
        TlsFault::NotTls => "does this port expect http://?",
        TlsFault::ClientCertificate(_) => "send one with --cert FILE --key FILE",
        TlsFault::NoHttp2 => "leave out --http2 to use HTTP/1.1",
        TlsFault::NoHttp1 => "does it speak HTTP/2? add --http2",
        TlsFault::Ended | TlsFault::Other(_) => "--no-preflight sends the load all the same",
    }
}
