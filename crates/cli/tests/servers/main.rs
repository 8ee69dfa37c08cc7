//! Real servers: nginx, Go, Node, gRPC in four languages, gorilla, Redis, and an application with logins. Every answer
//! is counted with its status, and the server's own count of its requests agrees.
//!
//! `make test-tools` installs the servers and runs these tests; `make test` leaves them out.

#[allow(dead_code, reason = "the other tests use the rest of it")]
#[path = "../cli/support.rs"]
mod support;

mod application;
mod counting_server;
mod flows;
mod go;
mod grpc;
mod grpc_servers;
#[path = "../../../../tests/missing.rs"]
mod missing;
mod nginx;
mod node;
mod program;
mod redis;
mod test_requests;
mod websocket;

use std::collections::BTreeMap;

use program::ServerProcess;
use serde_json::Value;
use support::{CommandOutput, TestDir, assert_balanced};
use test_requests::{Logged, check, check_answers, check_framing, write_targets};

/// Arrivals of one run: many for each request.
const ARRIVALS: &str = "300";
/// Limit on the connections at once.
const CONNECTIONS: u64 = 6;
/// Number of requests after which a server closes a connection, if told to.
const MAX_REQUESTS_PER_CONNECTION: u32 = 7;

/// The limit of requests per connection in HTTP/2, which has more requests in flight.
const MAX_STREAMS_PER_CONNECTION: u32 = 100;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ConnectionUse {
    /// For many requests.
    Kept,
    /// For one request, because the client closes it.
    Once,
    /// For a few requests, because the server closes it.
    AFewTimes,
}

/// Protocols: the name of an origin, and true for HTTP/2.
const PROTOCOLS: [(&str, bool); 4] = [("http", false), ("https", false), ("h2c", true), ("h2", true)];

/// Offers the load with each use of connections and in each protocol, and compares the counts of both sides.
fn in_each_way(start: impl Fn(&TestDir, Option<u32>) -> ServerProcess) {
    let dir = TestDir::new();
    check_framing(start(&dir, None).origin("http"));
    for way in [ConnectionUse::Kept, ConnectionUse::Once, ConnectionUse::AFewTimes] {
        for (protocol, is_http2) in PROTOCOLS {
            // Connections of HTTP/2 are always kept. Their end is tested below.
            if is_http2 && way != ConnectionUse::Kept {
                continue;
            }
            let dir = TestDir::new();
            let served = start(&dir, (way == ConnectionUse::AFewTimes).then_some(MAX_REQUESTS_PER_CONNECTION));
            let run = offer(&dir, served.origin(protocol), way, is_http2, ("1000", CONNECTIONS));
            let log = served.stop();
            assert_balanced(&run);
            check(&run, &log);
            check_connections(&run, &log, way);
        }
    }
}

/// Offers the load to `origin`, and returns run.json, which must be valid.
fn offer(dir: &TestDir, origin: &str, way: ConnectionUse, is_http2: bool, load: (&str, u64)) -> Value {
    let output = offered(dir, origin, way, is_http2, load);
    let run = output.json();
    output.assert_code(&run, 0);
    run
}

fn offered(
    dir: &TestDir,
    origin: &str,
    way: ConnectionUse,
    is_http2: bool,
    (rate, connections): (&str, u64),
) -> CommandOutput {
    let targets = write_targets(dir, "targets.txt", origin);
    let connections = connections.to_string();
    let mut arguments = vec!["run", "--targets", targets, "-r", rate, "-n", ARRIVALS, "-c", &connections];
    arguments.extend(["--no-preflight", "--json", "--quiet", "--no-save"]);
    if origin.starts_with("https") {
        arguments.extend(["--ca", "cert.pem"]);
    }
    if is_http2 {
        arguments.push("--http2");
    }
    if way == ConnectionUse::Once {
        arguments.push("--no-keepalive");
    }
    dir.truetail(&arguments)
}

/// Returns the number of requests that the server saw on each connection.
fn requests_on_each(log: &[Logged]) -> BTreeMap<u16, u64> {
    let mut on_each = BTreeMap::new();
    log.iter().for_each(|line| *on_each.entry(line.client_port).or_default() += 1);
    on_each
}

/// Checks that the server saw as many connections as the run opened, and not too many requests on each.
fn check_connections(run: &Value, log: &[Logged], way: ConnectionUse) {
    let on_each = requests_on_each(log);
    let opened = run["generator"]["connections_opened"].as_u64().expect("a count");
    assert_eq!(opened, on_each.len() as u64, "{way:?}");
    let most = on_each.values().max().copied().expect("a connection");
    match way {
        ConnectionUse::Kept => {
            // nginx closes a connection after a 500.
            let broken = log.iter().filter(|line| line.status == 500).count() as u64;
            assert!(opened <= CONNECTIONS + broken, "{opened} connections were opened");
        }
        ConnectionUse::Once => assert_eq!((opened, most), (log.len() as u64, 1)),
        ConnectionUse::AFewTimes => {
            assert!(most <= u64::from(MAX_REQUESTS_PER_CONNECTION), "{most} requests on one connection")
        }
    }
}

#[test]
#[ignore = "needs other people's servers: make test-tools"]
fn nginx() {
    if let Some(program) = nginx::find() {
        in_each_way(|dir, most_on_one| nginx::start(&program, dir, most_on_one));
    }
}

/// nginx says with GOAWAY which request it accepted last. Later ones are sent again elsewhere, so no arrival is lost.
#[test]
#[ignore = "needs other people's servers: make test-tools"]
fn nginx_goes_away_from_connections_of_http2() {
    let Some(program) = nginx::find() else { return };
    for (protocol, rate) in [("h2c", "300"), ("h2", "300"), ("h2c", "20000")] {
        let dir = TestDir::new();
        let served = nginx::start(&program, &dir, Some(MAX_STREAMS_PER_CONNECTION));
        // A slow machine is saturated by the highest rate. What is lost counts here, and not how soon it was answered.
        let run = offered(&dir, served.origin(protocol), ConnectionUse::Kept, true, (rate, 1)).json();
        let log = served.stop();
        assert_balanced(&run);
        check_answers(&run, &log);
        let of = |value: &Value| value.as_u64().unwrap_or_default();
        let answered = of(&run["tally"]["responses"]);
        let gone = of(&run["causes"]["gone_away"]);
        assert_eq!(answered + gone, of(&run["tally"]["planned"]), "{} {}", run["tally"], run["causes"]);
        let on_each = requests_on_each(&log);
        // nginx allows 128 requests at once, so at most 228 can have been sent on the first connection.
        assert!(
            on_each.len() > 1 && on_each.values().all(|n| *n <= u64::from(MAX_STREAMS_PER_CONNECTION)),
            "{on_each:?}"
        );
    }
}

#[test]
#[ignore = "needs other people's servers: make test-tools"]
fn flows_at_nginx() {
    if let Some(program) = nginx::find() {
        flows::follow(|dir| nginx::start(&program, dir, None));
    }
}

#[test]
#[ignore = "needs other people's servers: make test-tools"]
fn flows_at_go_and_node() {
    if let Some(program) = go::build() {
        flows::follow(|dir| go::start(&program, dir, None));
    }
    if node::is_here() {
        flows::follow(|dir| node::start(dir, None));
    }
}

#[test]
#[ignore = "needs other people's servers: make test-tools"]
fn a_shop_with_logins() {
    if let Some(modules) = application::find() {
        application::shop(&modules);
    }
}

#[test]
#[ignore = "needs other people's servers: make test-tools"]
fn go() {
    if let Some(program) = go::build() {
        in_each_way(|dir, most_on_one| go::start(&program, dir, most_on_one));
    }
}

#[test]
#[ignore = "needs other people's servers: make test-tools"]
fn node() {
    if node::is_here() {
        in_each_way(node::start);
    }
}
