//! The trial request before a load, and help if it fails.

use truetail_checks::CheckRun;
use truetail_engine::{Plan, PreflightError, Target, TlsFault};
use truetail_model::record::Cause;

use crate::error::{CliError, Result, runtime_error};
use crate::output;
use crate::resolve::run::Trial;

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
    if let Some(status) = answer.status.filter(|_| note.is_some()) {
        let first = plan.target.first_requests();
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
        PreflightError::NotOpened { cause: Cause::LoginRefused, .. } => {
            "check user name, password and database in the URL"
        }
        PreflightError::NotOpened { cause: Cause::NoWebSocket, .. } => "check the path, and the headers that it needs",
        PreflightError::NotOpened { .. }
        | PreflightError::Connect { .. }
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
