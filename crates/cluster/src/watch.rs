//! The load from its start to the last result.

use std::collections::BTreeMap;

use truetail_model::time::Nanos;

use crate::kubectl::{Event, Kubectl, Order, Progress, last_line, words};
use crate::manifest::{CONTAINER, Job};
use crate::outcome::Fate;
use crate::pods::{Pod, PodState};
use crate::ready::{how_ended, pods};
use crate::shard_line::{ShardLine, ShardProgress};

const LOOK_EVERY: Nanos = Nanos::from_secs(1);
/// Attempts to read a log. Its end may arrive later than the end of its pod.
const TRIES: u32 = 3;
/// Time limit for reading progress, so that a node that does not answer does not delay the results of other nodes.
const PROGRESS_LIMIT: &str = "--request-timeout=5s";

/// The shards of a load that has begun.
pub(crate) struct Watch<'a, K> {
    job: &'a Job,
    kubectl: &'a K,
    /// End of the wait, in nanoseconds since 1970 UTC.
    deadline: Option<u64>,
    end_within: Nanos,
    fates: BTreeMap<u32, Fate>,
    pods: BTreeMap<u32, Pod>,
    sent: BTreeMap<u32, ShardProgress>,
    /// True if the user was told that kubectl fails.
    in_trouble: bool,
}

impl<'a, K: Kubectl> Watch<'a, K> {
    pub(crate) fn new(job: &'a Job, kubectl: &'a K, deadline: Option<u64>, end_within: Nanos) -> Watch<'a, K> {
        let (fates, pods, sent) = Default::default();
        Watch { job, kubectl, deadline, end_within, fates, pods, sent, in_trouble: false }
    }

    pub(crate) fn lose(&mut self, stripe: u32, why: String) {
        self.kubectl.tell(Event::Lost(why.clone()));
        self.fates.insert(stripe, Fate::Lost(why));
    }

    pub(crate) fn into_fates(self) -> BTreeMap<u32, Fate> {
        self.fates
    }

    /// Looks at the pods until each stripe has a fate. Returns true if the user ended the load.
    pub(crate) fn until_all_ended(&mut self) -> bool {
        let mut stopping = false;
        loop {
            // Read the clock and the stops before the look, which may be slow. The next round handles events during the
            // look.
            let is_late = self.deadline.is_some_and(|deadline| self.kubectl.unix_ns() >= deadline);
            let stops = self.kubectl.stops();
            self.look();
            if self.fates.len() as u32 == self.job.shards {
                return stopping;
            }
            // Heed the first request to stop at once, and the second one only after another look.
            if self.kubectl.stops() > 0 && !stopping {
                stopping = true;
                self.stop();
            }
            if stops > 1 || is_late {
                self.lose_the_rest(if is_late { "did not end in time" } else { "was not waited for" });
                return stopping;
            }
            self.kubectl.pause(LOOK_EVERY);
        }
    }

    fn stop(&mut self) {
        self.kubectl.tell(Event::Stopping);
        let running = self.pods.values().filter(|pod| !self.fates.contains_key(&pod.stripe));
        let names: Vec<_> = running.map(|pod| pod.name.clone()).collect();
        for (name, answer) in names.iter().zip(self.kubectl.give(Order::Stop, &names)) {
            if let Err(why) = answer {
                self.kubectl.tell(Event::Trouble(format!("pod {name} was not told to stop: {why}")));
            }
        }
        let until = self.kubectl.unix_ns().saturating_add(self.end_within.0);
        self.deadline = Some(self.deadline.map_or(until, |deadline| deadline.min(until)));
    }

    fn look(&mut self) {
        match pods(self.job, self.kubectl) {
            Ok(pods) => {
                self.in_trouble = false;
                self.pods = pods;
            }
            Err(why) => {
                if !std::mem::replace(&mut self.in_trouble, true) {
                    self.kubectl.tell(Event::Trouble(why));
                }
                return;
            }
        }
        for stripe in 1..=self.job.shards {
            if !self.fates.contains_key(&stripe) {
                self.decide(stripe);
            }
        }
        self.progress();
    }

    /// Decides the fate of a stripe, if its pod has ended or is gone.
    fn decide(&mut self, stripe: u32) {
        match self.pods.get(&stripe) {
            None => {
                let of = self.job.shards;
                let so_far = self.so_far(stripe);
                self.lose(stripe, format!("stripe {stripe}/{of} has lost its pod: it was evicted or deleted{so_far}"));
            }
            Some(pod) if matches!(pod.state, PodState::Ended { .. }) => {
                let pod = pod.clone();
                match self.gather(&pod) {
                    Ok(()) => drop(self.fates.insert(stripe, Fate::Gathered)),
                    Err(why) => self.lose(stripe, why),
                }
            }
            Some(_) => {}
        }
    }

    fn gather(&self, pod: &Pod) -> Result<(), String> {
        let mut why = String::new();
        for attempt in 0..TRIES {
            if attempt > 0 {
                self.kubectl.pause(LOOK_EVERY);
            }
            let log = self.kubectl.call(&words(["logs", &pod.name, "-c", CONTAINER, "--tail=-1"]), "");
            why = match log {
                Ok(log) => match self.kubectl.keep(pod.stripe, &log) {
                    Ok(()) => return Ok(()),
                    Err(error) => format!("{error}{}", last_words(&log)),
                },
                Err(error) => error,
            };
        }
        Err(format!("{} ended without a whole result{}: {why}", pod.described(self.job.shards), how_ended(&pod.state)))
    }

    fn lose_the_rest(&mut self, what: &str) {
        for stripe in 1..=self.job.shards {
            if !self.fates.contains_key(&stripe) {
                let described = self.pods.get(&stripe).map(|pod| pod.described(self.job.shards));
                let which = described.unwrap_or_else(|| format!("stripe {stripe}/{}", self.job.shards));
                self.lose(stripe, format!("{which} {what}{}", self.so_far(stripe)));
            }
        }
    }

    /// Returns the last known progress of a stripe, as the end of a sentence.
    fn so_far(&self, stripe: u32) -> String {
        self.sent.get(&stripe).map_or(String::new(), |sent| format!("; {}", sent.in_words()))
    }

    /// Reads the last lines of all logs once, and tells the user the progress.
    fn progress(&mut self) {
        let of = self.job.shards;
        let fate = |wanted: fn(&Fate) -> bool| self.fates.values().filter(|fate| wanted(fate)).count() as u32;
        let gathered = fate(|fate| *fate == Fate::Gathered);
        let lost = fate(|fate| *fate != Fate::Gathered);
        if gathered + lost < of {
            let selector = self.job.selector();
            let asked =
                ["logs", "-l", &selector, "-c", CONTAINER, "--tail=1", "--prefix", "--ignore-errors", PROGRESS_LIMIT];
            let lines = self.kubectl.call(&words(asked), "").unwrap_or_default();
            for pod in self.pods.values() {
                let prefix = format!("[pod/{}/{CONTAINER}] ", pod.name);
                let line = lines.lines().find_map(|line| line.strip_prefix(&prefix)).and_then(ShardLine::parse);
                if let Some(ShardLine::Running(sent)) = line {
                    self.sent.insert(pod.stripe, sent);
                }
            }
        }
        self.kubectl.tell(Event::Progress(Progress { gathered, lost, of, sent: self.total() }));
    }

    fn total(&self) -> ShardProgress {
        self.sent.iter().fold(ShardProgress::default(), |sum, (stripe, one)| {
            let runs = !self.fates.contains_key(stripe);
            ShardProgress {
                elapsed_ns: sum.elapsed_ns.max(one.elapsed_ns),
                planned: sum.planned.saturating_add(one.planned),
                sent: sum.sent.saturating_add(one.sent),
                answered: sum.answered.saturating_add(one.answered),
                failed: sum.failed.saturating_add(one.failed),
                in_flight: sum.in_flight.saturating_add(if runs { one.in_flight } else { 0 }),
                sent_per_second: sum.sent_per_second + if runs { one.sent_per_second } else { 0.0 },
            }
        })
    }
}

/// Describes the end of a log without a result, as the end of a sentence.
fn last_words(log: &str) -> String {
    match last_line(log).map(|line| (ShardLine::parse(line), line)) {
        Some((Some(ShardLine::Running(sent)), _)) => format!("; {}", sent.in_words()),
        Some((Some(ShardLine::Waiting), _)) => "; it had not begun".to_owned(),
        Some((None, line)) if line.starts_with("truetail.pack/") => String::new(),
        Some((None, line)) => format!("; the last line of its log: {line}"),
        None => "; its log is empty".to_owned(),
    }
}
