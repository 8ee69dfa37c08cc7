//! Parser of queries that describe a stream, such as `events=100&gap=10ms&stall=40:300ms`.

use truetail_model::service::{MAX_EVENTS, StreamContent, StreamDescription, StreamEnd, StreamPace, StreamTiming};

/// Parses a query; `None` if it is invalid.
pub(crate) fn parse_query(query: &str) -> Option<StreamDescription> {
    let mut content = StreamContent::default();
    let mut timing = StreamTiming::default();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=')?;
        set(&mut content, &mut timing, key, value)?;
    }
    (content.events <= content.max_events())
        .then_some(StreamDescription { content, pace: StreamPace::Independent(timing) })
}

fn set(content: &mut StreamContent, timing: &mut StreamTiming, key: &str, value: &str) -> Option<()> {
    match key {
        "events" => content.events = number(value)?,
        "bytes" => content.bytes = number(value)?,
        "cut" => content.cut = Some(number(value)?),
        "end" => content.end = Some(end(value)?),
        "first" => timing.first = value.parse().ok()?,
        "gap" => timing.gap = value.parse().ok()?,
        "exponential" => timing.seed = Some(value.parse().ok()?),
        "burst" => timing.burst = number(value)?.max(1),
        "trickle" => timing.trickle = value.parse().ok()?,
        "stall" => {
            let (event, length) = value.split_once(':')?;
            timing.stall = Some((number(event)?, length.parse().ok()?));
        }
        _ => return None,
    }
    Some(())
}

fn end(value: &str) -> Option<StreamEnd> {
    match value {
        "whole" => Some(StreamEnd::Whole),
        "done" => Some(StreamEnd::Done),
        "unfinished" => Some(StreamEnd::Unfinished),
        _ => None,
    }
}

/// Parses a number of at most [`MAX_EVENTS`].
fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| *number <= MAX_EVENTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_no_script() {
        for query in [
            "events=100000&bytes=100000",
            "events",
            "events=x",
            "events=100001",
            "gap=1",
            "stall=5",
            "end=never",
            "what=1",
            "bytes=100001",
        ] {
            assert_eq!(parse_query(query), None, "{query}");
        }
        assert_eq!(parse_query(""), Some(StreamDescription::default()));
        let content = parse_query("events=3&bytes=100000&end=done&trickle=2ms").unwrap().content;
        assert_eq!((content.events, content.bytes, content.end), (3, 100_000, Some(StreamEnd::Done)));
    }
}
