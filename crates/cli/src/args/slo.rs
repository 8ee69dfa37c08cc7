//! `--slo`: objectives of the run or of a search, or of each request to a language model.

use std::fmt;
use std::str::FromStr;

use truetail_analysis::capacity;
use truetail_analysis::gates::{Gate, Slo};
use truetail_stream::Objective;

/// An objective.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum SloArg {
    /// A figure of the run: `p99 < 50ms`.
    OfRun(Gate),
    /// The time of each request to a language model, for goodput: `ttft < 200ms`.
    OfEachRequest(Objective),
}

impl FromStr for SloArg {
    type Err = String;

    fn from_str(text: &str) -> Result<SloArg, String> {
        if Objective::is_in(text) {
            return text.parse().map(SloArg::OfEachRequest);
        }
        text.parse::<Slo>().map(|slo| SloArg::OfRun(slo.0)).map_err(|error| error.to_string())
    }
}

impl SloArg {
    /// Returns the gate, if the objective is about the run.
    pub(crate) fn run_gate(&self) -> Option<&Gate> {
        match self {
            SloArg::OfRun(gate) => Some(gate),
            SloArg::OfEachRequest(_) => None,
        }
    }

    /// Returns the objective, if it is about each request.
    pub(crate) fn request_objective(&self) -> Option<&Objective> {
        match self {
            SloArg::OfRun(_) => None,
            SloArg::OfEachRequest(objective) => Some(objective),
        }
    }
}

/// An objective of a search.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum SearchSlo {
    /// A share of requests or streams: `p99 < 50ms`.
    OfService(capacity::Objective),
    /// The time of each request to a language model, for goodput: `ttft < 200ms`.
    OfEachRequest(Objective),
}

impl FromStr for SearchSlo {
    type Err = String;

    fn from_str(text: &str) -> Result<SearchSlo, String> {
        if Objective::is_in(text) {
            return text.parse().map(SearchSlo::OfEachRequest);
        }
        text.parse().map(SearchSlo::OfService).map_err(|error: capacity::ObjectiveError| error.to_string())
    }
}

impl fmt::Display for SearchSlo {
    /// Writes the objective as the user wrote it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchSlo::OfService(objective) => objective.fmt(f),
            SearchSlo::OfEachRequest(objective) => objective.fmt(f),
        }
    }
}
