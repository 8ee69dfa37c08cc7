//! The environment of the steps: kubectl, a clock, and the user.

use truetail_model::time::Nanos;

use crate::clock::Exchange;
use crate::shard_line::ShardProgress;

/// An order to the program in a pod, given through `kubectl exec`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Report the clock several times, and begin at this instant, in nanoseconds since 1970 UTC by the pod's clock.
    Begin(u64),
    /// Send no more requests, wait for answers, and report.
    Stop,
}

/// A message for the user.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// The Job was created.
    Created,
    /// Some pods are not ready.
    Waiting {
        /// Number of pods that are ready.
        ready: u32,
        /// Reason that another pod is not ready.
        why: String,
    },
    /// The schedule begins after this time.
    Begins(Nanos),
    /// The progress of the load.
    Progress(Progress),
    /// A stripe is lost, for this reason.
    Lost(String),
    /// A step failed and is tried again.
    Trouble(String),
    /// Pods were told to stop.
    Stopping,
    /// These pods may still be there.
    Left(Vec<String>),
}

/// The progress of the whole load.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Progress {
    /// Shards whose results were gathered.
    pub gathered: u32,
    /// Shards that are lost.
    pub lost: u32,
    /// Number of all shards.
    pub of: u32,
    /// The sum over the shards that have reported. The elapsed time is the longest of theirs.
    pub sent: ShardProgress,
}

/// Access to the outside world, for the steps.
pub trait Kubectl {
    /// Runs kubectl with these words and this input, and returns its output. Each request may take its
    /// `--request-timeout` or else a minute. On failure, returns the message of kubectl in one line.
    fn call(&self, words: &[String], input: &str) -> Result<String, String>;

    /// Gives the order to each pod, to some of them at once. Returns the exchanges of timestamps in the order of
    /// `pods`.
    fn give(&self, order: Order, pods: &[String]) -> Vec<Result<Vec<Exchange>, String>>;

    /// Keeps the log of an ended shard, which holds its packed run. Fails if the log holds no complete run, if it
    /// cannot be kept, or if the shard ended early without an order of the user.
    fn keep(&self, stripe: u32, log: &str) -> Result<(), String>;

    /// Returns the wall clock, in nanoseconds since 1970 UTC.
    fn unix_ns(&self) -> u64;

    /// Waits for this time, or until the user wants to stop.
    fn pause(&self, time: Nanos);

    /// Returns how often the user has asked to stop.
    fn stops(&self) -> u32;

    /// Tells the user.
    fn tell(&self, event: Event);
}

pub(crate) fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

pub(crate) fn last_line(log: &str) -> Option<&str> {
    log.lines().rev().map(str::trim).find(|line| !line.is_empty())
}
