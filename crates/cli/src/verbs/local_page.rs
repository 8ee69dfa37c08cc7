//! A page on a local address, served until a signal.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use truetail_engine::host;
use truetail_page::web::{Handler, Server};

use super::serve::address;
use crate::error::{ExitCode, Result, runtime_error};
use crate::{output, signals};

/// Time that answers in progress may take after Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(200);

/// The place of a page, as the user gave it.
pub(super) struct PagePlace<'a> {
    /// Address and port.
    pub(super) listen: &'a str,
    /// True if a browser opens the page.
    pub(super) open: bool,
    /// Words after "whoever reaches this page can".
    pub(super) others_can: &'a str,
}

impl PagePlace<'_> {
    /// Prints the address of the page and serves it until SIGINT, SIGTERM or SIGHUP. Each thread of the server calls
    /// `prepare` first. `end` is called before the connections are closed.
    ///
    /// # Errors
    /// If the address cannot be bound.
    pub(super) fn serve(self, handler: Arc<dyn Handler>, prepare: fn(), end: impl FnOnce()) -> Result<ExitCode> {
        let listen = address(self.listen)?;
        let listener = TcpListener::bind(listen)
            .map_err(|error| runtime_error(format!("cannot listen on {listen}: {error}; choose another --listen")))?;
        host::raise_open_file_limit();
        // Captured before the address is printed: its reader may send a signal at once.
        let signal = signals::TerminationSignal::capture()
            .map_err(|error| runtime_error(format!("cannot watch for signals: {error}")))?;
        let server = Server::start_named(listener, Vec::new(), prepare, handler)
            .map_err(|error| runtime_error(format!("cannot serve the page: {error}")))?;
        let url = format!("http://{}/", server.address());
        output::print(&format!("{url}\n"))?;
        output::note("open this page in a browser; Ctrl-C to stop");
        if !listen.ip().is_loopback() {
            let can = self.others_can;
            output::note(&format!("{listen} is no loopback address: whoever reaches this page can {can}"));
        }
        if self.open {
            open_browser(&url);
        }
        signal.wait();
        end();
        server.end(PATIENCE);
        Ok(ExitCode::Success)
    }
}

/// Opens the page in a browser. A failure is only a note: the page can be opened by hand.
fn open_browser(url: &str) {
    if let Err(error) = open::that_detached(url) {
        output::note(&format!("cannot open a browser: {error}; open {url} yourself"));
    }
}

/// Returns 128 random bits as hexadecimal digits.
pub(super) fn token() -> Result<String> {
    let mut bits = [0; 16];
    getrandom::getrandom(&mut bits).map_err(|error| runtime_error(format!("no randomness for the page: {error}")))?;
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}
