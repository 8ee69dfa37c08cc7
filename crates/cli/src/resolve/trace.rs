//! Trace ids of a run.

use std::time::{SystemTime, UNIX_EPOCH};

use truetail_engine::Target;
use truetail_model::random::mix64;
use truetail_run::TraceFacts;

use super::load::DEFAULT_SEED;
use super::request::refused;
use crate::args::run::RunArgs;
use crate::error::Result;

/// Gives the requests of `target` trace ids, if the user wants them. `start_at` is the origin of a schedule that
/// several machines share.
///
/// # Errors
/// If a request has the header already.
pub(crate) fn trace(args: &RunArgs, start_at: Option<u64>, target: &mut Target) -> Result<()> {
    let Some(format) = args.traces.format() else { return Ok(()) };
    let sampled = args.traces.trace_sampled.unwrap_or(1.0);
    let facts = TraceFacts::new(key(args.seed, start_at), format, sampled, args.traces.trace_link.clone());
    target.trace(facts).map_err(refused)
}

/// Returns the first half of each trace id. It differs from run to run, but not between machines that begin together.
fn key(seed: Option<u64>, start_at: Option<u64>) -> u64 {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    mix64(mix64(seed.unwrap_or(DEFAULT_SEED)) ^ start_at.unwrap_or_else(now))
}
