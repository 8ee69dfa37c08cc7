//! Cluster client of `truetail k8s run`: the user's own kubectl, a clock, and messages for the user.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use truetail_cluster::{CONTAINER, Event, Exchange, Kubectl, Order, PROGRAM, START_FILE};
use truetail_model::time::Nanos;

use super::shelf::Shelf;
use super::telling::Telling;
use crate::resolve::stripe::unix_ns;

/// Pods that get orders at once. Each takes a kubectl process.
const AT_ONCE: usize = 8;
/// Number of times that a pod is asked for its time; the quickest answer counts.
const QUESTIONS: usize = 5;
/// Time that a pod may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Cluster client: the user's own kubectl, a clock, and messages for the user.
pub(super) struct Client<'a> {
    pub(super) program: OsString,
    /// First arguments of every call.
    pub(super) common: Vec<String>,
    pub(super) shelf: &'a Shelf,
    pub(super) stops: Arc<AtomicU32>,
    pub(super) telling: RefCell<Telling>,
}

impl Client<'_> {
    /// Builds a kubectl command in a new process group, so that Ctrl-C in a terminal does not reach kubectl.
    fn command(&self, words: &[String]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.common).args(words).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn start(&self, words: &[String]) -> Result<Child, String> {
        self.command(words).spawn().map_err(|error| {
            format!("cannot start {}: {error}; install kubectl, or name it with --kubectl", self.program.display())
        })
    }
}

impl Kubectl for Client<'_> {
    fn call(&self, words: &[String], input: &str) -> Result<String, String> {
        let limit =
            (!words.iter().any(|word| word.starts_with("--request-timeout"))).then_some("--request-timeout=60s");
        let limited: Vec<_> = words.iter().cloned().chain(limit.map(str::to_owned)).collect();
        let mut child = self.start(&limited)?;
        // A kubectl that does not read its input ends with an error message, which is reported below.
        let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input.as_bytes()));
        let output = child.wait_with_output().map_err(|error| format!("kubectl {}: {error}", words[0]))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(format!("kubectl {}: {}", words[0], in_one_line(&output.stderr)))
    }

    fn give(&self, order: Order, pods: &[String]) -> Vec<Result<Vec<Exchange>, String>> {
        let start = |pod: &String| {
            let words = ["exec", "-i", pod, "-c", CONTAINER, "--", PROGRAM, "k8s", "attend", START_FILE];
            self.start(&words.map(str::to_owned))
        };
        let mut answers = Vec::new();
        for some in pods.chunks(AT_ONCE) {
            let talks: Vec<_> =
                some.iter().map(|pod| start(pod).map(|child| thread::spawn(move || attended(child, order)))).collect();
            answers.extend(talks.into_iter().map(|talk| {
                talk.and_then(|thread| {
                    thread.join().unwrap_or_else(|_| Err("kubectl exec: the conversation broke off".to_owned()))
                })
            }));
        }
        answers
    }

    fn keep(&self, stripe: u32, log: &str) -> Result<(), String> {
        let is_complete = self.shelf.keep(stripe, log)?;
        // The run of a stopped pod lacks the rest of its stripe, and the merged run would not show that.
        if is_complete || self.stops() > 0 {
            return Ok(());
        }
        Err("it was stopped before the end of the load, as when it is evicted".to_owned())
    }

    fn unix_ns(&self) -> u64 {
        unix_ns()
    }

    fn pause(&self, time: Nanos) {
        let until = Instant::now() + Duration::from(time);
        let before = self.stops();
        while self.stops() == before && Instant::now() < until {
            thread::sleep(Duration::from_millis(50).min(until.saturating_duration_since(Instant::now())));
        }
    }

    fn stops(&self) -> u32 {
        self.stops.load(Ordering::SeqCst)
    }

    fn tell(&self, event: Event) {
        self.telling.borrow_mut().tell(event);
    }
}

/// Conversation with the program in a pod.
struct Talk {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
}

/// Gives the order and ends the conversation.
fn attended(mut child: Child, order: Order) -> Result<Vec<Exchange>, String> {
    let stdin = child.stdin.take().ok_or("kubectl exec: no standard input")?;
    let stdout = child.stdout.take().ok_or("kubectl exec: no standard output")?;
    let (sender, lines) = channel();
    thread::spawn(move || BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let mut talk = Talk { child, stdin, lines };
    let answer = match order {
        Order::Begin(at) => (0..QUESTIONS)
            .map(|_| talk.exchange())
            .collect::<Result<Vec<_>, _>>()
            .and_then(|exchanges| talk.ask(&format!("begin {at}")).map(|_| exchanges)),
        Order::Stop => talk.ask("stop").map(|_| Vec::new()),
    };
    answer.map_err(|error| talk.why(&error))
}

impl Talk {
    fn ask(&mut self, order: &str) -> Result<String, String> {
        let sent = self.stdin.write_all(format!("{order}\n").as_bytes()).and_then(|()| self.stdin.flush());
        sent.map_err(|error| error.to_string())?;
        self.lines.recv_timeout(PATIENCE).map_err(|_| format!("no answer to '{order}'"))
    }

    fn exchange(&mut self) -> Result<Exchange, String> {
        let asked = unix_ns();
        let answer = self.ask("clock")?;
        let theirs = answer.trim().parse().map_err(|_| format!("'{answer}' is no time"))?;
        Ok(Exchange { asked, theirs, answered: unix_ns() })
    }

    /// Returns kubectl's error message, or `error` if kubectl printed nothing.
    fn why(&mut self, error: &str) -> String {
        let _ = self.child.kill();
        let mut said = Vec::new();
        let _ = self.child.stderr.take().map(|mut stderr| stderr.read_to_end(&mut said));
        let said = in_one_line(&said);
        format!("kubectl exec: {}", if said.is_empty() { error } else { &said })
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // The order is done, so there is no need to wait for kubectl.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn in_one_line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).split_whitespace().collect::<Vec<_>>().join(" ")
}
