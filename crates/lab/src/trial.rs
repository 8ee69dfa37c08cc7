//! One tool against a fresh server.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use truetail_model::time::Nanos;
use truetail_reactor::MonotonicClock;
use truetail_server::{Server, ServerOptions, Truth};
use truetail_tools::{Found, Invocation, Load, Tool};

use crate::process::{self, Ended, EndedBy, Job};
use crate::raw::{self, STDERR, STDIN, STDOUT, WORK};
use crate::{Ran, Setting, Stop};

/// The server's own truth of each request.
pub(crate) const TRUTH: &str = "truth.csv";
/// The file that says, from before the tool is started, that a folder is a trial's and may be emptied by the next one.
const MARKER: &str = ".truetail-trial";
/// What commands before and after a tool may take, each.
const SIDE_COMMAND_LIMIT: Nanos = Nanos::from_secs(120);

/// Runs `tool` in `setting` against a server of its own, whose fault clock starts at the tool's first request. Everything
/// it leaves is in `folder`, which is emptied first where [`check_own`] allows it. What goes wrong with the tool is in
/// the answer.
///
/// # Errors
/// When no server can be had, when the folder holds what is somebody else's or cannot be written: then no tool can be run.
pub fn perform(tool: &dyn Tool, found: &Found, setting: &Setting, folder: &Path, stop: &Stop) -> io::Result<Ran> {
    let work = emptied(folder)?;
    let truth = File::create(folder.join(TRUTH))?;
    let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let options = ServerOptions {
        truth: Some(Box::new(truth)),
        keep_truth: false,
        ..ServerOptions::new(setting.scenario.service.clone(), any_port)
    };
    let server = Server::start(options)?;
    let load = setting.load(format!("http://{}{}", server.addr(), setting.scenario.path));
    let mut ran = Ran::planned(tool.name(), found, setting.scenario.to_toml(), &load, setting.limit());
    ran.started_at_unix_ns = MonotonicClock::starting_now().origin_unix_ns();
    match invoked(tool, found, &load, folder, &work, stop, &mut ran) {
        Ok(ended) => ran.ended = Some(ended),
        Err(trouble) => ran.trouble = Some(trouble),
    }
    note_truth(&mut ran, server.stop());
    // Something that was interrupted is no result, and is run again the next time.
    if !ran.was_interrupted() && !stop.wanted() {
        ran.write(folder)?;
    }
    Ok(ran)
}

/// May [`perform`] empty `folder`? It is not there, is empty, or is an earlier trial's, interrupted or not.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] for a folder with anything else in it; the system's where it cannot be read.
pub fn check_own(folder: &Path) -> io::Result<()> {
    let mut inside = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        inside => inside?,
    };
    if inside.next().is_none() || folder.join(MARKER).is_file() || Ran::read(folder).is_some() {
        return Ok(());
    }
    let message = format!(
        "{} holds files that are no earlier results, and would be emptied; choose another folder with --out",
        folder.display()
    );
    Err(io::Error::new(io::ErrorKind::AlreadyExists, message))
}

fn emptied(folder: &Path) -> io::Result<PathBuf> {
    check_own(folder)?;
    fs::create_dir_all(folder)?;
    // Whatever ends this on its way leaves a folder that the next trial may empty: the marker comes first, and stays.
    fs::write(folder.join(MARKER), "The next trial of truetail's laboratory here empties this folder.\n")?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false if entry.file_name() != MARKER => fs::remove_file(entry.path())?,
            false => {}
        }
    }
    let work = folder.join(WORK);
    fs::create_dir_all(&work)?;
    work.canonicalize()
}

fn note_truth(ran: &mut Ran, truth: Truth) {
    ran.clock_started_at_unix_ns = truth.clock_starts_unix_ns.last().copied();
    if let Some(error) = truth.log_error {
        ran.trouble.get_or_insert(format!("{TRUTH} is incomplete: {error}"));
    }
}

/// Asks the tool how, prepares, starts it and tidies up. The error is what stood against it.
fn invoked(
    tool: &dyn Tool,
    found: &Found,
    load: &Load,
    folder: &Path,
    work: &Path,
    stop: &Stop,
    ran: &mut Ran,
) -> Result<Ended, String> {
    let invocation = tool.command(found, load, work).map_err(|error| error.to_string())?;
    let limit = Nanos(ran.limit_ns);
    ran.argv = std::iter::once(invocation.program.display().to_string()).chain(invocation.args.clone()).collect();
    ran.env = invocation.env.clone();
    ran.outputs = invocation.outputs.iter().map(|(key, path)| ((*key).to_owned(), path.clone())).collect();
    raw::write_inputs(work, &invocation.inputs).map_err(|error| format!("cannot write its files: {error}"))?;
    for (number, argv) in invocation.before.iter().enumerate() {
        side_command(argv, &folder.join(format!("before-{}.txt", number + 1)), None, work, &invocation, stop)?;
    }
    let place = |name: &str| folder.join(name);
    let ended = start(&ran.argv, &invocation, work, &place(STDIN), (&place(STDOUT), &place(STDERR)), limit, stop)?;
    for (file, argv) in invocation.after.iter().filter(|_| ended.by == EndedBy::Itself) {
        let complaints = folder.join("after.txt");
        side_command(argv, &complaints, Some(&work.join(file)), work, &invocation, stop)
            .unwrap_or_else(|trouble| ran.trouble = Some(trouble));
    }
    Ok(ended)
}

fn start(
    argv: &[String],
    invocation: &Invocation,
    work: &Path,
    stdin: &Path,
    (stdout, stderr): (&Path, &Path),
    limit: Nanos,
    stop: &Stop,
) -> Result<Ended, String> {
    let job = || -> io::Result<Job<'_>> {
        let stdin = match invocation.stdin.as_str() {
            "" => None,
            text => {
                fs::write(stdin, text)?;
                Some(File::open(stdin)?)
            }
        };
        let (stdout, stderr) = (File::create(stdout)?, File::create(stderr)?);
        let folder = invocation.started_in.as_deref().unwrap_or(work);
        Ok(Job { argv, env: &invocation.env, folder, stdin, stdout, stderr, limit })
    };
    let cannot = |error| format!("cannot start {}: {error}", argv.first().map_or("nothing", String::as_str));
    job().and_then(|job| process::run(job, stop)).map_err(cannot)
}

/// A command before or after a tool; it must succeed. What it prints goes to `stdout`, or beside its complaints.
fn side_command(
    argv: &[String],
    complaints: &Path,
    stdout: Option<&Path>,
    work: &Path,
    invocation: &Invocation,
    stop: &Stop,
) -> Result<(), String> {
    let job = || -> io::Result<Ended> {
        let stderr = File::create(complaints)?;
        let stdout = stdout.map_or_else(|| stderr.try_clone(), File::create)?;
        let job =
            Job { argv, env: &invocation.env, folder: work, stdin: None, stdout, stderr, limit: SIDE_COMMAND_LIMIT };
        process::run(job, stop)
    };
    let ended = job().map_err(|error| format!("cannot start {}: {error}", argv.join(" ")))?;
    if ended.exit_code == Some(0) {
        return Ok(());
    }
    let said = fs::read(complaints).map(|said| last_line(&said)).unwrap_or_default();
    Err(format!("{} failed: {said}", argv.join(" ")))
}

/// The last line that says something, at most 200 characters of it.
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

    /// A second name of the marker tells whether it was ever gone.
    #[test]
    fn a_folder_is_emptied_around_its_marker() {
        let root = tempfile::tempdir().unwrap();
        let (folder, second_name) = (root.path().join("wrk"), root.path().join("marker"));
        for work in [emptied(&folder).unwrap(), emptied(&folder).unwrap()] {
            fs::write(work.join("script.lua"), "").unwrap();
            fs::write(folder.join(STDOUT), "").unwrap();
        }
        fs::hard_link(folder.join(MARKER), &second_name).unwrap();
        emptied(&folder).unwrap();
        assert_eq!(fs::metadata(&second_name).unwrap().nlink(), 2);
        let mut left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [MARKER, WORK]);
        assert_eq!(fs::read_dir(folder.join(WORK)).unwrap().count(), 0);
    }
}
