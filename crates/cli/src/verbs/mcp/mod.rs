//! `truetail mcp`: connects a session with the client's lines and with commands of this program.

mod event;
mod lines;
mod process;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use std::{fs, thread};

use truetail_mcp::{Files, Limits, Session, Step};
use truetail_model::time::Nanos;
use truetail_tools::{SearchPath, by_name};

use self::event::Event;
use self::process::RunningJob;
use crate::args::mcp::McpArgs;
use crate::error::{ExitCode, Result, runtime_error};
use crate::{output, signals};

/// Methods that are not meant to change anything.
const SAFE_METHODS: [&str; 3] = ["GET", "HEAD", "OPTIONS"];
/// Time between two notices of progress.
const PROGRESS_EVERY: Duration = Duration::from_secs(2);

/// Serves one client until it closes standard input.
///
/// # Errors
/// If a folder does not exist, this program cannot be found, or standard output cannot be written.
pub(super) fn mcp(args: McpArgs) -> Result<ExitCode> {
    let program = program()?;
    let session = Session::new(limits(args)?, RealFiles);
    let (sender, events) = channel();
    let at_signal = sender.clone();
    let signal = signals::tell_of_signals(move |_| drop(at_signal.send(Event::End)))?;
    let client = sender.clone();
    // It ends with the process, because a read of standard input cannot be interrupted.
    let reading = thread::Builder::new().name("truetail-client".to_owned()).spawn(move || lines::read(&client));
    reading.map_err(|error| runtime_error(format!("cannot start a thread: {error}")))?;
    Server { session, program, sender, job: None }.serve(&events)?;
    Ok(signal.first_signal().map_or(ExitCode::Success, ExitCode::Signal))
}

/// Returns the path of this program, which Python may run too.
fn program() -> Result<PathBuf> {
    let truetail = by_name("truetail").expect("truetail knows itself");
    truetail.locate(&SearchPath::from_env()).map(|found| found.path).map_err(runtime_error)
}

fn limits(args: McpArgs) -> Result<Limits> {
    let here = if args.read.is_empty() { vec![PathBuf::from(".")] } else { args.read };
    let real = |folder: &PathBuf| {
        fs::canonicalize(folder).map_err(|error| runtime_error(format!("cannot read {}: {error}", folder.display())))
    };
    let methods = SAFE_METHODS.into_iter().map(str::to_owned);
    let added = args.allow_method.iter().map(|method| method.to_ascii_uppercase());
    Ok(Limits {
        hosts: args.allow_host,
        methods: methods.chain(added).collect(),
        longest: args.max_duration,
        highest: args.max_rate,
        readable: here.iter().map(real).collect::<Result<_>>()?,
        out: args.out_dir,
    })
}

/// A session, and the command that it runs.
struct Server {
    session: Session<RealFiles>,
    program: PathBuf,
    sender: Sender<Event>,
    job: Option<RunningJob>,
}

impl Server {
    /// Serves until the client is gone and no command runs.
    fn serve(&mut self, events: &Receiver<Event>) -> Result<()> {
        let mut is_open = true;
        let mut told = Instant::now();
        while is_open || self.session.is_busy() {
            let steps = match events.recv_timeout(PROGRESS_EVERY) {
                Ok(Event::Line(line)) if is_open => self.session.receive(&line),
                Ok(Event::Line(_)) => Vec::new(),
                Ok(Event::JobEnded(output)) => {
                    self.job = None;
                    self.session.ended(&output)
                }
                Ok(Event::End) | Err(RecvTimeoutError::Disconnected) => {
                    is_open = false;
                    self.session.close()
                }
                Err(RecvTimeoutError::Timeout) => Vec::new(),
            };
            self.carry_out(steps)?;
            if told.elapsed() >= PROGRESS_EVERY {
                told = Instant::now();
                self.tell_progress()?;
            }
        }
        Ok(())
    }

    fn carry_out(&mut self, steps: Vec<Step>) -> Result<()> {
        for step in steps {
            match step {
                Step::Send(line) => output::print(&(line + "\n"))?,
                Step::Start(job) => self.job = Some(RunningJob::start(&self.program, &job, self.sender.clone())),
                Step::Stop => self.job.iter_mut().for_each(RunningJob::stop),
            }
        }
        Ok(())
    }

    /// Tells the client how long its call has run, and stops a command that takes much longer than its load.
    fn tell_progress(&mut self) -> Result<()> {
        let Some(job) = &mut self.job else { return Ok(()) };
        job.stop_if_late();
        let elapsed = Nanos::from_secs_f64(job.elapsed().as_secs_f64());
        self.session.progress(elapsed).map_or(Ok(()), |line| output::print(&(line + "\n")))
    }
}

/// The file system.
struct RealFiles;

impl Files for RealFiles {
    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn free_name(&self, parent: &Path, start: &str) -> String {
        let names = (1..).map(|number: u64| format!("{start}-{number}"));
        names.into_iter().find(|name| !parent.join(name).exists()).expect("names do not run out")
    }
}
