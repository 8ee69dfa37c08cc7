//! What the steps need: kubectl, a clock, and somebody to tell.

use truetail_model::time::Nanos;

use crate::clock::Exchange;
use crate::shard_line::Sent;

/// What the program in a pod is asked, through `kubectl exec`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// What its clock says, a few times, and to begin at this instant, in nanoseconds since 1970 UTC by its own clock.
    Begin(u64),
    /// To send nothing more, to wait for answers, and to report.
    Stop,
}

/// What the user hears.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// The Job was created.
    Created,
    /// So many pods are ready; and what the first of the others waits for.
    Waiting {
        /// How many are ready.
        ready: u32,
        /// What another one waits for.
        why: String,
    },
    /// The schedule begins so long from now.
    Begins(Nanos),
    /// How far the load is.
    Progress(Progress),
    /// A stripe is lost, and why.
    Lost(String),
    /// Something did not work and is tried again.
    Trouble(String),
    /// Pods were told to stop.
    Stopping,
    /// These pods may still be there.
    Left(Vec<String>),
}

/// How far the whole load is.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Progress {
    /// Shards whose results are here.
    pub gathered: u32,
    /// Shards that are lost.
    pub lost: u32,
    /// All shards.
    pub of: u32,
    /// The sum over the shards that have said something; the time is that of the one that is farthest.
    pub sent: Sent,
}

/// What the steps need of the world.
pub trait Kubectl {
    /// Runs kubectl with these words and this input, and returns what it printed. It takes its time: at most what
    /// `--request-timeout` says for each request, else a minute.
    ///
    /// # Errors
    /// What it said instead, in one line.
    fn call(&self, words: &[String], input: &str) -> Result<String, String>;

    /// Gives each of these pods the order, some of them at once. The answers to questions come back in the order of the pods.
    fn give(&self, order: Order, pods: &[String]) -> Vec<Result<Vec<Exchange>, String>>;

    /// Keeps the log of an ended shard, which holds its packed run.
    ///
    /// # Errors
    /// If it holds none that is whole, it cannot be kept, or somebody else than the user ended the shard early.
    fn keep(&self, stripe: u32, log: &str) -> Result<(), String>;

    /// The wall clock, nanoseconds since 1970 UTC.
    fn unix_ns(&self) -> u64;

    /// Waits so long, or until the user wants it to end.
    fn pause(&self, time: Nanos);

    /// How often the user wanted it to end.
    fn stops(&self) -> u32;

    /// Tells the user.
    fn tell(&self, event: Event);
}

/// The words of a command line.
pub(crate) fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

/// The last line of a log that is not empty.
pub(crate) fn last_line(log: &str) -> Option<&str> {
    log.lines().rev().map(str::trim).find(|line| !line.is_empty())
}
