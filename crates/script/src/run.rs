//! The states of a run, from `setup` to `done`.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use mlua::Table;
use truetail_engine::{Control, ObserverFactory};
use truetail_run::Run;

use crate::error::ScriptError;
use crate::pieces::MAX_FIELDS;
use crate::shared::{Output, Shared};
use crate::state::{State, StateOptions};
use crate::summary;
use crate::thread::ThreadHandle;
use crate::worker::ScriptedWorker;

/// A script, and its arguments.
#[derive(Clone, Debug)]
pub struct ScriptFile {
    /// Name of the file, for errors.
    pub name: String,
    /// Its text.
    pub code: Vec<u8>,
    /// Arguments for `init`.
    pub args: Vec<String>,
    /// It may use `io`, `os` and files.
    pub allows_io: bool,
    /// Seed of `math.random`. Each worker has a different sequence.
    pub seed: u64,
}

/// The values of `wrk` before the script runs.
#[derive(Clone, Default, Debug)]
pub struct ScriptTarget {
    /// The URL.
    pub url: String,
    /// `http` or `https`.
    pub scheme: String,
    /// Host name or address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The port is part of the URL: otherwise `wrk.port` is nil.
    pub names_port: bool,
    /// Method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Name and value of the header fields.
    pub headers: Vec<(String, String)>,
    /// Body; empty: none.
    pub body: Vec<u8>,
    /// Addresses that connections go to.
    pub addresses: Vec<SocketAddr>,
}

impl ScriptTarget {
    /// Returns method, path, header and body of a request of HTTP/1.1, without its length and without the header fields
    /// of these names, which are in lower case.
    pub fn of_request(bytes: &[u8], left_out: &[&str]) -> ScriptTarget {
        let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut request = httparse::Request::new(&mut fields);
        let head = match request.parse(bytes) {
            Ok(httparse::Status::Complete(head)) => head,
            _ => bytes.len(),
        };
        let is_kept = |name: &str| {
            let name = name.to_ascii_lowercase();
            name != "content-length" && !left_out.contains(&name.as_str())
        };
        let kept = request.headers.iter().filter(|field| is_kept(field.name));
        ScriptTarget {
            method: request.method.unwrap_or("GET").to_owned(),
            path: request.path.unwrap_or("/").to_owned(),
            headers: kept
                .map(|field| (field.name.to_owned(), String::from_utf8_lossy(field.value).into_owned()))
                .collect(),
            body: bytes[head..].to_vec(),
            ..ScriptTarget::default()
        }
    }
}

/// The script of a run.
#[derive(Clone, Debug)]
pub struct ScriptRun(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    main: State,
    /// States of the workers, which `done` can still read.
    states: Vec<State>,
    /// Workers that no thread has taken yet.
    workers: Mutex<Vec<ScriptedWorker>>,
    shared: Arc<Shared>,
}

impl ScriptRun {
    /// Loads the script for so many workers, and runs `setup` and `init`.
    ///
    /// # Errors
    /// The script fails, or it defines `delay`.
    pub fn new(
        file: &ScriptFile,
        target: &ScriptTarget,
        workers: u32,
        output: Output,
    ) -> Result<ScriptRun, ScriptError> {
        let shared = Arc::new(Shared::default());
        let state = |nth: u32| {
            let seed = file.seed.wrapping_add(u64::from(nth));
            let options =
                StateOptions { file: file.name.clone(), allows_io: file.allows_io, seed, output: output.clone() };
            let state = State::new(&options)?;
            state.described(set_target(&state, target))?;
            state.load(&file.code)?;
            Ok(state)
        };
        let main = state(0)?;
        if main.function("delay").is_some() {
            return Err(main.error(
                "delay() is not there: a script decides what is sent, and the schedule when; take delay() out, and use \
                 --rate, --spacing poisson, or --model closed --think-time",
            ));
        }
        let states = (1..=workers).map(state).collect::<Result<Vec<_>, ScriptError>>()?;
        let addresses = Arc::new(target.addresses.clone());
        let mut scripted = Vec::new();
        for state in &states {
            let handle =
                ThreadHandle { state: state.lua.weak(), shared: shared.clone(), addresses: Arc::clone(&addresses) };
            set_up(&main, state, handle)?;
        }
        for state in &states {
            if let Some(init) = state.function("init") {
                let args = state.described(arguments(state, file, target))?;
                state.call::<()>(&init, args)?;
            }
            scripted.push(ScriptedWorker::new(state.clone(), Arc::clone(&shared))?);
        }
        // The first worker takes the last one.
        scripted.reverse();
        Ok(ScriptRun(Arc::new(Parts { main, states, workers: Mutex::new(scripted), shared })))
    }

    /// Returns the observer that makes the requests. It serves one run, with as many workers as the script was loaded
    /// for.
    pub fn observer_factory(&self) -> ObserverFactory {
        let parts = Arc::clone(&self.0);
        ObserverFactory::with_maker(move || {
            let worker = parts.workers.lock().unwrap_or_else(PoisonError::into_inner).pop();
            Box::new(worker.expect("a run has as many workers as its script"))
        })
    }

    /// Gives the script the control of its run.
    pub fn begin(&self, control: Control) {
        self.0.shared.begin(control);
    }

    /// Returns the error that ended the run, if any.
    pub fn failure(&self) -> Option<ScriptError> {
        self.0.shared.failure()
    }

    /// Returns true if the script ended the load with `thread:stop()`.
    pub fn was_stopped(&self) -> bool {
        self.0.shared.was_stopped()
    }

    /// Calls `done`, if the script defines it.
    ///
    /// # Errors
    /// `done` fails.
    pub fn done(&self, run: &Run) -> Result<(), ScriptError> {
        let Parts { main, states, .. } = &*self.0;
        let Some(done) = main.function("done") else { return Ok(()) };
        let summary = main.described(summary::counts(&main.lua, &run.snapshot))?;
        let latency = summary::latency(&run.snapshot);
        main.call(&done, (summary, latency, summary::requests(&run.snapshot, states.len())))
    }
}

/// Returns the argument of `init`: the URL at 0, and the script's arguments from 1.
fn arguments(state: &State, file: &ScriptFile, target: &ScriptTarget) -> mlua::Result<Table> {
    let args = state.lua.create_sequence_from(file.args.iter().map(String::as_str))?;
    args.raw_set(0, target.url.as_str())?;
    Ok(args)
}

/// Calls `setup` for a worker.
fn set_up(main: &State, state: &State, handle: ThreadHandle) -> Result<(), ScriptError> {
    let own = || state.lua.globals().get::<Table>("wrk")?.set("thread", handle.clone());
    state.described(own())?;
    match main.function("setup") {
        Some(setup) => main.call(&setup, handle),
        None => Ok(()),
    }
}

fn set_target(state: &State, target: &ScriptTarget) -> mlua::Result<()> {
    let wrk: Table = state.lua.globals().get("wrk")?;
    wrk.set("scheme", target.scheme.as_str())?;
    wrk.set("host", target.host.as_str())?;
    wrk.set("port", target.names_port.then(|| target.port.to_string()))?;
    wrk.set("method", target.method.as_str())?;
    wrk.set("path", target.path.as_str())?;
    let headers: Table = wrk.get("headers")?;
    for (name, value) in &target.headers {
        headers.set(name.as_str(), value.as_str())?;
    }
    let body = (!target.body.is_empty()).then(|| state.lua.create_string(&target.body)).transpose()?;
    wrk.set("body", body)
}
