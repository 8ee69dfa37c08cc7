//! Flows of a run.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use truetail_engine::{HttpVersion, Plan};
use truetail_flow::{Flow, FlowError, FlowRun, Flows, MAX_FLOW_BYTES, SessionRows};
use truetail_grpc::GrpcUrl;
use truetail_model::time::Timestamp;

use super::grpc_schema::Schemas;
use super::load::DEFAULT_SEED;
use super::{grpc, input, request, rows};
use crate::args::flow::Variable;
use crate::args::run::{ModelName, RunArgs};
use crate::error::{CliError, Result, refuse_beside, runtime_error, usage_error};

/// Returns the flows of a run; `None` without flows. Sets the load model and the session length in `args`. May ask
/// servers of gRPC calls for their schemas.
///
/// # Errors
/// If a flow contradicts other options, a file is not valid, or a server does not tell its schema.
pub(crate) fn flows(args: &mut RunArgs) -> Result<Option<Flows>> {
    read_all(args, true)
}

/// Returns the flows of a run like [`flows`], to learn about their sessions: calls without a schema cannot be sent.
///
/// # Errors
/// If a flow contradicts other options, or a file is not valid.
pub(crate) fn flows_without_schema(args: &mut RunArgs) -> Result<Option<Flows>> {
    read_all(args, false)
}

fn read_all(args: &mut RunArgs, needs_schema: bool) -> Result<Option<Flows>> {
    if args.flow.flow.is_empty() {
        return Ok(None);
    }
    refuse_contradictions(args)?;
    let data = request::data(args)?;
    let mut schemas = Schemas::new(args);
    let read = |file: &PathBuf| {
        let rows = |text: &str| rows::for_flow(args, data.as_ref(), text);
        let flow = read(file, &args.flow.given.variable, args.flow.given.file_root.as_deref(), rows)?;
        let flow = match args.traces.format() {
            Some(format) => flow.with_trace_header(format),
            None => Ok(flow),
        };
        let flow = flow.and_then(|flow| flow.over(version(args))).map_err(|error| wrong(file, &error))?;
        if needs_schema { with_methods(flow, file, args, &mut schemas) } else { Ok(flow) }
    };
    let flows = together(args.flow.flow.iter().map(read).collect::<Result<_>>()?)?;
    if !flows.makes_calls() && args.flow.setup.is_none() {
        grpc::refuse_in_http(args)?;
    }
    rows::refuse_unused(data.as_ref(), &flows)?;
    args.model = Some(ModelName::PartlyOpen);
    args.session_length = Some(flows.requests_per_session());
    Ok(Some(flows))
}

/// Returns the flow in `file` with the methods of its gRPC calls, if it makes any. May ask servers for their schemas.
///
/// # Errors
/// If options are not for calls, there is no such method, or a message is wrong.
pub(crate) fn with_methods(flow: Flow, file: &Path, args: &RunArgs, schemas: &mut Schemas<'_>) -> Result<Flow> {
    if !flow.makes_calls() {
        return Ok(flow);
    }
    grpc::refuse_for_sessions(args)?;
    let find = |(line, url): (usize, &GrpcUrl)| {
        let method = schemas.of(url)?.method(&url.service, &url.method);
        method.map_err(|error| wrong(file, &FlowError { line, problem: error.to_string() }))
    };
    let methods = flow.calls().map(find).collect::<Result<Vec<_>>>()?;
    let lines = grpc::fields(args);
    let fields: Vec<_> = lines.iter().filter_map(|line| line.split_once(": ")).collect();
    flow.with_methods(&methods, &fields, !args.flow.stands_in).map_err(|error| wrong(file, &error))
}

/// Returns the version of HTTP that flows use.
pub(crate) fn version(args: &RunArgs) -> HttpVersion {
    if args.http2 { HttpVersion::Http2 } else { HttpVersion::Http1 }
}

/// Combines flows for one run.
pub(crate) fn together(flows: Vec<Flow>) -> Result<Flows> {
    Flows::new(flows).map_err(|error| usage_error(format!("--flow: {error}")))
}

/// Reads the flow in `file`, with these variables and the rows that its text uses. Its files are in `file_root`, or by
/// default in the folder of the flow.
pub(crate) fn read(
    file: &Path,
    variables: &[Variable],
    file_root: Option<&Path>,
    rows: impl FnOnce(&str) -> Result<Option<SessionRows>>,
) -> Result<Flow> {
    let text = input::text(file)?;
    if text.len() > MAX_FLOW_BYTES {
        let name = file.display();
        let limit = MAX_FLOW_BYTES >> 20;
        return Err(runtime_error(format!("{name} is larger than {limit} MiB, the limit")));
    }
    let variables: Vec<_> = variables.iter().map(|variable| (variable.name.clone(), variable.value.clone())).collect();
    let read = |path: &str| file_of_flow(file, file_root, path).map_err(|error| error.message);
    let rows = rows(&text)?;
    Flow::parse_with_rows(&short_name(file), &text, &variables, rows.as_ref(), &read)
        .map_err(|error| wrong(file, &error))
}

/// Returns the files that the flow in `file` names.
pub(crate) fn files_of(file: &Path) -> Result<Vec<String>> {
    truetail_flow::files_of(&input::text(file)?).map_err(|error| wrong(file, &error))
}

/// Returns the bytes of a file that the flow in `file` names, in or below `file_root` or else the flow's own folder.
///
/// # Errors
/// If the file cannot be read, is no regular file, or is outside that folder after following links. So a flow from a
/// stranger cannot send other files of this machine.
pub(crate) fn file_of_flow(file: &Path, file_root: Option<&Path>, path: &str) -> Result<Vec<u8>> {
    let own = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let root = file_root.unwrap_or(own);
    let cannot =
        |place: &Path, problem: std::io::Error| runtime_error(format!("cannot read {}: {problem}", place.display()));
    let real_root = root.canonicalize().map_err(|problem| cannot(root, problem))?;
    let named = root.join(path);
    let real = named.canonicalize().map_err(|problem| cannot(&named, problem))?;
    if !real.starts_with(&real_root) {
        let help = "a flow reads files there and below only; say where its files are with --file-root DIR";
        return Err(usage_error(format!("{} is not in {}: {help}", named.display(), root.display())));
    }
    if !real.is_file() {
        return Err(usage_error(format!("{} is not a regular file", named.display())));
    }
    input::bytes(&real)
}

/// Describes an error in a flow, with its place.
pub(crate) fn wrong(file: &Path, error: &FlowError) -> CliError {
    usage_error(format!("{}:{}: {}", file.display(), error.line, error.problem))
}

/// Returns the sessions of a run, and adds their observer to the plan.
pub(crate) fn sessions(flows: Option<Flows>, seed: Option<u64>, plan: &mut Plan) -> Option<FlowRun> {
    let flows = flows?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    let measure_from = Timestamp(plan.workload.warmup.0);
    let sessions = FlowRun::new(flows, measure_from, seed.unwrap_or(DEFAULT_SEED), now);
    plan.observe(sessions.observer_factory());
    Some(sessions)
}

fn short_name(file: &Path) -> String {
    file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Refuses options that the flow sets, and options that cannot be combined with a flow.
fn refuse_contradictions(args: &RunArgs) -> Result<()> {
    let in_the_flow = "the flow says what is sent; write it there";
    let not_yet = "the two cannot be used together";
    let asserts = "write [Asserts] in the flow";
    let others = [
        ("a URL", args.url.is_some(), in_the_flow),
        ("--targets", args.targets.is_some(), in_the_flow),
        ("--curl", args.curl.is_some(), in_the_flow),
        ("a command after --", !args.command.is_empty(), in_the_flow),
        ("--method", args.method.is_some(), in_the_flow),
        ("--header", !args.header.is_empty(), in_the_flow),
        ("--user", args.user.is_some(), in_the_flow),
        ("--data", args.data.is_some(), in_the_flow),
        ("--data-file", args.data_file.is_some(), in_the_flow),
        ("--body-type", args.body_type.is_some(), in_the_flow),
        ("--think-time", args.think_time.is_some(), "write delay under [Options] in the flow"),
        ("--session-length", args.session_length.is_some(), "the flow has as many requests as it has"),
        ("--replay", args.replay.replay.is_some(), not_yet),
        ("--no-keepalive", args.no_keepalive, not_yet),
        ("--check", !args.checks.checks.is_empty(), asserts),
        ("--model", args.model.is_some_and(|model| model != ModelName::PartlyOpen), "sessions are partly open"),
        ("--warmup auto", args.warmup == Some(crate::args::run::WarmupValue::Auto), "use --warmup TIME"),
    ];
    refuse_beside("--flow", &others)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_flow_reads_files_of_its_folder_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("flows/below")).unwrap();
        fs::create_dir(at("flows-too")).unwrap();
        for path in ["secret", "flows/in", "flows/below/in", "flows-too/in"] {
            fs::write(at(path), path).unwrap();
        }
        for (link, target) in [("link", "../secret"), ("inner", "below/in"), ("up", ".."), ("loop", "loop")] {
            symlink(target, at("flows").join(link)).unwrap();
        }
        let flow = at("flows/a.hurl");
        let read = |path: &str, root: Option<&Path>| {
            file_of_flow(&flow, root, path)
                .map(|bytes| String::from_utf8(bytes).unwrap())
                .map_err(|error| error.message)
        };
        for (path, content) in [
            ("in", "flows/in"),
            ("below/../in", "flows/in"),
            ("./below/in", "flows/below/in"),
            ("inner", "flows/below/in"),
        ] {
            assert_eq!(read(path, None).as_deref(), Ok(content), "{path}");
        }
        let absolute = at("secret").display().to_string();
        for path in ["../secret", "link", "up/secret", "../flows-too/in", "below/../../secret", &absolute] {
            let error = read(path, None).unwrap_err();
            assert!(error.contains("--file-root DIR"), "{path}: {error}");
        }
        for path in ["below", ".", ""] {
            assert!(read(path, None).unwrap_err().contains("not a regular file"), "{path}");
        }
        assert!(read("missing", None).unwrap_err().contains("cannot read") && read("loop", None).is_err());
        // As in Hurl, paths start at the given root.
        let root = folder.path();
        assert_eq!(read("secret", Some(root)).as_deref(), Ok("secret"));
        assert_eq!(read(&absolute, Some(root)).as_deref(), Ok("secret"));
        assert_eq!(read("flows/link", Some(root)).as_deref(), Ok("secret"));
        assert!(read("../secret", Some(root)).is_err() && read("in", Some(&at("flows-too"))).is_ok());
    }
}
