//! The calls of agents, checked and ready to be sent.

use truetail_engine::{FeedOrder, Request, RequestParts, RequestSet, TargetRequests};
use truetail_model::random::mix64;
use truetail_model::time::Nanos;
use truetail_requests::asks_for_echo;

use super::template::Piece;

/// Number of depths that each have a step. Deeper calls share the last step.
const OWN_STEPS: u32 = 50;

/// The sessions of a file of `--agents`, which arriving sessions take in turn.
#[derive(Clone, Debug)]
pub struct AgentGraphs {
    pub(super) name: String,
    /// At least one.
    pub(super) graphs: Vec<Graph>,
}

/// One session: its calls, in the order of the file.
#[derive(Clone, Default, Debug)]
pub(super) struct Graph {
    pub(super) name: String,
    pub(super) calls: Vec<Call>,
}

/// One call.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: String,
    /// Its line in the file, from 1.
    pub(super) line: usize,
    /// Number of calls on the longest way to it, itself included.
    pub(super) depth: u32,
    /// Time from the end of the last call that it waits for.
    pub(super) think: Nanos,
    /// Number of calls that it waits for.
    pub(super) waits_for: u32,
    /// The calls that wait for it.
    pub(super) followers: Vec<u32>,
    /// A call says again what the model said in this one.
    pub(super) is_said: bool,
    pub(super) body: Vec<Piece>,
}

impl Call {
    /// Returns the index of its step.
    pub(super) fn step(&self) -> u32 {
        (self.depth - 1).min(OWN_STEPS)
    }
}

impl AgentGraphs {
    /// Returns the name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of sessions in the file.
    pub fn sessions(&self) -> usize {
        self.graphs.len()
    }

    /// Returns the number of calls of the longest session.
    pub fn most_calls(&self) -> u32 {
        self.graphs.iter().map(|graph| graph.calls.len() as u32).max().unwrap_or(0)
    }

    /// Returns the names of the steps: calls by depth.
    pub fn steps(&self) -> impl Iterator<Item = String> {
        (0..self.step_count()).map(|step| match step {
            OWN_STEPS => format!("depth {} and more", step + 1),
            _ => format!("depth {}", step + 1),
        })
    }

    pub(super) fn step_count(&self) -> u32 {
        self.calls().map(Call::step).max().map_or(0, |last| last + 1)
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.graphs.iter().flat_map(|graph| &graph.calls)
    }

    pub(super) fn graph(&self, nth: u32) -> &Graph {
        &self.graphs[nth as usize]
    }

    /// Returns the index of the graph of session `number` of the load.
    pub(super) fn of_session(&self, number: u64) -> u32 {
        (number % self.graphs.len() as u64) as u32
    }

    /// Returns true if a call asks the server to repeat the prompt.
    pub fn asks_for_echo(&self) -> bool {
        self.calls().any(|call| asks_for_echo(&call.body.concat_text()))
    }

    /// Returns the targets of a run, one per step, whose requests are only known during the run. `base` is the request
    /// of all calls, without a body.
    pub fn requests(&self, base: &Request) -> RequestSet {
        let parts = base.parts();
        let of_step = |(nth, name): (usize, String)| {
            let method = base.method().clone();
            let mut target = TargetRequests::new(method, base.url().to_string(), 1).named(name.clone());
            match nth {
                0 => target.push(&parts),
                _ => target.push_message(name.as_bytes()),
            }
            target
        };
        let steps = RequestSet::from_steps(self.steps().enumerate().map(of_step).collect()).expect("there is a call");
        steps.fed(self.graphs.len() as u32, FeedOrder::InOrder, 0, self.hash())
    }

    /// Returns a hash that identifies the calls.
    fn hash(&self) -> u64 {
        let of_bytes = |hash: u64, bytes: &[u8]| {
            bytes.iter().fold(mix64(hash ^ bytes.len() as u64), |hash, byte| mix64(hash ^ u64::from(*byte)))
        };
        self.graphs.iter().fold(0, |hash, graph| {
            graph.calls.iter().fold(of_bytes(hash, graph.name.as_bytes()), |hash, call| {
                let hash = of_bytes(of_bytes(hash, call.id.as_bytes()), &call.body.concat_text());
                let hash = mix64(hash ^ call.think.0);
                call.followers.iter().fold(hash, |hash, follower| mix64(hash ^ u64::from(*follower)))
            })
        })
    }
}

/// Pieces of a body.
pub(super) trait Pieces {
    /// Returns the text of the file, without what the model says.
    fn concat_text(&self) -> Vec<u8>;
}

impl Pieces for Vec<Piece> {
    fn concat_text(&self) -> Vec<u8> {
        let texts = self.iter().filter_map(|piece| if let Piece::Text(text) = piece { Some(&text[..]) } else { None });
        texts.collect::<Vec<_>>().concat()
    }
}

/// Writes the request of a call: `base` with this body.
pub(super) fn write_request(base: &RequestParts, body: &[u8], request: &mut RequestParts) {
    let view = base.view();
    request.begin(view.method());
    request.buffer().extend_from_slice(view.path());
    request.end_path();
    let length = body.len().to_string();
    let mut has_length = false;
    for (name, value) in view.fields() {
        let is_length = name.eq_ignore_ascii_case(b"content-length");
        request.field(name, if is_length { length.as_bytes() } else { value });
        has_length |= is_length;
    }
    // Of some methods, a request without a body has no length.
    if !has_length {
        request.field(b"Content-Length", length.as_bytes());
    }
    request.end_head(body);
}
