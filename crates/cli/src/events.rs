//! Commands that a run starts (`--event`).

use std::env;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use truetail_engine::Control;
use truetail_model::time::Nanos;
use truetail_run::{Mark, Run};

use crate::args::event::{EventArgs, EventCommand};
use crate::background::BackgroundThread;
use crate::error::{Result, runtime_error, usage_error};

/// Time between two looks: whether the run has begun, and whether a command has ended.
const LOOK: Duration = Duration::from_millis(20);
/// Limit on the bytes of a command's standard error that are kept.
const SAID: u64 = 300;

/// A command and its time since the origin of the run.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    command: EventCommand,
    at: Nanos,
}

/// Returns the commands in the order of their times.
///
/// # Errors
/// If the numbers of commands and times differ, or a program does not exist.
pub(crate) fn events(args: &EventArgs) -> Result<Vec<Event>> {
    let commands = args.event.len();
    let times = args.event_at.len();
    if commands != times {
        return Err(usage_error(format!(
            "--event is given {commands} times and --event-at {times} times; give a time for each command"
        )));
    }
    if commands > Mark::MOST {
        return Err(usage_error(format!("--event may be given {} times, not {commands}", Mark::MOST)));
    }
    args.event.iter().try_for_each(find_program)?;
    let pairs = args.event.iter().cloned().zip(&args.event_at);
    let mut events: Vec<Event> = pairs.map(|(command, at)| Event { command, at: *at }).collect();
    events.sort_by_key(|event| event.at);
    Ok(events)
}

fn find_program(command: &EventCommand) -> Result<()> {
    let program = Path::new(&command.words[0]);
    let folders = env::var_os("PATH").unwrap_or_default();
    let is_path = program.components().count() > 1;
    let exists = match is_path {
        true => program.exists(),
        false => env::split_paths(&folders).any(|folder| folder.join(program).exists()),
    };
    match exists {
        true => Ok(()),
        false => Err(runtime_error(format!("--event: there is no program '{}'", program.display()))),
    }
}

type Marks = Arc<Mutex<Vec<Mark>>>;

/// Commands that are started while a run goes on, each on a thread of its own that mostly sleeps.
#[derive(Debug)]
pub(crate) struct RunningEvents {
    threads: Vec<BackgroundThread>,
    marks: Marks,
    /// Errors of commands that no thread could be started for.
    failures: Vec<String>,
}

impl RunningEvents {
    /// Waits for the run of `control` to begin. Commands have the priority of truetail, not that of its workers.
    pub(crate) fn start(events: Vec<Event>, control: &Control) -> RunningEvents {
        let marks = Marks::default();
        let mut failures = Vec::new();
        let start = |event: Event| {
            let control = control.clone();
            let marks = Arc::clone(&marks);
            BackgroundThread::start("event", move |ended| {
                if let Some(mark) = follow(&event, ended, &control) {
                    marks.lock().unwrap_or_else(PoisonError::into_inner).push(mark);
                }
            })
        };
        let mut threads = Vec::new();
        for event in events {
            let name = event.command.text.clone();
            match start(event) {
                Ok(thread) => threads.push(thread),
                Err(error) => failures.push(format!("--event: no thread could be started for '{name}': {error}")),
            }
        }
        RunningEvents { threads, marks, failures }
    }

    /// Adds the marks of the commands that were started. A command that has not ended goes on.
    pub(crate) fn end(self, run: &mut Run) {
        let count = self.threads.len();
        drop(self.threads);
        let mut marks = std::mem::take(&mut *self.marks.lock().unwrap_or_else(PoisonError::into_inner));
        marks.sort_by_key(|mark| mark.at_ns);
        let missing = count - marks.len();
        if missing > 0 {
            let note = format!("--event: {missing} of {count} commands were not started, because the run ended first");
            run.facts.notes.push(note);
        }
        run.facts.notes.extend(self.failures);
        run.facts.marks = marks;
    }
}

/// Starts the command when it is due, and waits for its end. Returns `None` if the run ended before.
fn follow(event: &Event, ended: &Receiver<()>, control: &Control) -> Option<Mark> {
    loop {
        let left = control.elapsed().map(|now| Duration::from(event.at.saturating_sub(now)));
        if left.is_some_and(|left| left.is_zero()) {
            break;
        }
        if ended.recv_timeout(left.unwrap_or(LOOK)) != Err(RecvTimeoutError::Timeout) {
            return None;
        }
    }
    if control.has_ended() {
        return None;
    }
    let at = control.elapsed()?;
    let mut mark = Mark { name: event.command.text.clone(), at_ns: at.0, took_ns: None, problem: None };
    match start(&event.command) {
        Err(error) => mark.problem = Some(format!("could not be started: {error}")),
        Ok((child, stderr)) => {
            let (status, said) = wait(child, stderr, ended);
            mark.took_ns = status.is_some().then(|| control.elapsed().unwrap_or(at).saturating_sub(at).0);
            mark.problem = problem(status, &said);
        }
    }
    Some(mark)
}

/// Starts a command with a file for its standard error, which it can still write to after the run.
fn start(command: &EventCommand) -> io::Result<(Child, File)> {
    let (program, arguments) = command.words.split_first().expect("a command has a word");
    let stderr = tempfile::tempfile()?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr.try_clone()?);
    Ok((command.spawn()?, stderr))
}

/// Exit status as a text if the command failed; `None` if it had not ended when the run did.
type Ended = Option<std::result::Result<(), String>>;

fn wait(mut child: Child, stderr: File, ended: &Receiver<()>) -> (Ended, String) {
    loop {
        match child.try_wait() {
            Ok(None) => {}
            Ok(Some(status)) if status.success() => return (Some(Ok(())), String::new()),
            Ok(Some(status)) => return (Some(Err(status.to_string())), first_line(stderr).unwrap_or_default()),
            Err(error) => return (Some(Err(error.to_string())), String::new()),
        }
        if ended.recv_timeout(LOOK) != Err(RecvTimeoutError::Timeout) {
            return (None, String::new());
        }
    }
}

fn first_line(mut stderr: File) -> io::Result<String> {
    let mut said = Vec::new();
    stderr.rewind()?;
    stderr.take(SAID).read_to_end(&mut said)?;
    Ok(String::from_utf8_lossy(&said).lines().next().unwrap_or_default().trim().to_owned())
}

fn problem(status: Ended, said: &str) -> Option<String> {
    match status {
        None => Some("had not ended when the run did".to_owned()),
        Some(Ok(())) => None,
        Some(Err(status)) if said.is_empty() => Some(format!("failed: {status}")),
        Some(Err(status)) => Some(format!("failed: {status}, {said}")),
    }
}
