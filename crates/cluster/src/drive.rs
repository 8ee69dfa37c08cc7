//! A load from the creation of the Job to the logs of its shards.

use std::collections::BTreeMap;

use crate::clean::{clean, remove_files};
use crate::clock::{ClockOffset, Exchange};
use crate::kubectl::{Event, Kubectl, Order, words};
use crate::manifest::Job;
use crate::outcome::{DriveError, Fate, Outcome, ShardOutcome, TimeLimits};
use crate::pods::Pod;
use crate::ready::ready;
use crate::watch::Watch;

/// Creates the Job, lets its pods begin together, keeps their logs, and removes everything, however the load ends.
///
/// # Errors
/// [`DriveError`]. All objects that were created are removed in this case too.
pub fn drive(job: &Job, patience: TimeLimits, kubectl: &impl Kubectl) -> Result<Outcome, DriveError> {
    create(job, kubectl)?;
    kubectl.tell(Event::Created);
    let outcome = offer(job, patience, kubectl);
    let left = clean(job, kubectl);
    if !left.is_empty() {
        kubectl.tell(Event::Left(left));
    }
    outcome
}

/// Creates all objects, or leaves nothing behind.
fn create(job: &Job, kubectl: &impl Kubectl) -> Result<(), DriveError> {
    for (nth, manifest) in job.manifests().iter().enumerate() {
        if let Err(why) = kubectl.call(&words(["create", "-f", "-"]), &manifest.to_string()) {
            // Remove only objects created here: an existing Job of this name belongs to another user.
            if nth > 0 {
                remove_files(job, kubectl).err().into_iter().for_each(|left| kubectl.tell(Event::Left(vec![left])));
            }
            return Err(DriveError::Refused(why));
        }
    }
    Ok(())
}

fn offer(job: &Job, patience: TimeLimits, kubectl: &impl Kubectl) -> Result<Outcome, DriveError> {
    let pods = ready(job, patience.ready_within, kubectl)?;
    kubectl.tell(Event::Begins(patience.lead));
    let at_unix_ns = kubectl.unix_ns().saturating_add(patience.lead.0);
    let begun = begin(&pods, at_unix_ns, kubectl);
    let deadline =
        patience.length.map(|length| at_unix_ns.saturating_add(length.0).saturating_add(patience.end_within.0));
    let mut watch = Watch::new(job, kubectl, deadline, patience.end_within);
    for (pod, answer) in pods.values().zip(&begun) {
        if let Err(why) = answer {
            watch.lose(pod.stripe, format!("{} was not told when to begin: {why}", pod.described(job.shards)));
        }
    }
    let stopped = watch.until_all_ended();
    let clocks = pods
        .keys()
        .zip(&begun)
        .map(|(stripe, answer)| (*stripe, ClockOffset::estimate(answer.as_deref().unwrap_or(&[]))));
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
