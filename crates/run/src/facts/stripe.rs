//! Machines that share a load: stripe, start time, and the result of each machine.

use serde::{Deserialize, Serialize};
use truetail_model::arrival::{Profile, Spacing};
use truetail_model::driver::Stripe;
use truetail_model::random::mix64;
use truetail_model::workload::Workload;

use super::offered::OfferedLoad;
use crate::VerdictState;

/// The part of a shared load that this run offered: `stripe` in `run.json`. `scenario` describes the whole load.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StripeFacts {
    /// Number of the stripe, from 1.
    pub index: u32,
    /// Number of all stripes.
    pub of: u32,
    /// Hash of the whole schedule's definition: 16 hexadecimal digits, equal for all stripes of one schedule.
    pub schedule: String,
}

impl StripeFacts {
    /// Returns the facts of `stripe` of `workload`, which is the whole workload.
    pub fn new(stripe: Stripe, workload: &Workload) -> StripeFacts {
        StripeFacts { index: stripe.number(), of: stripe.count(), schedule: format!("{:016x}", hash_of(workload)) }
    }

    /// Returns the stripe; `None` if a file names an impossible one.
    pub fn stripe(&self) -> Option<Stripe> {
        Stripe::numbered(self.index, self.of)
    }
}

/// Returns a hash of the definition of a load, recorded instants included. A hash of all arrivals would take longer.
fn hash_of(workload: &Workload) -> u64 {
    let definition = serde_json::to_vec(&OfferedLoad::from_workload(workload)).expect("a part of run.json");
    let step = |hash: u64, word: u64| mix64(hash.rotate_left(5) ^ mix64(word.wrapping_add(1)));
    let hash = definition.iter().fold(0, |hash, byte| step(hash, u64::from(*byte)));
    let Some(schedule) = workload.model.schedule() else { return hash };
    let hash = match schedule.spacing {
        Spacing::Even => hash,
        Spacing::Poisson | Spacing::Gamma(_) => step(hash, Spacing::RANDOM_VERSION),
    };
    match &schedule.profile {
        Profile::Trace(trace) => trace.instants().iter().fold(hash, |hash, instant| step(hash, instant.0)),
        Profile::Constant(_) | Profile::Stages(_) | Profile::Sine(_) => hash,
    }
}

/// Start time that was requested for the run: `start` in `run.json`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StartFacts {
    /// Origin of the schedule on this machine's clock, in nanoseconds since 1970 UTC.
    pub at_unix_ns: u64,
    /// Time from the origin to the actual start of the run; 0 if it started in time. Of several machines, the longest.
    pub late_ns: u64,
    /// Arrivals that were due before the run started. They count as never issued.
    pub missed: u64,
}

/// The machines whose runs were merged into this one: `shards` in `run.json`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Shards {
    /// Number of stripes of the whole load.
    pub of: u32,
    /// Stripes without a run. Their arrivals count as never issued, as far as they are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<u32>,
    /// The other stripes, each with its run.
    pub by_stripe: Vec<Shard>,
}

/// The run of one machine among several.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Shard {
    /// Number of its stripe, from 1.
    pub index: u32,
    /// Origin of its schedule on its own clock, in nanoseconds since 1970 UTC; `None` in virtual time.
    pub started_at_unix_ns: Option<u64>,
    /// Time from the origin to its actual start.
    pub late_ns: u64,
    /// Number of measured arrivals that it planned.
    pub planned: u64,
    /// Number of these arrivals that it never issued.
    pub never_issued: u64,
    /// Number of these arrivals that were answered.
    pub responses: u64,
    /// The 99th percentile of its generator lag; `None` if it issued no request.
    pub generator_lag_p99_ns: Option<u64>,
    /// Its largest generator lag.
    pub generator_lag_max_ns: Option<u64>,
    /// The verdict on this run, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictState>,
    /// Codes of the reasons for that verdict, worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

impl Shards {
    /// Returns the shard with the largest generator lag at the 99th percentile, if any shard issued a request.
    pub fn latest(&self) -> Option<&Shard> {
        self.by_stripe
            .iter()
            .filter(|shard| shard.generator_lag_p99_ns.is_some())
            .max_by_key(|shard| (shard.generator_lag_p99_ns, std::cmp::Reverse(shard.index)))
    }

    /// Returns the time between the earliest and the latest origin, by the machines' clocks; `None` in virtual time.
    pub fn origins_apart_ns(&self) -> Option<u64> {
        let origins = || self.by_stripe.iter().filter_map(|shard| shard.started_at_unix_ns);
        Some(origins().max()? - origins().min()?)
    }
}
