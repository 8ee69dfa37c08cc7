//! Machines that share a load: which one this is, when it was to begin, and what became of each.

use serde::{Deserialize, Serialize};
use truetail_model::arrival::{Profile, Spacing};
use truetail_model::driver::Stripe;
use truetail_model::random::mix64;
use truetail_model::workload::Workload;

use super::offered::OfferedLoad;
use crate::VerdictState;

/// Which part of a load that several machines share a run offered. `stripe` in `run.json`; `scenario` is the whole load.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StripeFacts {
    /// Counted from 1.
    pub index: u32,
    /// How many stripes there are.
    pub of: u32,
    /// Hash of what the whole schedule is computed from: 16 hexadecimal digits. Stripes of one schedule have the same.
    pub schedule: String,
}

impl StripeFacts {
    /// Those of `stripe` of `workload`, which is the whole one.
    pub fn of(stripe: Stripe, workload: &Workload) -> StripeFacts {
        StripeFacts { index: stripe.number(), of: stripe.of(), schedule: format!("{:016x}", hash_of(workload)) }
    }

    /// The stripe; `None` where a file names one that cannot be.
    pub fn stripe(&self) -> Option<Stripe> {
        Stripe::numbered(self.index, self.of)
    }
}

/// A hash of the definition of a load, recorded instants included. To find it takes no time, unlike the hash of the arrivals.
fn hash_of(workload: &Workload) -> u64 {
    let definition = serde_json::to_vec(&OfferedLoad::of(workload)).expect("a part of run.json");
    let step = |hash: u64, word: u64| mix64(hash.rotate_left(5) ^ mix64(word.wrapping_add(1)));
    let hash = definition.iter().fold(0, |hash, byte| step(hash, u64::from(*byte)));
    let Some(schedule) = workload.model.schedule() else { return hash };
    let hash = match schedule.spacing {
        Spacing::Even => hash,
        Spacing::Poisson => step(hash, Spacing::POISSON_VERSION),
    };
    match &schedule.profile {
        Profile::Trace(trace) => trace.instants().iter().fold(hash, |hash, instant| step(hash, instant.0)),
        Profile::Constant(_) | Profile::Steps(_) | Profile::Ramp(_) | Profile::Sine(_) => hash,
    }
}

/// When a run was to begin, where that was asked for. `start` in `run.json`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StartFacts {
    /// The origin of the schedule, in nanoseconds since 1970 UTC, as the clock of this machine had it.
    pub at_unix_ns: u64,
    /// So long after the origin the run began; 0 where it was ready in time. Of several machines, the latest.
    pub late_ns: u64,
    /// Arrivals that were due before the run began: they count as never issued.
    pub missed: u64,
}

/// The machines whose runs were merged into this one. `shards` in `run.json`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Shards {
    /// How many stripes the load was dealt out in.
    pub of: u32,
    /// The stripes that no run was there for. What is known of their arrivals counts as never issued.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<u32>,
    /// What became of each of the others, by stripe.
    pub by_stripe: Vec<Shard>,
}

/// The run of one machine among several.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Shard {
    /// Its stripe, counted from 1.
    pub index: u32,
    /// The origin of its schedule by its own clock, in nanoseconds since 1970 UTC; `None` in virtual time.
    pub started_at_unix_ns: Option<u64>,
    /// So long after the origin it began.
    pub late_ns: u64,
    /// Measured arrivals that it planned.
    pub planned: u64,
    /// Of these, how many it never issued.
    pub never_issued: u64,
    /// Of these, how many were answered.
    pub responses: u64,
    /// The 99th percentile of its own lag; `None` where it issued nothing.
    pub generator_lag_p99_ns: Option<u64>,
    /// The largest of its own lags.
    pub generator_lag_max_ns: Option<u64>,
    /// The verdict on it alone; `None` where none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictState>,
    /// The codes of the reasons for that verdict, worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

impl Shards {
    /// The stripe whose generator was latest at its 99th percentile, if any issued something.
    pub fn latest(&self) -> Option<&Shard> {
        self.by_stripe
            .iter()
            .filter(|shard| shard.generator_lag_p99_ns.is_some())
            .max_by_key(|shard| (shard.generator_lag_p99_ns, std::cmp::Reverse(shard.index)))
    }

    /// From the earliest origin to the latest one, each by its machine's own clock; `None` in virtual time.
    pub fn origins_apart_ns(&self) -> Option<u64> {
        let origins = || self.by_stripe.iter().filter_map(|shard| shard.started_at_unix_ns);
        Some(origins().max()? - origins().min()?)
    }
}
