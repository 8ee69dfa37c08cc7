//! The states of a run, from `setup` to `done`.

use std::sync::{Arc, Mutex, PoisonError};

use mlua::Table;
use truetail_engine::{Control, ObserverFactory};
use truetail_flow::{Guide, MakeGuide};
use truetail_run::Run;

use crate::error::ScriptError;
use crate::file::{ScriptFile, ScriptTarget, SessionPlan};
use crate::guide::LuaGuide;
use crate::sessions::SessionFunctions;
use crate::shared::{Output, Shared};
use crate::state::{State, StateOptions};
use crate::summary;
use crate::thread::ThreadHandle;
use crate::worker::ScriptedWorker;

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
    /// The same for sessions.
    guides: Mutex<Vec<LuaGuide>>,
    shared: Arc<Shared>,
}

impl ScriptRun {
    /// Loads the script for so many workers, and runs `setup` and `init`. With `sessions`, it leads sessions.
    ///
    /// # Errors
    /// The script fails, or it defines `delay`.
    pub fn new(
        file: &ScriptFile,
        target: &ScriptTarget,
        sessions: Option<&SessionPlan>,
        workers: u32,
        output: Output,
    ) -> Result<ScriptRun, ScriptError> {
        let shared = Arc::new(Shared::default());
        let load = |nth: u32| load(file, target, sessions, output.clone(), nth);
        let (main, _) = load(0)?;
        if main.function("delay").is_some() {
            return Err(main.error(
                "delay() is not there: a script decides what is sent, and the schedule when; take delay() out, and use \
                 --rate, --spacing poisson, or --model closed --think-time",
            ));
        }
        let loaded = (1..=workers).map(load).collect::<Result<Vec<_>, ScriptError>>()?;
        let addresses = Arc::new(target.addresses.clone());
        for (state, _) in &loaded {
            let handle =
                ThreadHandle { state: state.lua.weak(), shared: shared.clone(), addresses: Arc::clone(&addresses) };
            set_up(&main, state, handle)?;
        }
        let mut scripted = Vec::new();
        let mut guides = Vec::new();
        for (state, functions) in &loaded {
            if let Some(init) = state.function("init") {
                let args = state.described(arguments(state, file, target))?;
                state.call::<()>(&init, args)?;
            }
            match (functions, sessions) {
                (Some(functions), Some(plan)) => {
                    guides.push(LuaGuide::new(state.clone(), functions.clone(), plan, Arc::clone(&shared)));
                }
                _ => scripted.push(ScriptedWorker::new(state.clone(), Arc::clone(&shared))?),
            }
        }
        // The first worker takes the last one.
        scripted.reverse();
        guides.reverse();
        let states = loaded.into_iter().map(|(state, _)| state).collect();
        let workers = Mutex::new(scripted);
        Ok(ScriptRun(Arc::new(Parts { main, states, workers, guides: Mutex::new(guides), shared })))
    }

    /// Returns the observer that makes the requests. It serves one run, with as many workers as the script was loaded
    /// for.
    pub fn observer_factory(&self) -> ObserverFactory {
        let parts = Arc::clone(&self.0);
        ObserverFactory::with_maker(move || Box::new(take(&parts.workers)))
    }

    /// Returns the factory of the guides of sessions. It serves one run, as [`ScriptRun::observer_factory`] does.
    pub fn make_guide(&self) -> MakeGuide {
        let parts = Arc::clone(&self.0);
        MakeGuide::new(move || Box::new(take(&parts.guides)) as Box<dyn Guide>)
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

/// Returns state `nth` after it has run the script, and the functions that lead its sessions, if any.
fn load(
    file: &ScriptFile,
    target: &ScriptTarget,
    sessions: Option<&SessionPlan>,
    output: Output,
    nth: u32,
) -> Result<(State, Option<SessionFunctions>), ScriptError> {
    let seed = file.seed.wrapping_add(u64::from(nth));
    let state = State::new(&StateOptions { file: file.name.clone(), allows_io: file.allows_io, seed, output })?;
    // All workers draw the numbers of sessions from one seed.
    let functions = sessions.map(|plan| SessionFunctions::add_to(&state, file, &plan.asks)).transpose()?;
    if let (Some(functions), Some(plan)) = (&functions, sessions) {
        state.call::<()>(&functions.learn, plan.steps.clone())?;
    }
    state.described(target.describe_to(&state))?;
    state.load(&file.code)?;
    Ok((state, functions))
}

/// Returns the part of the next worker.
fn take<T>(parts: &Mutex<Vec<T>>) -> T {
    let part = parts.lock().unwrap_or_else(PoisonError::into_inner).pop();
    part.expect("a run has as many workers as its script")
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
