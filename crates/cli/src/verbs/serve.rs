//! `truetail serve`: runs a server that misbehaves as a scenario says.

use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;

use truetail_engine::host;
use truetail_report::number;
use truetail_run::input;
use truetail_server::{Certificate, Ending, LogFile, Server, ServerOptions, ServerTruth};

use crate::args::serve::ServeArgs;
use crate::error::{ExitCode, Result, runtime_error, usage_error};
use crate::resolve::scenario::scenario;
use crate::{output, signals};

/// Serves until SIGINT, SIGTERM or SIGHUP.
///
/// # Errors
/// If the scenario does not exist, the address cannot be bound, or the truth log cannot be written.
pub(super) fn serve(args: ServeArgs) -> Result<ExitCode> {
    let scenario = scenario(&args.scenario)?;
    let listen = address(&args.listen)?;
    host::raise_open_file_limit();
    if args.truth.is_some() && args.truth == args.truth_events {
        return Err(usage_error("--truth and --truth-events name the same file; give each its own"));
    }
    let truth = log(args.truth.as_deref());
    let events = log(args.truth_events.as_deref());
    let certificate = args.cert.as_deref().zip(args.key.as_deref());
    let certificate = certificate.map(|(chain, key)| certificate_of(chain, key)).transpose()?;
    let scheme = match (args.framing.is_some(), certificate.is_some()) {
        (false, false) => "http",
        (false, true) => "https",
        (true, false) => "tcp",
        (true, true) => "tls",
    };
    let options = ServerOptions {
        truth,
        events,
        certificate,
        framing: args.framing,
        keep_truth: false,
        ..ServerOptions::new(scenario.service.clone(), listen)
    };
    // Captured before the address is printed: its reader may send a signal at once.
    let signal = signals::TerminationSignal::capture()
        .map_err(|error| runtime_error(format!("cannot watch for signals: {error}")))?;
    let server = Server::start(options).map_err(runtime_error)?;
    output::print(&format!("listening on {scheme}://{}\n", server.addr()))?;
    output::note(&format!("{} at {}; Ctrl-C to stop", scenario.name, scenario.path));
    signal.wait();
    report_totals(server.stop())
}

fn certificate_of(chain: &Path, key: &Path) -> Result<Certificate> {
    let read = |path: &Path| {
        input::bytes(path).map_err(|error| usage_error(format!("cannot read {}: {error}", path.display())))
    };
    Certificate::from_pem(&read(chain)?, &read(key)?)
        .map_err(|problem| usage_error(format!("--cert {} and --key {}: {problem}", chain.display(), key.display())))
}

fn log(path: Option<&Path>) -> Option<Box<dyn Write + Send>> {
    path.map(|path| Box::new(LogFile::at(path)) as Box<dyn Write + Send>)
}

/// Resolves the address of `--listen`.
pub(super) fn address(text: &str) -> Result<SocketAddr> {
    let wrong = |problem: String| {
        usage_error(format!(
            "cannot listen on --listen '{text}': {problem}; write ADDRESS:PORT, such as 127.0.0.1:8080"
        ))
    };
    let mut found = text.to_socket_addrs().map_err(|error| wrong(error.to_string()))?;
    found.next().ok_or_else(|| wrong("the name has no address".to_owned()))
}

fn report_totals(truth: ServerTruth) -> Result<ExitCode> {
    let totals = truth.totals;
    let endings = Ending::ALL.into_iter().filter(|ending| totals.count(*ending) > 0);
    let endings: Vec<_> =
        endings.map(|ending| format!("{} {}", number::count(totals.count(ending)), ending.name())).collect();
    let outcome = if endings.is_empty() { String::new() } else { format!(": {}", endings.join(", ")) };
    output::note(&format!("stopped after {} requests{outcome}", number::count(totals.admitted)));
    match truth.log_error {
        Some(error) => Err(runtime_error(format!("a truth log is incomplete: {error}"))),
        None => Ok(ExitCode::Success),
    }
}
