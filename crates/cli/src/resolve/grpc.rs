//! gRPC calls of `truetail run`.

use truetail_engine::{Method, Target};
use truetail_grpc::{CallMethod, GrpcUrl, Schema};
use truetail_model::time::Nanos;
use truetail_requests::{BodyEncoder, Feed, Location, TargetSpec, prepare};
use truetail_run::GrpcConfig;

use super::load::DEFAULT_SEED;
use super::{grpc_schema, request};
use crate::args::run::RunArgs;
use crate::error::{Result, usage_error};

/// Returns true if the URL is that of a method.
pub(crate) fn are_meant(args: &RunArgs) -> bool {
    args.url.as_deref().is_some_and(GrpcUrl::is_meant)
}

/// Refuses options of gRPC without the URL of a method.
///
/// # Errors
/// If there is one.
pub(crate) fn refuse_elsewhere(args: &RunArgs) -> Result<()> {
    match args.grpc.given().next().filter(|_| !are_meant(args)) {
        Some(option) => Err(usage_error(format!(
            "{option} is for gRPC; write a URL such as grpc://HOST:PORT/package.Service/Method"
        ))),
        None => Ok(()),
    }
}

/// The target of calls, and their method.
pub(crate) struct CallTarget {
    pub target: Target,
    pub method: CallMethod,
}

/// Returns the target of calls. May ask the server for its schema.
///
/// # Errors
/// If the URL, the options, the schema, the message or the rows are not valid, or the server does not tell its schema.
pub(crate) fn target(args: &RunArgs) -> Result<CallTarget> {
    refuse_http(args)?;
    let url = GrpcUrl::parse(args.url.as_deref().unwrap_or_default()).map_err(usage_error)?;
    let schema = grpc_schema::schema(args, &url.http_origin, Some(&url.service))?;
    let method = method(&schema, &url)?;
    let calls = calls(args, &method)?;
    let spec = spec(args, &url, method.clone())?;
    let data = request::data(args)?;
    let feed = data.as_ref().map(|data| Feed { rows: data.rows(), order: request::order(args) });
    let ask = prepare(&[spec], feed, args.seed.unwrap_or(DEFAULT_SEED)).map_err(request::wrong)?;
    let mut target = Target::for_origins(ask.requests, ask.origins, &request::way(args)?).map_err(request::refused)?;
    target.use_calls(calls).map_err(request::refused)?;
    Ok(CallTarget { target, method })
}

fn method(schema: &Schema, url: &GrpcUrl) -> Result<CallMethod> {
    schema.method(&url.service, &url.method).map_err(usage_error)
}

fn calls(args: &RunArgs, method: &CallMethod) -> Result<GrpcConfig> {
    let kind = method.kind();
    let message_gap_ns = args.grpc.message_gap.map(|gap| gap.0);
    if message_gap_ns.is_some() && !kind.client_streams() {
        let name = method.full_name();
        return Err(usage_error(format!("--message-gap: {name} takes one message; leave --message-gap out")));
    }
    Ok(GrpcConfig { kind, message_gap_ns })
}

fn spec(args: &RunArgs, url: &GrpcUrl, method: CallMethod) -> Result<TargetSpec> {
    let defaults: Vec<String> = fields(args).into_iter().chain(args.traces.placeholder()).collect();
    let scheme = if url.http_origin.starts_with("https") { "grpcs" } else { "grpc" };
    let http_scheme = if scheme == "grpcs" { "https" } else { "http" };
    let spec = TargetSpec {
        method: Method::Other("POST".to_owned()),
        headers: args.header.clone(),
        // Calls have neither.
        left_out: vec!["accept".to_owned(), "content-length".to_owned()],
        body: request::body(args)?,
        encoder: Some(BodyEncoder::new(http_scheme, scheme, move |text| method.body_of_json(text))),
        ..TargetSpec::new(Location::named("--data"), &url.http_url())
    };
    Ok(spec.with_defaults(&defaults))
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

/// Refuses options that are not for calls.
pub(crate) fn refuse_http(args: &RunArgs) -> Result<()> {
    let others = [
        ("--method", args.method.is_some()),
        ("--body-type", args.body_type.is_some()),
        ("--user", args.user.is_some()),
        ("--no-keepalive", args.no_keepalive),
        ("--stream", args.streams.stream.is_some()),
        ("--llm", args.streams.reads_llm()),
        ("--targets", args.targets.is_some()),
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
