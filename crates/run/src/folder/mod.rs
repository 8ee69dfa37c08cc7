//! The run folder, or the same as text ([`pack`](fn@pack)): `run.json`, `histograms.hlog`, `timeline.csv`, `samples.csv`; `failed-answers.jsonl`
//! where there are any, `streams.json` where answers were read as streams, and `sessions.json` where sessions followed a flow.

mod checkpoint;
mod contents;
mod encoded;
mod error;
mod failed_answers;
mod hlog;
mod load;
mod pack;
mod partial;
mod possible;
mod samples;
mod save;
mod source;
pub(crate) mod target_tag;
mod target_times;
mod timeline;

pub use checkpoint::save_checkpoint;
use error::LineError;
pub use error::{LoadError, PackError, SaveError};
pub use load::{Loaded, MissingFile, load, load_run_file};
pub use pack::{is_packed, pack};
pub use save::{check_free, check_writable, has_files_of_a_run, save, save_page};

/// What is known and what was found, as [`wire::v1::RunFile`](crate::wire::v1::RunFile). Written last: a folder without
/// it is no run.
pub const RUN: &str = "run.json";
/// The distributions, as an HdrHistogram interval log.
pub const HISTOGRAMS: &str = "histograms.hlog";
/// A run that goes on, or that never ended, as text ([`pack`](fn@pack)). [`save`] removes it.
pub const CHECKPOINT: &str = "checkpoint.pack";
/// A row a second.
pub const TIMELINE: &str = "timeline.csv";
/// Single requests.
pub const SAMPLES: &str = "samples.csv";
/// The first few answers that failed a check; not there where none did.
pub const FAILED_ANSWERS: &str = "failed-answers.jsonl";
/// What is drawn of streams; not there where answers were not read as such.
pub const STREAMS: &str = "streams.json";
/// A few sessions in full; not there where none followed a flow.
pub const SESSIONS: &str = "sessions.json";
/// The page of the run, which [`save_page`] writes. [`save`] removes that of the run that it replaces.
pub const REPORT: &str = "report.html";
/// The percentile spectrum that `truetail-report` draws of the run; treated as the report is.
pub const PICTURES: [&str; 2] = ["percentiles.svg", "percentiles.png"];
