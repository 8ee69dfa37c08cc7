//! The steps over a simulated cluster in virtual time.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use serde_json::{Value, json};
use truetail_cluster::{
    ClockOffset, DriveError, Event, Exchange, Fate, Job, JobFile, Kubectl, Order, Outcome, Resources, ShardLine,
    ShardProgress, Start, TimeLimits, drive,
};
use truetail_model::time::Nanos;

const SECOND: u64 = 1_000_000_000;
const PACKED: &str = "a packed run";

/// The life of a pod, in seconds of virtual time.
#[derive(Clone, Copy)]
struct Script {
    ready_at: u64,
    /// End of its program unless it is stopped, and its exit code.
    ends_at: Option<(u64, i32)>,
    packs: bool,
    /// Disappearance of the pod.
    gone_at: Option<u64>,
    /// Failure of its node. Nothing about the pod changes after it.
    node_dies_at: Option<u64>,
}

const GOOD: Script = Script { ready_at: 2, ends_at: Some((20, 0)), packs: true, gone_at: None, node_dies_at: None };

struct Cluster {
    now: Cell<u64>,
    pods: Vec<Script>,
    created: Cell<bool>,
    deleted: Cell<bool>,
    forced: Cell<bool>,
    /// The Secret with files: `None` before it exists, true while it exists, false after its removal.
    secret: Cell<Option<bool>>,
    refuses: bool,
    began_at: Cell<Option<u64>>,
    stopped_at: Cell<Option<u64>>,
    stop_at: Vec<u64>,
    /// Seconds that kubectl waits for the logs of a node that does not answer.
    patience: u64,
    kept: RefCell<Vec<u32>>,
    told: RefCell<Vec<Event>>,
    asked: RefCell<Vec<String>>,
}

impl Cluster {
    fn new(pods: impl Into<Vec<Script>>) -> Cluster {
        Cluster {
            now: Cell::new(1_000 * SECOND),
            pods: pods.into(),
            created: Cell::new(false),
            deleted: Cell::new(false),
            forced: Cell::new(false),
            secret: Cell::new(None),
            refuses: false,
            began_at: Cell::new(None),
            stopped_at: Cell::new(None),
            stop_at: Vec::new(),
            patience: 5,
            kept: RefCell::default(),
            told: RefCell::default(),
            asked: RefCell::default(),
        }
    }

    fn second(&self) -> u64 {
        self.now.get() / SECOND - 1_000
    }

    fn ended(&self, script: &Script) -> Option<i32> {
        let dead = |at: u64| script.node_dies_at.is_some_and(|dies| dies <= at);
        let stopped = self.stopped_at.get().filter(|at| self.second() > *at && !dead(*at));
        let by_itself = script.ends_at.filter(|(at, _)| self.second() >= *at && !dead(*at));
        by_itself.map(|(_, code)| code).or(stopped.map(|_| 143))
    }

    fn is_there(&self, script: &Script) -> bool {
        let unreachable = script.node_dies_at.is_some_and(|at| self.second() >= at);
        let deleted = self.deleted.get() && (!unreachable || self.forced.get());
        self.created.get() && !deleted && script.gone_at.is_none_or(|at| self.second() < at)
    }

    fn pods(&self) -> String {
        let there = self.pods.iter().enumerate().filter(|(_, script)| self.is_there(script));
        let pod = |(index, script): (usize, &Script)| {
            let state = match self.ended(script) {
                Some(code) => json!({"terminated": {"exitCode": code, "reason": "Error"}}),
                None if self.second() >= 1 => json!({"running": {}}),
                None => json!({"waiting": {"reason": "ContainerCreating"}}),
            };
            let annotations = json!({"batch.kubernetes.io/job-completion-index": index.to_string()});
            json!({"metadata": {"name": format!("load-{index}"), "annotations": annotations}, "spec": {"nodeName": format!("node{index}")},
                   "status": {"phase": "Running", "containerStatuses": [{"name": "truetail", "state": state}]}})
        };
        json!({"items": there.map(pod).collect::<Vec<Value>>()}).to_string()
    }

    fn log(&self, index: usize) -> String {
        let script = &self.pods[index];
        if self.ended(script).is_some() {
            return if script.packs { PACKED.to_owned() } else { "truetail: connection refused\n".to_owned() };
        }
        match self.began_at.get() {
            None if self.second() < script.ready_at => "truetail: preparing".to_owned(),
            None => ShardLine::Waiting.to_line(),
            Some(_) => ShardLine::Running(ShardProgress {
                elapsed_ns: SECOND,
                sent: 10,
                sent_per_second: 5.0,
                ..ShardProgress::default()
            })
            .to_line(),
        }
    }

    fn lost(outcome: &Outcome) -> BTreeMap<u32, String> {
        let lost = outcome.shards.iter().filter_map(|shard| match &shard.fate {
            Fate::Lost(why) => Some((shard.stripe, why.clone())),
            Fate::Gathered => None,
        });
        lost.collect()
    }
}

impl Kubectl for Cluster {
    fn call(&self, words: &[String], input: &str) -> Result<String, String> {
        self.asked.borrow_mut().push(words.join(" "));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[..] {
            ["create", "-f", "-"] => {
                let manifest: Value = serde_json::from_str(input).unwrap();
                match manifest["kind"].as_str() {
                    Some("Secret") => self.secret.set(Some(true)),
                    Some("Job") if self.refuses => return Err("exceeded quota".to_owned()),
                    Some("Job") => self.created.set(true),
                    _ => panic!("{manifest}"),
                }
                Ok(String::new())
            }
            ["delete", "secret", "load", ..] => {
                self.secret.set(Some(false));
                Ok(String::new())
            }
            ["get", "pods", ..] => Ok(self.pods()),
            ["logs", "-l", ..] => {
                assert!(words.iter().any(|word| word.starts_with("--request-timeout=")), "{words:?}");
                if self.pods.iter().any(|script| script.node_dies_at.is_some_and(|at| self.second() >= at)) {
                    self.pause(Nanos::from_secs(self.patience));
                }
                let all = (0..self.pods.len()).filter(|index| self.is_there(&self.pods[*index]));
                Ok(all.map(|index| format!("[pod/load-{index}/truetail] {}\n", self.log(index))).collect())
            }
            ["logs", pod, ..] => Ok(self.log(pod.trim_start_matches("load-").parse().unwrap())),
            ["delete", kind, ..] => {
                self.deleted.set(true);
                self.forced.set(self.forced.get() || (kind == "pods" && words.contains(&"--force")));
                Ok(String::new())
            }
            _ => panic!("{words:?}"),
        }
    }

    fn give(&self, order: Order, pods: &[String]) -> Vec<Result<Vec<Exchange>, String>> {
        match order {
            Order::Begin(at) => self.began_at.set(Some(at)),
            Order::Stop => self.stopped_at.set(Some(self.second())),
        }
        let asked = self.now.get();
        pods.iter().map(|_| Ok(vec![Exchange { asked, theirs: asked + 5, answered: asked }])).collect()
    }

    fn keep(&self, stripe: u32, log: &str) -> Result<(), String> {
        if log != PACKED {
            return Err("it holds no packed run".to_owned());
        }
        self.kept.borrow_mut().push(stripe);
        Ok(())
    }

    fn unix_ns(&self) -> u64 {
        self.now.get()
    }

    fn pause(&self, time: Nanos) {
        self.now.set(self.now.get() + time.0);
    }

    fn stops(&self) -> u32 {
        self.stop_at.iter().filter(|at| self.second() >= **at).count() as u32
    }

    fn tell(&self, event: Event) {
        self.told.borrow_mut().push(event);
    }
}

fn drive_on(cluster: &Cluster) -> Result<Outcome, DriveError> {
    let outcome = drive_with(cluster, Vec::new());
    assert_eq!(cluster.secret.get(), None, "there were no files");
    outcome
}

fn drive_with(cluster: &Cluster, files: Vec<JobFile>) -> Result<Outcome, DriveError> {
    let job = Job {
        name: "load".to_owned(),
        namespace: None,
        image: "i".to_owned(),
        shards: cluster.pods.len() as u32,
        words: vec!["http://127.0.0.1/".to_owned()],
        files,
        start: Start::Told,
        resources: Resources { cpu: "1".to_owned(), memory: "1Gi".to_owned(), cpu_limit: None },
        deadline_s: None,
        grace_s: 30,
    };
    let patience = TimeLimits {
        lead: Nanos::from_secs(5),
        ready_within: Nanos::from_secs(30),
        length: Some(Nanos::from_secs(10)),
        end_within: Nanos::from_secs(40),
    };
    let outcome = drive(&job, patience, cluster);
    let is_clean = cluster.deleted.get() || !cluster.created.get();
    assert!(is_clean && cluster.pods.iter().all(|pod| !cluster.is_there(pod)), "something stayed behind");
    outcome
}

#[test]
fn files_come_before_the_job_and_go_with_it() {
    let files = vec![JobFile { path: "a.csv".to_owned(), bytes: b"a".to_vec() }];
    let cluster = Cluster::new([GOOD]);
    assert!(drive_with(&cluster, files.clone()).is_ok());
    assert_eq!(cluster.secret.get(), Some(false));
    let refused = Cluster { refuses: true, ..Cluster::new([GOOD]) };
    assert_eq!(drive_with(&refused, files), Err(DriveError::Refused("exceeded quota".to_owned())));
    assert_eq!((refused.secret.get(), refused.created.get()), (Some(false), false));
}

#[test]
fn all_begin_together_when_the_last_is_ready() {
    let cluster = Cluster::new([GOOD, Script { ready_at: 9, ..GOOD }, GOOD]);
    let outcome = drive_on(&cluster).unwrap();
    assert_eq!(cluster.began_at.get(), Some(outcome.at_unix_ns));
    assert_eq!(outcome.at_unix_ns, (1_000 + 9 + 5) * SECOND, "five seconds after the last was ready");
    assert_eq!((cluster.kept.borrow().clone(), outcome.stopped), (vec![1, 2, 3], false));
    let clock = Some(ClockOffset { ahead_ns: 5, plus_minus_ns: 0 });
    assert!(outcome.shards.iter().all(|shard| shard.fate == Fate::Gathered && shard.clock == clock), "{outcome:?}");
    let told = cluster.told.borrow();
    let sums = told.iter().filter_map(|event| match event {
        Event::Progress(progress) => Some((progress.sent.sent, progress.sent.sent_per_second)),
        _ => None,
    });
    assert!(sums.clone().any(|sum| sum == (30, 15.0)), "one progress for all: {told:?}");
}

#[test]
fn what_is_lost_is_named_and_the_rest_is_there() {
    let cluster = Cluster::new([
        GOOD,
        Script { packs: false, ends_at: Some((12, 137)), ..GOOD },
        Script { gone_at: Some(12), ..GOOD },
        Script { node_dies_at: Some(12), ..GOOD },
    ]);
    let lost = Cluster::lost(&drive_on(&cluster).unwrap());
    assert_eq!(cluster.kept.borrow().clone(), [1]);
    assert!(
        lost[&2].contains("stripe 2/4 (pod load-1 on node1) ended without a whole result (Error, exit code 137)"),
        "{lost:?}"
    );
    assert!(lost[&2].contains("connection refused"), "{lost:?}");
    assert!(lost[&3].contains("stripe 3/4 has lost its pod"), "{lost:?}");
    assert!(lost[&3].ends_with("; it had sent 10 requests 1.0s after the start"), "{lost:?}");
    assert!(lost[&4].contains("on node3) did not end in time; it had sent 10 requests"), "{lost:?}");
    assert!(cluster.forced.get(), "a node that is gone confirms nothing");
}

#[test]
fn a_node_that_does_not_answer_costs_nobody_else_a_result() {
    let silent = Script { node_dies_at: Some(12), ..GOOD };
    for patience in [5, 60, 600] {
        let cluster = Cluster { patience, ..Cluster::new([GOOD, silent, GOOD]) };
        let lost = Cluster::lost(&drive_on(&cluster).unwrap());
        assert_eq!((cluster.kept.borrow().clone(), lost.len()), (vec![1, 3], 1), "{lost:?}");
        assert!(lost[&2].contains("on node1) did not end in time"), "{lost:?}");
    }
}

#[test]
fn nothing_is_sent_unless_all_can_send() {
    let dies = Cluster::new([GOOD, Script { packs: false, ends_at: Some((1, 1)), ..GOOD }]);
    let error = drive_on(&dies).unwrap_err().to_string();
    assert!(error.contains("stripe 2/2") && error.ends_with("connection refused; nothing was sent"), "{error}");
    let forever = Script { ends_at: None, ..GOOD };
    let slow = Cluster::new([forever, Script { ready_at: 100, ..forever }]);
    assert!(matches!(drive_on(&slow), Err(DriveError::NotReady { within_s: 30, .. })));
    let stopped = Cluster { stop_at: vec![1], ..Cluster::new([GOOD]) };
    assert_eq!(drive_on(&stopped), Err(DriveError::Stopped));
    for cluster in [dies, slow, stopped] {
        assert_eq!(cluster.began_at.get(), None);
    }
}

#[test]
fn to_stop_drains_and_to_stop_again_ends_at_once() {
    let cluster = Cluster { stop_at: vec![9], ..Cluster::new([GOOD, GOOD]) };
    let outcome = drive_on(&cluster).unwrap();
    assert_eq!((outcome.stopped, cluster.kept.borrow().clone()), (true, vec![1, 2]), "both were drained and gathered");
    assert!(cluster.second() < 20);
    let deaf = Script { ends_at: None, node_dies_at: Some(8), ..GOOD };
    let twice = Cluster { stop_at: vec![9, 12], patience: 0, ..Cluster::new([GOOD, deaf]) };
    let lost = Cluster::lost(&drive_on(&twice).unwrap());
    assert!(lost[&2].contains("was not waited for"), "{lost:?}");
}

#[test]
fn without_any_result_there_is_none() {
    let cluster = Cluster::new([Script { gone_at: Some(12), ..GOOD }]);
    assert!(matches!(drive_on(&cluster), Err(DriveError::AllLost(why)) if why.contains("stripe 1/1")));
}
