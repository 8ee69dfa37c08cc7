//! Thread that sends metrics.

use std::process;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use prost::Message;
use truetail_engine::host;
use truetail_report::LiveState;
use ureq::Agent;

use super::OtlpEndpoint;
use super::payload;
use crate::live::states::{LiveStates, Next};
use crate::{output, progress};

/// Shortest time from one message to the next.
const PERIOD: Duration = Duration::from_secs(5);
/// Timeout of a request to the receiver.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Longest wait for a state in one call.
const LOOK: Duration = Duration::from_secs(1);

/// Sends metrics during a run, and the result at its end. A failure is reported once and does not disturb the run.
#[derive(Debug)]
pub(crate) struct OtlpSender {
    url: String,
    /// Closed by the thread when it has ended.
    ended: Receiver<()>,
}

impl OtlpSender {
    /// Sends states from `states`, on a thread with a lower priority than the workers.
    pub(crate) fn start(endpoint: OtlpEndpoint, states: LiveStates) -> OtlpSender {
        let (end, ended) = channel();
        let url = endpoint.shown.clone();
        let send = move || {
            host::lower_thread_priority();
            Sender::new(endpoint).send_all(&states);
            drop(end);
        };
        if let Err(error) = thread::Builder::new().name("truetail-otlp".to_owned()).spawn(send) {
            output::note(&format!("--otlp: cannot send metrics: {error}"));
        }
        OtlpSender { url, ended }
    }

    /// Waits until the result was sent, for at most `patience`.
    pub(crate) fn end(self, patience: Duration) {
        if self.ended.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            let url = &self.url;
            output::note(&format!("--otlp: {url} has not taken the last metrics within {}s", patience.as_secs()));
        }
    }
}

struct Sender {
    endpoint: OtlpEndpoint,
    agent: Agent,
    instance: String,
    told: bool,
}

impl Sender {
    fn new(endpoint: OtlpEndpoint) -> Sender {
        let config = Agent::config_builder().timeout_global(Some(TIMEOUT)).build();
        Sender { endpoint, agent: config.new_agent(), instance: process::id().to_string(), told: false }
    }

    fn send_all(mut self, states: &LiveStates) {
        let mut seen = 0;
        let mut last = None::<Instant>;
        loop {
            match states.newer_than(seen, LOOK) {
                Next::Closed => return,
                Next::NotYet => {}
                Next::State(version, state) => {
                    seen = version;
                    if state.ended || last.is_none_or(|last| last.elapsed() >= PERIOD) {
                        self.send(&state, states);
                        last = Some(Instant::now());
                    }
                    if state.ended {
                        return;
                    }
                }
            }
        }
    }

    fn send(&mut self, state: &LiveState, states: &LiveStates) {
        let before = host::thread_cpu_time();
        let body = payload::request(state, &self.instance).encode_to_vec();
        let mut request = self.agent.post(&self.endpoint.url).header("Content-Type", "application/x-protobuf");
        for (name, value) in &self.endpoint.headers {
            request = request.header(name, value);
        }
        let sent = request.send(&body[..]);
        states.spent(host::thread_cpu_time().saturating_sub(before));
        if let Err(error) = sent
            && (!self.told || state.ended)
        {
            self.told = true;
            progress::clear_line();
            output::note(&format!("--otlp: {} did not take the metrics: {error}", self.endpoint.shown));
        }
    }
}
