//! What a flow costs: processor time of the worker for each request of a flow of three steps with one header capture, beside
//! the same sessions with requests that were made before the run.
//!
//! `cargo run --release -p truetail-flow --example cost [SESSIONS_PER_SECOND] [ROUNDS]`

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use truetail_engine::{Control, Plan, Target};
use truetail_flow::{Flow, FlowRun};
use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};

const FLOW: &str = r#"GET {{host}}/login
HTTP 200
[Captures]
token: header "X-Token"

GET {{host}}/items
X-Token: {{token}}
HTTP 200

GET {{host}}/item
X-Token: {{token}}
HTTP 200
"#;
const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nX-Token: 5f1c20aa7\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok";
const SECONDS: u64 = 4;

fn main() {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u64>().expect("a number"));
    let (rate, rounds) = (numbers.next().unwrap_or(2000), numbers.next().unwrap_or(5));
    let address = start_server();
    println!("round,plain_ns_per_request,flow_ns_per_request,plain_requests,flow_requests");
    for round in 0..rounds {
        let (plain, flow) = (measure(address, rate, false), measure(address, rate, true));
        println!("{round},{:.0},{:.0},{},{}", plain.0, flow.0, plain.1, flow.1);
    }
}

/// Processor time of the worker for each request, in nanoseconds, and how many requests were answered.
fn measure(address: SocketAddr, rate: u64, is_flow: bool) -> (f64, u64) {
    let host = ("host".to_owned(), format!("http://{address}"));
    let flow = Flow::parse("cost.hurl", FLOW, &[host], &|path| Err(path.to_owned())).expect("a flow");
    let sessions = Schedule {
        profile: Profile::constant(format!("{rate}/s").parse().expect("a rate")),
        spacing: Spacing::Even,
        seed: 1,
        horizon: Horizon { duration: Some(Nanos::from_secs(SECONDS)), requests: None },
    };
    let model = LoadModel::PartlyOpen { sessions, requests_per_session: 3, think_time: Nanos::ZERO };
    let target = if is_flow {
        Target::of(flow.requests(), flow.origin().clone(), &Default::default())
    } else {
        Target::resolve(truetail_engine::Method::Get, &format!("http://{address}/items"), &[], Vec::new())
    };
    let workload = Workload { model, limits: Limits::default(), warmup: Nanos::ZERO };
    let mut plan = Plan::new(workload, target.expect("a target"));
    plan.threads = Some(1);
    if is_flow {
        plan.observer = Some(FlowRun::new(flow, Timestamp::ZERO, 1, 0).observer_factory());
    }
    let output = truetail_engine::run(&plan, &Control::new()).expect("a run");
    let cpu = output.generator.cpu;
    let responses = output.snapshot.tally.responses;
    ((cpu.user_ns + cpu.system_ns) as f64 / responses as f64, responses)
}

fn start_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    address
}

/// Answers whatever comes: each request comes whole, in one read.
fn serve(mut stream: TcpStream) {
    let mut buffer = [0; 4096];
    while stream.read(&mut buffer).is_ok_and(|count| count > 0) {
        if stream.write_all(ANSWER).is_err() {
            return;
        }
    }
}
