//! Each streaming format on files that tools wrote.

mod containers;
mod damage;
mod jmeter;
mod k6;
mod logs;
mod tables;
mod user;

use std::fs;
use std::path::Path;

use truetail_import::{ImportError, ImportOptions, by_name, read, recognise};
use truetail_model::record::Outcome;
use truetail_run::{ForeignRequest, ForeignRun};

pub(crate) fn file(path: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(path);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Reads a file that must be recognised as `format`.
pub(crate) fn import(format: &str, bytes: &[u8]) -> (ForeignRun, Vec<ForeignRequest>) {
    let found = recognise(&bytes[..bytes.len().min(65_536)]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found.info().name, format);
    let (run, requests) = try_import(format, bytes).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(run.format, format);
    assert_eq!(run.requests, requests.len() as u64);
    (run, requests)
}

/// Reads bytes as `format`.
pub(crate) fn try_import(format: &str, mut bytes: &[u8]) -> Result<(ForeignRun, Vec<ForeignRequest>), ImportError> {
    let format = by_name(format).expect("a format");
    let mut requests = Vec::new();
    let run = read(&mut bytes, Some(format), &ImportOptions::default(), &mut |request| requests.push(*request))?;
    Ok((run, requests))
}

/// Returns the number of requests with an outcome.
pub(crate) fn with_outcome(requests: &[ForeignRequest], outcome: Outcome) -> usize {
    requests.iter().filter(|request| request.outcome == outcome).count()
}

/// Returns the number of requests that were answered with a status.
pub(crate) fn with_status(requests: &[ForeignRequest], status: u16) -> usize {
    with_outcome(requests, Outcome::Response { status })
}

/// Returns the number of workers, which must be numbered without gaps.
pub(crate) fn workers(requests: &[ForeignRequest]) -> usize {
    let mut workers: Vec<_> = requests.iter().filter_map(|request| request.worker).collect();
    workers.sort_unstable();
    workers.dedup();
    assert!(workers.iter().enumerate().all(|(at, worker)| at == *worker as usize), "{workers:?}");
    workers.len()
}
