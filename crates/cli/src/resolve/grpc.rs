//! gRPC calls of `truetail run`.

use truetail_engine::{Method, Target};
use truetail_grpc::{CallMethod, GrpcUrl};
use truetail_model::time::Nanos;
use truetail_requests::{BodyEncoder, Feed, Location, TargetSpec, prepare};
use truetail_run::{GrpcConfig, GrpcKind};

use super::grpc_schema::Schemas;
use super::load::DEFAULT_SEED;
use super::request;
use crate::args::run::RunArgs;
use crate::error::{Result, usage_error};

/// Returns true if the URL is that of a method.
pub(crate) fn are_meant(args: &RunArgs) -> bool {
    args.url.as_deref().is_some_and(GrpcUrl::is_meant)
}

/// Returns true if arrivals are messages on calls that stay open.
pub(crate) fn are_on_channels(args: &RunArgs) -> bool {
    args.grpc.channel && are_meant(args)
}

/// Returns true if an entry of a file of targets is a call, or names a method.
pub(crate) fn is_call(spec: &TargetSpec) -> bool {
    spec.is_call() || GrpcUrl::is_meant(&spec.url)
}

/// Refuses options of gRPC without the URL of a method. A file of targets or a flow may have such URLs.
///
/// # Errors
/// If there is one.
pub(crate) fn refuse_elsewhere(args: &RunArgs) -> Result<()> {
    let may_have_calls = are_meant(args) || args.targets.is_some() || !args.flow.flow.is_empty();
    if may_have_calls { Ok(()) } else { refuse_in_http(args) }
}

/// Refuses options of gRPC.
///
/// # Errors
/// If there is one.
pub(crate) fn refuse_in_http(args: &RunArgs) -> Result<()> {
    match args.grpc.given().next() {
        Some(option) => Err(usage_error(format!(
            "{option} is for gRPC; write a URL such as grpc://HOST:PORT/package.Service/Method"
        ))),
        None => Ok(()),
    }
}

/// Returns the target of calls of one method, and the method. May ask the server for its schema.
///
/// # Errors
/// If the URL, the options, the schema, the message or the rows are not valid, or the server does not tell its schema.
pub(crate) fn target(args: &RunArgs) -> Result<(Target, Vec<CallMethod>)> {
    if args.targets.is_some() {
        return Err(usage_error("--targets has the URLs of its calls; leave out the URL on the command line"));
    }
    let url = args.url.as_deref().unwrap_or_default();
    let spec = TargetSpec { body: request::body(args)?, ..TargetSpec::new(Location::named("--data"), url) };
    called(args, vec![spec])
}

/// Returns the target of the calls in a file of targets, and the method of each. May ask servers for their schemas.
///
/// # Errors
/// As [`target`], and if there are requests of HTTP among them, or some methods answer with a stream and others do not.
pub(crate) fn of_targets(args: &RunArgs, specs: Vec<TargetSpec>) -> Result<(Target, Vec<CallMethod>)> {
    if args.grpc.channel {
        return Err(usage_error(
            "--channel is for the one method of a URL; --targets plans calls, so leave --channel out",
        ));
    }
    for spec in &specs {
        let problem = match (spec.is_call(), GrpcUrl::is_meant(&spec.url)) {
            (true, true) => continue,
            (true, false) => "GRPC calls a method; write GRPC grpc://HOST:PORT/package.Service/Method",
            (false, true) => "a grpc:// URL is called with GRPC; write GRPC grpc://HOST:PORT/package.Service/Method",
            (false, false) => {
                "a request of HTTP beside calls of gRPC; a run has one protocol, so give each its own file"
            }
        };
        return Err(request::wrong(spec.location.invalid(problem)));
    }
    called(args, specs)
}

fn called(args: &RunArgs, specs: Vec<TargetSpec>) -> Result<(Target, Vec<CallMethod>)> {
    refuse_http(args)?;
    let mut schemas = Schemas::new(args);
    let mut called: Vec<CallMethod> = Vec::new();
    let mut requests = Vec::new();
    for spec in specs {
        // The URL of the command line says enough by itself.
        let wrong = |problem: String| match spec.location.line {
            0 => usage_error(problem),
            _ => request::wrong(spec.location.invalid(problem)),
        };
        let url = GrpcUrl::parse(&spec.url).map_err(|error| wrong(error.to_string()))?;
        let schema = schemas.of(&url)?;
        let method = schema.method(&url.service, &url.method).map_err(|error| wrong(error.to_string()))?;
        if let Some(first) =
            called.first().filter(|first| first.kind().server_streams() != method.kind().server_streams())
        {
            return Err(wrong(mixture(first, &method)));
        }
        called.push(method.clone());
        requests.push(request_of(args, spec, &url, method));
    }
    let calls = calls(args, &called)?;
    let data = request::data(args)?;
    let feed = data.as_ref().map(|data| Feed { rows: data.rows(), order: request::order(args) });
    let ask = prepare(&requests, feed, args.seed.unwrap_or(DEFAULT_SEED)).map_err(request::wrong)?;
    let mut target = Target::for_origins(ask.requests, ask.origins, &request::way(args)?).map_err(request::refused)?;
    target.use_calls(calls).map_err(request::refused)?;
    Ok((target, called))
}

fn mixture(first: &CallMethod, other: &CallMethod) -> String {
    let answers = |method: &CallMethod| {
        let with = if method.kind().server_streams() { "a stream" } else { "one message" };
        format!("{} answers with {with}", method.full_name())
    };
    format!("{}, and {}; a run has one kind of answer, so give each its own file", answers(other), answers(first))
}

/// Returns how all methods are called: a call may send any number of messages if one of them takes a stream.
fn calls(args: &RunArgs, methods: &[CallMethod]) -> Result<GrpcConfig> {
    let client_streams = methods.iter().any(|method| method.kind().client_streams());
    let server_streams = methods.iter().any(|method| method.kind().server_streams());
    let message_gap_ns = args.grpc.message_gap.map(|gap| gap.0);
    if let (Some(_), false, [first, others @ ..]) = (message_gap_ns, client_streams, methods) {
        let name = first.full_name();
        let all = if others.is_empty() { name } else { format!("{name}, as each of these methods,") };
        return Err(usage_error(format!("--message-gap: {all} takes one message; leave --message-gap out")));
    }
    Ok(GrpcConfig { kind: GrpcKind::new(client_streams, server_streams), message_gap_ns })
}

/// Returns the request of a call.
pub(super) fn request_of(args: &RunArgs, spec: TargetSpec, url: &GrpcUrl, method: CallMethod) -> TargetSpec {
    let defaults: Vec<String> = fields(args).into_iter().chain(args.traces.placeholder()).collect();
    let (http_scheme, scheme) =
        if url.http_origin.starts_with("https") { ("https", "grpcs") } else { ("http", "grpc") };
    let request = TargetSpec {
        method: Method::Other("POST".to_owned()),
        url: url.http_url(),
        // Calls have neither.
        left_out: vec!["accept".to_owned(), "content-length".to_owned()],
        encoder: Some(BodyEncoder::new(http_scheme, scheme, move |text| method.body_of_json(text))),
        ..spec
    };
    request.with_defaults(&args.header).with_defaults(&defaults)
}

/// Returns the header lines that every call has.
pub(crate) fn fields(args: &RunArgs) -> Vec<String> {
    let fixed = ["content-type: application/grpc", "te: trailers"].map(str::to_owned);
    let deadline = args.grpc.deadline.map(|deadline| format!("grpc-timeout: {}", grpc_timeout(deadline)));
    fixed.into_iter().chain(deadline).collect()
}

/// Returns a time as `grpc-timeout` has it: at most eight digits and a unit. Rounded up.
fn grpc_timeout(time: Nanos) -> String {
    const MOST: u64 = 99_999_999;
    let units = [(1, 'n'), (1_000, 'u'), (1_000_000, 'm'), (1_000_000_000, 'S'), (60_000_000_000, 'M')];
    let fitting = units.into_iter().map(|(unit, sign)| (time.0.div_ceil(unit), sign)).find(|(n, _)| *n <= MOST);
    let (n, sign) = fitting.unwrap_or((MOST, 'M'));
    format!("{n}{sign}")
}

/// Refuses options that are not for calls of sessions.
///
/// # Errors
/// If there is one.
pub(crate) fn refuse_for_sessions(args: &RunArgs) -> Result<()> {
    refuse_http(args)?;
    if args.grpc.message_gap.is_some() {
        return Err(usage_error("--message-gap: a call of a session has one message; leave --message-gap out"));
    }
    if args.grpc.channel {
        return Err(usage_error("--channel: a session consists of calls; leave --channel out"));
    }
    Ok(())
}

/// Refuses options that are not for calls.
pub(crate) fn refuse_http(args: &RunArgs) -> Result<()> {
    let others = [
        ("--method", args.method.is_some()),
        ("--body-type", args.body_type.is_some()),
        ("--user", args.user.is_some()),
        ("--no-keepalive", args.no_keepalive),
        ("--stream", args.streams.stream.is_some()),
        ("--llm", args.streams.reads_llm()),
        ("--curl", args.curl.is_some()),
        ("--replay", args.replay.replay.is_some()),
    ];
    match others.iter().find(|(_, given)| *given) {
        Some((option, _)) => {
            Err(usage_error(format!("{option} is for HTTP, and a grpc:// URL names a method to call")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_has_at_most_eight_digits() {
        for (time, wanted) in [
            (Nanos(1), "1n"),
            (Nanos::from_millis(20), "20000000n"),
            (Nanos::from_millis(500), "500000u"),
            (Nanos::from_secs(99), "99000000u"),
            (Nanos::from_secs(100), "100000m"),
            (Nanos(100_000_000_001), "100001m"),
            (Nanos::from_secs(86_400), "86400000m"),
            (Nanos::from_secs(1_000_000), "1000000S"),
        ] {
            assert_eq!(grpc_timeout(time), wanted);
        }
    }
}
