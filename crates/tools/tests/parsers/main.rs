//! Command lines, and parsers on stored outputs: every parsed figure equals the one in the file.

mod ab;
mod aiperf;
mod autocannon;
mod commands;
mod computed;
mod gatling;
mod guidellm;
mod h2load;
mod hey;
mod hyperfoil;
mod inference_perf;
mod jmeter;
mod k6;
mod k6_model;
mod locust;
mod locust_model;
mod oha;
mod outcomes;
mod properties;
mod serving;
mod support;
mod vegeta;
mod wrk;
mod wrk2;

use support::Case;

/// The stored outputs of each tool. A new tool needs a module, with a test of its command line, and a line in this
/// table.
const SUITES: &[(&str, &[Case])] = &[
    ("ab", &ab::CASES),
    ("aiperf", &aiperf::CASES),
    ("autocannon", &autocannon::CASES),
    ("gatling", &gatling::CASES),
    ("guidellm", &guidellm::CASES),
    ("h2load", &h2load::CASES),
    ("hey", &hey::CASES),
    ("hyperfoil", &hyperfoil::CASES),
    ("inference-perf", &inference_perf::CASES),
    ("jmeter-precise-throughput", &jmeter::PRECISE_THROUGHPUT),
    ("jmeter-thread-group", &jmeter::THREAD_GROUP),
    ("k6-constant-arrival-rate", &k6::CONSTANT_ARRIVAL_RATE),
    ("k6-constant-vus", &k6::CONSTANT_VUS),
    ("k6-llm", &k6_model::CASES),
    ("locust", &locust::CASES),
    ("locust-llm", &locust_model::CASES),
    ("oha", &oha::CASES),
    ("sglang", &serving::SGLANG),
    ("vllm", &serving::VLLM),
    ("vllm-max-concurrency", &serving::VLLM_LIMITED),
    ("vegeta", &vegeta::CASES),
    ("wrk", &wrk::CASES),
    ("wrk2", &wrk2::CASES),
];
