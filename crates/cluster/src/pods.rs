//! Parser of `kubectl get pods -o json`.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Annotation with the index of a pod.
const INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// A pod of the Job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pod {
    /// Name of the pod.
    pub name: String,
    /// Number of its stripe, from 1.
    pub stripe: u32,
    /// Its node; `None` before it has one.
    pub node: Option<String>,
    /// Its state.
    pub state: PodState,
}

/// State of a pod.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PodState {
    /// The pod does not run yet.
    Pending {
        /// Reason given by Kubernetes.
        why: String,
        /// True if waiting cannot help.
        hopeless: bool,
    },
    /// The program in the pod is running.
    Running,
    /// The program in the pod has ended.
    Ended {
        /// Exit code, if known.
        exit_code: Option<i32>,
        /// Reason given by Kubernetes.
        why: String,
    },
}

impl Pod {
    /// Describes the pod in words, such as `stripe 2/8 (pod load-1-1-x7k2p on node-3)`.
    pub fn described(&self, of: u32) -> String {
        let node = self.node.as_ref().map_or(String::new(), |node| format!(" on {node}"));
        format!("stripe {}/{of} (pod {}{node})", self.stripe, self.name)
    }
}

/// Parses the answer of kubectl: one pod for each stripe, by stripe number.
///
/// # Errors
/// A message if the answer is not a list of pods.
pub fn parse_pods(answer: &str) -> Result<BTreeMap<u32, Pod>, String> {
    let list: List =
        serde_json::from_str(answer).map_err(|error| format!("kubectl get pods printed no list of pods: {error}"))?;
    let pods = list.items.into_iter().filter_map(RawPod::into_pod);
    Ok(pods.map(|pod| (pod.stripe, pod)).collect())
}

#[derive(Deserialize)]
struct List {
    items: Vec<RawPod>,
}

#[derive(Deserialize)]
struct RawPod {
    metadata: Metadata,
    #[serde(default)]
    spec: Spec,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    node_name: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    phase: String,
    reason: Option<String>,
    message: Option<String>,
    conditions: Vec<Condition>,
    container_statuses: Vec<ContainerStatus>,
}

#[derive(Deserialize)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
    message: Option<String>,
}

#[derive(Deserialize)]
struct ContainerStatus {
    #[serde(default)]
    state: ContainerState,
}

#[derive(Default, Deserialize)]
struct ContainerState {
    waiting: Option<Waiting>,
    running: Option<serde::de::IgnoredAny>,
    terminated: Option<Terminated>,
}

#[derive(Deserialize)]
struct Waiting {
    reason: Option<String>,
    message: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Terminated {
    exit_code: i32,
    reason: Option<String>,
}

impl RawPod {
    fn into_pod(self) -> Option<Pod> {
        let index: u32 = self.metadata.annotations.get(INDEX)?.parse().ok()?;
        let stripe = index.checked_add(1)?;
        let state = self.status.state();
        Some(Pod { name: self.metadata.name, stripe, node: self.spec.node_name, state })
    }
}

impl Status {
    fn state(self) -> PodState {
        let ended = matches!(self.phase.as_str(), "Succeeded" | "Failed");
        let container = self.container_statuses.into_iter().next().map(|status| status.state).unwrap_or_default();
        if let Some(terminated) = container.terminated {
            let why = self.reason.or(terminated.reason).unwrap_or_default();
            return PodState::Ended { exit_code: Some(terminated.exit_code), why };
        }
        if ended {
            let why = [self.reason, self.message].into_iter().flatten().collect::<Vec<_>>().join(": ");
            return PodState::Ended { exit_code: None, why };
        }
        if container.running.is_some() {
            return PodState::Running;
        }
        let waiting = container.waiting.map(|waiting| [waiting.reason, waiting.message]);
        let hopeless = waiting.as_ref().and_then(|[reason, _]| reason.as_deref()).is_some_and(is_hopeless);
        let unmet = |condition: &Condition| condition.kind == "PodScheduled" && condition.status == "False";
        let unplaced = self.conditions.into_iter().find(unmet).and_then(|condition| condition.message);
        let said = waiting.map(|words| words.into_iter().flatten().collect::<Vec<_>>().join(": "));
        PodState::Pending { why: unplaced.or(said).unwrap_or_else(|| "no node yet".to_owned()), hopeless }
    }
}

/// Returns true for reasons that do not go away with time.
fn is_hopeless(reason: &str) -> bool {
    ["InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError", "RunContainerError"]
        .contains(&reason)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn state(status: Value) -> PodState {
        let pod = json!({"metadata": {"name": "a-0-x", "annotations": {INDEX: "0"}}, "spec": {"nodeName": "n"}, "status": status});
        let pods = parse_pods(&json!({"items": [pod]}).to_string()).unwrap();
        assert_eq!(pods[&1].described(8), "stripe 1/8 (pod a-0-x on n)");
        pods[&1].state.clone()
    }

    fn container(state: Value) -> Value {
        json!({"phase": "Pending", "containerStatuses": [{"name": "truetail", "state": state}]})
    }

    #[test]
    fn the_states_of_a_pod() {
        let pending = |why: &str, hopeless| PodState::Pending { why: why.to_owned(), hopeless };
        assert_eq!(state(json!({})), pending("no node yet", false));
        let unplaced = json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes"}]});
        assert_eq!(state(unplaced), pending("0/3 nodes", false));
        assert_eq!(
            state(container(json!({"waiting": {"reason": "ContainerCreating"}}))),
            pending("ContainerCreating", false)
        );
        let pull = json!({"waiting": {"reason": "ErrImageNeverPull", "message": "not here"}});
        assert_eq!(state(container(pull)), pending("ErrImageNeverPull: not here", true));
        assert_eq!(state(container(json!({"running": {"startedAt": "…"}}))), PodState::Running);
        let killed = container(json!({"terminated": {"exitCode": 137, "reason": "OOMKilled"}}));
        assert_eq!(state(killed), PodState::Ended { exit_code: Some(137), why: "OOMKilled".to_owned() });
        let evicted = json!({"phase": "Failed", "reason": "Evicted", "message": "low on memory"});
        assert_eq!(state(evicted), PodState::Ended { exit_code: None, why: "Evicted: low on memory".to_owned() });
    }

    #[test]
    fn what_is_no_pod_of_a_job_is_left_out() {
        let stray = json!({"metadata": {"name": "x"}});
        assert_eq!(parse_pods(&json!({"items": [stray]}).to_string()), Ok(BTreeMap::new()));
        assert!(parse_pods("error: x").unwrap_err().starts_with("kubectl get pods printed no list of pods"));
    }
}
