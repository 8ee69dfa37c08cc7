//! `--script`: requests from a script in Lua.

use std::mem;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::{Control, Endpoint, Plan, RequestId};
use truetail_report::text::visible;
use truetail_run::Run;
use truetail_script::{Output, ScriptError, ScriptFile, ScriptRun, ScriptTarget};

use crate::args::run::RunArgs;
use crate::error::{CliError, Result, runtime_error, usage_error};
use crate::output;
use crate::resolve::input;
use crate::resolve::load::DEFAULT_SEED;

/// The script of a run, and the text that it prints.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    run: ScriptRun,
    printer: Arc<Printer>,
}

impl Script {
    /// Takes the words after `--` if they belong to a script and not to a curl command.
    pub(crate) fn arguments(args: &mut RunArgs) -> Vec<String> {
        if args.script.script.is_some() { mem::take(&mut args.command) } else { Vec::new() }
    }

    /// Loads the script, if there is one, and lets it make the requests of the plan.
    ///
    /// # Errors
    /// If the file cannot be read, or the script fails.
    pub(crate) fn load(args: &RunArgs, words: Vec<String>, plan: &mut Plan) -> Result<Option<Script>> {
        let Some(path) = &args.script.script else { return Ok(None) };
        refuse_other_protocols(args)?;
        let name = path.file_name().map_or_else(|| "script".to_owned(), |name| name.to_string_lossy().into_owned());
        let file = ScriptFile {
            name,
            code: input::bytes(path)?,
            args: words,
            allows_io: args.script.script_allow.is_some(),
            seed: args.seed.unwrap_or(DEFAULT_SEED),
        };
        let printer = Arc::new(Printer { to_stderr: args.json || args.pack, held: Mutex::default() });
        let shown = Arc::clone(&printer);
        let output = Output::new(move |text| shown.write(text));
        // A worker without a state could not begin, so later changes of the number are ruled out.
        let workers = plan.effective_threads();
        plan.threads = Some(workers);
        let run = ScriptRun::new(&file, &target(args, plan), workers, output).map_err(failed)?;
        plan.target.depend_on(&file.code);
        file.args.iter().for_each(|word| plan.target.depend_on(word.as_bytes()));
        plan.observe(run.observer_factory());
        Ok(Some(Script { run, printer }))
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

fn failed(error: ScriptError) -> CliError {
    runtime_error(format!("--script: {error}"))
}

fn refuse_other_protocols(args: &RunArgs) -> Result<()> {
    match args.url.as_deref().and_then(|url| url.split_once("://")) {
        Some((scheme, _)) if !["http", "https"].contains(&scheme) => {
            Err(usage_error(format!("--script makes requests of HTTP/1.1, and the URL begins with {scheme}://")))
        }
        _ => Ok(()),
    }
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
    let first = requests.bytes(RequestId { target: 0, row: 0 });
    ScriptTarget {
        url: plan.target.url(),
        scheme: origin.scheme.clone(),
        host: origin.host.clone(),
        port: origin.port,
        names_port: !origin.has_default_port(),
        addresses: plan.target.endpoints().iter().filter_map(address).collect(),
        ..ScriptTarget::of_request(first, &left_out)
    }
}

fn address(endpoint: &Endpoint) -> Option<SocketAddr> {
    match endpoint {
        Endpoint::Tcp(address) => Some(*address),
        Endpoint::Unix(_) => None,
    }
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
