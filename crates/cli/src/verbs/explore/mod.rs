//! `truetail explore`: an interactive page over the simulator, the test server and the engine.

mod backend;
mod presets;
mod real_runs;

use std::sync::Arc;

use truetail_page::explore::ExplorePage;

use self::backend::SimulatorAndEngine;
use super::local_page::{PagePlace, token};
use crate::args::explore::ExploreArgs;
use crate::error::{ExitCode, Result};

/// Serves the page until SIGINT, SIGTERM or SIGHUP.
///
/// # Errors
/// If the address cannot be bound, or the system has no randomness for the page's token.
pub(super) fn explore(args: ExploreArgs) -> Result<ExitCode> {
    let page = Arc::new(ExplorePage::new(SimulatorAndEngine::default(), token()?));
    let place = PagePlace { listen: &args.listen, open: args.open, others_can: "start runs on this machine" };
    place.serve(Arc::clone(&page) as _, || {}, || page.backend().end())
}
