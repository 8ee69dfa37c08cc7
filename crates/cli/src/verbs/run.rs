//! `truetail run`: offer load, measure, judge, report.

use std::path::Path;

use truetail_engine::{Plan, PreflightError, Target, TlsFault};
use truetail_model::record::Cause;
use truetail_model::time::Timestamp;
use truetail_report::summary;
use truetail_run::{Findings, Run, wire};

use crate::args::run::RunArgs;
use crate::measure::{Circumstances, measure};
use crate::outcome::{Exit, Failure, Result, could_not};
use crate::output;
use crate::resolve::run::resolve;
use crate::supervise::not_reached;
use crate::target_folder::TargetFolder;
use crate::threshold::{Judgement, Threshold};

/// Does it.
///
/// # Errors
/// Whatever stood against it before the load, or against saving and printing after it.
pub fn run(args: RunArgs) -> Result<Exit> {
    let mut resolved = resolve(args)?;
    TargetFolder::check(&resolved.place)?;
    // A signal during the request before the load ends the process as it is: nothing was made by then.
    let mut notes = if resolved.preflight { ask_once(&mut resolved.plan)? } else { Vec::new() };
    let folder = TargetFolder::prepare(&resolved.place, &name_of(&resolved.plan.target))?;
    resolved.notes.iter().for_each(|note| output::note(note));
    notes.append(&mut resolved.notes);
    let terms = resolved.terms;
    let run = measure(&resolved.plan, Circumstances { notes, terms, quiet: resolved.quiet, scenario: None })?;
    let (mut run, findings) = without_head(run, terms.cut_warmup);
    if let Some(note) = terms.until.and_then(|until| not_reached(until, &run)) {
        output::note(&note);
        run.facts.notes.push(note);
    }
    let saved = folder.map(|folder| folder.save(&run, &findings)).transpose()?;
    output::print(&result(&run, &findings, saved.as_deref(), resolved.json))?;
    Ok(judge(&run, &findings, &resolved.thresholds))
}

/// What was found, of the run without its head where that was asked for and there is one.
fn without_head(mut run: Run, cut: bool) -> (Run, Findings) {
    let findings = truetail_analysis::findings(&run);
    let Some(from) = findings.settling.cut_ns.filter(|_| cut) else {
        if cut {
            run.facts.notes.push(format!("--warmup auto cut nothing: {}", findings.settling.why));
        }
        return (run, findings);
    };
    match truetail_analysis::without_warmup(&run, Timestamp(from)) {
        Ok(shorter) => {
            let findings = truetail_analysis::findings(&shorter);
            (shorter, findings)
        }
        Err(error) => {
            run.facts.notes.push(format!("--warmup auto cut nothing: {error}"));
            (run, findings)
        }
    }
}

/// What goes to standard output: the summary, or `run.json`.
pub fn result(run: &Run, findings: &Findings, saved: Option<&Path>, json: bool) -> String {
    if json {
        return wire::v1::run_file(run, findings).to_json();
    }
    let saved = saved.map(|folder| folder.display().to_string());
    summary(run, findings, saved.as_deref(), output::stdout_style())
}

fn name_of(target: &Target) -> String {
    let origin = target.origin();
    let port = if origin.has_default_port() { String::new() } else { format!("-{}", origin.port) };
    format!("{}{port}", origin.host)
}

/// One request before the load. Returns what is worth a note.
fn ask_once(plan: &mut Plan) -> Result<Vec<String>> {
    let answer = plan.preflight().map_err(|error| nobody_answers(&plan.target, &error))?;
    let note = answer.note();
    if note.is_some() {
        let (first, status) = (plan.target.first_requests(), answer.status);
        output::note(&format!("{first} answers with status {status}; the load is offered all the same"));
    }
    Ok(note.into_iter().collect())
}

fn nobody_answers(target: &Target, error: &PreflightError) -> Failure {
    let help = match error {
        PreflightError::NoTls(_) => {
            "install ca-certificates, give --ca FILE, or accept any certificate with --insecure"
        }
        PreflightError::Tls { fault, .. } => tls_help(fault),
        PreflightError::NoAnswer { cause: Cause::NoHttp2, .. } => "without --http2 it is asked in HTTP/1.1",
        _ => "is the server running? --no-preflight offers the load all the same",
    };
    could_not(format!("{} before the load: {error}; {help}", target.first_requests()))
}

fn tls_help(fault: &TlsFault) -> &'static str {
    match fault {
        TlsFault::UnknownIssuer | TlsFault::Certificate(_) => {
            "--ca FILE trusts another authority, --insecure accepts any certificate"
        }
        TlsFault::OfAnAuthority => {
            "make one with basicConstraints=CA:FALSE and trust it with --ca, or accept any with --insecure"
        }
        TlsFault::Expired | TlsFault::NotYetValid => "is the clock right? --insecure accepts any certificate",
        TlsFault::WrongName { .. } => {
            "ask by that name (--resolve says where it leads), or accept any certificate with --insecure"
        }
        TlsFault::NotTls => "does the server speak http:// on this port?",
        TlsFault::ClientCertificate(_) => "--cert FILE --key FILE shows one",
        TlsFault::NoHttp2 => "without --http2 it is asked in HTTP/1.1",
        TlsFault::Ended | TlsFault::Other(_) => "--no-preflight offers the load all the same",
    }
}

/// Says which thresholds failed, and what it all comes to.
fn judge(run: &Run, findings: &Findings, thresholds: &[Threshold]) -> Exit {
    let mut exit = Exit::Done;
    for threshold in thresholds {
        match threshold.judge(run, findings) {
            Judgement::Passed => {}
            Judgement::Failed(why) | Judgement::Unshown(why) => {
                output::note(&why);
                exit = Exit::ThresholdFailed;
            }
        }
    }
    match Exit::of([&findings.verdict]) {
        Exit::Done => exit,
        invalid => invalid,
    }
}
