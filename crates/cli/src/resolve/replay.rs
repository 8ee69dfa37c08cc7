//! Recorded arrivals of a run.

use truetail_model::arrival::Trace;
use truetail_requests::{Replay, parse_replay};

use super::input;
use crate::args::run::{ModelName, RunArgs};
use crate::error::{Result, refuse_beside, usage_error};

/// Returns the recorded arrivals of a run at the requested speed; `None` without `--replay`.
///
/// # Errors
/// If an option has no meaning with `--replay`, or the file is not valid.
pub(crate) fn replay(args: &RunArgs) -> Result<Option<Replay>> {
    let Some(file) = &args.replay.replay else { return Ok(None) };
    refuse_contradictions(args)?;
    let name = file.display().to_string();
    let mut replay = parse_replay(&input::recording(file)?, &name).map_err(super::request::wrong)?;
    replay.trace = at_speed(replay.trace, args.replay.speed);
    Ok(Some(replay))
}

/// Scales the arrivals to the speed of `--speed`.
pub(crate) fn at_speed(trace: Trace, speed: Option<f64>) -> Trace {
    speed.map(|speed| trace.at_speed(speed)).unwrap_or(trace)
}

/// Returns notes on the replay for the result.
pub(crate) fn notes(args: &RunArgs, replay: &Replay) -> Vec<String> {
    let name = args.replay.replay.as_ref().and_then(|file| file.file_name()).unwrap_or_default().to_string_lossy();
    let speed = args.replay.speed.map_or_else(String::new, |speed| format!(" at {speed} times the recorded speed"));
    let count = replay.trace.instants().len();
    let whole = format!("replay of {count} arrivals of {name}{speed}");
    std::iter::once(whole).chain(replay.notes.iter().map(|note| format!("{name}: {note}"))).collect()
}

/// Refuses options that the recording sets.
fn refuse_contradictions(args: &RunArgs) -> Result<()> {
    let when = "the recording says when requests are sent";
    let what = "the recording says what is sent";
    let others = [
        ("--rate", args.rate.is_some(), when),
        ("--profile", args.profile.is_some(), when),
        ("--spacing", args.spacing.is_some(), when),
        ("--model", args.model.is_some_and(|model| model != ModelName::Open), "recorded arrivals are an open load"),
        ("--targets", args.targets.is_some(), what),
        ("--curl", args.curl.is_some(), what),
        ("a command after --", !args.command.is_empty(), what),
        ("--method", args.method.is_some(), what),
        ("--data", args.data.is_some(), what),
        ("--data-file", args.data_file.is_some(), what),
        ("--body-type", args.body_type.is_some(), what),
        ("--data-from", args.data_from.is_some(), what),
        ("--feed", args.feed.is_some(), what),
        ("--llm", args.streams.reads_llm(), what),
    ];
    refuse_beside("--replay", &others)?;
    if args.url.is_none() {
        return Err(usage_error("--replay needs a URL that says where to, such as http://127.0.0.1:8080"));
    }
    Ok(())
}
