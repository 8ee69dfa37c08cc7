//! What a file of another tool holds: its single requests, one after the other, and what it says of the run as a whole.
//!
//! `truetail-import` reads files into these values, and `truetail_analysis::audit` judges them. A quantity that a file does
//! not have is `None`, never zero.

use std::ops::Deref;

use serde::{Deserialize, Serialize};
use truetail_model::record::{Histogram, Outcome};
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModelKind;

use crate::Claims;

/// One request as a file reports it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForeignRequest {
    /// When it was sent: nanoseconds since 1970, or since the start of the run ([`ForeignClock::starts`]). `None` where the
    /// file does not say.
    pub start_ns: Option<u64>,
    /// Its latency, as the tool defines it ([`Claims::latency_from`]).
    pub duration: Nanos,
    /// How long it waited in the client before that, which is in no latency: behind a limit on concurrency, say. 0 where the file does
    /// not say.
    pub waited: Nanos,
    /// What became of it.
    pub outcome: Outcome,
    /// Who sent it: the thread, virtual user or connection, numbered from 0 in the order in which they appear. `None` where the
    /// file does not say.
    pub worker: Option<u32>,
    /// Bytes of the answer. `None` where the file does not say.
    pub bytes_in: Option<u64>,
}

/// What the starts of the requests count from.
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

/// What the times of a file are.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct ForeignClock {
    /// What the starts of the requests count from.
    pub starts: ForeignStarts,
    /// The smallest difference that two starts can have, nanoseconds: 1 000 000 where the tool writes whole milliseconds.
    pub start_resolution_ns: u64,
    /// The smallest difference that two latencies can have, nanoseconds.
    pub duration_resolution_ns: u64,
}

/// The load that a tool was asked for, as far as its file says.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
pub struct ForeignLoad {
    /// How many users or connections there were at most.
    pub users: Option<u32>,
    /// Requests per second.
    pub rate_per_second: Option<f64>,
    /// What decided when the next request was sent, where the file says so or the tool leaves no choice.
    pub model: Option<LoadModelKind>,
}

/// Latencies as a histogram, with the intervals of time that it is the sum of.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ForeignHistogram {
    /// All latencies.
    pub whole: Histogram,
    /// The intervals in the order of the file; empty where it has one histogram for the whole run.
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

/// The latencies of an interval of time.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ForeignInterval {
    /// When it begins, on the clock of the file, nanoseconds.
    pub from_ns: u64,
    /// When it ends, nanoseconds.
    pub to_ns: u64,
    /// Its latencies.
    pub histogram: Histogram,
}

/// Who wrote the file.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForeignView {
    /// A client that sent load.
    #[default]
    Client,
    /// The server or a proxy, as in an access log: it knows nothing of requests that had not reached it.
    Server,
}

/// Something that a tool does by itself and that changes what its numbers mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Habit {
    /// What it does, in a sentence.
    pub what: &'static str,
    /// Where that is written: a file of its source, or a page of its documentation.
    pub source: &'static str,
}

/// A place in a file.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct FilePlace {
    /// The byte at which it begins, from 0.
    pub byte: u64,
    /// The line, from 1; 0 in a binary file, which has none.
    pub line: u64,
}

/// What of a file could not be used.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Damage {
    /// How many rows were left out.
    pub rows_left_out: u64,
    /// The first of them, and what was wrong with it.
    pub first: Option<(FilePlace, String)>,
    /// Where the file was cut off: the beginning of the row, or value, that is not whole.
    pub truncated_at: Option<FilePlace>,
}

/// What a file says of the run as a whole.
#[derive(Clone, Debug)]
pub struct ForeignRun {
    /// The name of the format, such as `k6-csv`.
    pub format: &'static str,
    /// The tool that wrote it; `None` where the format belongs to no tool.
    pub tool: Option<&'static str>,
    /// The version of the tool, where the file names it.
    pub version: Option<String>,
    /// The figures that the file states, and what its latency starts from.
    pub claims: Claims,
    /// Its latencies as a histogram, where it gives one and no single requests.
    pub histogram: Option<ForeignHistogram>,
    /// How many single requests were read.
    pub requests: u64,
    /// What its times are.
    pub clock: ForeignClock,
    /// The load that was asked for, where the file says so.
    pub load: ForeignLoad,
    /// Who wrote it.
    pub view: ForeignView,
    /// What of it could not be used.
    pub damage: Damage,
    /// What a reader of the numbers should know, such as requests that the tool does not mention.
    pub notes: Vec<String>,
    /// What the tool does by itself and does not say.
    pub habits: &'static [Habit],
}
