//! Columns of single requests about their streams, under the names of `samples.csv`.

use pyo3::prelude::*;
use truetail_run::{RequestStream, StreamFacts};

use crate::text_column::{TEXT, write_text};

/// A number of a stream; NaN if it is unknown.
type Number = (&'static str, fn(&RequestStream) -> Option<u64>);

const OF_STREAM: [Number; 3] = [
    ("first_event_ns", |row| row.first_event.map(|at| at.0)),
    ("last_event_ns", |row| row.last_event.map(|at| at.0)),
    ("gaps", |row| Some(u64::from(row.gaps))),
];
const OF_ANSWER: [Number; 6] = [
    ("first_content_ns", |row| row.first_content.map(|at| at.0)),
    ("time_per_output_token_ns", |row| row.time_per_output_token.map(|time| time.0)),
    ("input_tokens", |row| row.tokens.input.map(u64::from)),
    ("cached_tokens", |row| row.tokens.cached.map(u64::from)),
    ("output_tokens", |row| row.tokens.output.map(u64::from)),
    ("reasoning_tokens", |row| row.tokens.reasoning.map(u64::from)),
];

fn numbers(streams: &StreamFacts) -> impl Iterator<Item = Number> {
    OF_STREAM.into_iter().chain(streams.llm.iter().flat_map(|_| OF_ANSWER))
}

/// Returns the names of the columns with numbers, which may be missing.
pub(crate) fn number_names(streams: &StreamFacts) -> impl Iterator<Item = &'static str> {
    numbers(streams).map(|(name, _)| name)
}

/// Returns the names of the columns with texts, which may be empty.
pub(crate) fn text_names(streams: &StreamFacts) -> impl Iterator<Item = &'static str> {
    ["stream"].into_iter().chain(streams.llm.iter().map(|_| "finish"))
}

/// Returns names and types of the columns, in the order of [`write()`].
pub(crate) fn columns(streams: &StreamFacts) -> impl Iterator<Item = (&'static str, &'static str)> {
    number_names(streams).map(|name| (name, "=f8")).chain(text_names(streams).map(|name| (name, TEXT)))
}

/// Writes the columns of the request with this index.
pub(crate) fn write(bytes: &mut Vec<u8>, streams: &StreamFacts, index: u64) {
    let row = streams.requests.of(index);
    for (_, get) in numbers(streams) {
        let number = row.and_then(get).map_or(f64::NAN, |number| number as f64);
        bytes.extend(number.to_ne_bytes());
    }
    write_text(bytes, row.map_or("", |row| row.ending.name()));
    if streams.llm.is_some() {
        write_text(bytes, row.and_then(|row| row.finish).map_or("", |reason| reason.name()));
    }
}

/// Returns the gaps of each request: a list, or `None` if they are not kept.
pub(crate) fn gaps(streams: &StreamFacts, indices: &Bound<'_, PyAny>) -> PyResult<Vec<Option<Vec<u64>>>> {
    let indices: Vec<u64> = indices.extract()?;
    let of = |index| Some(streams.requests.gaps_of(index)?.iter().map(|gap| gap.0).collect());
    Ok(indices.into_iter().map(of).collect())
}
