//! Spans of a saved run, from files.

use std::io::BufReader;
use std::path::PathBuf;

use truetail_run::{Run, TraceFacts, input};
use truetail_spans::SpanStore;

use crate::error::{Result, runtime_error, usage_error};
use crate::output;

/// Adds the times of the spans in `files` to a saved run, in place of the times that the service reported before.
///
/// # Errors
/// If the run has no trace ids, or a file cannot be read as spans.
pub(crate) fn add_spans(run: &mut Run, files: &[PathBuf]) -> Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    let ids = run.facts.trace.as_ref().and_then(TraceFacts::ids).ok_or_else(|| {
        usage_error("--spans: the requests of this run have no trace ids; make a run with --trace".to_owned())
    })?;
    let mut store = SpanStore::new(ids);
    for file in files {
        let unreadable = |problem: String| {
            runtime_error(format!(
                "--spans '{}': {problem}; give what a collector's file exporter wrote as JSON, or what Jaeger exported",
                file.display()
            ))
        };
        let opened = input::open_or_given(file).map_err(|error| unreadable(error.to_string()))?;
        let input = BufReader::new(input::AtMost::new(opened, LONGEST));
        store.add_file(input).map_err(|error| unreadable(error.to_string()))?;
    }
    if run.facts.server_timing.is_some() {
        output::note("--spans: the times of the spans replace those that the run has");
    }
    run.facts.server_timing = Some(store.times(&run.snapshot.samples));
    Ok(())
}

/// Size limit of a file, bytes.
const LONGEST: u64 = 16 << 30;
