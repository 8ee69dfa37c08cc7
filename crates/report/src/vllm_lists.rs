//! Lists of single requests under the names of `vllm bench serve --save-detailed`, by intended start.

use serde_json::Value;
use truetail_model::record::{Outcome, RequestRecord};
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{RequestStream, Run, StreamEnding, StreamFacts};

/// One request: its record and its stream, `None` if it was never issued.
type Row<'a> = (&'a RequestRecord, Option<&'a RequestStream>);

/// Returns the lists with their names. They are empty unless the run kept every request. A list is left out if
/// a complete answer lacks its value. Requests with an error have null.
pub(crate) fn lists(run: &Run, streams: &StreamFacts) -> Vec<(&'static str, Value)> {
    let Some(rows) = rows(run, streams) else { return Vec::new() };
    let seconds = |time: Nanos| Value::from(time.as_secs_f64());
    let since_start = |(record, _): &Row<'_>, at: Option<Timestamp>| Some(seconds(at?.since(record.intended_start)));
    let of_stream = |row: &Row<'_>, get: fn(&RequestStream) -> Option<u32>| Some(Value::from(row.1.and_then(get)?));
    let gaps = |(_, stream): &Row<'_>| {
        let stream = (*stream)?;
        let gaps = streams.requests.gaps_of(stream.index)?;
        (gaps.len() == stream.gaps as usize).then(|| gaps.iter().copied().map(seconds).collect::<Value>())
    };
    let first = |row: &Row<'_>| since_start(row, row.1?.first_content);
    let last = |row: &Row<'_>| since_start(row, row.1?.last_event);
    let texts = rows.iter().map(|(_, stream)| Value::from(error(*stream)));
    let starts = rows.iter().map(|(record, _)| seconds(record.intended_start.since(Timestamp::ZERO)));
    let known = [
        ("input_lens", list(&rows, |row| of_stream(row, |stream| stream.tokens.input))),
        ("output_lens", list(&rows, |row| of_stream(row, |stream| stream.tokens.output))),
        ("ttfts", list(&rows, first)),
        ("itls", list(&rows, gaps)),
        ("latencies", list(&rows, last)),
        ("start_times", Some(starts.collect())),
        ("errors", Some(texts.collect())),
    ];
    known.into_iter().filter_map(|(name, list)| Some((name, list?))).collect()
}

/// Returns all requests for streams, by intended start; `None` if the run did not keep them.
fn rows<'a>(run: &'a Run, streams: &'a StreamFacts) -> Option<Vec<Row<'a>>> {
    let samples = &run.snapshot.samples;
    let asks_always = streams.reading.of_steps.is_empty();
    let row = |record: &'a RequestRecord| {
        let stream = streams.requests.of(record.index);
        let was_asked = stream.is_some() || (asks_always && record.outcome == Outcome::NeverIssued);
        was_asked.then_some((record, stream))
    };
    let mut rows: Vec<Row<'a>> = samples.even().iter().filter_map(row).collect();
    rows.sort_unstable_by_key(|(record, _)| (record.intended_start, record.index));
    let is_whole = samples.is_complete() && !streams.requests.is_empty();
    (is_whole && rows.len() as u64 == streams.tally.planned).then_some(rows)
}

/// Returns the list of a value; `None` if a complete answer does not have it.
fn list(rows: &[Row<'_>], value: impl Fn(&Row<'_>) -> Option<Value>) -> Option<Value> {
    let item = |row: &Row<'_>| match error(row.1) {
        "" => value(row),
        _ => Some(Value::Null),
    };
    rows.iter().map(item).collect()
}

/// Returns the reason why a request has no complete answer, in words; nothing for a complete one.
fn error(stream: Option<&RequestStream>) -> &'static str {
    match stream.map_or(StreamEnding::NeverIssued, |stream| stream.ending) {
        StreamEnding::Complete => "",
        ending => ending.describe(),
    }
}
