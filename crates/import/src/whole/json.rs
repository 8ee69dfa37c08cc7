//! JSON documents, which are recognised by their keys.

use serde::Deserialize;
use serde::de::IgnoredAny;
use truetail_model::time::Nanos;
use truetail_run::ClaimedQuantile;
use truetail_tools::units;

use super::file::{content, place_of, start_of_line};
use crate::{Excerpt, ImportError, Likeness};

/// Looks for keys in the start of a JSON document. With half of them, the file is similar.
pub(crate) fn has_keys(excerpt: &Excerpt<'_>, keys: &[&str]) -> Likeness {
    let Some(document) = excerpt.document() else { return Likeness::No };
    let missing: Vec<_> = keys.iter().filter(|key| !document.contains(&format!("\"{key}\""))).collect();
    match missing[..] {
        [] => Likeness::Yes,
        [key, ..] if missing.len() * 2 <= keys.len() => Likeness::Near(format!("the key '{key}' is missing")),
        _ => Likeness::No,
    }
}

/// Reads a document into `T` and ignores unknown keys. Errors have the byte and the line.
pub(crate) fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, ImportError> {
    serde_json::from_slice(bytes).map_err(|error| refused(bytes, &error))
}

/// Checks for one whole document, so that the error for a truncated document has a place.
pub(crate) fn check(bytes: &[u8]) -> Result<(), ImportError> {
    read::<IgnoredAny>(bytes).map(drop)
}

/// Returns the error for a document that begins at the first of these bytes.
pub(crate) fn refused(bytes: &[u8], error: &serde_json::Error) -> ImportError {
    let column = error.column().saturating_sub(1);
    let byte = if error.is_eof() { bytes.len() } else { start_of_line(bytes, error.line() as u64) + column };
    let at = place_of(bytes, byte);
    let said = error.to_string();
    let what = said.rsplit_once(" at line ").map_or(&*said, |(what, _)| what);
    let cut_off = if error.is_eof() { "; the file was cut off" } else { "" };
    content(at, format!("{what} at byte {}{cut_off}", at.byte))
}

/// Returns the documents of a file as (start byte, bytes). The file has one document per line, or is one document.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').map(move |line| {
        let begins = at;
        at += line.len();
        (begins, line)
    });
    lines.filter(|(_, line)| !line.trim_ascii().is_empty())
}

/// Converts a time in units of `unit_ns` nanoseconds. Returns `None` unless it is finite and not negative.
pub(crate) fn time(value: Option<f64>, unit_ns: f64) -> Option<u64> {
    units::nanos(value?, unit_ns).map(|Nanos(ns)| ns)
}

/// Returns the known quantiles, ascending and without duplicates.
pub(crate) fn quantiles(named: impl Iterator<Item = (Option<f64>, Option<u64>)>) -> Vec<ClaimedQuantile> {
    let known = named.filter_map(|(q, value)| Some(ClaimedQuantile { q: q?, value_ns: value?, printed: true }));
    let mut quantiles: Vec<_> = known.filter(|one| one.q > 0.0 && one.q < 1.0).collect();
    quantiles.sort_by(|a, b| a.q.total_cmp(&b.q));
    quantiles.dedup_by(|a, b| a.q == b.q);
    quantiles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_that_was_cut_off_says_where() {
        let error = check(b"{\n  \"a\": [1,\n  2").expect_err("cut off").to_string();
        assert_eq!(error, "line 3: EOF while parsing a list at byte 16; the file was cut off");
        let error = check(b"{\"a\": nope}").expect_err("no JSON").to_string();
        assert!(error.starts_with("line 1: expected") && error.ends_with(" at byte 7"), "{error}");
    }

    #[test]
    fn documents_by_line() {
        let bytes = b"{\"a\":1}\n\n{\"a\":2}";
        let begins: Vec<_> = lines(bytes).map(|(at, line)| (at, line.len())).collect();
        assert_eq!(begins, [(0, 8), (9, 7)]);
    }
}
