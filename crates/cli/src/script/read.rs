//! The script of `--script` before the run: its file, and the sessions that it leads.

use std::mem;
use std::sync::Arc;

use truetail_engine::{Method, Origin, Request};
use truetail_flow::{GuidedPlan, PlanError};
use truetail_grpc::{GrpcUrl, Schema};
use truetail_requests::basic_authorization;
use truetail_script::{ScriptError, ScriptFile, ScriptTarget, SessionAsks, SessionPlan, steps_of};

use crate::args::run::{ModelName, RunArgs, WarmupValue};
use crate::error::{CliError, Result, refuse_beside, runtime_error, usage_error};
use crate::resolve::load::DEFAULT_SEED;
use crate::resolve::{flow, grpc, grpc_schema, input, messages, rows};

/// A script before the run.
#[derive(Debug)]
pub(crate) struct ReadScript {
    pub(super) file: ScriptFile,
    pub(super) sessions: Option<ScriptedSessions>,
}

/// Sessions that a script leads.
#[derive(Debug)]
pub(super) struct ScriptedSessions {
    pub(super) guided: GuidedPlan,
    pub(super) plan: SessionPlan,
    pub(super) target: ScriptTarget,
}

impl ReadScript {
    /// Reads the script, if there is one. If it leads sessions, sets the load model and the session length in `args`.
    ///
    /// # Errors
    /// If the file cannot be read, the script fails, or it contradicts other options.
    pub(crate) fn read(args: &mut RunArgs) -> Result<Option<ReadScript>> {
        let Some(path) = &args.script.script else { return Ok(None) };
        let name = path.file_name().map_or_else(|| "script".to_owned(), |name| name.to_string_lossy().into_owned());
        let file = ScriptFile {
            name,
            code: input::bytes(path)?,
            // The words after `--` belong to the script and not to a curl command.
            args: mem::take(&mut args.command),
            allows_io: args.script.script_allow.is_some(),
            seed: args.seed.unwrap_or(DEFAULT_SEED),
        };
        let sessions = sessions(args, &file)?;
        match &sessions {
            Some(sessions) => {
                args.model = Some(ModelName::PartlyOpen);
                args.session_length = Some(sessions.plan.steps.len() as u32);
                // A channel belongs to its session.
                args.connection_per_session |= sessions.guided.messages().is_some();
            }
            None => refuse_for_requests(args)?,
        }
        Ok(Some(ReadScript { file, sessions }))
    }

    /// Returns the sessions that the script leads, if any.
    pub(crate) fn guided(&self) -> Option<&GuidedPlan> {
        self.sessions.as_ref().map(|sessions| &sessions.guided)
    }

    /// Returns the number of rows of data, if sessions take them.
    pub(crate) fn rows(&self) -> Option<u32> {
        let rows = self.sessions.as_ref()?.plan.rows.as_ref()?;
        Some(rows.values.len() as u32)
    }
}

/// Returns an error of a script as one of the command line.
pub(super) fn failed(error: ScriptError) -> CliError {
    runtime_error(format!("--script: {error}"))
}

fn sessions(args: &RunArgs, file: &ScriptFile) -> Result<Option<ScriptedSessions>> {
    if messages::are_meant(args) {
        return of_messages(args, file).map(Some);
    }
    let Some(url) = &args.url else { return Ok(None) };
    let calls = schema(args, file)?;
    let url = match &calls {
        Some((origin, _)) => origin.clone(),
        None if url.contains("://") => url.clone(),
        None => format!("http://{url}"),
    };
    let asks = calls.map_or(SessionAsks::Requests, |(_, schema)| SessionAsks::Calls(schema));
    let makes_calls = matches!(asks, SessionAsks::Calls(_));
    let Ok(first) = Request::new(Method::Get, &url, &[], Vec::new()) else { return Ok(None) };
    let target = ScriptTarget {
        url: url.clone(),
        method: "GET".to_owned(),
        path: "/".to_owned(),
        headers: headers(args, makes_calls),
        ..at_origin(&first.origin())
    };
    let Some(steps) = steps_of(file, &target, &asks).map_err(failed)? else {
        return match asks {
            SessionAsks::Requests => Ok(None),
            _ => Err(needs_session(file, "gRPC", "s:call(\"package.Service/Method\", { … })")),
        };
    };
    refuse_for_sessions(args)?;
    let guided = GuidedPlan::new(&file.name, &[url], &steps, flow::version(args));
    let guided = guided.map_err(|error| wrong_plan(file, &error))?;
    let guided = if makes_calls { guided.with_calls() } else { guided };
    let rows = rows::for_script(args)?.map(Arc::new);
    Ok(Some(ScriptedSessions { guided, plan: SessionPlan { steps, rows, asks }, target }))
}

/// Returns the sessions of a script on the URL of channels.
fn of_messages(args: &RunArgs, file: &ScriptFile) -> Result<ScriptedSessions> {
    let needs_session = || {
        let (scheme, _) = args.url.as_deref().and_then(|url| url.trim().split_once("://")).unwrap_or_default();
        let is_redis = scheme.to_ascii_lowercase().starts_with("redis");
        let example = if is_redis { "s:command(\"GET\", \"key\")" } else { "s:send(\"…\")" };
        needs_session(file, &format!("{scheme}://"), example)
    };
    if !file.may_lead_sessions() {
        return Err(needs_session());
    }
    refuse_for_sessions(args)?;
    let (channel, options) = messages::of_sessions(args)?;
    let origin = channel.origin;
    let target = ScriptTarget { url: origin.to_string(), path: channel.path, ..at_origin(&origin) };
    let asks = SessionAsks::Messages(Box::new(options.clone()));
    let steps = steps_of(file, &target, &asks).map_err(failed)?.ok_or_else(needs_session)?;
    let guided = GuidedPlan::of_messages(&file.name, origin, &steps, options);
    let guided = guided.map_err(|error| wrong_plan(file, &error))?;
    let rows = rows::for_script(args)?.map(Arc::new);
    Ok(ScriptedSessions { guided, plan: SessionPlan { steps, rows, asks }, target })
}

/// Returns the values of `wrk` that an origin sets.
fn at_origin(origin: &Origin) -> ScriptTarget {
    ScriptTarget {
        scheme: origin.scheme.clone(),
        host: origin.host.clone(),
        port: origin.port,
        names_port: !origin.has_default_port(),
        ..ScriptTarget::default()
    }
}

fn needs_session(file: &ScriptFile, over: &str, example: &str) -> CliError {
    usage_error(format!(
        "--script {}: over {over} a script leads sessions; define session(s), with {example}",
        file.name
    ))
}

fn wrong_plan(file: &ScriptFile, error: &PlanError) -> CliError {
    usage_error(format!("--script {}: {error}", file.name))
}

/// Returns the origin in HTTP and the schema, if the URL is one of gRPC. The script names the methods.
fn schema(args: &RunArgs, file: &ScriptFile) -> Result<Option<(String, Schema)>> {
    if !grpc::are_meant(args) {
        return Ok(None);
    }
    grpc::refuse_for_sessions(args)?;
    let (origin, path) = GrpcUrl::split(args.url.as_deref().unwrap_or_default()).map_err(usage_error)?;
    if !path.is_empty() {
        return Err(usage_error(format!(
            "--script {}: the script names the methods with s:call; end the URL after the port",
            file.name
        )));
    }
    let schema = grpc_schema::schema(args, &origin, None)?;
    Ok(Some((origin, schema)))
}

/// Returns the header fields that go with every request of a session.
fn headers(args: &RunArgs, are_calls: bool) -> Vec<(String, String)> {
    let user = args.user.iter().map(|user| basic_authorization(&user.0));
    let of_calls = if are_calls { grpc::fields(args) } else { Vec::new() };
    let lines = args.header.iter().cloned().chain(user).chain(of_calls);
    lines
        .filter_map(|line| line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned())))
        .collect()
}

/// Refuses options that a script with `request` cannot follow.
fn refuse_for_requests(args: &RunArgs) -> Result<()> {
    let given = [("--http2", args.http2), ("--data-from", args.data_from.is_some())];
    match given.iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(usage_error(format!(
            "--script and {flag} contradict each other: this script makes single requests of HTTP/1.1; take {flag} out, \
             or write session(s)"
        ))),
        None => Ok(()),
    }
}

/// Refuses options that a session sets, and options that cannot be combined with one.
fn refuse_for_sessions(args: &RunArgs) -> Result<()> {
    let in_the_script = "session(s) says what is sent; write it there";
    let others = [
        ("--method", args.method.is_some(), in_the_script),
        ("--data", args.data.is_some(), in_the_script),
        ("--data-file", args.data_file.is_some(), in_the_script),
        ("--body-type", args.body_type.is_some(), in_the_script),
        ("--think-time", args.think_time.is_some(), "write s:sleep(SECONDS) in the session"),
        ("--session-length", args.session_length.is_some(), "a session has as many requests as it makes"),
        ("--check", !args.checks.checks.is_empty(), "write s:check(…) in the session"),
        ("--stream", args.streams.stream.is_some(), "a session waits for whole answers; use --flow"),
        ("--llm", args.streams.reads_llm(), "a session waits for whole answers; use --flow"),
        ("--no-keepalive", args.no_keepalive, "use --connection-per-session"),
        ("--model", args.model.is_some_and(|model| model != ModelName::PartlyOpen), "sessions are partly open"),
        ("--warmup auto", args.warmup == Some(WarmupValue::Auto), "use --warmup TIME"),
    ];
    refuse_beside("--script with session(s)", &others)
}
