//! Reading of a result file, with a progress line.

use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use truetail_import::container::{self, Opened};
use truetail_import::{Format, ImportError, ImportOptions, RequestSink};
use truetail_model::time::Nanos;
use truetail_run::ForeignRun;

use crate::args::foreign::{ForeignOptions, is_stdin};
use crate::error::{CliError, ExitCode, Result, runtime_error, usage_error};
use crate::output;

/// Returns what the user said about the file.
pub(crate) fn import_options(options: &ForeignOptions, expected_interval: Option<Nanos>) -> ImportOptions {
    ImportOptions {
        users: options.users,
        expected_interval,
        columns: options.columns.clone(),
        units: options.units.clone(),
    }
}

/// Returns the format that the user named, or `None`.
///
/// # Errors
/// If no format has that name. The message lists all formats.
pub(crate) fn format_of(options: &ForeignOptions) -> Result<Option<&'static dyn Format>> {
    let Some(name) = &options.format else { return Ok(None) };
    let unknown = || {
        let names: Vec<&str> = truetail_import::all().iter().map(|format| format.info().name).collect();
        usage_error(format!("there is no format '{name}'; use one of {}", names.join(", ")))
    };
    truetail_import::by_name(name).map(Some).ok_or_else(unknown)
}

/// Reads a file to its end.
///
/// # Errors
/// If the file cannot be read, or holds nothing usable.
pub(crate) fn read(
    path: &Path,
    format: Option<&'static dyn Format>,
    options: &ImportOptions,
    sink: &mut RequestSink<'_>,
) -> Result<ForeignRun> {
    with_progress(path, options, |input, later| truetail_import::read_opened(input, later, format, options, sink))
}

/// Opens a file, passes it to `read` with pieces of its middle and its end, and shows a progress line.
///
/// # Errors
/// If the file cannot be opened, or if `read` fails.
pub(crate) fn with_progress<T>(
    path: &Path,
    options: &ImportOptions,
    read: impl FnOnce(&mut dyn Read, &[Vec<u8>]) -> std::result::Result<T, ImportError>,
) -> Result<T> {
    let name = path.display().to_string();
    let Opened { input, length, later } = open(path, options)?;
    let mut input = Progress::new(input, length, name.clone());
    let result = read(&mut input, &later);
    input.clear();
    result.map_err(|error| explained(&name, &error))
}

fn open(path: &Path, options: &ImportOptions) -> Result<Opened> {
    if is_stdin(&path.to_owned()) {
        return Ok(Opened { input: Box::new(io::stdin().lock()), length: None, later: Vec::new() });
    }
    let cannot = |error| runtime_error(format!("cannot read '{}': {error}", path.display()));
    if path.is_dir() {
        return Err(runtime_error(format!(
            "'{}' is a folder; name a result file. 'truetail report' judges a run of truetail itself",
            path.display()
        )));
    }
    container::open(path, options).map_err(cannot)
}

fn explained(name: &str, error: &ImportError) -> CliError {
    match error {
        ImportError::Options(what) => CliError { exit_code: ExitCode::Usage, message: format!("'{name}': {what}") },
        ImportError::Unrecognised(_) => runtime_error(format!(
            "the format of '{name}' is not known: {error}; name the format with --format, or what its columns \
             are with --columns"
        )),
        ImportError::Io(_) | ImportError::Content { .. } => runtime_error(format!("cannot read '{name}': {error}")),
    }
}

/// Bytes from one look at the clock to the next.
const STRIDE: u64 = 1 << 22;
/// Time from one progress line to the next.
const INTERVAL: Duration = Duration::from_millis(500);

/// Reader that shows on a terminal how much of a long file was read.
struct Progress {
    input: Box<dyn Read>,
    length: Option<u64>,
    name: String,
    bytes: u64,
    next_look: u64,
    shown: Instant,
    is_shown: bool,
}

impl Progress {
    fn new(input: Box<dyn Read>, length: Option<u64>, name: String) -> Progress {
        Progress { input, length, name, bytes: 0, next_look: STRIDE, shown: Instant::now(), is_shown: false }
    }

    #[cold]
    fn look(&mut self) {
        self.next_look = self.bytes + STRIDE;
        if self.shown.elapsed() < INTERVAL {
            return;
        }
        if let Some(style) = output::stderr_terminal() {
            let megabytes = self.bytes / 1_000_000;
            let share =
                self.length.filter(|length| *length > 0).map(|length| format!(", {} %", self.bytes * 100 / length));
            let line = format!("reading {}: {megabytes} MB{}", self.name, share.unwrap_or_default());
            output::write_stderr(&format!("\r\x1b[K{}", style.printable(&line)));
            self.is_shown = true;
        }
        self.shown = Instant::now();
    }

    fn clear(&self) {
        if self.is_shown {
            output::write_stderr("\r\x1b[K");
        }
    }
}

impl Read for Progress {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.bytes += count as u64;
        if self.bytes >= self.next_look {
            self.look();
        }
        Ok(count)
    }
}
