//! The same load as sessions of one request each, which a script makes during the run.

use truetail_engine::{
    AddressOverrides, AnswerHead, AnswerReader, EndedRequest, HttpVersion, NextRequest, ObserverFactory, Plan,
    RequestId, RequestParts, RequestSet, SessionScript, Target, TargetRequests,
};
use truetail_model::arrival::Arrival;
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::LoadModel;

/// Returns an open plan, and the plan with a session for each arrival.
pub fn both(plan: Plan) -> [Plan; 2] {
    [plan.clone(), scripted(plan)]
}

/// Turns each arrival of an open plan into a session with the arrival's one request.
pub fn scripted(mut plan: Plan) -> Plan {
    let LoadModel::Open(sessions) = plan.workload.model else { panic!("an open plan") };
    plan.workload.model = LoadModel::PartlyOpen { sessions, requests_per_session: 1, think_time: Nanos::ZERO };
    let requests = plan.target.requests().clone();
    let steps = (0..).zip(requests.targets()).map(|(nth, target)| {
        let mut step = TargetRequests::new(target.method().clone(), target.url().to_owned(), 1);
        step.push(&requests.view(RequestId { target: nth, row: 0 }).to_parts());
        step
    });
    let steps = RequestSet::from_steps(steps.collect()).unwrap();
    let mut target = Target::for_origin(steps, plan.target.origin().clone(), &AddressOverrides::default()).unwrap();
    if plan.target.protocol().http_version() == Some(HttpVersion::Http2) {
        target.use_http2().unwrap();
    }
    plan.target.trace_facts().into_iter().for_each(|facts| target.trace(facts.clone()).unwrap());
    plan.target = target;
    plan.observer = Some(ObserverFactory::with_script(move || Box::new(OneRequestEach(requests.clone()))));
    plan
}

struct OneRequestEach(RequestSet);

impl AnswerReader for OneRequestEach {
    fn head(&mut self, _: u32, _: AnswerHead<'_>) {}

    fn body(&mut self, _: u32, _: &[u8]) {}

    fn end(&mut self, _: u32, _: EndedRequest) {}

    fn script(&mut self) -> Option<&mut dyn SessionScript> {
        Some(self)
    }
}

impl SessionScript for OneRequestEach {
    fn next_request(&mut self, _: u32, number: u64, _: Arrival, request: &mut RequestParts) -> Option<NextRequest> {
        let id = self.0.choose(number);
        *request = self.0.view(id).to_parts();
        Some(NextRequest { target: id.target, origin: 0 })
    }

    fn think(&mut self, _: u32) -> Option<Nanos> {
        None
    }

    fn never_issued(&mut self, _: Option<u32>, _: u64, _: Arrival, _: Timestamp) -> u32 {
        0
    }
}
