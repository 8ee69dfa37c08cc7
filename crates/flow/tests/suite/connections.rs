//! Connections per session, and connections that sessions share.

use std::collections::{BTreeMap, BTreeSet};

use truetail_model::record::Metric;
use truetail_model::time::Nanos;
use truetail_model::workload::Limits;

use crate::runs::{Measured, SESSIONS, run_within};
use crate::server::{Answer, Asked, Server};
use crate::server_http2::{Versioned, in_both};

/// A login that gives each session a name, and two steps that repeat the name after 30 ms each.
const FLOW: &str = "GET {{host}}/login\nHTTP 200\n[Captures]\nme: jsonpath \"$.id\"\n\nGET {{host}}/{{me}}/a\n[Options]\ndelay: 30ms\n\n\
                    GET {{host}}/{{me}}/b\n[Options]\ndelay: 30ms\n";

fn named(number: u64, _: &Asked) -> Answer {
    (200, Vec::new(), format!("{{\"id\": {number}}}"))
}

fn limits(connections: Option<u32>) -> Limits {
    Limits { connections, connection_per_session: true, ..Limits::default() }
}

/// Returns the connections on which each session was seen after its login, and the number of connections with a login.
fn seen(server: &Versioned) -> (BTreeMap<String, BTreeSet<usize>>, usize) {
    let asked = server.asked.lock().unwrap();
    let mut sessions: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    let mut logins = BTreeSet::new();
    for asked in &*asked {
        let path = asked.line.split(' ').nth(1).unwrap();
        match path.split('/').collect::<Vec<_>>()[..] {
            ["", session, _] => drop(sessions.entry(session.to_owned()).or_default().insert(asked.connection)),
            _ => drop(logins.insert(asked.connection)),
        }
    }
    (sessions, logins.len())
}

fn connections_opened(measured: &Measured) -> (u64, u64) {
    let generator = &measured.output.generator;
    (generator.connections_opened, generator.connections_peak)
}

#[test]
fn each_session_keeps_one_connection_for_all_its_requests() {
    for server in in_both(named) {
        let measured = run_within(&server, FLOW, limits(None));
        assert_eq!(measured.facts.tally.completed, SESSIONS);
        let (sessions, logins) = seen(&server);
        assert_eq!((sessions.len() as u64, logins as u64), (SESSIONS, SESSIONS));
        assert!(sessions.values().all(|connections| connections.len() == 1), "{sessions:?}");
        let used: BTreeSet<_> = sessions.values().flatten().collect();
        assert_eq!(used.len() as u64, SESSIONS, "nobody had one that somebody else has had");
        assert_eq!(connections_opened(&measured).0, SESSIONS);
    }
}

#[test]
fn a_limit_on_connections_limits_open_sessions_and_delays_the_rest() {
    for server in in_both(named) {
        let measured = run_within(&server, FLOW, limits(Some(2)));
        assert_eq!(measured.facts.tally.completed, SESSIONS);
        let (opened, peak) = connections_opened(&measured);
        assert_eq!((opened, peak <= 2), (SESSIONS, true), "{peak} at once");
        // Two sessions at a time take at least 60 ms each, so the last pair waits for nine pairs.
        let waited = measured.output.snapshot.metric(Metric::ConnectionWait).max().unwrap();
        assert!(waited >= Nanos::from_millis(9 * 60 - 20 * SESSIONS), "{waited}");
    }
}

#[test]
fn a_connection_that_the_server_closes_in_a_session_is_opened_again() {
    let server = Server::start(|number, asked| {
        let (status, _, body) = named(number, asked);
        (status, vec!["Connection: close".to_owned()], body)
    });
    let measured = run_within(&server, FLOW, limits(None));
    assert_eq!(measured.facts.tally.completed, SESSIONS, "{:?}", measured.examples);
    assert_eq!(connections_opened(&measured).0, 3 * SESSIONS, "one for each step");
}

#[test]
fn sessions_share_connections_otherwise() {
    for server in in_both(named) {
        let measured = run_within(&server, FLOW, Limits { connections: Some(2), ..Limits::default() });
        assert_eq!(measured.facts.tally.completed, SESSIONS);
        assert!(connections_opened(&measured).0 <= 2, "{:?}", connections_opened(&measured));
    }
}
