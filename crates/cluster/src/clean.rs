//! Nothing of a Job stays behind.

use truetail_model::time::Nanos;

use crate::kubectl::{Kubectl, words};
use crate::manifest::Job;
use crate::ready::pods;

/// From one look to the next.
const LOOK_EVERY: Nanos = Nanos::from_millis(250);
/// So many looks until pods that are left are removed without the word of their node, and until they are given up.
const LOOKS: u32 = 60;

/// Removes the Job, its pods and its files. What may still be there, by name.
pub(crate) fn clean(job: &Job, kubectl: &impl Kubectl) -> Vec<String> {
    let mut left = clean_job(job, kubectl);
    left.extend(remove_files(job, kubectl).err());
    left
}

/// Removes the Secret with the files, where there is one.
///
/// # Errors
/// It may still be there: by name, and why.
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
    // Pods that run do so for nothing by now: what they have measured was gathered, or was given up.
    let now = ["delete", "pods", "-l", &job.selector(), "--wait=false", "--ignore-not-found", "--grace-period=1"];
    let _ = kubectl.call(&words(now), "");
    let left = left(job, kubectl);
    if left.is_empty() {
        return left;
    }
    // A node that is gone never says that its pods are.
    let forced =
        ["delete", "pods", "-l", &job.selector(), "--wait=false", "--ignore-not-found", "--force", "--grace-period=0"];
    let _ = kubectl.call(&words(forced), "");
    self::left(job, kubectl)
}

/// The pods that are there after a while.
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
