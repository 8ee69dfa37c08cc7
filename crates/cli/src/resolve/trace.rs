//! Trace ids of a run.

use std::time::{SystemTime, UNIX_EPOCH};

use truetail_engine::Target;
use truetail_model::random::mix64;
use truetail_model::trace::TraceIds;
use truetail_run::TraceFacts;

use super::load::DEFAULT_SEED;
use super::request::refused;
use crate::args::run::RunArgs;
use crate::error::Result;

/// Gives the requests of `target` trace ids, if the user wants them, and returns their facts. `start_at` is the origin
/// of a schedule that several machines share.
///
/// # Errors
/// If a request has the header already.
pub fn trace(args: &RunArgs, start_at: Option<u64>, target: &mut Target) -> Result<Option<TraceFacts>> {
    let Some(format) = args.traces.format() else { return Ok(None) };
    let key = key(args.seed, start_at);
    let sampled = args.traces.trace_sampled.unwrap_or(1.0);
    target.trace(TraceIds::new(key, format, sampled)).map_err(refused)?;
    Ok(Some(TraceFacts::new(key, format, sampled, args.traces.trace_link.clone())))
}

/// Returns the first half of each trace id. It differs from run to run, but not between machines that begin together.
fn key(seed: Option<u64>, start_at: Option<u64>) -> u64 {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    mix64(mix64(seed.unwrap_or(DEFAULT_SEED)) ^ start_at.unwrap_or_else(now))
}

/// Returns the line that each request has as the place of its trace id.
pub fn header(args: &RunArgs) -> Option<String> {
    args.traces.format().map(|format| format!("{}: {}", format.header(), format.placeholder()))
}
