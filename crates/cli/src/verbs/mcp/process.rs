//! A command of this program in a child process, which can be stopped.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use truetail_mcp::{Job, JobOutput};

use super::event::Event;

/// Limit on the bytes of standard output that are kept: more than a run.json has.
const MAX_OUTPUT_BYTES: u64 = 64 << 20;
/// Limit on the bytes of standard error that are kept.
const MAX_NOTES_BYTES: u64 = 64 << 10;
/// Time that a command may take in addition to its load: to start, to compute, to save.
const GRACE: Duration = Duration::from_secs(120);
/// Time after which a command that was asked to end is asked again, and then killed.
const TIME_TO_STOP: Duration = Duration::from_secs(5);

/// A command in progress.
pub(super) struct RunningJob {
    child: SharedChild,
    started: Instant,
    /// Longest time that it should take.
    at_most: Duration,
}

/// The child process. `None`: it could not be started, or has ended and been waited for, so its number may belong to
/// another process.
type SharedChild = Arc<Mutex<Option<Child>>>;

impl RunningJob {
    /// Starts the command. Its output, or the reason why it did not start, becomes an event.
    pub(super) fn start(program: &Path, job: &Job, to: Sender<Event>) -> RunningJob {
        let child = Arc::new(Mutex::new(None));
        let shared = Arc::clone(&child);
        let spawned = spawn(program, job).and_then(|mut process| {
            let stdout = bounded(process.stdout.take(), MAX_OUTPUT_BYTES)?;
            let stderr = bounded(process.stderr.take(), MAX_NOTES_BYTES)?;
            *lock(&child) = Some(process);
            let ended = to.clone();
            thread::Builder::new().name("truetail-job".to_owned()).spawn(move || {
                let _ = ended.send(Event::JobEnded(output(&shared, stdout, stderr)));
            })
        });
        if let Err(error) = spawned {
            let stderr = format!("cannot start {}: {error}", program.display());
            let _ = to.send(Event::JobEnded(JobOutput { stderr, ..JobOutput::default() }));
        }
        let at_most = Duration::from_nanos(job.load.0).saturating_add(GRACE);
        RunningJob { child, started: Instant::now(), at_most }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Ends the command: by a signal, which lets it save what it has, again after [`TIME_TO_STOP`], and by force later.
    pub(super) fn stop(&mut self) {
        let child = Arc::clone(&self.child);
        let asked = thread::Builder::new().name("truetail-stop".to_owned()).spawn(move || {
            for signal in [Signal::INT, Signal::INT, Signal::KILL] {
                if !send(&child, signal) {
                    return;
                }
                wait_for_end(&child, TIME_TO_STOP);
            }
        });
        if asked.is_err() {
            send(&self.child, Signal::KILL);
        }
    }

    /// Stops a command that should have ended.
    pub(super) fn stop_if_late(&mut self) {
        if self.elapsed() > self.at_most {
            self.at_most = Duration::MAX;
            self.stop();
        }
    }
}

fn spawn(program: &Path, job: &Job) -> io::Result<Child> {
    let mut command = Command::new(program);
    command.args(&job.words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Ctrl-C in a terminal reaches this process only, which then stops the command.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn()
}

fn lock(child: &SharedChild) -> std::sync::MutexGuard<'_, Option<Child>> {
    child.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends a signal to the process. Returns false if it has ended.
fn send(child: &SharedChild, signal: Signal) -> bool {
    let child = lock(child);
    let Some(process) = child.as_ref() else { return false };
    // The process has not been waited for, so the number is still its own.
    let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| kill_process(pid, signal).is_ok())
}

fn wait_for_end(child: &SharedChild, at_most: Duration) {
    let until = Instant::now() + at_most;
    while Instant::now() < until && lock(child).is_some() {
        thread::sleep(Duration::from_millis(20));
    }
}

/// Reads to the end on a thread, and keeps the start.
fn bounded(from: Option<impl Read + Send + 'static>, limit: u64) -> io::Result<JoinHandle<Vec<u8>>> {
    thread::Builder::new().name("truetail-output".to_owned()).spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut from) = from {
            let _ = from.by_ref().take(limit).read_to_end(&mut kept);
            // The process would wait if nobody read the rest.
            let _ = io::copy(&mut from, &mut io::sink());
        }
        kept
    })
}

/// Waits for the end of the process, and returns its output.
fn output(child: &SharedChild, stdout: JoinHandle<Vec<u8>>, stderr: JoinHandle<Vec<u8>>) -> JobOutput {
    let stdout = stdout.join().unwrap_or_default();
    let stderr = stderr.join().unwrap_or_default();
    let code = loop {
        let mut child = lock(child);
        match child.as_mut().map(Child::try_wait) {
            Some(Ok(None)) => {}
            ended => {
                *child = None;
                break ended.and_then(Result::ok).flatten().and_then(|status| status.code());
            }
        }
        drop(child);
        thread::sleep(Duration::from_millis(5));
    };
    JobOutput { code, stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() }
}
