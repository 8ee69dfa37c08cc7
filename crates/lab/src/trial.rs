//! A trial: one tool against a fresh server.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::net;
use truetail_model::time::Nanos;
use truetail_reactor::MonotonicClock;
use truetail_server::{Server, ServerOptions, ServerTruth};
use truetail_tools::{InstalledTool, Invocation, LoadSpec, Tool};

use crate::cancel::CancelToken;
use crate::process::{self, EndedBy, ProcessExit, ProcessSpec};
use crate::tool_files::{STDERR, STDIN, STDOUT, WORK_FOLDER, write_inputs};
use crate::tool_run::ToolRun;
use crate::trial_plan::TrialPlan;

pub(crate) const TRUTH: &str = "truth.csv";
/// Log of the events of the server's streams, if any.
pub(crate) const EVENTS: &str = "events.csv";
/// Marker that is written before the tool starts. It tells the next trial that it may empty the folder.
const MARKER: &str = ".truetail-trial";
/// Time limit of each command before and after a tool.
const SIDE_COMMAND_LIMIT: Nanos = Nanos::from_secs(120);

/// Runs `tool` against a fresh server, whose fault clock starts at the tool's first request. All files of the trial
/// go to `folder`, which is emptied first if [`check_overwritable`] allows it. Failures of the tool are part of the
/// returned record.
///
/// # Errors
/// If no server can be started, or if the folder holds foreign files or cannot be written. No tool can be run then.
pub fn run_trial(
    tool: &dyn Tool,
    found: &InstalledTool,
    plan: &TrialPlan,
    folder: &Path,
    token: &CancelToken,
) -> io::Result<ToolRun> {
    let work = prepare_folder(folder)?;
    if plan.refuses {
        return run_refused(tool, found, plan, folder, &work, token);
    }
    let truth = File::create(folder.join(TRUTH))?;
    let events = plan.stream_truth.as_ref().map(|_| File::create(folder.join(EVENTS))).transpose()?;
    let options = ServerOptions {
        truth: Some(Box::new(truth)),
        events: events.map(|events| Box::new(events) as Box<dyn io::Write + Send>),
        keep_truth: false,
        ..ServerOptions::new(plan.scenario.service.clone(), ServerOptions::ANY_PORT)
    };
    let server = Server::start(options)?;
    let load = plan.load(plan.url(server.addr(), tool));
    let mut run = ToolRun::new(tool.name(), found, plan.scenario.to_toml(), &load, plan.limit());
    run.started_at_unix_ns = MonotonicClock::starting_now().origin_unix_ns();
    let place = TrialFolder { folder, work: &work, token };
    place.invoke_into(&mut run, tool, found, &load);
    note_truth(&mut run, server.stop());
    place.keep(run)
}

/// Runs `tool` against a port that refuses connections.
fn run_refused(
    tool: &dyn Tool,
    found: &InstalledTool,
    plan: &TrialPlan,
    folder: &Path,
    work: &Path,
    token: &CancelToken,
) -> io::Result<ToolRun> {
    // The log of a server that saw nothing.
    File::create(folder.join(TRUTH))?;
    let port = ClosedPort::reserve()?;
    let load = plan.load(plan.url(port.address, tool));
    let mut run = ToolRun::new(tool.name(), found, plan.scenario.to_toml(), &load, plan.limit());
    run.started_at_unix_ns = MonotonicClock::starting_now().origin_unix_ns();
    let place = TrialFolder { folder, work, token };
    place.invoke_into(&mut run, tool, found, &load);
    place.keep(run)
}

/// A port that refuses connections. It is bound, so that no other program takes it, but nothing listens on it.
struct ClosedPort {
    address: SocketAddr,
    _socket: OwnedFd,
}

impl ClosedPort {
    fn reserve() -> io::Result<ClosedPort> {
        let socket = net::socket(net::AddressFamily::INET, net::SocketType::STREAM, None)?;
        net::bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let address = net::getsockname(&socket)?;
        let address = SocketAddr::try_from(address).map_err(io::Error::other)?;
        Ok(ClosedPort { address, _socket: socket })
    }
}

/// Checks that [`run_trial`] may empty `folder`: it does not exist, is empty, or belongs to an earlier trial,
/// cancelled or not.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] for a folder with other content; I/O errors if the folder cannot be read.
pub fn check_overwritable(folder: &Path) -> io::Result<()> {
    let mut entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    if entries.next().is_none() || folder.join(MARKER).is_file() || ToolRun::read(folder).is_some() {
        return Ok(());
    }
    let message = format!(
        "{} contains other files than earlier results, and a trial would delete them; choose another folder with --out",
        folder.display()
    );
    Err(io::Error::new(io::ErrorKind::AlreadyExists, message))
}

/// Empties the folder and creates the tool's working directory in it.
fn prepare_folder(folder: &Path) -> io::Result<PathBuf> {
    check_overwritable(folder)?;
    fs::create_dir_all(folder)?;
    // Written first and kept: if this trial is killed, the next one may still empty the folder.
    fs::write(folder.join(MARKER), "The next trial of truetail's laboratory here empties this folder.\n")?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false if entry.file_name() != MARKER => fs::remove_file(entry.path())?,
            false => {}
        }
    }
    let work = folder.join(WORK_FOLDER);
    fs::create_dir_all(&work)?;
    work.canonicalize()
}

fn note_truth(run: &mut ToolRun, truth: ServerTruth) {
    run.clock_started_at_unix_ns = truth.clock_starts_unix_ns.last().copied();
    if let Some(error) = truth.log_error {
        run.trouble.get_or_insert(format!("the log of the server is incomplete: {error}"));
    }
}

struct TrialFolder<'a> {
    folder: &'a Path,
    work: &'a Path,
    token: &'a CancelToken,
}

/// Prepares the tool, runs it and decodes its files. The error says why the tool was not run.
fn invoke(
    tool: &dyn Tool,
    found: &InstalledTool,
    load: &LoadSpec,
    place: &TrialFolder<'_>,
    run: &mut ToolRun,
) -> Result<ProcessExit, String> {
    let invocation = tool.command(found, load, place.work).map_err(|error| error.to_string())?;
    run.argv = std::iter::once(invocation.program.display().to_string()).chain(invocation.args.clone()).collect();
    run.env = invocation.env.clone();
    run.outputs = invocation.outputs.iter().map(|(key, path)| ((*key).to_owned(), path.clone())).collect();
    write_inputs(place.work, &invocation.inputs).map_err(|error| format!("cannot write its files: {error}"))?;
    for (number, argv) in (1..).zip(&invocation.before) {
        place.run_side_command(argv, &invocation.env, &format!("before-{number}.txt"), None)?;
    }
    let ended = place.run_tool(&run.argv, &invocation, Nanos(run.limit_ns))?;
    for (file, argv) in invocation.after.iter().filter(|_| ended.by == EndedBy::Itself) {
        place
            .run_side_command(argv, &invocation.env, "after.txt", Some(&place.work.join(file)))
            .unwrap_or_else(|trouble| run.trouble = Some(trouble));
    }
    Ok(ended)
}

impl TrialFolder<'_> {
    fn invoke_into(&self, run: &mut ToolRun, tool: &dyn Tool, found: &InstalledTool, load: &LoadSpec) {
        match invoke(tool, found, load, self, run) {
            Ok(ended) => run.ended = Some(ended),
            Err(trouble) => run.trouble = Some(trouble),
        }
    }

    /// Writes the record. A cancelled run has no result; without its record, the next run repeats it.
    fn keep(&self, run: ToolRun) -> io::Result<ToolRun> {
        if !run.was_interrupted() && !self.token.is_cancelled() {
            run.write(self.folder)?;
        }
        Ok(run)
    }

    fn run_tool(&self, argv: &[String], invocation: &Invocation, limit: Nanos) -> Result<ProcessExit, String> {
        let spec = || -> io::Result<ProcessSpec<'_>> {
            let stdin = match invocation.stdin.as_str() {
                "" => None,
                text => {
                    fs::write(self.folder.join(STDIN), text)?;
                    Some(File::open(self.folder.join(STDIN))?)
                }
            };
            let stdout = File::create(self.folder.join(STDOUT))?;
            let stderr = File::create(self.folder.join(STDERR))?;
            let folder = invocation.started_in.as_deref().unwrap_or(self.work);
            Ok(ProcessSpec { argv, env: &invocation.env, folder, stdin, stdout, stderr, limit })
        };
        let cannot = |error| format!("cannot start {}: {error}", argv.first().map_or("nothing", String::as_str));
        spec().and_then(|spec| process::run(spec, self.token)).map_err(cannot)
    }

    /// Runs a command before or after the tool, which must succeed. Its standard error goes to the file `log`, as does
    /// its standard output if `stdout` is `None`.
    fn run_side_command(
        &self,
        argv: &[String],
        env: &[(String, String)],
        log: &str,
        stdout: Option<&Path>,
    ) -> Result<(), String> {
        let log = self.folder.join(log);
        let run = || -> io::Result<ProcessExit> {
            let stderr = File::create(&log)?;
            let stdout = stdout.map_or_else(|| stderr.try_clone(), File::create)?;
            let spec =
                ProcessSpec { argv, env, folder: self.work, stdin: None, stdout, stderr, limit: SIDE_COMMAND_LIMIT };
            process::run(spec, self.token)
        };
        let ended = run().map_err(|error| format!("cannot start {}: {error}", argv.join(" ")))?;
        if ended.exit_code == Some(0) {
            return Ok(());
        }
        let complaint = fs::read(&log).map(|text| last_line(&text)).unwrap_or_default();
        Err(format!("{} failed: {complaint}", argv.join(" ")))
    }
}

/// Returns the last line that is not blank, cut to 200 characters.
pub(crate) fn last_line(text: &[u8]) -> String {
    let tail = &text[text.len().saturating_sub(4_096)..];
    let tail = String::from_utf8_lossy(tail);
    let line = tail.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    /// A hard link to the marker shows that the marker was never removed.
    #[test]
    fn a_folder_is_emptied_around_its_marker() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("wrk");
        let second_name = root.path().join("marker");
        for work in [prepare_folder(&folder).unwrap(), prepare_folder(&folder).unwrap()] {
            fs::write(work.join("script.lua"), "").unwrap();
            fs::write(folder.join(STDOUT), "").unwrap();
        }
        fs::hard_link(folder.join(MARKER), &second_name).unwrap();
        prepare_folder(&folder).unwrap();
        assert_eq!(fs::metadata(&second_name).unwrap().nlink(), 2);
        let mut left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [MARKER, WORK_FOLDER]);
        assert_eq!(fs::read_dir(folder.join(WORK_FOLDER)).unwrap().count(), 0);
    }
}
