//! `truetail explore`: an interactive page over the simulator, the test server and the engine.

mod backend;
mod presets;
mod real_runs;

use std::sync::Arc;

use truetail_page::explore::ExplorePage;

use self::backend::SimulatorAndEngine;
use super::local_page::PagePlace;
use crate::args::explore::ExploreArgs;
use crate::error::{ExitCode, Result, runtime_error};

/// Serves the page until SIGINT, SIGTERM or SIGHUP.
///
/// # Errors
/// If the address cannot be bound, or the system has no randomness for the page's token.
pub fn explore(args: ExploreArgs) -> Result<ExitCode> {
    let page = Arc::new(ExplorePage::new(SimulatorAndEngine::default(), token()?));
    let place = PagePlace { listen: &args.listen, open: args.open, others_can: "start runs on this machine" };
    place.serve(Arc::clone(&page) as _, || {}, || page.backend().end())
}

/// Returns 128 random bits as hexadecimal digits.
fn token() -> Result<String> {
    let mut bits = [0; 16];
    getrandom::getrandom(&mut bits).map_err(|error| runtime_error(format!("no randomness for the page: {error}")))?;
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}
