//! The run folder, also as text ([`pack`](fn@pack)). It has `run.json`, `histograms.hlog`, `timeline.csv` and
//! `samples.csv`. `failed-answers.jsonl`, `scrapes.csv`, `server-timing.csv`, `streams.json` and `sessions.json` exist
//! if the run has such data.

mod checkpoint;
mod contents;
mod encoded;
mod error;
mod failed_answers;
mod hlog;
mod load;
mod pack;
mod partial;
mod reported;
mod sample_streams;
mod samples;
mod save;
mod scraped;
mod source;
pub(crate) mod target_tag;
mod target_times;
pub(crate) mod timeline;
mod validate;

pub use checkpoint::save_checkpoint;
use error::LineError;
pub use error::{LoadError, PackError, SaveError};
pub use load::{Loaded, MissingFile, load, load_run_file};
pub use pack::{is_packed, pack};
pub use samples::OptionalColumn;
pub use save::{check_free, check_writable, has_files_of_a_run, save, save_page};
pub(crate) use save::{remove_files, write_file};

/// Facts and findings ([`wire::v1::RunFile`](crate::wire::v1::RunFile)). It is written last and marks a complete run.
pub const RUN: &str = "run.json";
/// The distributions, as an HdrHistogram interval log.
pub const HISTOGRAMS: &str = "histograms.hlog";
/// A run in progress, or one that never ended, as text ([`pack`](fn@pack)). [`save()`] removes it.
pub const CHECKPOINT: &str = "checkpoint.pack";
/// One row per second.
pub const TIMELINE: &str = "timeline.csv";
/// Single requests.
pub const SAMPLES: &str = "samples.csv";
/// The first answers that failed a check. Missing if no answer failed.
pub const FAILED_ANSWERS: &str = "failed-answers.jsonl";
/// Detail of streams. Missing if answers were not read as streams.
pub const STREAMS: &str = "streams.json";
/// A few sessions in full. Missing if no session followed a flow.
pub const SESSIONS: &str = "sessions.json";
/// Times that the service reported. Missing if it reported none.
pub const SERVER_TIMING: &str = "server-timing.csv";
/// Counters and gauges of services. Missing if none changed.
pub const SCRAPES: &str = "scrapes.csv";
/// Page of the run, written by [`save_page`]. [`save()`] removes the page of the run that it replaces.
pub const REPORT: &str = "report.html";
/// Percentile spectrum that `truetail-report` draws of the run. [`save()`] removes the old ones like the page.
pub const PICTURES: [&str; 2] = ["percentiles.svg", "percentiles.png"];
