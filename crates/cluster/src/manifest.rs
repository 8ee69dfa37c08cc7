//! The Job: one pod per stripe. Each pod gets the options of the whole load, and the number that Kubernetes gives it.

use serde_json::{Value, json};

use crate::files::{FILES_FOLDER, JobFile, secret, volume};

/// Path of the program in the image.
pub const PROGRAM: &str = "/truetail";
/// Name of the only container of each pod.
pub const CONTAINER: &str = "truetail";
/// File with the instant at which a pod must begin.
pub const START_FILE: &str = "/run/truetail/start";
/// Maximum length of a Job's name. Pods append an index and five letters, and their names may have 63 characters.
const LONGEST_NAME: usize = 50;
/// User ID of the program in the pod. No file belongs to this user.
const USER: u32 = 65_532;

/// Start of the pods' schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Start {
    /// At this instant, in the format of `--start-at`.
    At(String),
    /// At the instant that is written to [`START_FILE`].
    Told,
}

/// Resources requested for each pod.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resources {
    /// Processors, in the notation of Kubernetes: `1`, `500m`.
    pub cpu: String,
    /// Memory, both requested and allowed: `512Mi`.
    pub memory: String,
    /// Limit on processors. Such a limit can suspend a generator for up to 100 ms at a time.
    pub cpu_limit: Option<String>,
}

/// A load that is distributed over the pods of a Job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// Name of the Job, and prefix of the names of its pods.
    pub name: String,
    /// Namespace; `None` leaves the choice to kubectl's context.
    pub namespace: Option<String>,
    /// Image of the pods.
    pub image: String,
    /// Number of stripes, and therefore of pods.
    pub shards: u32,
    /// Words that follow `truetail run` for the whole load.
    pub words: Vec<String>,
    /// Files that the words name.
    pub files: Vec<JobFile>,
    /// Start of the pods' schedule.
    pub start: Start,
    /// Resources requested for each pod.
    pub resources: Resources,
    /// Time in seconds after which Kubernetes ends the Job.
    pub deadline_s: Option<u64>,
    /// Time in seconds that a pod may wait for answers after it was told to end.
    pub grace_s: u64,
}

/// Checks that a Job can have this name: lower-case letters, digits and dashes, with a letter in front.
///
/// # Errors
/// A message that says what is wrong with the name.
pub fn is_name(name: &str) -> Result<(), String> {
    let fits = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if fits && name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.ends_with('-') && name.len() <= LONGEST_NAME
    {
        return Ok(());
    }
    Err(format!(
        "'{name}' is no name of a Job; write at most {LONGEST_NAME} lower-case letters, digits and dashes, such as load-1"
    ))
}

impl Job {
    /// Returns a label selector for the pods.
    pub fn selector(&self) -> String {
        format!("app.kubernetes.io/name=truetail,app.kubernetes.io/instance={}", self.name)
    }

    fn labels(&self) -> Value {
        json!({"app.kubernetes.io/name": "truetail", "app.kubernetes.io/instance": self.name})
    }

    /// Returns the objects to create in Kubernetes, in this order: a Secret if there are files, then the Job.
    pub fn manifests(&self) -> Vec<Value> {
        let files = (!self.files.is_empty()).then(|| secret(self.metadata(), &self.files));
        files.into_iter().chain([self.manifest()]).collect()
    }

    fn metadata(&self) -> Value {
        let mut metadata = json!({"name": self.name, "labels": self.labels()});
        if let Some(namespace) = &self.namespace {
            metadata["namespace"] = json!(namespace);
        }
        metadata
    }

    /// Returns the manifest of the Job.
    pub fn manifest(&self) -> Value {
        let mut spec = json!({
            "completionMode": "Indexed",
            "completions": self.shards,
            "parallelism": self.shards,
            // A stripe is never repeated, because its intended starts have passed. Other stripes continue without it.
            "backoffLimitPerIndex": 0,
            "template": {"metadata": {"labels": self.labels()}, "spec": self.pod()},
        });
        if let Some(seconds) = self.deadline_s {
            spec["activeDeadlineSeconds"] = json!(seconds);
        }
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": self.metadata(), "spec": spec})
    }

    fn pod(&self) -> Value {
        let mut pod = json!({
            "restartPolicy": "Never",
            "automountServiceAccountToken": false,
            "enableServiceLinks": false,
            "terminationGracePeriodSeconds": self.grace_s,
            "securityContext": {
                "runAsNonRoot": true,
                "runAsUser": USER,
                "runAsGroup": USER,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "topologySpreadConstraints": [{
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": self.labels()},
            }],
            "containers": [self.container()],
        });
        let start = json!({"name": "start", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}});
        let start = (self.start == Start::Told).then_some(start);
        let files = (!self.files.is_empty()).then(|| volume(&self.name, &self.files));
        let volumes: Vec<Value> = start.into_iter().chain(files).collect();
        if !volumes.is_empty() {
            pod["volumes"] = json!(volumes);
        }
        pod
    }

    fn container(&self) -> Value {
        let Resources { cpu, memory, cpu_limit } = &self.resources;
        let mut limits = json!({"memory": memory});
        if let Some(limit) = cpu_limit {
            limits["cpu"] = json!(limit);
        }
        let mut container = json!({
            "name": CONTAINER,
            "image": self.image,
            "command": [PROGRAM],
            "args": self.arguments(),
            "resources": {"requests": {"cpu": cpu, "memory": memory}, "limits": limits},
            "securityContext": {
                "allowPrivilegeEscalation": false,
                "readOnlyRootFilesystem": true,
                "capabilities": {"drop": ["ALL"]},
            },
        });
        let folder = START_FILE.rsplit_once('/').map_or("/", |(folder, _)| folder);
        let start = (self.start == Start::Told).then(|| json!({"name": "start", "mountPath": folder}));
        let files = json!({"name": "files", "mountPath": FILES_FOLDER, "readOnly": true});
        let files = (!self.files.is_empty()).then_some(files);
        let mounts: Vec<Value> = start.into_iter().chain(files).collect();
        if !mounts.is_empty() {
            container["volumeMounts"] = json!(mounts);
        }
        if !self.files.is_empty() {
            container["workingDir"] = json!(FILES_FOLDER);
        }
        container
    }

    /// Returns the arguments of the program. Kubernetes replaces `$(NAME)` in them, and turns `$$` into `$`.
    fn arguments(&self) -> Vec<String> {
        let start = match &self.start {
            Start::At(instant) => instant.clone(),
            Start::Told => format!("@{START_FILE}"),
        };
        let own = self.words.iter().map(|word| word.replace('$', "$$"));
        let ours = [
            format!("--stripe=$(JOB_COMPLETION_INDEX)+1/{}", self.shards),
            format!("--start-at={start}"),
            "--pack".to_owned(),
        ];
        std::iter::once("run".to_owned()).chain(own).chain(ours).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(start: Start) -> Job {
        Job {
            name: "load-1".to_owned(),
            namespace: None,
            image: "example/truetail:1".to_owned(),
            shards: 8,
            words: ["http://example.com/$(HOME)$", "--rate", "100"].map(str::to_owned).to_vec(),
            files: Vec::new(),
            start,
            resources: Resources { cpu: "1".to_owned(), memory: "512Mi".to_owned(), cpu_limit: None },
            deadline_s: None,
            grace_s: 60,
        }
    }

    #[test]
    fn a_pod_gets_all_options_and_its_number() {
        let manifest = job(Start::At("2026-01-01T00:00:00Z".to_owned())).manifest();
        let container = &manifest["spec"]["template"]["spec"]["containers"][0];
        let expected = [
            "run",
            "http://example.com/$$(HOME)$$",
            "--rate",
            "100",
            "--stripe=$(JOB_COMPLETION_INDEX)+1/8",
            "--start-at=2026-01-01T00:00:00Z",
            "--pack",
        ];
        assert_eq!(container["args"], json!(expected));
        assert_eq!(
            (&manifest["spec"]["completions"], &manifest["spec"]["backoffLimitPerIndex"]),
            (&json!(8), &json!(0))
        );
        assert_eq!(
            manifest["spec"]["template"]["spec"]["volumes"],
            Value::Null,
            "nothing is mounted that nobody writes"
        );
        assert_eq!(container["resources"]["limits"], json!({"memory": "512Mi"}));
    }

    #[test]
    fn a_pod_that_is_told_has_a_place_for_the_instant() {
        let job = Job { deadline_s: Some(300), namespace: Some("load".to_owned()), ..job(Start::Told) };
        let manifest = job.manifest();
        let pod = &manifest["spec"]["template"]["spec"];
        assert_eq!(pod["containers"][0]["volumeMounts"][0]["mountPath"], "/run/truetail");
        assert_eq!(pod["containers"][0]["args"][5], "--start-at=@/run/truetail/start");
        assert_eq!(
            (&manifest["metadata"]["namespace"], &manifest["spec"]["activeDeadlineSeconds"]),
            (&json!("load"), &json!(300))
        );
    }

    #[test]
    fn files_are_in_a_secret_that_is_created_first() {
        let file = |path: &str, bytes: &[u8]| JobFile { path: path.to_owned(), bytes: bytes.to_vec() };
        let files = vec![file("targets-1/t.txt", b"GET http://a/"), file("flow-1/parts/b.json", &[0, 255])];
        let job = Job { files, namespace: Some("load".to_owned()), ..job(Start::Told) };
        let [secret, main] = &job.manifests()[..] else { panic!("two") };
        assert_eq!((&secret["kind"], &main["kind"]), (&json!("Secret"), &json!("Job")));
        assert_eq!(secret["metadata"], main["metadata"], "the same name and labels");
        assert_eq!(secret["data"], json!({"file-1": "R0VUIGh0dHA6Ly9hLw==", "file-2": "AP8="}));
        let pod = &main["spec"]["template"]["spec"];
        assert_eq!(pod["volumes"][1]["secret"]["secretName"], "load-1");
        assert_eq!(pod["volumes"][1]["secret"]["items"][1], json!({"key": "file-2", "path": "flow-1/parts/b.json"}));
        let container = &pod["containers"][0];
        assert_eq!(container["volumeMounts"][1]["mountPath"], container["workingDir"]);
        assert_eq!(self::job(Start::Told).manifests().len(), 1);
    }

    #[test]
    fn a_pod_may_do_nothing_but_send() {
        let pod = &job(Start::Told).manifest()["spec"]["template"]["spec"];
        assert_eq!(pod["automountServiceAccountToken"], false);
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
        assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
        let container = &pod["containers"][0]["securityContext"];
        assert_eq!(
            (&container["readOnlyRootFilesystem"], &container["capabilities"]["drop"][0]),
            (&json!(true), &json!("ALL"))
        );
    }

    #[test]
    fn names_are_those_that_pods_can_begin_with() {
        assert_eq!(is_name("load-1"), Ok(()));
        let long = "a".repeat(LONGEST_NAME + 1);
        for name in ["", "1a", "-a", "a-", "Load", "a.b", "a b", long.as_str()] {
            assert!(is_name(name).is_err(), "{name}");
        }
    }
}
