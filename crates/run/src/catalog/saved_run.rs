//! A line about a saved run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use truetail_model::workload::LoadModelKind;

use crate::wire::v1::RunFile;
use crate::{Distribution, GateFinding, GateState, OfferedLoad, Quantile, StreamKind, VerdictState};

/// A line about a saved run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SavedRun {
    /// Its folder, below the folder that is listed.
    pub folder: String,
    /// Name of the run or of its scenario.
    pub name: Option<String>,
    /// Start, nanoseconds since 1970 UTC; `None` in virtual time.
    pub started_at_unix_ns: Option<u64>,
    /// URL as the user wrote it.
    pub url: Option<String>,
    /// The load.
    pub load: ListedLoad,
    /// Verdict on its numbers.
    pub verdict: VerdictState,
    /// True if it was saved while in progress and never ended.
    pub unfinished: bool,
    /// Planned arrivals.
    pub planned: u64,
    /// Planned arrivals without a good answer: unanswered, or answered with an error.
    pub errors: u64,
    /// Response times.
    pub times: ListedTimes,
    /// Gates.
    pub gates: Vec<ListedGate>,
    /// Labels.
    pub tags: BTreeMap<String, String>,
}

/// The load of a run, as far as a list shows it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ListedLoad {
    /// Load model.
    pub model: LoadModelKind,
    /// Rate profile in the user's notation; `None` in the closed model.
    pub profile: Option<String>,
    /// Highest number of users in the closed model.
    pub users: Option<u32>,
    /// Number of users over time, if it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users_over_time: Option<String>,
    /// Length of the schedule.
    pub duration_ns: Option<u64>,
}

/// Response times of a run, as far as a list shows them.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ListedTimes {
    /// Median.
    pub p50: ListedTime,
    /// 99th percentile.
    pub p99: ListedTime,
    /// Largest known value, nanoseconds.
    pub max_ns: Option<u64>,
}

/// A percentile.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct ListedTime {
    /// The value in nanoseconds, or a lower bound if `at_least`.
    pub value_ns: Option<u64>,
    /// True if the truth is at least the value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// True if no answer would ever have come.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_answer: bool,
    /// Number of arrivals that the percentile needs, if the run has too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs_n: Option<u64>,
}

/// A gate and its result.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ListedGate {
    /// The gate as the user wrote it.
    pub text: String,
    /// Result of the gate.
    pub state: GateState,
}

impl SavedRun {
    /// Returns the line of the run in `folder` with this `run.json`.
    pub fn new(folder: String, file: &RunFile) -> SavedRun {
        SavedRun {
            folder,
            name: file.scenario.name.clone(),
            started_at_unix_ns: file.started_at_unix_ns,
            url: file.scenario.url.clone(),
            load: ListedLoad::new(&file.scenario),
            verdict: file.verdict.state,
            unfinished: file.checkpoint.is_some(),
            planned: file.tally.planned,
            errors: errors(file),
            times: ListedTimes::new(&file.response_time),
            gates: file.gates.iter().map(ListedGate::new).collect(),
            tags: file.tags.clone(),
        }
    }

    /// Returns the name of its series: its name, or else its URL; `None` without both.
    pub fn series(&self) -> Option<&str> {
        self.name.as_deref().or(self.url.as_deref())
    }

    /// Returns the worst result of its gates; `None` without gates.
    pub fn worst_gate(&self) -> Option<GateState> {
        self.gates.iter().map(|gate| gate.state).max()
    }
}

impl ListedLoad {
    fn new(offered: &OfferedLoad) -> ListedLoad {
        ListedLoad {
            model: offered.model,
            profile: offered.profile.clone(),
            users: offered.users,
            users_over_time: offered.users_over_time.clone(),
            duration_ns: offered.duration_ns,
        }
    }
}

impl ListedTimes {
    fn new(times: &Distribution) -> ListedTimes {
        let at = |q: f64| {
            let found = times.quantiles.iter().find(|quantile| quantile.q == q);
            found.map_or(ListedTime::default(), ListedTime::new)
        };
        ListedTimes { p50: at(0.5), p99: at(0.99), max_ns: times.max_ns }
    }
}

impl ListedTime {
    fn new(quantile: &Quantile) -> ListedTime {
        ListedTime {
            value_ns: quantile.value_ns,
            at_least: quantile.at_least,
            no_answer: quantile.no_answer,
            needs_n: quantile.needs_n.filter(|_| !quantile.supported),
        }
    }

    /// Returns the value if it is known, and not only bounded.
    pub fn known_ns(self) -> Option<u64> {
        self.value_ns.filter(|_| !self.at_least && !self.no_answer && self.needs_n.is_none())
    }
}

impl ListedGate {
    fn new(gate: &GateFinding) -> ListedGate {
        ListedGate { text: gate.text.clone(), state: gate.state }
    }
}

/// Returns the number of planned arrivals without a good answer. The counts may come from any file.
fn errors(file: &RunFile) -> u64 {
    let of_status = file.statuses.iter().filter(|(status, _)| **status >= 400).map(|(_, count)| *count);
    let of_status = of_status.fold(0, u64::saturating_add);
    let of_replies = file.messages.as_ref().map_or(0, |messages| messages.error_replies);
    let of_streams = file.stream.as_ref().filter(|stream| stream.facts.reading.kind != StreamKind::Messages);
    let of_streams = of_streams.map_or(0, |stream| stream.facts.tally.server_error);
    let answered = of_status.saturating_add(of_replies).saturating_add(of_streams).min(file.tally.responses);
    file.tally.planned.saturating_sub(file.tally.responses).saturating_add(answered).min(file.tally.planned)
}
