//! Requests of `truetail run`, and the server that they are sent to.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use truetail_engine::{
    AddressOverrides, FeedOrder, MAX_REQUEST_SET_BYTES, MessageOptions, Method, Request, Target, TargetError,
    credentials_in, without_credentials,
};
use truetail_flow::{AgentGraphs, Flows, GuidedPlan};
use truetail_requests::{
    Feed, InputError, Location, PreparedRequests, Replay, RowFormat, Rows, TargetSpec, basic_authorization, parse_curl,
    parse_targets, placeholders, prepare, words_of_curl,
};
use truetail_run::{GrpcConfig, GrpcKind};

use super::input;
use super::load::DEFAULT_SEED;
use super::stream::{ask_for_streams, bodies_asking_for_streams};
use crate::args::run::{FeedName, RunArgs};
use crate::error::{CliError, Result, runtime_error, usage_error};

/// Returns the target with prepared requests and resolved hosts.
///
/// # Errors
/// If the requests in arguments or files are not valid, or a host does not resolve.
pub(crate) fn target(args: &RunArgs) -> Result<Target> {
    of_specs(args, specs(args)?)
}

/// Returns the target of these requests.
///
/// # Errors
/// As [`target`].
pub(crate) fn of_specs(args: &RunArgs, specs: Vec<TargetSpec>) -> Result<Target> {
    refuse_contradictions_of_http2(args)?;
    let user: Vec<_> = args.user.iter().map(|user| basic_authorization(&user.0)).collect();
    let added: Vec<String> = closing(args).iter().cloned().chain(args.traces.placeholder()).collect();
    let with_user = specs.into_iter().map(|spec| spec.with_defaults(&args.header).with_defaults(&user));
    let specs: Vec<_> = with_user.map(|spec| spec.with_defaults(&added)).collect();
    let specs = ask_for_streams(specs, &args.streams)?;
    refuse_without_prompt(args, &specs)?;
    let data = data(args)?;
    let feed = data.as_ref().map(|data| Feed { rows: data.rows(), order: order(args) });
    let ask = prepare(&specs, feed, args.seed.unwrap_or(DEFAULT_SEED)).map_err(wrong)?;
    if let (Some(_), [one, other, ..]) = (&args.user, &ask.origins[..]) {
        let help = "write the header Authorization at the targets that it is for";
        return Err(usage_error(format!("--user would go to {one} and to {other}; {help}")));
    }
    target_of(args, ask)
}

/// Refuses `--prompts` if a request has no place for a prompt. Each answer is compared with the lengths of its row.
fn refuse_without_prompt(args: &RunArgs, specs: &[TargetSpec]) -> Result<()> {
    let has_prompt = |spec: &TargetSpec| placeholders(&spec.body).any(|found| found.name == "prompt");
    let needs_prompt = args.made_rows.as_ref().is_some_and(|made| !made.are_bodies);
    let Some(without) = specs.iter().find(|spec| !has_prompt(spec)).filter(|_| needs_prompt) else {
        return Ok(());
    };
    if specs.iter().any(has_prompt) {
        let what = "--prompts: the body of this target has no place for the prompt, and others have one; write {{prompt}} in each, \
                    because the answers are compared with the lengths of their prompts";
        return Err(wrong(without.location.invalid(what)));
    }
    Err(usage_error(
        "--prompts: no body has a place for the prompt; write {{prompt}}, and {{output_tokens}} as the limit of the answer, such \
         as --data '{\"model\": \"m\", \"max_tokens\": {{output_tokens}}, \"prompt\": \"{{prompt}}\"}'",
    ))
}

/// Returns the target of recorded requests.
///
/// # Errors
/// If the URL or a request is not valid, or a host does not resolve.
pub(crate) fn for_replay(args: &RunArgs, replay: &Replay) -> Result<Target> {
    refuse_contradictions_of_http2(args)?;
    let base = from_arguments(args, args.url.as_deref().unwrap_or_default())?;
    let user: Vec<_> = args.user.iter().map(|user| basic_authorization(&user.0)).collect();
    let trace: Vec<_> = args.traces.placeholder().into_iter().collect();
    let base = base.with_defaults(&user).with_defaults(closing(args)).with_defaults(&trace);
    target_of(args, replay.prepare(&base).map_err(wrong)?)
}

fn target_of(args: &RunArgs, ask: PreparedRequests) -> Result<Target> {
    let mut way = way(args)?;
    // With a setup, some addresses may be meant for the setup only.
    if args.flow.setup.is_some() {
        way = way.only_for(&ask.origins);
    }
    let mut target = Target::for_origins(ask.requests, ask.origins, &way).map_err(refused)?;
    if args.http2 {
        target.use_http2().map_err(refused)?;
    }
    Ok(target)
}

/// Returns the header that closes connections, with `--no-keepalive`.
fn closing(args: &RunArgs) -> &'static [String] {
    static CLOSE: LazyLock<[String; 1]> = LazyLock::new(|| ["Connection: close".to_owned()]);
    if args.no_keepalive { &*CLOSE } else { &[] }
}

/// Returns the target of flows.
///
/// # Errors
/// If a host does not resolve.
pub(crate) fn for_flows(args: &RunArgs, flows: &Flows) -> Result<Target> {
    let origins = flows.origins().cloned().collect();
    for_sessions(args, PreparedRequests { requests: flows.requests(), origins }, flows.makes_calls(), None)
}

/// Returns the request that all calls of agents share, without a body.
///
/// # Errors
/// If the URL or a header is not valid.
pub(crate) fn for_calls(args: &RunArgs) -> Result<Request> {
    let spec = from_arguments(args, args.url.as_deref().unwrap_or_default())?;
    let user: Vec<_> = args.user.iter().map(|user| basic_authorization(&user.0)).collect();
    let trace: Vec<_> = args.traces.placeholder().into_iter().collect();
    let spec = spec.with_defaults(&user).with_defaults(&trace);
    let spec = spec.with_defaults(&["Content-Type: application/json".to_owned()]);
    let method = args.method.as_deref().unwrap_or("POST").parse().map_err(refused)?;
    Request::new(method, &spec.url, &spec.headers, Vec::new()).map_err(refused)
}

/// Returns the target of sessions of agents, whose calls are all like `base`.
///
/// # Errors
/// If the host does not resolve.
pub(crate) fn for_agents(args: &RunArgs, agents: &AgentGraphs, base: &Request) -> Result<Target> {
    let ask = PreparedRequests { requests: agents.requests(base), origins: vec![base.origin()] };
    for_sessions(args, ask, false, None)
}

/// Returns the target of sessions that a script leads.
///
/// # Errors
/// If the host does not resolve.
pub(crate) fn for_guided(args: &RunArgs, guided: &GuidedPlan) -> Result<Target> {
    let origins = guided.origins().cloned().collect();
    let ask = PreparedRequests { requests: guided.requests(), origins };
    for_sessions(args, ask, guided.makes_calls(), guided.messages())
}

fn for_sessions(
    args: &RunArgs,
    ask: PreparedRequests,
    makes_calls: bool,
    messages: Option<&MessageOptions>,
) -> Result<Target> {
    if !makes_calls && messages.is_none() {
        refuse_contradictions_of_http2(args)?;
    }
    let mut target = target_of(args, ask)?;
    if makes_calls {
        target.use_calls(GrpcConfig { kind: GrpcKind::Unary, message_gap_ns: None }).map_err(refused)?;
    }
    if let Some(options) = messages {
        target.use_messages(options.clone());
    }
    Ok(target)
}

/// Checks that every `--resolve` address belongs to one of the targets.
pub(crate) fn check_used(args: &RunArgs, targets: &[&Target]) -> Result<()> {
    let origins: Vec<_> = targets.iter().flat_map(|target| target.origins().cloned()).collect();
    way(args)?.check_used(&origins).map_err(refused)
}

/// Returns the requests as written in arguments, a file, or a curl command.
///
/// # Errors
/// If they are not valid.
pub(crate) fn specs(args: &RunArgs) -> Result<Vec<TargetSpec>> {
    refuse_contradictions(args)?;
    Ok(match (&args.url, &args.targets, &args.curl) {
        (Some(url), ..) => vec![from_arguments(args, url)?],
        (_, Some(file), _) => {
            parse_targets(&input::text(file)?, &file.display().to_string(), &read_body).map_err(wrong)?
        }
        (_, _, Some(command)) => {
            vec![from_curl(
                &words_of_curl(command).map_err(|error| usage_error(format!("--curl: {error}")))?,
                "--curl",
            )?]
        }
        _ => vec![from_curl(&args.command, "--")?],
    })
}

/// Refuses requests from several sources, and parts of a request without a URL.
fn refuse_contradictions(args: &RunArgs) -> Result<()> {
    let sources = [
        ("a URL", args.url.is_some()),
        ("--targets", args.targets.is_some()),
        ("--curl", args.curl.is_some()),
        ("a command after --", !args.command.is_empty()),
    ];
    let mut given = sources.iter().filter(|(_, given)| *given).map(|(name, _)| *name);
    let source = given.next().unwrap_or_default();
    if let Some(other) = given.next() {
        return Err(usage_error(format!("{source} and {other} contradict each other; give the request only once")));
    }
    let parts = [
        ("--method", args.method.is_some()),
        ("--data", args.data.is_some()),
        ("--data-file", args.data_file.is_some()),
        ("--body-type", args.body_type.is_some()),
    ];
    match parts.iter().find(|(_, given)| *given) {
        Some((flag, _)) if args.url.is_none() => Err(usage_error(format!(
            "{flag} and {source} contradict each other; {flag} needs a URL, and targets set it themselves"
        ))),
        _ => Ok(()),
    }
}

fn refuse_contradictions_of_http2(args: &RunArgs) -> Result<()> {
    if args.http2 && args.no_keepalive {
        return Err(usage_error(
            "--http2 and --no-keepalive contradict each other: an HTTP/2 connection carries many requests at once",
        ));
    }
    if args.max_streams.is_some() && !args.http2 {
        return Err(usage_error("--max-streams limits the concurrent requests on an HTTP/2 connection; add --http2"));
    }
    Ok(())
}

fn from_arguments(args: &RunArgs, url: &str) -> Result<TargetSpec> {
    if url.starts_with("curl ") {
        return Err(usage_error(
            "a curl command is not a URL; write it after --, as in truetail run -r 100 -- curl …, or use --curl 'curl …'",
        ));
    }
    if args.user.is_some() && credentials_in(url.trim()).is_some() {
        return Err(usage_error("--user and the user name in the URL contradict each other; give one of them"));
    }
    let mut headers = args.header.clone();
    headers.extend(content_type(args)?);
    let spec = TargetSpec { method: method(args)?, headers, ..TargetSpec::new(Location::named(""), url) };
    TargetSpec { body: body(args)?, ..spec }.with_url_credentials().map_err(wrong)
}

/// Returns the given method. The default is POST with a body, as in curl, and GET without one.
fn method(args: &RunArgs) -> Result<Method> {
    let usual = if args.data.is_some() || args.data_file.is_some() { "POST" } else { "GET" };
    args.method.as_deref().unwrap_or(usual).parse().map_err(refused)
}

/// Parses the curl command in `argument`.
fn from_curl<W: AsRef<[u8]>>(words: &[W], argument: &str) -> Result<TargetSpec> {
    match words {
        [first, rest @ ..] if [&b"curl"[..], b"curl.exe"].contains(&first.as_ref()) => {
            parse_curl(rest, &Location::named(argument), &read_body).map_err(wrong)
        }
        _ => {
            let first = String::from_utf8_lossy(words.first().map_or(&b""[..], AsRef::as_ref));
            Err(usage_error(format!(
                "{argument}: '{}' is not a curl command; write one, such as curl http://127.0.0.1/",
                without_credentials(&first)
            )))
        }
    }
}

pub(super) fn wrong(problem: InputError) -> CliError {
    match problem {
        InputError::Invalid { .. } => usage_error(problem),
        InputError::Unreadable { .. } => runtime_error(problem),
    }
}

pub(super) fn refused(error: TargetError) -> CliError {
    match error {
        TargetError::Resolve { .. } => runtime_error(format!("{error}; check the name, or write an address")),
        TargetError::UnixSocket { .. } => runtime_error(format!("--unix-socket: {error}")),
        TargetError::UnusedResolve { .. } => usage_error(format!("--resolve: {error}; check host and port")),
        TargetError::Url { .. }
        | TargetError::Scheme { .. }
        | TargetError::Method(_)
        | TargetError::Header(_)
        | TargetError::Framing(_)
        | TargetError::NotInHttp2 { .. }
        | TargetError::HasTraceHeader { .. }
        | TargetError::SchemesInHttp2 { .. } => usage_error(error),
    }
}

/// Reads the body of a target. Refuses standard input, which can be read only once while there may be many targets.
fn read_body(file: &str) -> std::result::Result<Vec<u8>, String> {
    if file == "-" {
        return Err("the body of a target cannot come from standard input; write it to a file".to_owned());
    }
    input::bytes(Path::new(file)).map_err(|error| error.message)
}

pub(super) fn body(args: &RunArgs) -> Result<Vec<u8>> {
    match (&args.data, &args.data_file) {
        (Some(_), Some(_)) => Err(usage_error("--data and --data-file contradict each other; a request has one body")),
        (Some(text), None) => Ok(text.clone().into_bytes()),
        (None, Some(file)) => input::bytes(file),
        (None, None) => Ok(Vec::new()),
    }
}

fn content_type(args: &RunArgs) -> Result<Option<String>> {
    let Some(body_type) = &args.body_type else { return Ok(None) };
    if args.data.is_none() && args.data_file.is_none() {
        return Err(usage_error("--body-type needs a body; add --data or --data-file"));
    }
    let is_content_type = |header: &&String| {
        header.split_once(':').is_some_and(|(name, _)| name.trim().eq_ignore_ascii_case("content-type"))
    };
    if let Some(header) = args.header.iter().find(is_content_type) {
        return Err(usage_error(format!("--body-type and -H '{header}' contradict each other; give one of them")));
    }
    Ok(Some(format!("Content-Type: {body_type}")))
}

/// File of `--data-from`.
#[derive(Clone, Debug)]
pub(crate) struct DataFile {
    format: RowFormat,
    pub(super) name: String,
    bytes: Arc<[u8]>,
}

impl DataFile {
    pub(super) fn rows(&self) -> Rows<'_> {
        Rows { format: self.format, file: &self.name, bytes: &self.bytes }
    }
}

pub(super) fn data(args: &RunArgs) -> Result<Option<DataFile>> {
    if let Some(made) = &args.made_rows {
        let bytes = if made.are_bodies {
            bodies_asking_for_streams(&made.json_lines, &args.streams)?
        } else {
            Arc::clone(&made.json_lines)
        };
        return Ok(Some(DataFile { format: RowFormat::JsonLines, name: "--prompts".to_owned(), bytes }));
    }
    let Some(file) = &args.data_from else {
        return match args.feed {
            Some(_) => Err(usage_error("--feed sets the order of rows, and there are none; add --data-from FILE.csv")),
            None => Ok(None),
        };
    };
    let name = file.display().to_string();
    let help = "the name of the file must end in .csv, or in .jsonl or .ndjson (one JSON object per line)";
    let format = RowFormat::from_file_name(&name).ok_or_else(|| usage_error(format!("--data-from: {name}: {help}")))?;
    if std::fs::metadata(file).is_ok_and(|there| there.len() > MAX_REQUEST_SET_BYTES) {
        return Err(runtime_error(format!(
            "{name} is larger than {} MiB, the limit; use fewer rows",
            MAX_REQUEST_SET_BYTES >> 20
        )));
    }
    Ok(Some(DataFile { format, name, bytes: input::within(file, MAX_REQUEST_SET_BYTES)?.into() }))
}

pub(super) fn order(args: &RunArgs) -> FeedOrder {
    match args.feed {
        None | Some(FeedName::InOrder | FeedName::Once) => FeedOrder::InOrder,
        Some(FeedName::Random) => FeedOrder::Random,
    }
}

pub(super) fn way(args: &RunArgs) -> Result<AddressOverrides> {
    if args.unix_socket.is_some() && !args.resolve.is_empty() {
        return Err(usage_error("--unix-socket and --resolve contradict each other; give one of them"));
    }
    Ok(AddressOverrides { resolve: args.resolve.clone(), unix_socket: args.unix_socket.clone() })
}
