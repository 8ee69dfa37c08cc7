//! Removal of a Job and everything that belongs to it.

use truetail_model::time::Nanos;

use crate::kubectl::{Kubectl, words};
use crate::manifest::Job;
use crate::ready::pods;

const LOOK_EVERY: Nanos = Nanos::from_millis(250);
/// Number of looks for remaining pods, first before they are removed by force and then before they are given up.
const LOOKS: u32 = 60;

/// Removes the Job, its pods and its files. Returns the names of the objects that may still exist.
pub(crate) fn clean(job: &Job, kubectl: &impl Kubectl) -> Vec<String> {
    let mut left = clean_job(job, kubectl);
    left.extend(remove_files(job, kubectl).err());
    left
}

/// Removes the Secret with the files, if any. On failure, returns its name and the reason, since it may still exist.
pub(crate) fn remove_files(job: &Job, kubectl: &impl Kubectl) -> Result<(), String> {
    if job.files.is_empty() {
        return Ok(());
    }
    let removed = kubectl.call(&words(["delete", "secret", &job.name, "--wait=false", "--ignore-not-found"]), "");
    removed.map(|_| ()).map_err(|why| format!("secret/{} ({why})", job.name))
}

fn clean_job(job: &Job, kubectl: &impl Kubectl) -> Vec<String> {
    let removed = kubectl.call(&words(["delete", "job", &job.name, "--wait=false", "--ignore-not-found"]), "");
    if let Err(why) = &removed {
        return vec![format!("job/{} ({why})", job.name)];
    }
    // Pods that still run have no use: their results were gathered or given up.
    let now = ["delete", "pods", "-l", &job.selector(), "--wait=false", "--ignore-not-found", "--grace-period=1"];
    let _ = kubectl.call(&words(now), "");
    let left = left(job, kubectl);
    if left.is_empty() {
        return left;
    }
    // If the node is gone, no report of it will ever say that its pods ended.
    let forced =
        ["delete", "pods", "-l", &job.selector(), "--wait=false", "--ignore-not-found", "--force", "--grace-period=0"];
    let _ = kubectl.call(&words(forced), "");
    self::left(job, kubectl)
}

/// Waits until no pod is left. Returns the pods that remain after [`LOOKS`] looks.
fn left(job: &Job, kubectl: &impl Kubectl) -> Vec<String> {
    let mut last = Vec::new();
    for _ in 0..LOOKS {
        match pods(job, kubectl) {
            Ok(pods) if pods.is_empty() => return Vec::new(),
            Ok(pods) => last = pods.into_values().map(|pod| format!("pod/{}", pod.name)).collect(),
            Err(why) => last = vec![format!("the pods of {} ({why})", job.name)],
        }
        kubectl.pause(LOOK_EVERY);
    }
    last
}
