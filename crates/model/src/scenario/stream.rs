//! Reads and writes the sections `[service.stream]` and `[service.batch]`.

use super::fields::Section;
use super::keys::Keys;
use crate::service::{
    Batch, MAX_EVENTS, StreamContent, StreamDescription, StreamEnd, StreamPace, StreamTiming, UsageReport,
};
use crate::toml_file::TomlError;

type Result<T> = std::result::Result<T, TomlError>;

const ENDS: [(&str, StreamEnd); 3] =
    [("whole", StreamEnd::Whole), ("done", StreamEnd::Done), ("unfinished", StreamEnd::Unfinished)];

const USAGES: [(&str, UsageReport); 3] =
    [("right", UsageReport::Right), ("missing", UsageReport::Missing), ("wrong", UsageReport::Wrong)];

const VARIATIONS: [(&str, bool); 2] = [("constant", false), ("exponential", true)];

/// Keys for the pace of events, which are not allowed in a batch.
const PACE: [&str; 8] = ["first", "gap", "variation", "seed", "burst", "trickle", "stall-event", "stall-for"];

const EVENT: &str = "a whole number of events from 0 to 100000";
const FROM_1: &str = "a whole number from 1 to 100000";

/// Reads both sections; at least one is given.
pub(super) fn read(stream: Option<&Section<'_>>, batch: Option<&Section<'_>>) -> Result<StreamDescription> {
    let content = stream.map_or(Ok(StreamContent::default()), content)?;
    let pace = match (batch, stream) {
        (Some(batch), stream) => {
            let in_step = "[service.batch] sets the pace of a batch; leave it out";
            stream.map_or(Ok(()), |stream| stream.refuse(&PACE, in_step))?;
            StreamPace::Batched(read_batch(batch)?)
        }
        (None, stream) => StreamPace::Independent(stream.map_or(Ok(StreamTiming::default()), timing)?),
    };
    stream.into_iter().chain(batch).try_for_each(Section::no_more_keys)?;
    Ok(StreamDescription { content, pace })
}

fn content(section: &Section<'_>) -> Result<StreamContent> {
    let mut content = StreamContent::default();
    if let Some(events) = section.get("events") {
        content.events = events.whole(0..=MAX_EVENTS, EVENT)?;
    }
    if let Some(tokens) = section.get("tokens") {
        content.tokens = tokens.whole(1..=MAX_EVENTS, FROM_1)?;
    }
    if let Some(bytes) = section.get("bytes") {
        content.bytes = bytes.whole(0..=MAX_EVENTS, "a whole number of bytes from 0 to 100000")?;
    }
    if content.events > content.max_events() {
        let events = content.events;
        let most = content.max_events();
        let kept = "an answer is kept whole, and is at most 16 MiB; use smaller or fewer events";
        return Err(section.error(format!("{events} events of this size are more than {most}: {kept}")));
    }
    content.cut = section.get("cut").map(|cut| cut.whole(0..=MAX_EVENTS, EVENT)).transpose()?;
    content.end = section.get("end").map(|end| end.choice(&ENDS)).transpose()?;
    content.usage = section.get("usage").map_or(Ok(UsageReport::Right), |usage| usage.choice(&USAGES))?;
    Ok(content)
}

fn timing(section: &Section<'_>) -> Result<StreamTiming> {
    let mut timing = StreamTiming::default();
    if let Some(first) = section.get("first") {
        timing.first = first.duration()?;
    }
    if let Some(gap) = section.get("gap") {
        timing.gap = gap.duration()?;
    }
    if section.get("variation").map_or(Ok(false), |variation| variation.choice(&VARIATIONS))? {
        timing.seed =
            Some(section.get("seed").map_or(Ok(1), |seed| seed.whole(0..=u64::MAX, "a whole number from 0"))?);
    }
    section.refuse(
        if timing.seed.is_none() { &["seed"] } else { &[] },
        "only gaps with variation = \"exponential\" need it",
    )?;
    if let Some(burst) = section.get("burst") {
        timing.burst = burst.whole(1..=MAX_EVENTS, FROM_1)?;
    }
    if let Some(trickle) = section.get("trickle") {
        timing.trickle = trickle.duration()?;
    }
    timing.stall = match (section.get("stall-event"), section.get("stall-for")) {
        (None, None) => None,
        (Some(event), Some(length)) => Some((event.whole(0..=MAX_EVENTS, EVENT)?, length.length()?)),
        (Some(alone), None) => return Err(alone.error("needs stall-for, for example stall-for = \"600ms\"")),
        (None, Some(alone)) => return Err(alone.error("needs stall-event, for example stall-event = 40")),
    };
    Ok(timing)
}

fn read_batch(section: &Section<'_>) -> Result<Batch> {
    let wanted = "a whole number from 1";
    let time = |key| section.get(key).map_or(Ok(crate::time::Nanos::ZERO), |time| time.duration());
    Ok(Batch {
        cap: section.require("cap", "for example cap = 64")?.whole(1..=u32::MAX, wanted)?,
        prefill: time("prefill")?,
        step: section.require("step", "for example step = \"10ms\"")?.length()?,
        step_per_stream: time("step-per-stream")?,
    })
}

pub(super) fn keys(stream: &StreamDescription) -> Keys {
    let StreamContent { events, tokens, bytes, cut, end, usage } = stream.content;
    let mut keys = Keys::default();
    keys.put("events", events);
    keys.put("tokens", tokens);
    keys.put("bytes", bytes);
    keys.put_if_any("cut", cut);
    keys.put_if_any("end", end.map(|end| name_of(&ENDS, end)));
    keys.put("usage", name_of(&USAGES, usage));
    stream.timing().iter().for_each(|timing| timing_keys(&mut keys, timing));
    keys
}

fn timing_keys(keys: &mut Keys, timing: &StreamTiming) {
    let StreamTiming { first, gap, seed, burst, trickle, stall } = *timing;
    keys.put("first", first);
    keys.put("gap", gap);
    keys.put("variation", name_of(&VARIATIONS, seed.is_some()));
    keys.put_if_any("seed", seed);
    keys.put("burst", burst);
    keys.put("trickle", trickle);
    if let Some((event, length)) = stall {
        keys.put("stall-event", event);
        keys.put("stall-for", length);
    }
}

pub(super) fn batch_keys(batch: &Batch) -> Keys {
    let mut keys = Keys::default();
    keys.put("cap", batch.cap);
    keys.put("prefill", batch.prefill);
    keys.put("step", batch.step);
    keys.put("step-per-stream", batch.step_per_stream);
    keys
}

fn name_of<T: Copy + PartialEq>(names: &[(&'static str, T)], value: T) -> &'static str {
    names.iter().find(|(_, named)| *named == value).map_or("", |(name, _)| name)
}
