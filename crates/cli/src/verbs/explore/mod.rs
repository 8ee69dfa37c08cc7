//! `truetail explore`: an interactive page over the simulator, the test server and the engine.

mod backend;
mod presets;
mod real_runs;

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use truetail_engine::host;
use truetail_page::explore::ExplorePage;
use truetail_page::web::Server;

use self::backend::SimulatorAndEngine;
use super::serve::address;
use crate::args::explore::ExploreArgs;
use crate::error::{ExitCode, Result, runtime_error};
use crate::{output, signals};

/// Time that answers in progress may take after Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(200);

/// Serves the page until SIGINT, SIGTERM or SIGHUP.
///
/// # Errors
/// If the address cannot be bound, or the system has no randomness for the page's token.
pub fn explore(args: ExploreArgs) -> Result<ExitCode> {
    let listen = address(&args.listen)?;
    let listener = TcpListener::bind(listen)
        .map_err(|error| runtime_error(format!("cannot listen on {listen}: {error}; choose another --listen")))?;
    host::raise_open_file_limit();
    // Captured before the address is printed: its reader may send a signal at once.
    let signal = signals::TerminationSignal::capture()
        .map_err(|error| runtime_error(format!("cannot watch for signals: {error}")))?;
    let page = Arc::new(ExplorePage::new(SimulatorAndEngine::default(), token()?));
    let server = Server::start(listener, Arc::clone(&page) as _)
        .map_err(|error| runtime_error(format!("cannot serve the page: {error}")))?;
    let url = format!("http://{}/", server.address());
    output::print(&format!("{url}\n"))?;
    output::note("open this page in a browser; Ctrl-C to stop");
    if !listen.ip().is_loopback() {
        output::note(&format!(
            "{listen} is no loopback address: whoever reaches this page can start runs on this machine"
        ));
    }
    if args.open {
        open_browser(&url);
    }
    signal.wait();
    page.backend().end();
    server.end(PATIENCE);
    Ok(ExitCode::Success)
}

/// Returns 128 random bits as hexadecimal digits.
fn token() -> Result<String> {
    let mut bits = [0; 16];
    getrandom::getrandom(&mut bits).map_err(|error| runtime_error(format!("no randomness for the page: {error}")))?;
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Opens the page in a browser. A failure is only a note: the page can be opened by hand.
fn open_browser(url: &str) {
    if let Err(error) = open::that_detached(url) {
        output::note(&format!("cannot open a browser: {error}; open {url} yourself"));
    }
}
