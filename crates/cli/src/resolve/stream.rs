//! The streams of a run.

use truetail_engine::Plan;
use truetail_model::time::Timestamp;
use truetail_run::StreamKind;
use truetail_stream::{MOST_DATA_BYTES, StreamOptions, StreamRun};

use crate::args::stream::{StreamArgs, StreamName};
use crate::error::{Result, usage_error};

/// The streams of a run, and their observer in its plan; `None` where answers are not read as such. `cut_warmup`: the
/// warm-up is found afterwards.
///
/// # Errors
/// Options that contradict each other.
pub fn streams(args: StreamArgs, plan: &mut Plan, cut_warmup: bool) -> Result<Option<StreamRun>> {
    let Some(name) = args.stream else { return Ok(None) };
    if cut_warmup {
        return Err(usage_error(
            "--stream and --warmup auto contradict each other: gaps between events are not kept by the second, so that none \
             can be left out afterwards; use --warmup TIME",
        ));
    }
    let kind = match name {
        StreamName::Sse => StreamKind::Sse,
        StreamName::Chunks => StreamKind::Chunks,
    };
    if args.end_mark.is_some() && kind == StreamKind::Chunks {
        return Err(usage_error("--end-mark is the data of a server-sent event; use it with --stream sse"));
    }
    if let Some(mark) = args.end_mark.as_ref().filter(|mark| mark.len() > MOST_DATA_BYTES) {
        let bytes = mark.len();
        return Err(usage_error(format!("--end-mark has {bytes} bytes; at most {MOST_DATA_BYTES} are compared")));
    }
    let options = StreamOptions { kind, stall: args.stall, idle_timeout: args.idle_timeout, end_mark: args.end_mark };
    let streams = StreamRun::new(options, Timestamp(plan.workload.warmup.0));
    let observer = streams.observer_factory();
    plan.observer = Some(match plan.observer.take() {
        Some(other) => observer.and(other),
        None => observer,
    });
    Ok(Some(streams))
}
