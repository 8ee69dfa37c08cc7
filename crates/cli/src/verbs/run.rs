//! `truetail run`: offer load, measure, judge, report.

use std::path::Path;
use std::thread;
use std::time::Duration;

use truetail_checks::CheckRun;
use truetail_engine::{Control, Plan, PreflightError, Target, TlsFault};
use truetail_model::record::Cause;
use truetail_model::time::{NANOS_PER_SECOND, Nanos};
use truetail_report::{SummaryOptions, compare_text, summary};
use truetail_run::{Findings, Run, wire};

use crate::args::run::RunArgs;
use crate::args::screen::ScreenArgs;
use crate::baseline::Baseline;
use crate::config;
use crate::error::{CliError, ExitCode, Result, runtime_error};
use crate::gating::{self, Gating};
use crate::judging::Judge;
use crate::live::{FeedSource, LiveView};
use crate::measure::{MeasuredRun, RunContext, measure};
use crate::output;
use crate::output_folder::OutputFolder;
use crate::page;
use crate::resolve::run::resolve;
use crate::resolve::stripe;
use crate::supervisor::not_reached;
use crate::vllm;

/// Runs the load, judges the gates, and saves and prints the result.
///
/// # Errors
/// If the load cannot be offered, or the result cannot be saved or printed.
pub fn run(args: RunArgs) -> Result<ExitCode> {
    let mut args = config::complete(args)?;
    let screen = args.screen;
    let baseline = Baseline::resolve(std::mem::take(&mut args.baseline), args.out.as_deref())?;
    let mut resolved = resolve(args)?;
    OutputFolder::check(&resolved.save_to)?;
    let view = LiveView::prepare(&resolved.live)?;
    resolved.plan.other_files = view.files();
    // A signal during this request simply ends the process: nothing was created by then.
    let mut notes =
        if resolved.preflight { preflight(&mut resolved.plan, resolved.observed.checks.as_ref())? } else { Vec::new() };
    wait_for_start(resolved.plan.start_at_unix_ns, resolved.quiet);
    let folder = OutputFolder::prepare(&resolved.save_to, &name_of(&resolved.plan.target))?;
    resolved.notes.iter().for_each(|note| output::note(note));
    notes.append(&mut resolved.notes);
    let stop_conditions = resolved.stop_conditions;
    let control = Control::new();
    let judge = Judge {
        gating: resolved.gating.clone(),
        observed: resolved.observed.clone(),
        cut_warmup: stop_conditions.cut_warmup,
    };
    let source = FeedSource {
        plan: resolved.plan.clone(),
        control: control.clone(),
        judge: judge.clone(),
        command: resolved.command.clone(),
    };
    let mut view = view.start(source)?;
    let context = RunContext {
        notes,
        stop_conditions,
        quiet: resolved.quiet,
        scenario: None,
        command: Some(resolved.command),
        control,
        watched: view.watched(),
    };
    let MeasuredRun { mut run, signal } = measure(&resolved.plan, context)?;
    if let Some(note) = late_start(&run) {
        output::note(&note);
        run.facts.notes.push(note);
    }
    let (mut run, mut findings) = judge.findings(run);
    if let Some(note) = stop_conditions.until.and_then(|until| not_reached(until, &run)) {
        output::note(&note);
        run.facts.notes.push(note);
    }
    resolved.gating.judge(&run, &mut findings, &[]);
    let compared = baseline.as_ref().and_then(|baseline| baseline.judge(&mut run, &mut findings));
    let saved = folder.map(|folder| folder.save(&run, &findings)).transpose()?;
    view.finish(&run, &findings);
    show(&run, &findings, saved.as_deref(), resolved.json, screen, &resolved.gating)?;
    if let Some(compared) = compared.filter(|_| !resolved.json) {
        output::print(&format!("\n{}", compare_text(&compared, output::stdout_style())))?;
    }
    baseline.map_or(Ok(()), |baseline| baseline.write(&run, &findings))?;
    if let Some(file) = &resolved.files.html {
        page::write(file, &page::page_of(&run, &findings))?;
    }
    vllm::write(resolved.files.vllm_json.as_deref(), &run, &findings)?;
    view.end();
    Ok(gating::exit_code(&run, &findings, signal))
}

/// This long before the origin of a schedule everything else is made ready.
const READY_BEFORE: Nanos = Nanos::from_millis(300);

/// Waits until shortly before the origin that was asked for. A signal simply ends the process: nothing was created by then.
fn wait_for_start(at_unix_ns: Option<u64>, quiet: bool) {
    let left = || Nanos(at_unix_ns.unwrap_or(0).saturating_sub(stripe::unix_ns()).saturating_sub(READY_BEFORE.0));
    if left().0 >= NANOS_PER_SECOND && !quiet {
        output::note(&format!("beginning in {}", stripe::seconds(left() + READY_BEFORE)));
    }
    // In short sleeps, so that a wall clock that is set meanwhile is followed.
    while !left().is_zero() {
        thread::sleep(Duration::from(left().min(Nanos::from_millis(100))));
    }
}

/// What is to be said of a run that began after the origin that was asked for.
fn late_start(run: &Run) -> Option<String> {
    let start = run.facts.start.filter(|start| start.late_ns > 0)?;
    let whose =
        run.facts.stripe.as_ref().map_or(String::new(), |stripe| format!("stripe {}/{} ", stripe.index, stripe.of));
    let missed = match start.missed {
        1 => "1 request that was due by then was never sent".to_owned(),
        many => format!("{many} requests that were due by then were never sent"),
    };
    let late = start.late_ns as f64 / 1e9;
    Some(format!("{whose}began {late:.3}s after --start-at: {missed}"))
}

/// Prints a run whose gates were judged, and writes the files that its gating asks for.
///
/// # Errors
/// If something cannot be written.
pub fn show(
    run: &Run,
    findings: &Findings,
    saved: Option<&Path>,
    json: bool,
    screen: ScreenArgs,
    gating: &Gating,
) -> Result<()> {
    output::print(&result(run, findings, saved, json, screen))?;
    if json {
        gating::note_failures(findings);
    }
    gating.write(run, findings)
}

/// The text for standard output: the summary, or `run.json`.
pub fn result(run: &Run, findings: &Findings, saved: Option<&Path>, json: bool, screen: ScreenArgs) -> String {
    if json {
        return wire::v1::run_file(run, findings).to_json();
    }
    let saved = saved.map(|folder| folder.display().to_string());
    let options = SummaryOptions { saved: saved.as_deref(), details: screen.details };
    summary(run, findings, options, output::stdout_style())
}

/// What a folder for runs against `target` is called.
pub fn name_of(target: &Target) -> String {
    let origin = target.origin();
    let port = if origin.has_default_port() { String::new() } else { format!("-{}", origin.port) };
    format!("{}{port}", origin.host)
}

/// Sends one request before a search, unless it is not wanted, and returns what there is to say about the answer.
///
/// # Errors
/// If the server does not answer.
pub fn preflight_notes(plan: &mut Plan, wanted: bool) -> Result<Vec<String>> {
    if wanted { preflight(plan, None) } else { Ok(Vec::new()) }
}

/// Sends one request before the load, and returns notes for the run.
///
/// # Errors
/// If there is no answer.
pub fn preflight(plan: &mut Plan, checks: Option<&CheckRun>) -> Result<Vec<String>> {
    let checks = checks.map(CheckRun::before_the_run);
    let observer = checks.as_ref().map(CheckRun::observer_factory);
    let answer = plan.preflight(observer.as_ref()).map_err(|error| preflight_error(&plan.target, &error))?;
    for failed in checks.iter().flat_map(CheckRun::failed_answers).flat_map(|answer| answer.failed) {
        output::note(&format!("the answer before the load fails the check '{}': {}", failed.check, failed.why));
    }
    let note = answer.note();
    if note.is_some() {
        let (first, status) = (plan.target.first_requests(), answer.status);
        output::note(&format!("{first} answers with status {status}; sending the load all the same"));
    }
    Ok(note.into_iter().collect())
}

fn preflight_error(target: &Target, error: &PreflightError) -> CliError {
    let help = match error {
        PreflightError::NoTls(_) => "install ca-certificates, use --ca FILE, or accept any certificate with --insecure",
        PreflightError::Tls { fault, .. } => tls_help(fault),
        PreflightError::NoAnswer { cause: Cause::NoHttp2, .. } => "leave out --http2 to use HTTP/1.1",
        PreflightError::Connect { .. } | PreflightError::TimedOut { .. } | PreflightError::NoAnswer { .. } => {
            "is the server running? --no-preflight sends the load all the same"
        }
    };
    runtime_error(format!("{}: {error}; {help}", target.first_requests()))
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
        TlsFault::Ended | TlsFault::Other(_) => "--no-preflight sends the load all the same",
    }
}
