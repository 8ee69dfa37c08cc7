//! Start of a run at a given instant.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time::Duration;

use truetail_cluster::ShardLine;
use truetail_model::time::{NANOS_PER_SECOND, Nanos};
use truetail_run::{Run, input};

use crate::args::stripe::StartAt;
use crate::error::{Result, runtime_error};
use crate::resolve::stripe;
use crate::{output, signals};

/// Time from one check for the file to the next.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Order to a run that waits for a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Told {
    /// Begin at this instant, in nanoseconds since 1970 UTC.
    At(u64),
    /// End, because of this signal.
    ToStop(i32),
}

/// Returns the file with the process id of a run that waits for `file`, so that the run can be stopped.
pub(crate) fn process_file(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".pid");
    name.into()
}

/// Waits for `file` and reads the instant in it. A note, or a line of JSON `for_machines`, says that the run is ready.
///
/// # Errors
/// If the file cannot be read, or does not hold an instant.
pub(crate) fn told(file: &Path, for_machines: bool) -> Result<Told> {
    let cannot = |what: &str, path: &Path, error| {
        runtime_error(format!("--start-at: cannot {what} {}: {error}", path.display()))
    };
    let signals = signals::tell_of_signals(|_| {})?;
    let process_file = process_file(file);
    fs::write(&process_file, process::id().to_string()).map_err(|error| cannot("write", &process_file, error))?;
    if for_machines {
        output::write_stderr(&format!("{}\n", ShardLine::Waiting.to_line()));
    } else {
        output::note(&format!("ready; waiting for an instant in {}", file.display()));
    }
    loop {
        if let Some(signal) = signals.first_signal() {
            output::note("stopped before the start; nothing was sent");
            return Ok(Told::ToStop(signal));
        }
        match input::text(file) {
            Ok(text) => return instant(&text, file).map(Told::At),
            Err(error) if error.kind() == ErrorKind::NotFound => thread::sleep(LOOK_EVERY),
            Err(error) => return Err(cannot("read", file, error)),
        }
    }
}

fn instant(text: &str, file: &Path) -> Result<u64> {
    match text.trim().parse() {
        Ok(StartAt::At(instant)) => Ok(instant),
        Ok(_) => Err(runtime_error(format!(
            "{} holds no instant; write one in UTC, such as 2026-01-01T00:00:00Z",
            file.display()
        ))),
        Err(error) => Err(runtime_error(format!("{}: {error}", file.display()))),
    }
}

/// The other preparations start this long before the origin of the schedule. Four programs without optimization on two
/// processors once took 320 ms.
const READY_BEFORE: Nanos = Nanos::from_secs(1);

/// Waits until shortly before the given origin. A signal ends the process, which has created nothing yet.
pub(crate) fn wait_for(at_unix_ns: Option<u64>, quiet: bool) {
    let left = || Nanos(at_unix_ns.unwrap_or(0).saturating_sub(stripe::unix_ns()).saturating_sub(READY_BEFORE.0));
    if left().0 >= NANOS_PER_SECOND && !quiet {
        output::note(&format!("beginning in {}", stripe::seconds(left() + READY_BEFORE)));
    }
    // Short sleeps follow a wall clock that is set meanwhile.
    while !left().is_zero() {
        thread::sleep(Duration::from(left().min(Nanos::from_millis(100))));
    }
}

/// Returns a note on a run that began after its origin.
pub(crate) fn said_of_late(run: &Run) -> Option<String> {
    let start = run.facts.start.filter(|start| start.late_ns > 0)?;
    let whose =
        run.facts.stripe.as_ref().map_or(String::new(), |stripe| format!("stripe {}/{} ", stripe.index, stripe.of));
    let missed = match start.missed {
        1 => "1 request that was due by then was never sent".to_owned(),
        many => format!("{many} requests that were due by then were never sent"),
    };
    let late = start.late_ns as f64 / 1e9;
    Some(format!("{whose}began {late:.3}s after --start-at: {missed}"))
}
