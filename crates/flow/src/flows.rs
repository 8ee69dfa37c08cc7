use std::path::Path;

use truetail_engine::{Origin, RequestSet};
use truetail_model::random::{Numbered, mix64};
use truetail_requests::{asks_for_echo, placeholders};

use crate::course::SessionStart;
use crate::flow::Flow;
use crate::itinerary::Itinerary;
use crate::origins::Origins;
use crate::value::Value;

/// The random stream of the choice of flows.
const PURPOSE: u64 = 0x666c_6f77_0000_0004;

/// The flows of a run. With several flows, each session follows one of them, drawn by their weights.
#[derive(Clone, Debug)]
pub struct Flows {
    /// At least one.
    flows: Vec<Flow>,
    /// The sum of the weights up to and including each flow.
    cumulative_weights: Vec<u64>,
}

/// Reason why flows cannot be run together.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FlowsError {
    /// No flow was given.
    #[error("there is no flow")]
    Nothing,
    /// Two flows have the same name.
    #[error("two flows are called {0}, and their steps could not be told apart; rename one of the files")]
    SameName(String),
    /// One flow makes gRPC calls, and another sends requests of HTTP.
    #[error(
        "the steps of {calls} are gRPC calls, and those of {requests} are requests of HTTP; a run has one protocol, so run them apart"
    )]
    Protocols {
        /// A flow of calls.
        calls: String,
        /// A flow of requests.
        requests: String,
    },
}

impl From<Flow> for Flows {
    fn from(mut flow: Flow) -> Flows {
        // The weight of a single flow has no meaning.
        flow.weight = 1;
        Flows { cumulative_weights: vec![1], flows: vec![flow] }
    }
}

impl Flow {
    /// Returns the targets of a run of only this flow, one per step.
    pub fn requests(&self) -> RequestSet {
        Flows::from(self.clone()).requests()
    }
}

impl Flows {
    /// Combines flows. Several flows are named after their files without `.hurl`, and their steps get the flow's name
    /// as a prefix: `buy/login`. A single flow keeps its names.
    ///
    /// # Errors
    /// See [`FlowsError`].
    pub fn new(mut flows: Vec<Flow>) -> Result<Flows, FlowsError> {
        match flows.len() {
            0 => return Err(FlowsError::Nothing),
            1 => return Ok(Flows::from(flows.remove(0))),
            _ => {
                check_protocol(&flows)?;
                share_origins(&mut flows);
            }
        }
        let mut names = Vec::new();
        let mut first_step = 0;
        let mut sum = 0;
        let mut cumulative_weights = Vec::new();
        for flow in &mut flows {
            flow.name = short_name(&flow.name);
            if names.contains(&flow.name) {
                return Err(FlowsError::SameName(flow.name.clone()));
            }
            names.push(flow.name.clone());
            flow.steps.iter_mut().for_each(|step| step.name = format!("{}/{}", flow.name, step.name));
            flow.first_step = first_step;
            first_step += flow.steps.len() as u32;
            sum += u64::from(flow.weight());
            cumulative_weights.push(sum);
        }
        Ok(Flows { flows, cumulative_weights })
    }

    /// Returns true if the steps are gRPC calls; otherwise they are requests of HTTP.
    pub fn makes_calls(&self) -> bool {
        self.flows[0].makes_calls()
    }

    /// Iterates over the flows.
    pub fn iter(&self) -> impl Iterator<Item = &Flow> {
        self.flows.iter()
    }

    pub(crate) fn get(&self, nth: u32) -> &Flow {
        &self.flows[nth as usize]
    }

    /// Returns the flow that session `number` follows: a pure function of number and seed, the same on all machines.
    pub(crate) fn flow_of_session(&self, number: u64, seed: u64) -> u32 {
        let [_, .., total] = *self.cumulative_weights else { return 0 };
        let drawn = (Numbered::new(seed, PURPOSE).uniform(number) * total as f64) as u64;
        let before_last = &self.cumulative_weights[..self.cumulative_weights.len() - 1];
        before_last.partition_point(|sum| *sum <= drawn) as u32
    }

    pub(crate) fn beginning(&self, number: u64, seed: u64) -> SessionStart {
        let nth = self.flow_of_session(number, seed);
        let flow = self.get(nth);
        let first_step = flow.first_step;
        let first_move = flow.moves[0];
        let random = mix64(mix64(seed) ^ number);
        SessionStart { flow: nth, first_step, first_move, choices: 0, random }
    }

    /// Returns the flows as the books see them.
    pub(crate) fn itineraries(&self) -> Vec<Itinerary> {
        self.iter().map(Flow::itinerary).collect()
    }

    /// Returns the origins of their requests by number, at least one.
    pub fn origins(&self) -> impl Iterator<Item = &Origin> {
        self.flows[0].origins()
    }

    /// Returns the number of requests of the longest completed session, without redirects.
    pub fn requests_per_session(&self) -> u32 {
        self.flows.iter().map(Flow::requests_per_session).max().unwrap_or(1)
    }

    /// Returns true if an answer may lead to a further request of its step, so that sessions vary in length.
    pub fn asks_again(&self) -> bool {
        self.flows.iter().any(Flow::asks_again)
    }

    /// Returns the name of each step, which is a target of the run, and whether its answer is a stream.
    pub fn streams(&self) -> impl Iterator<Item = (&str, bool)> {
        self.iter().flat_map(|flow| &flow.steps).map(|step| (step.name.as_str(), step.reading.is_stream))
    }

    /// Tells of each step whether it asks the server of a language model to repeat the prompt. A body with values asks
    /// if a row does.
    pub fn echoes(&self) -> impl Iterator<Item = bool> {
        self.iter().flat_map(|flow| {
            let asks = |value: &Value| value.rendered().is_some_and(|text| asks_for_echo(text.as_bytes()));
            let rows_ask = flow.rows.as_ref().is_some_and(|rows| rows.values().any(asks));
            flow.steps.iter().map(move |step| {
                let body = step.request.body.written();
                asks_for_echo(&body) || (rows_ask && placeholders(&body).next().is_some())
            })
        })
    }

    /// Returns the targets of a run, one per step. Only the first step of the first flow has its whole request.
    pub fn requests(&self) -> RequestSet {
        let steps = |is_sample| {
            let targets = self.flows.iter().enumerate().flat_map(|(nth, flow)| flow.targets(nth == 0, is_sample));
            RequestSet::from_steps(targets.collect()).expect("a flow has a step")
        };
        let requests = steps(false).hashed_as(&steps(true));
        let fed: Vec<_> = self.flows.iter().filter_map(|flow| flow.rows.as_ref()).collect();
        let Some(rows) = fed.first() else { return requests };
        let hash = fed.iter().fold(0, |hash, rows| mix64(hash) ^ rows.hash());
        requests.fed(rows.len() as u32, rows.order, rows.seed, hash)
    }
}

/// Refuses calls beside requests of HTTP.
fn check_protocol(flows: &[Flow]) -> Result<(), FlowsError> {
    let find = |calls: bool| flows.iter().find(|flow| flow.makes_calls() == calls).map(|flow| flow.name.clone());
    match (find(true), find(false)) {
        (Some(calls), Some(requests)) => Err(FlowsError::Protocols { calls, requests }),
        _ => Ok(()),
    }
}

/// Gives all flows the combined list of origins, and renumbers the origins of their steps.
fn share_origins(flows: &mut [Flow]) {
    let mut all = Origins::default();
    for flow in &mut *flows {
        let numbers: Vec<u32> = flow.origins.iter().map(|origin| all.add(origin.clone())).collect();
        flow.steps.iter_mut().for_each(|step| step.request.origin = numbers[step.request.origin as usize]);
    }
    flows.iter_mut().for_each(|flow| flow.origins = all.clone());
}

/// Returns the name of a file without the extension `.hurl`.
fn short_name(name: &str) -> String {
    let path = Path::new(name);
    let is_hurl = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("hurl"));
    let stem = path.file_stem().filter(|_| is_hurl);
    stem.map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned())
}
