//! The trial request before a load.

use std::sync::{Mutex, PoisonError};

use truetail_checks::CheckRun;
use truetail_engine::Plan;
use truetail_grpc::{CollectedAnswer, answer_collector};
use truetail_model::record::status_name;

use crate::error::Result;
use crate::output;
use crate::resolve::run::Trial;
use crate::unanswered::preflight_error;

/// Tries the connection or a request before the load, as `trial` says, and returns notes for the run.
///
/// # Errors
/// If the server cannot be reached, or does not answer.
pub(crate) fn preflight(plan: &mut Plan, trial: Trial, checks: Option<&CheckRun>) -> Result<Vec<String>> {
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
    let (collector, call) = answer_collector();
    let of_checks = checks.as_ref().map(CheckRun::observer_factory);
    let observer = match (plan.target.protocol().calls(), of_checks) {
        (None, of_checks) => of_checks,
        (Some(_), Some(checks)) => Some(checks.and(collector)),
        (Some(_), None) => Some(collector),
    };
    let answer = plan.preflight(observer.as_ref()).map_err(|error| preflight_error(&plan.target, &error))?;
    for failed in checks.iter().flat_map(CheckRun::failed_answers).flat_map(|answer| answer.failed) {
        output::note(&format!("the answer before the load fails the check '{}': {}", failed.check, failed.why));
    }
    let note = answer.note();
    if let Some(status) = answer.status.filter(|_| note.is_some()) {
        let first = plan.target.first_requests();
        output::note(&format!(
            "{first} answers with status {}{}; sending the load all the same",
            status_name(status),
            said(&call)
        ));
    }
    Ok(note.into_iter().collect())
}

/// Returns the message of a call that failed, after a colon.
fn said(call: &Mutex<CollectedAnswer>) -> String {
    let message = call.lock().unwrap_or_else(PoisonError::into_inner).message.clone();
    message.map_or_else(String::new, |message| format!(": {message}"))
}
