//! Each format on files that tools wrote.

mod containers;
mod damage;
mod docs;
mod hdr;
mod in_front;
mod jmeter;
mod k6;
mod llm;
mod logs;
mod no_exchange;
mod properties;
mod refusals;
mod stored;
mod tables;
mod user;

use std::fs;
use std::path::{Path, PathBuf};

use truetail_import::{Excerpt, Format, ImportError, ImportOptions, by_name, claims, read, recognise};
use truetail_run::{ForeignRequest, ForeignRun};

/// Returns a path below `testdata`.
pub(crate) fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(path)
}

pub(crate) fn file(path: &str) -> Vec<u8> {
    fs::read(testdata(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub(crate) fn format(name: &str) -> &'static dyn Format {
    by_name(name).unwrap_or_else(|| panic!("no format {name}"))
}

/// Returns the formats that recognise a file.
pub(crate) fn recognised(bytes: &[u8]) -> Vec<&'static str> {
    claims(&Excerpt::new(bytes)).iter().map(|format| format.info().name).collect()
}

/// Reads a file that must be recognised as `format`.
pub(crate) fn import(format: &str, bytes: &[u8]) -> (ForeignRun, Vec<ForeignRequest>) {
    let found = recognise(bytes).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found.info().name, format);
    let (run, requests) = try_import(format, bytes).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(run.format, format);
    (run, requests)
}

/// Reads bytes as the format `name`.
pub(crate) fn try_import(name: &str, mut bytes: &[u8]) -> Result<(ForeignRun, Vec<ForeignRequest>), ImportError> {
    let mut requests = Vec::new();
    let options = ImportOptions::default();
    let run = read(&mut bytes, Some(format(name)), &options, &mut |request| requests.push(*request))?;
    assert_eq!(run.requests, requests.len() as u64, "{name}");
    Ok((run, requests))
}
