//! The wait until every shard is prepared.

use std::collections::BTreeMap;

use truetail_model::time::Nanos;

use crate::kubectl::{Event, Kubectl, last_line, words};
use crate::manifest::{CONTAINER, Job};
use crate::outcome::DriveError;
use crate::pods::{Pod, PodState, parse_pods};
use crate::shard_line::ShardLine;

const LOOK_EVERY: Nanos = Nanos::from_millis(500);

/// Waits until every pod is prepared and waits for its start. Returns the pods by stripe number.
pub(crate) fn ready(job: &Job, within: Nanos, kubectl: &impl Kubectl) -> Result<BTreeMap<u32, Pod>, DriveError> {
    let until = kubectl.unix_ns().saturating_add(within.0);
    let mut told = None;
    loop {
        let why = match look(job, kubectl)? {
            Readiness::All(pods) => return Ok(pods),
            Readiness::Some { ready, why } => {
                if told.as_ref() != Some(&(ready, why.clone())) {
                    kubectl.tell(Event::Waiting { ready, why: why.clone() });
                    told = Some((ready, why.clone()));
                }
                why
            }
        };
        if kubectl.stops() > 0 {
            return Err(DriveError::Stopped);
        }
        if kubectl.unix_ns() >= until {
            return Err(DriveError::NotReady { within_s: within.0 / 1_000_000_000, why });
        }
        kubectl.pause(LOOK_EVERY);
    }
}

enum Readiness {
    All(BTreeMap<u32, Pod>),
    Some { ready: u32, why: String },
}

fn look(job: &Job, kubectl: &impl Kubectl) -> Result<Readiness, DriveError> {
    let of = job.shards;
    let pods = match pods(job, kubectl) {
        Ok(pods) => pods,
        Err(why) => return Ok(Readiness::Some { ready: 0, why }),
    };
    for pod in pods.values() {
        match &pod.state {
            PodState::Ended { .. } => return Err(DriveError::Died(describe_death(pod, of, kubectl))),
            PodState::Pending { why, hopeless: true } => {
                return Err(DriveError::Died(format!("{} cannot run: {why}", pod.described(of))));
            }
            PodState::Pending { .. } | PodState::Running => {}
        }
    }
    let running = pods.values().filter(|pod| pod.state == PodState::Running).count() as u32;
    if running < of {
        let waits = pods.values().find_map(|pod| match &pod.state {
            PodState::Pending { why, .. } => Some(format!("{} waits: {why}", pod.described(of))),
            _ => None,
        });
        return Ok(Readiness::Some {
            ready: 0,
            why: waits.unwrap_or_else(|| format!("{} of {of} pods are there", pods.len())),
        });
    }
    let waiting = pods.values().filter(|pod| waits_for_start(pod, kubectl)).count() as u32;
    if waiting == of {
        return Ok(Readiness::All(pods));
    }
    Ok(Readiness::Some { ready: waiting, why: "the programs in the pods prepare".to_owned() })
}

pub(crate) fn pods(job: &Job, kubectl: &impl Kubectl) -> Result<BTreeMap<u32, Pod>, String> {
    parse_pods(&kubectl.call(&words(["get", "pods", "-l", &job.selector(), "-o", "json"]), "")?)
}

fn waits_for_start(pod: &Pod, kubectl: &impl Kubectl) -> bool {
    let log = kubectl.call(&words(["logs", &pod.name, "-c", CONTAINER, "--tail=1"]), "");
    log.is_ok_and(|log| last_line(&log).and_then(ShardLine::parse) == Some(ShardLine::Waiting))
}

/// Describes the end of a pod that ended before the start, with the last line of its log as the best explanation.
fn describe_death(pod: &Pod, of: u32, kubectl: &impl Kubectl) -> String {
    let log = kubectl.call(&words(["logs", &pod.name, "-c", CONTAINER, "--tail=1"]), "").unwrap_or_default();
    let said = last_line(&log).map_or(String::new(), |line| format!(": {line}"));
    format!("{} ended before the load began{}{said}", pod.described(of), how_ended(&pod.state))
}

/// Returns the reason and exit code of an ended pod, such as ` (OOMKilled, exit code 137)`.
pub(crate) fn how_ended(state: &PodState) -> String {
    let PodState::Ended { exit_code, why } = state else { return String::new() };
    let code = exit_code.map(|code| format!("exit code {code}"));
    let parts: Vec<_> = [Some(why.clone()).filter(|why| !why.is_empty()), code].into_iter().flatten().collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}
