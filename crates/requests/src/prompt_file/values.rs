//! Lines of a file, and the values in them.

use truetail_model::time::Timestamp;

use super::lengths::MAX_TOKENS;
use crate::{InputError, Location};

/// Limit on the requests of a file that are used.
pub(super) const MAX_REQUESTS: usize = 10_000_000;
/// Limits on the bytes of a line with numbers, and of one with texts.
pub(super) const MAX_LINE: usize = 1 << 20;
pub(super) const MAX_TEXT_LINE: usize = 64 << 20;
/// Bytes of text that are taken for a token, where only a text is recorded.
pub(super) const BYTES_OF_TOKEN: usize = 4;
pub(super) const NANOS_PER_SECOND: f64 = 1e9;
/// Limit on the length of a trace, in seconds: ten years.
const MAX_SECONDS: f64 = 3.2e8;

/// Returns the lines that are not empty, each with its location.
///
/// # Errors
/// In an item, if a line is too long, or there are too many.
pub(super) fn lines<'t>(
    text: &'t str,
    file: &'t str,
    max_bytes: usize,
) -> impl Iterator<Item = Result<(Location, &'t str), InputError>> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()).enumerate();
    lines.map(move |(nth, (number, line))| {
        let location = Location::at(file, number);
        if line.len() > max_bytes {
            return Err(location.invalid(format!("this line has {} bytes, and {max_bytes} are read", line.len())));
        }
        if nth > MAX_REQUESTS {
            return Err(location.invalid(format!("more than {MAX_REQUESTS} requests; use a part of the file")));
        }
        Ok((location, line))
    })
}

/// Returns about how many tokens a text has.
pub(super) fn tokens_of(text: &str) -> u32 {
    (text.len().div_ceil(BYTES_OF_TOKEN)).clamp(1, MAX_TOKENS as usize) as u32
}

/// Returns the instant of `value` units, each of so many nanoseconds.
pub(super) fn instant(value: f64, nanos: f64, last: Option<&Timestamp>, name: &str) -> Result<Timestamp, String> {
    let ns = value * nanos;
    if !(0.0..=MAX_SECONDS * NANOS_PER_SECOND).contains(&ns) {
        return Err(format!("{name} {value} is no time: it must be from 0 to ten years"));
    }
    let at = Timestamp(ns.round() as u64);
    if last.is_some_and(|last| *last > at) {
        return Err(format!("{name} {value} is before that of the request before; sort the file by it"));
    }
    Ok(at)
}

/// Returns a number of tokens, which may be 0.
pub(super) fn length(value: f64, name: &str) -> Result<u32, String> {
    if value.fract() == 0.0 && (0.0..=f64::from(MAX_TOKENS)).contains(&value) {
        return Ok(value as u32);
    }
    Err(format!("{name} {value} is no number of tokens from 0 to {MAX_TOKENS}"))
}

/// Returns the problem without line and column: a line of the file has its own number.
pub(super) fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(problem, _)| problem.to_owned())
}
