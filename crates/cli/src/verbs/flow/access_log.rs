//! `truetail flow from-access-log`.

use truetail_import::ImportOptions;
use truetail_import::ways::access_log::Asked;
use truetail_import::ways::{AccessLogOptions, Placement, read_access_log};
use truetail_model::time::Nanos;
use truetail_requests::{RecordedRequest, write_replay};

use super::deliver::{check_out, deliver};
use crate::args::flow_verb::{FromAccessLogArgs, Spread};
use crate::error::{ExitCode, Result, usage_error};
use crate::resolve::load::DEFAULT_SEED;
use crate::verbs::foreign::reading::with_progress;

/// Writes the requests of an access log as arrivals.
///
/// # Errors
/// If the log cannot be read or has no usable request, or the result cannot be written.
pub(super) fn from_access_log(args: &FromAccessLogArgs) -> Result<ExitCode> {
    let placement = placement(args)?;
    if let (Some(from), Some(to)) = (args.from, args.to)
        && from >= to
    {
        return Err(usage_error("--to is not after --from, so that there is no time between them"));
    }
    check_out(args.out.as_deref(), &args.file)?;
    let options = AccessLogOptions {
        from_ns: args.from,
        to_ns: args.to,
        host: args.host.as_ref().map(|host| host.to_ascii_lowercase()),
        empty_bodies: args.empty_bodies,
    };
    let log = with_progress(&args.file, &ImportOptions::default(), |input, _| read_access_log(input, &options))?;
    let name = args.file.file_name().map_or_else(|| "the log".to_owned(), |name| name.to_string_lossy().into_owned());
    let notes = log.notes(&name, placement, args.keep_host);
    let (arrivals, asked) = log.into_arrivals(placement);
    let last = arrivals.last().map_or(Nanos::ZERO, |(at, _)| *at);
    let count = arrivals.len();
    let requests: Vec<_> = asked.into_iter().map(|asked| recorded(asked, args.keep_host)).collect();
    let text = write_replay(&notes, arrivals.into_iter().map(|(at, number)| (at, &requests[number as usize])));
    let file = args.out.as_ref().map_or_else(|| "FILE".to_owned(), |file| file.display().to_string());
    let next = format!(
        "{count} arrival{} in {:.3} s; replay them with: truetail run http://127.0.0.1:8080 --replay {file}",
        if count == 1 { "" } else { "s" },
        last.as_secs_f64()
    );
    deliver(&text, args.out.as_deref(), &[notes, vec![next]].concat())
}

fn placement(args: &FromAccessLogArgs) -> Result<Placement> {
    match (args.spread, args.seed) {
        (Spread::Random, seed) => Ok(Placement::Random(seed.unwrap_or(DEFAULT_SEED))),
        (_, Some(_)) => Err(usage_error("--seed is of --spread random; leave one of them out")),
        (Spread::Even, None) => Ok(Placement::Even),
        (Spread::None, None) => Ok(Placement::AtOnce),
    }
}

fn recorded(asked: Asked, keeps_host: bool) -> RecordedRequest {
    RecordedRequest { method: asked.method, target: asked.target, host: asked.host.filter(|_| keeps_host) }
}
