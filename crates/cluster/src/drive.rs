//! A load from the Job to the logs of its shards.

use std::collections::BTreeMap;

use truetail_model::time::Nanos;

use crate::clean::clean;
use crate::clock::{ClockOffset, Exchange};
use crate::kubectl::{Event, Kubectl, Order, words};
use crate::manifest::Job;
use crate::pods::Pod;
use crate::ready::ready;
use crate::watch::Watch;

/// How long the steps wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patience {
    /// From the moment at which all pods are ready to the origin of the schedule.
    pub lead: Nanos,
    /// How long pods may take to be ready.
    pub ready_within: Nanos,
    /// How long the load lasts, without what waits for answers; `None` if its end is not known.
    pub length: Option<Nanos>,
    /// From the end of the load to the end of the last pod.
    pub end_within: Nanos,
}

/// What became of a load that had begun.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The origin of the schedule, nanoseconds since 1970 UTC.
    pub at_unix_ns: u64,
    /// Of each stripe, in order.
    pub shards: Vec<ShardOutcome>,
    /// The user ended it.
    pub stopped: bool,
}

/// What became of a shard.
#[derive(Clone, PartialEq, Debug)]
pub struct ShardOutcome {
    /// Its number, from 1.
    pub stripe: u32,
    /// Whether its result is here.
    pub fate: Fate,
    /// Its clock; `None` if that is not known.
    pub clock: Option<ClockOffset>,
}

/// Whether the result of a shard is here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It was kept.
    Gathered,
    /// It is lost: which one, and why.
    Lost(String),
}

/// Why no load was offered, or nothing is known of it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DriveError {
    /// There is no Job.
    #[error("the Job was not created: {0}")]
    Refused(String),
    /// Not all pods were ready in time.
    #[error("not all pods were ready within {within_s}s: {why}; nothing was sent")]
    NotReady {
        /// How long they had.
        within_s: u64,
        /// What they waited for.
        why: String,
    },
    /// A shard ended before the start.
    #[error("{0}; nothing was sent")]
    Died(String),
    /// The user ended it before anything was measured.
    #[error("stopped before there was a result")]
    Stopped,
    /// Nothing came back.
    #[error("no shard has a result: {0}")]
    AllLost(String),
}

/// Creates the Job, lets its pods begin together, keeps their logs, and removes it all, however it ends.
///
/// # Errors
/// [`DriveError`]. Whatever was created is removed then too.
pub fn drive(job: &Job, patience: Patience, kubectl: &impl Kubectl) -> Result<Outcome, DriveError> {
    kubectl.call(&words(["create", "-f", "-"]), &job.manifest().to_string()).map_err(DriveError::Refused)?;
    kubectl.tell(Event::Created);
    let outcome = offered(job, patience, kubectl);
    let left = clean(job, kubectl);
    if !left.is_empty() {
        kubectl.tell(Event::Left(left));
    }
    outcome
}

fn offered(job: &Job, patience: Patience, kubectl: &impl Kubectl) -> Result<Outcome, DriveError> {
    let pods = ready(job, patience.ready_within, kubectl)?;
    kubectl.tell(Event::Begins(patience.lead));
    let at_unix_ns = kubectl.unix_ns().saturating_add(patience.lead.0);
    let begun = begin(&pods, at_unix_ns, kubectl);
    let deadline =
        patience.length.map(|length| at_unix_ns.saturating_add(length.0).saturating_add(patience.end_within.0));
    let mut watch = Watch::of(job, kubectl, deadline, patience.end_within);
    for (pod, answer) in pods.values().zip(&begun) {
        if let Err(why) = answer {
            watch.lose(pod.stripe, format!("{} was not told when to begin: {why}", pod.described(job.shards)));
        }
    }
    let stopped = watch.until_all_ended();
    let clocks =
        pods.keys().zip(&begun).map(|(stripe, answer)| (*stripe, ClockOffset::of(answer.as_deref().unwrap_or(&[]))));
    let clocks: BTreeMap<_, _> = clocks.collect();
    let shards: Vec<_> = watch
        .into_fates()
        .into_iter()
        .map(|(stripe, fate)| ShardOutcome { stripe, fate, clock: clocks.get(&stripe).copied().flatten() })
        .collect();
    let all_lost = shards.iter().all(|shard| shard.fate != Fate::Gathered);
    match &shards.first().map(|shard| &shard.fate) {
        Some(Fate::Lost(_)) if all_lost && stopped => Err(DriveError::Stopped),
        Some(Fate::Lost(why)) if all_lost => Err(DriveError::AllLost(why.clone())),
        _ => Ok(Outcome { at_unix_ns, shards, stopped }),
    }
}

fn begin(pods: &BTreeMap<u32, Pod>, at_unix_ns: u64, kubectl: &impl Kubectl) -> Vec<Result<Vec<Exchange>, String>> {
    let names: Vec<_> = pods.values().map(|pod| pod.name.clone()).collect();
    kubectl.give(Order::Begin(at_unix_ns), &names)
}
