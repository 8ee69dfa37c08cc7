//! Every tool there is.

use crate::{
    Tool, ab, autocannon, gatling, h2load, hey, hyperfoil, jmeter, k6, locust, oha, truetail, vegeta, wrk, wrk2,
};

/// Every tool, in the order in which the documents name them.
#[rustfmt::skip]
pub fn all() -> &'static [&'static dyn Tool] {
    &[
        &ab::Ab,
        &hey::Hey,
        &wrk::Wrk,
        &wrk2::Wrk2,
        &vegeta::Vegeta,
        &k6::K6::ConstantVus,
        &k6::K6::ConstantArrivalRate,
        &jmeter::JMeter::ThreadGroup,
        &jmeter::JMeter::PreciseThroughput,
        &locust::Locust,
        &gatling::Gatling,
        &hyperfoil::Hyperfoil,
        &oha::Oha,
        &h2load::H2load,
        &autocannon::Autocannon,
        &truetail::Truetail::Open,
        &truetail::Truetail::Closed,
    ]
}

/// Their names.
pub fn names() -> Vec<&'static str> {
    all().iter().map(|tool| tool.name()).collect()
}

/// The tool of that name.
pub fn by_name(name: &str) -> Option<&'static dyn Tool> {
    all().iter().copied().find(|tool| tool.name() == name)
}
