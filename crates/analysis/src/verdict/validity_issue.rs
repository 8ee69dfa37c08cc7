//! Validity issues: reasons why a run's numbers may not be trusted, as values. `messages` puts them into words.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use truetail_run::{Shift, VerdictState};

use super::machine_limit::LimitReached;
use super::thresholds::GENERATOR_LIMIT_INVALID;

/// Defines a constant for each code, and `ALL`.
macro_rules! codes {
    ($($name:ident = $code:literal;)*) => {
        $(pub const $name: &str = $code;)*
        /// Every code.
        pub const ALL: &[&str] = &[$($name),*];
    };
}

/// Codes of validity issues in `run.json`. `docs/honesty.md` explains each.
#[allow(missing_docs, reason = "the names say it")]
pub mod code {
    codes! {
        ALL_FAILED = "all_failed";
        ARRIVALS_OFF_SCHEDULE = "arrivals_off_schedule";
        BOOKS_UNBALANCED = "books_unbalanced";
        CENSORED_TAIL = "censored_tail";
        CONNECTION_WAIT = "connection_wait";
        CPU_THROTTLED = "cpu_throttled";
        GENERATOR_BUSY = "generator_busy";
        GENERATOR_LAG = "generator_lag";
        GENERATOR_LIMIT = "generator_limit";
        GENERATOR_PAUSED = "generator_paused";
        INCOMPLETE = "incomplete";
        NO_ANSWERS = "no_answers";
        NOT_STATIONARY = "not_stationary";
        RATE_NOT_REACHED = "rate_not_reached";
        SATURATED = "saturated";
        SHARD_DOUBTED = "shard_doubted";
        STARTED_LATE = "started_late";
        STRIPES_MISSING = "stripes_missing";
        TOO_FEW_SAMPLES = "too_few_samples";
    }
}

/// One reason against a run. Its fields are its numbers in `run.json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "the names of the numbers are those of run.json, with their units")]
pub enum ValidityIssue {
    /// Some arrival has no outcome, or more than one: a bug in truetail.
    BooksUnbalanced { planned: u64, accounted: u64 },
    /// No arrival was answered, or none was planned.
    NoAnswers {
        planned: u64,
        issued: u64,
        #[serde(skip)]
        allowed: bool,
    },
    /// Every answer had an error status: `statuses` counts each. It is empty for error replies, which have none.
    AllFailed { responses: u64, statuses: BTreeMap<u16, u64> },
    /// Every session that began ended early.
    AllSessionsFailed { sessions: u64 },
    /// There are too few arrivals even for p50.
    TooFewSamples { arrivals: u64, needs_n: u64 },
    /// A printed quantile is only a lower bound, because arrivals were censored.
    CensoredTail { q: f64, censored: u64, arrivals: u64, at_least_ns: u64 },
    /// Arrivals waited for the user's own cap on connections.
    ConnectionWait { q: f64, wait_ns: u64, response_time_ns: u64, waited: u64, connections: Option<u32> },
    /// The generator moved a quantile: `lag_ns` is its distance from its lower partner.
    GeneratorLag {
        q: f64,
        lag_ns: u64,
        response_time_ns: u64,
        #[serde(flatten)]
        limit: Option<LimitReached>,
        /// Another reason gives the advice.
        #[serde(skip)]
        advised: bool,
    },
    /// The generator was paused. `moved` is the quantile that the pauses moved most. `steal_ns` is the time that the
    /// hypervisor ran something else, if that explains them.
    GeneratorPaused {
        pauses: u64,
        longest_ns: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        steal_ns: Option<u64>,
        arrivals_hit: u64,
        arrivals: u64,
        #[serde(rename = "q")]
        moved: Option<f64>,
        #[serde(skip)]
        invalid: bool,
    },
    /// The backlog grows without end.
    Saturated {
        offered_per_second: f64,
        capacity_per_second: f64,
        growth_per_second: f64,
        backlog: u64,
        connections: Option<u32>,
    },
    /// The backlog grows without end because of the user's own cap on connections, and the service is as fast as ever.
    ConnectionsExhausted {
        offered_per_second: f64,
        answered_per_second: f64,
        backlog: u64,
        connections: u32,
        service_time_ns: u64,
    },
    /// The backlog grew until requests timed out in it.
    SaturatedToTimeout {
        offered_per_second: f64,
        capacity_per_second: f64,
        #[serde(rename = "from_s", serialize_with = "seconds")]
        from_ns: u64,
        timed_out: u64,
        arrivals: u64,
        timeout_ns: u64,
    },
    /// Less was sent in time than was planned.
    RateNotReached {
        planned_per_second: f64,
        sent_per_second: f64,
        #[serde(skip)]
        by_generator: bool,
        /// Planned requests that were never sent at all.
        never_sent: u64,
        #[serde(flatten)]
        limit: Option<LimitReached>,
        #[serde(skip)]
        invalid: bool,
    },
    /// The control group's CPU quota was used up for a while.
    Throttled { throttled_ns: u64, elapsed_ns: u64 },
    /// A worker of the generator used nearly all of the elapsed time.
    GeneratorBusy {
        cpu_ns: u64,
        elapsed_ns: u64,
        threads: u32,
        #[serde(skip)]
        closed_loop: bool,
    },
    /// The response time changed its level in mid-run. After `cut_ns`, if set, it does not change any more.
    NotStationary {
        #[serde(flatten, serialize_with = "in_seconds")]
        shift: Shift,
        #[serde(rename = "cut_s", serialize_with = "seconds_if_any")]
        cut_ns: Option<u64>,
    },
    /// The generator displaced many arrivals by more than the gap between two.
    ArrivalsOffSchedule {
        displaced: u64,
        issued: u64,
        mean_gap_ns: u64,
        #[serde(flatten)]
        limit: Option<LimitReached>,
    },
    /// The run began after the origin of its schedule.
    StartedLate {
        late_ns: u64,
        missed: u64,
        arrivals: u64,
        #[serde(skip)]
        invalid: bool,
    },
    /// Stripes of the load had no machine.
    StripesMissing {
        missing: Vec<u32>,
        of: u32,
        #[serde(skip)]
        invalid: bool,
    },
    /// The generators of `doubted` of the machines that shared the load are in doubt. This stripe has the worst.
    ShardDoubted {
        stripe: u32,
        of: u32,
        because: String,
        doubted: u64,
        #[serde(skip)]
        invalid: bool,
    },
    /// The run never ended: these are its books until `recorded_ns`.
    Incomplete { recorded_ns: u64, due: u64, ended: u64, scheduled: Option<u64> },
    /// The generator had no port or file left.
    GeneratorLimit {
        failed: u64,
        arrivals: u64,
        no_local_port: u64,
        no_file_descriptor: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        open_files_limit: Option<u64>,
    },
}

impl ValidityIssue {
    /// Returns the code of the issue in `run.json`.
    pub fn code(&self) -> &'static str {
        match self {
            ValidityIssue::BooksUnbalanced { .. } => code::BOOKS_UNBALANCED,
            ValidityIssue::NoAnswers { .. } => code::NO_ANSWERS,
            ValidityIssue::AllFailed { .. } | ValidityIssue::AllSessionsFailed { .. } => code::ALL_FAILED,
            ValidityIssue::TooFewSamples { .. } => code::TOO_FEW_SAMPLES,
            ValidityIssue::CensoredTail { .. } => code::CENSORED_TAIL,
            ValidityIssue::ConnectionWait { .. } => code::CONNECTION_WAIT,
            ValidityIssue::GeneratorLag { .. } => code::GENERATOR_LAG,
            ValidityIssue::GeneratorPaused { .. } => code::GENERATOR_PAUSED,
            ValidityIssue::Saturated { .. }
            | ValidityIssue::ConnectionsExhausted { .. }
            | ValidityIssue::SaturatedToTimeout { .. } => code::SATURATED,
            ValidityIssue::RateNotReached { .. } => code::RATE_NOT_REACHED,
            ValidityIssue::GeneratorLimit { .. } => code::GENERATOR_LIMIT,
            ValidityIssue::Throttled { .. } => code::CPU_THROTTLED,
            ValidityIssue::GeneratorBusy { .. } => code::GENERATOR_BUSY,
            ValidityIssue::NotStationary { .. } => code::NOT_STATIONARY,
            ValidityIssue::ArrivalsOffSchedule { .. } => code::ARRIVALS_OFF_SCHEDULE,
            ValidityIssue::StartedLate { .. } => code::STARTED_LATE,
            ValidityIssue::StripesMissing { .. } => code::STRIPES_MISSING,
            ValidityIssue::ShardDoubted { .. } => code::SHARD_DOUBTED,
            ValidityIssue::Incomplete { .. } => code::INCOMPLETE,
        }
    }

    /// Returns the verdict that this issue would give without others.
    pub fn state(&self) -> VerdictState {
        let invalid = match self {
            ValidityIssue::BooksUnbalanced { .. } => true,
            ValidityIssue::Saturated { .. }
            | ValidityIssue::ConnectionsExhausted { .. }
            | ValidityIssue::SaturatedToTimeout { .. } => true,
            // A server that never answers is a finding if the user asked for it. A run that sent nothing never is.
            ValidityIssue::NoAnswers { issued, allowed, .. } => *issued == 0 || !allowed,
            ValidityIssue::AllFailed { .. } | ValidityIssue::AllSessionsFailed { .. } => true,
            ValidityIssue::TooFewSamples { .. }
            | ValidityIssue::CensoredTail { .. }
            | ValidityIssue::ConnectionWait { .. } => false,
            ValidityIssue::Throttled { .. } | ValidityIssue::GeneratorBusy { .. } => false,
            ValidityIssue::NotStationary { .. } | ValidityIssue::ArrivalsOffSchedule { .. } => false,
            // The truth is between the two ends of the range that is printed.
            ValidityIssue::GeneratorLag { .. } => false,
            // The data that exists was measured. Only later data, and what the generator knew at the end, is missing.
            ValidityIssue::Incomplete { .. } => false,
            ValidityIssue::GeneratorPaused { invalid, .. }
            | ValidityIssue::StartedLate { invalid, .. }
            | ValidityIssue::StripesMissing { invalid, .. }
            | ValidityIssue::RateNotReached { invalid, .. }
            | ValidityIssue::ShardDoubted { invalid, .. } => *invalid,
            ValidityIssue::GeneratorLimit { failed, arrivals, .. } => {
                *failed as f64 >= *arrivals as f64 * GENERATOR_LIMIT_INVALID
            }
        };
        if invalid { VerdictState::Invalid } else { VerdictState::Suspect }
    }

    /// Returns the numbers of the issue by their names in `run.json`.
    pub(super) fn numbers(&self) -> Map<String, Value> {
        let numbers = serde_json::to_value(self).expect("every number has a JSON form");
        match numbers {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }
}

fn seconds<S: Serializer>(ns: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(*ns as f64 / 1e9)
}

fn seconds_if_any<S: Serializer>(ns: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    ns.map(|ns| ns as f64 / 1e9).serialize(serializer)
}

fn in_seconds<S: Serializer>(shift: &Shift, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct InSeconds {
        at_s: f64,
        until_s: f64,
        from_ns: Option<u64>,
        to_ns: Option<u64>,
        lowest_ns: Option<u64>,
        highest_ns: Option<u64>,
    }
    let Shift { at_ns, until_ns, from_ns, to_ns, lowest_ns, highest_ns } = *shift;
    let [at_s, until_s] = [at_ns, until_ns].map(|ns| ns as f64 / 1e9);
    InSeconds { at_s, until_s, from_ns, to_ns, lowest_ns, highest_ns }.serialize(serializer)
}
