//! `--script`: requests from a script in Lua, and sessions that it leads.

mod read;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use truetail_engine::{Control, Endpoint, Plan, RequestId};
use truetail_flow::GuidedRun;
use truetail_model::time::Timestamp;
use truetail_report::text::visible;
use truetail_run::Run;
use truetail_script::{Output, ScriptRun, ScriptTarget};

pub(crate) use read::ReadScript;
use read::{ScriptedSessions, failed};

use crate::args::run::RunArgs;
use crate::error::Result;
use crate::output;

/// The script of a run, and the text that it prints.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    run: ScriptRun,
    /// Sessions that the script leads.
    sessions: Option<GuidedRun>,
    printer: Arc<Printer>,
}

impl Script {
    /// Loads the script, if there is one, and lets it make the requests of the plan.
    ///
    /// # Errors
    /// If the script fails.
    pub(crate) fn load(args: &RunArgs, read: Option<ReadScript>, plan: &mut Plan) -> Result<Option<Script>> {
        let Some(ReadScript { file, sessions }) = read else { return Ok(None) };
        let printer = Arc::new(Printer { to_stderr: args.json || args.pack, held: Mutex::default() });
        let shown = Arc::clone(&printer);
        let output = Output::new(move |text| shown.write(text));
        // A worker without a state could not begin, so later changes of the number are ruled out.
        let workers = plan.effective_threads();
        plan.threads = Some(workers);
        let (target, session_plan) = match &sessions {
            Some(sessions) => (sessions.target.clone(), Some(&sessions.plan)),
            None => (target(args, plan), None),
        };
        let target = ScriptTarget { addresses: addresses(plan), ..target };
        let run = ScriptRun::new(&file, &target, session_plan, workers, output).map_err(failed)?;
        plan.target.depend_on(&file.code);
        file.args.iter().for_each(|word| plan.target.depend_on(word.as_bytes()));
        let sessions = sessions.map(|sessions| guided_run(&run, sessions, plan));
        plan.observe(sessions.as_ref().map_or_else(|| run.observer_factory(), GuidedRun::observer_factory));
        Ok(Some(Script { run, sessions, printer }))
    }

    /// Adds the books of sessions, if the script leads them. Notes say why the first session that ended early at a step
    /// did so.
    pub(crate) fn add_sessions(&self, run: &mut Run) {
        if let Some(sessions) = &self.sessions {
            run.facts.notes.extend(sessions.notes());
            run.facts.sessions = Some(sessions.facts());
        }
    }

    /// Gives the script the control of its run.
    pub(crate) fn begin(&self, control: &Control) {
        self.run.begin(control.clone());
    }

    /// Returns the error that ended the run, if any.
    ///
    /// # Errors
    /// If there was one.
    pub(crate) fn check(&self) -> Result<()> {
        self.run.failure().map_or(Ok(()), |error| Err(failed(error)))
    }

    /// Returns a note for the run, if the script ended the load.
    pub(crate) fn note(&self) -> Option<String> {
        self.run.was_stopped().then(|| "the script ended the load with thread:stop()".to_owned())
    }

    /// Calls the script's `done`, and holds back the text that it prints.
    ///
    /// # Errors
    /// If `done` fails.
    pub(crate) fn done(&self, run: &Run) -> Result<()> {
        self.printer.hold();
        self.run.done(run).map_err(failed)
    }

    /// Prints the text that was held back.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn print_held(&self) -> Result<()> {
        self.printer.print_held()
    }
}

/// Returns the sessions of a run, and adds their rows to the hash of its requests.
fn guided_run(run: &ScriptRun, sessions: ScriptedSessions, plan: &mut Plan) -> GuidedRun {
    let rows = sessions.plan.rows.iter().flat_map(|rows| rows.values.iter().flatten().chain(&rows.columns));
    rows.for_each(|value| plan.target.depend_on(value.as_bytes()));
    if let Some(rows) = &sessions.plan.rows {
        plan.target.choose_rows_of_sessions(rows.values.len() as u32, rows.order, rows.seed);
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    GuidedRun::new(sessions.guided, run.make_guide(), Timestamp(plan.workload.warmup.0), now)
}

/// Returns the values of `wrk`: the request that options and URL describe, without the headers that truetail adds.
fn target(args: &RunArgs, plan: &Plan) -> ScriptTarget {
    let requests = plan.target.requests();
    let origin = plan.target.origin();
    let gave = |name: &str| {
        let is_it =
            |line: &String| line.split_once(':').is_some_and(|(given, _)| given.trim().eq_ignore_ascii_case(name));
        args.header.iter().any(is_it)
    };
    let left_out = ["user-agent", "accept"].into_iter().filter(|name| !gave(name)).collect::<Vec<_>>();
    let first = requests.view(RequestId { target: 0, row: 0 });
    ScriptTarget {
        url: plan.target.url(),
        scheme: origin.scheme.clone(),
        host: origin.host.clone(),
        port: origin.port,
        names_port: !origin.has_default_port(),
        ..ScriptTarget::of_request(first, &left_out)
    }
}

/// Returns the addresses that connections go to.
fn addresses(plan: &Plan) -> Vec<SocketAddr> {
    let of = |endpoint: &Endpoint| match endpoint {
        Endpoint::Tcp(address) => Some(*address),
        Endpoint::Unix(_) => None,
    };
    plan.target.endpoints().iter().filter_map(of).collect()
}

/// Prints the text of a script: on standard output, unless that is kept for JSON.
#[derive(Debug)]
struct Printer {
    to_stderr: bool,
    /// Text to print after the result; `None`: it is printed at once.
    held: Mutex<Option<String>>,
}

impl Printer {
    fn write(&self, text: &str) {
        let text = visible(text);
        match self.held.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(held) => held.push_str(&text),
            // A script that cannot print goes on, as after a closed pipe.
            None => drop(self.show(&text)),
        }
    }

    fn show(&self, text: &str) -> Result<()> {
        if output::are_notes_held() {
            output::note(text);
            return Ok(());
        }
        if self.to_stderr {
            output::write_stderr(text);
            return Ok(());
        }
        output::print(text)
    }

    fn hold(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
    }

    fn print_held(&self) -> Result<()> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        held.map_or(Ok(()), |text| self.show(&text))
    }
}
