//! Content of another tool's result file: the requests, one by one, and statements about the whole run.
//!
//! `truetail-import` reads files into these values, and `truetail_analysis::audit` judges them. A quantity that a file
//! does not have is `None`, never zero.

use std::ops::Deref;

use serde::{Deserialize, Serialize};
use truetail_model::record::{Histogram, Outcome};
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModelKind;

use crate::Claims;

/// One request as a file reports it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForeignRequest {
    /// Sending time, if known: nanoseconds since 1970 or since the start of the run ([`ForeignClock::starts`]).
    pub start_ns: Option<u64>,
    /// Its latency, as the tool defines it ([`Claims::latency_from`]).
    pub duration: Nanos,
    /// Time that it waited in the client before `duration` began, such as behind a limit on concurrency. 0 if unknown.
    pub waited: Nanos,
    /// The outcome of the request.
    pub outcome: Outcome,
    /// The thread, virtual user or connection that sent it, if known, numbered from 0 in order of appearance.
    pub worker: Option<u32>,
    /// Bytes of the answer, if the file says so.
    pub bytes_in: Option<u64>,
}

impl ForeignRequest {
    /// Creates a request with nothing else known.
    pub const fn new(start_ns: Option<u64>, duration: Nanos, outcome: Outcome) -> ForeignRequest {
        ForeignRequest { start_ns, duration, waited: Nanos::ZERO, outcome, worker: None, bytes_in: None }
    }
}

/// Zero point of the starts of requests.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForeignStarts {
    /// The file has no starts.
    #[default]
    None,
    /// The start of the run, or the first request.
    Run,
    /// 1970 UTC.
    Unix,
}

/// Meaning and resolution of the times in a file.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct ForeignClock {
    /// Zero point of the starts of requests.
    pub starts: ForeignStarts,
    /// Smallest difference between two starts, nanoseconds: 1 000 000 if the tool writes whole milliseconds.
    pub start_resolution_ns: u64,
    /// Smallest difference between two latencies, nanoseconds.
    pub duration_resolution_ns: u64,
}

/// Load that a tool was asked for, as far as its file says.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
pub struct ForeignLoad {
    /// Highest number of users or connections.
    pub users: Option<u32>,
    /// Requests per second.
    pub rate_per_second: Option<f64>,
    /// Load model, if the file states it or the tool has only one.
    pub model: Option<LoadModelKind>,
}

/// Latencies as a histogram, with the intervals that add up to it.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ForeignHistogram {
    /// All latencies.
    pub whole: Histogram,
    /// The intervals in the order of the file; empty if the file has only one histogram for the whole run.
    pub intervals: Vec<ForeignInterval>,
}

impl From<Histogram> for ForeignHistogram {
    fn from(whole: Histogram) -> ForeignHistogram {
        ForeignHistogram { whole, intervals: Vec::new() }
    }
}

impl Deref for ForeignHistogram {
    type Target = Histogram;

    fn deref(&self) -> &Histogram {
        &self.whole
    }
}

/// Latencies of one interval of time.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ForeignInterval {
    /// Start, on the clock of the file, nanoseconds.
    pub from_ns: u64,
    /// End, on the clock of the file, nanoseconds.
    pub to_ns: u64,
    /// Its latencies.
    pub histogram: Histogram,
}

/// Side of the connection that wrote the file.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForeignView {
    /// A client that sent load.
    #[default]
    Client,
    /// The server or a proxy, as in an access log. It knows nothing of requests that never reached it.
    Server,
}

/// A tool's behaviour that changes the meaning of its numbers and that its file does not mention.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Habit {
    /// The behaviour, in a sentence.
    pub what: &'static str,
    /// Evidence: a file of the tool's source, or a page of its documentation.
    pub source: &'static str,
}

/// A place in a file.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct FilePlace {
    /// Offset of its first byte, from 0.
    pub byte: u64,
    /// The line, from 1; 0 in a binary file.
    pub line: u64,
}

/// Parts of a file that could not be used.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct UnusedRows {
    /// Number of rows that were left out.
    pub rows_left_out: u64,
    /// Place of the first row that was left out, and the reason.
    pub first: Option<(FilePlace, String)>,
    /// Start of the incomplete row or value at the end, if the file was cut off.
    pub truncated_at: Option<FilePlace>,
}

/// Statements of a file about the whole run.
#[derive(Clone, Debug)]
pub struct ForeignRun {
    /// The name of the format, such as `k6-csv`.
    pub format: &'static str,
    /// The tool that wrote the file; `None` if the format belongs to no tool.
    pub tool: Option<&'static str>,
    /// Version of the tool, if the file names it.
    pub version: Option<String>,
    /// Figures that the file states, and the start of its latency.
    pub claims: Claims,
    /// Latencies as a histogram, if the file has a histogram instead of single requests.
    pub histogram: Option<ForeignHistogram>,
    /// Number of single requests that were read.
    pub requests: u64,
    /// Meaning and resolution of the file's times.
    pub clock: ForeignClock,
    /// The load that was asked for, as far as the file says.
    pub load: ForeignLoad,
    /// Side of the connection that wrote the file.
    pub view: ForeignView,
    /// Parts of the file that could not be used.
    pub damage: UnusedRows,
    /// Notes for readers of the numbers, such as requests that the tool does not mention.
    pub notes: Vec<String>,
    /// Behaviour of the tool that changes the meaning of its numbers.
    pub habits: &'static [Habit],
}
