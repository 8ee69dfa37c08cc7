//! Measures the worker's processor time per request for a flow of three steps with one header capture, compared with
//! the same sessions with requests that were made before the run.
//!
//! `cargo run --release -p truetail-flow --example cost [SESSIONS_PER_SECOND] [ROUNDS] [http1|http2]`

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use truetail_engine::{Control, HttpVersion, Plan, Target};
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
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |nth: usize, usual: u64| words.get(nth).map_or(usual, |word| word.parse().expect("a number"));
    let rate = number(0, 2000);
    let rounds = number(1, 5);
    let version = match words.get(2).map(String::as_str) {
        None | Some("http1") => HttpVersion::Http1,
        Some("http2") => HttpVersion::Http2,
        Some(other) => panic!("'{other}' is neither http1 nor http2"),
    };
    let address = start_server(version);
    println!("round,plain_ns_per_request,flow_ns_per_request,plain_requests,flow_requests");
    for round in 0..rounds {
        let plain = measure(address, version, rate, false);
        let flow = measure(address, version, rate, true);
        println!("{round},{:.0},{:.0},{},{}", plain.0, flow.0, plain.1, flow.1);
    }
}

/// Returns the worker's processor time per request, in nanoseconds, and the number of answers.
fn measure(address: SocketAddr, version: HttpVersion, rate: u64, is_flow: bool) -> (f64, u64) {
    let host = ("host".to_owned(), format!("http://{address}"));
    let flow = Flow::parse("cost.hurl", FLOW, &[host], &|path| Err(path.to_owned()))
        .expect("a flow")
        .over(version)
        .expect("a flow in this version");
    let sessions = Schedule {
        profile: Profile::constant(format!("{rate}/s").parse().expect("a rate")),
        spacing: Spacing::Even,
        seed: 1,
        horizon: Horizon { duration: Some(Nanos::from_secs(SECONDS)), requests: None },
    };
    let model = LoadModel::PartlyOpen { sessions, requests_per_session: 3, think_time: Nanos::ZERO };
    let target = if is_flow {
        Target::for_origins(flow.requests(), flow.origins().cloned().collect(), &Default::default())
    } else {
        Target::resolve(truetail_engine::Method::Get, &format!("http://{address}/items"), &[], Vec::new())
    };
    let workload = Workload { model, limits: Limits::default(), warmup: Nanos::ZERO };
    let mut plan = Plan::new(workload, target.expect("a target"));
    plan.threads = Some(1);
    if version == HttpVersion::Http2 {
        plan.target.use_http2().expect("HTTP/2");
    }
    if is_flow {
        plan.observer = Some(FlowRun::new(flow, Timestamp::ZERO, 1, 0).observer_factory());
    }
    let output = truetail_engine::run(&plan, &Control::new()).expect("a run");
    let cpu = output.generator.cpu;
    let responses = output.snapshot.tally.responses;
    (cpu.total_ns() as f64 / responses as f64, responses)
}

fn start_server(version: HttpVersion) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || match version {
        HttpVersion::Http1 => {
            listener.incoming().flatten().for_each(|stream| drop(std::thread::spawn(|| serve(stream))))
        }
        HttpVersion::Http2 => serve_http2(listener),
    });
    address
}

/// Gives every stream of every connection the same answer.
fn serve_http2(listener: TcpListener) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        listener.set_nonblocking(true).expect("a socket");
        let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                let Ok(mut connection) = h2::server::handshake(socket).await else { return };
                while let Some(Ok((_, mut respond))) = connection.accept().await {
                    let answer = http::Response::builder().header("x-token", "5f1c20aa7").body(()).expect("an answer");
                    let sent = respond.send_response(answer, false);
                    let _ = sent.and_then(|mut body| body.send_data(bytes::Bytes::from_static(b"ok"), true));
                }
            });
        }
    });
}

/// Answers every read, because each request comes whole in one read.
fn serve(mut stream: TcpStream) {
    let mut buffer = [0; 4096];
    while stream.read(&mut buffer).is_ok_and(|count| count > 0) {
        if stream.write_all(ANSWER).is_err() {
            return;
        }
    }
}
