//! Flows whose requests go to several origins: connections, cookies and redirects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use truetail_engine::{AddressOverrides, HttpVersion};
use truetail_flow::Flow;
use truetail_model::record::Metric;
use truetail_model::time::Nanos;
use truetail_model::workload::Limits;
use truetail_run::{EarlyEnd, SessionTally};

use crate::runs::{Measured, SESSIONS, measure_at};
use crate::server::{Answer, Asked};
use crate::server_http2::{Versioned, in_both};

/// A login at one origin, two requests with its cookie and its token at another, and a goodbye at the first.
const FLOW: &str = r#"
# truetail: name login
POST {{login}}/login
[BasicAuth]
me: secret
HTTP 200
[Captures]
me: jsonpath "$.id"

# truetail: name list
GET {{api}}/{{me}}/list
HTTP 200

# truetail: name item
GET {{api}}/{{me}}/item
[Options]
delay: 10ms
HTTP 200

# truetail: name bye
GET {{login}}/{{me}}/bye
HTTP 200
"#;

/// Sets four cookies: for its host, for all hosts of the shop, for another shop, and for a whole top-level domain.
fn login(number: u64, asked: &Asked) -> Answer {
    let cookies = ["host=1", "shop=2; Domain=.Shop.test", "other=3; Domain=other.test", "all=4; Domain=test"];
    let fields = cookies.map(|cookie| format!("Set-Cookie: {cookie}; Path=/"));
    match asked.line.starts_with("POST /login ") {
        true => (200, fields.to_vec(), format!("{{\"id\": {number}}}")),
        false => (200, Vec::new(), String::new()),
    }
}

fn ok(_: u64, _: &Asked) -> Answer {
    (200, Vec::new(), String::new())
}

/// Runs the flow with a login at `login.shop.test` and the rest at `api.shop.test`, which lead to these servers.
fn run(text: &str, login: &Versioned, api: &Versioned, limits: Limits) -> Measured {
    let servers = [("login", login), ("api", api)];
    let host = |(name, at): (&str, &Versioned)| format!("{name}.shop.test:{}", at.address.port());
    let variables = servers.map(|server| (server.0.to_owned(), format!("http://{}", host(server))));
    let flow = Flow::parse("a.hurl", text, &variables, &|path| Err(format!("no {path}"))).unwrap();
    let resolve = servers.map(|server| format!("{}:{}", host(server), server.1.address.ip()).parse().unwrap());
    let way = AddressOverrides { resolve: resolve.to_vec(), unix_socket: None };
    measure_at(flow, login.version, limits, &way)
}

/// Servers of both versions, in pairs.
fn pairs(
    login: impl Fn(u64, &Asked) -> Answer + Send + Sync + 'static,
    api: impl Fn(u64, &Asked) -> Answer + Send + Sync + 'static,
) -> Vec<(Versioned, Versioned)> {
    in_both(login).into_iter().zip(in_both(api)).collect()
}

fn completed() -> SessionTally {
    SessionTally { planned: SESSIONS, begun: SESSIONS, completed: SESSIONS, ..SessionTally::default() }
}

/// Returns the connections on which each session was seen after its login.
fn connections(server: &Versioned) -> BTreeMap<String, BTreeSet<usize>> {
    let mut sessions: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for asked in &*server.asked.lock().unwrap() {
        let session = asked.line.split([' ', '/']).nth(2).unwrap().to_owned();
        if session != "login" {
            sessions.entry(session).or_default().insert(asked.connection);
        }
    }
    sessions
}

#[test]
fn each_request_goes_to_its_origin_with_the_right_cookies() {
    for (login, api) in pairs(login, ok) {
        let measured = run(FLOW, &login, &api, Limits::default());
        assert_eq!(measured.facts.tally, completed(), "{:?}", measured.examples);
        let counts = [login.count("POST /login "), login.count("GET "), api.count("GET "), api.count("POST ")];
        assert_eq!(counts, [SESSIONS, SESSIONS, 2 * SESSIONS, 0]);
        let asked = api.asked.lock().unwrap();
        let cookies: BTreeSet<_> = asked.iter().map(|asked| asked.field("cookie")).collect();
        assert_eq!(cookies, BTreeSet::from([Some("shop=2")]));
        assert!(asked.iter().all(|asked| asked.field("authorization").is_none()));
        let asked = login.asked.lock().unwrap();
        let byes = asked.iter().filter(|asked| asked.line.contains("/bye"));
        assert!(byes.clone().all(|bye| bye.field("cookie") == Some("host=1; shop=2")), "{asked:?}");
        assert_eq!(byes.count() as u64, SESSIONS);
        if login.version == HttpVersion::Http2 {
            // One worker, and one connection to each origin.
            assert_eq!(measured.output.generator.connections_opened, 2);
        }
    }
}

#[test]
fn a_limit_on_connections_is_one_on_those_to_all_origins_together() {
    let (login, api) = pairs(login, ok).remove(0);
    let limits = Limits { connections: Some(1), ..Limits::default() };
    let measured = run(&FLOW.replace("delay: 10ms\n", "skip: false\n"), &login, &api, limits);
    assert_eq!(measured.facts.tally, completed(), "{:?}", measured.examples);
    assert_eq!(measured.output.generator.connections_peak, 1);
    // Only one connection is open at a time, so a change of origin closes it and opens another.
    assert!(measured.output.generator.connections_opened >= 3, "{:?}", measured.output.generator);
}

#[test]
fn a_session_may_have_a_connection_to_each_origin() {
    for (login, api) in pairs(login, ok) {
        let limits = Limits { connection_per_session: true, ..Limits::default() };
        let measured = run(FLOW, &login, &api, limits);
        assert_eq!(measured.facts.tally, completed(), "{:?}", measured.examples);
        assert_eq!(measured.output.generator.connections_opened, 2 * SESSIONS);
        for server in [login, api] {
            let of_sessions = connections(&server);
            assert!(of_sessions.values().all(|connections| connections.len() == 1), "{of_sessions:?}");
            let used: BTreeSet<_> = of_sessions.values().flatten().collect();
            assert_eq!((of_sessions.len() as u64, used.len() as u64), (SESSIONS, SESSIONS));
        }
    }
}

#[test]
fn an_origin_that_refuses_connections_costs_its_own_requests_alone() {
    for (login, api) in pairs(login, ok) {
        let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let text = FLOW.replace("{{api}}", &format!("http://nobody.shop.test:{}", nobody.port()));
        let hosts = [(&login, "login"), (&api, "api")];
        let variables = hosts.map(|(server, name)| (name.to_owned(), format!("http://{}", server.address)));
        let flow = Flow::parse("a.hurl", &text, &variables, &|path| Err(format!("no {path}"))).unwrap();
        let resolve = vec![format!("nobody.shop.test:{}:127.0.0.1", nobody.port()).parse().unwrap()];
        let way = AddressOverrides { resolve, unix_socket: None };
        let measured = measure_at(flow, login.version, Limits::default(), &way);
        let steps = &measured.facts.steps;
        assert_eq!((steps[0].reached, steps[1].reached, steps[2].reached), (SESSIONS, SESSIONS, 0));
        let unanswered: u64 = steps[1].ended_here.values().sum();
        assert_eq!((unanswered, measured.output.snapshot.tally.connect_failed), (SESSIONS, SESSIONS), "{steps:?}");
        assert_eq!(measured.output.snapshot.tally.responses, SESSIONS);
    }
}

/// A page of the second origin that redirects to the login at the first one, which redirects back.
const AWAY_AND_BACK: &str = r#"
GET {{api}}/page
X-Mine: {{newUuid}}
[BasicAuth]
me: secret
[Options]
OPTION: true
HTTP 200

GET {{login}}/bye
HTTP 200
"#;

/// Starts the pairs of servers that redirect to each other. `ports` are their ports.
fn away_and_back(ports: &Arc<[AtomicU16; 2]>) -> Vec<(Versioned, Versioned)> {
    let to = |name: &str, port: &AtomicU16, path: &str| -> Answer {
        let location = format!("Location: http://{name}.shop.test:{}{path}", port.load(Ordering::SeqCst));
        (303, vec![location, "Set-Cookie: in=1; Domain=shop.test".to_owned()], String::new())
    };
    let of_login = Arc::clone(ports);
    let of_api = Arc::clone(ports);
    pairs(
        move |number, asked| match asked.line.contains("/login") {
            true => to("api", &of_login[1], "/page?in"),
            false => ok(number, asked),
        },
        move |number, asked| match asked.line.contains("/page?in") {
            true => ok(number, asked),
            false => to("login", &of_api[0], "/login"),
        },
    )
}

#[test]
fn a_redirect_to_another_origin_of_the_flow_carries_no_credentials() {
    let ports = Arc::new([AtomicU16::new(0), AtomicU16::new(0)]);
    for (login, api) in away_and_back(&ports) {
        for (server, port) in [&login, &api].into_iter().zip(&*ports) {
            port.store(server.address.port(), Ordering::SeqCst);
        }
        for (nth, (option, is_told)) in [("location", false), ("location-trusted", true)].into_iter().enumerate() {
            let measured = run(&AWAY_AND_BACK.replace("OPTION", option), &login, &api, Limits::default());
            assert_eq!(measured.facts.tally, completed(), "{:?}", measured.examples);
            let page = &measured.facts.steps[0];
            assert_eq!((page.reached, page.hops, page.most_requests), (SESSIONS, 2 * SESSIONS, 3));
            let rounds = nth as u64 + 1;
            assert_eq!(login.count("GET /login "), rounds * SESSIONS);
            assert_eq!(api.count("GET /page?in "), rounds * SESSIONS);
            let asked = [login.asked.lock().unwrap(), api.asked.lock().unwrap()];
            let hops = asked.iter().flat_map(|asked| asked.iter().skip(nth * 2 * SESSIONS as usize));
            let hops = hops.filter(|asked| asked.line.contains("/login") || asked.line.contains("?in"));
            for hop in hops {
                assert_eq!(hop.field("authorization").is_some(), is_told, "{hop:?}");
                assert!(hop.field("x-mine").is_some() && hop.field("cookie").is_some(), "{hop:?}");
            }
        }
    }
}

#[test]
fn a_redirect_to_an_origin_that_no_request_names_ends_its_session() {
    let (login, api) =
        pairs(|_, _| (302, vec!["Location: http://elsewhere.shop.test/x".to_owned()], String::new()), ok).remove(0);
    let text = "GET {{login}}/a\n[Options]\nlocation-trusted: true\n\nGET {{api}}/b\n";
    let measured = run(text, &login, &api, Limits::default());
    let first = &measured.facts.steps[0];
    assert_eq!(first.ended_here.get(&EarlyEnd::Redirect), Some(&SESSIONS), "{:?}", measured.facts);
    assert_eq!(api.asked.lock().unwrap().len(), 0);
}

#[test]
fn a_step_that_is_slow_at_one_origin_takes_its_time_there() {
    let slow = |number, asked: &Asked| {
        std::thread::sleep(std::time::Duration::from_millis(25));
        ok(number, asked)
    };
    let (login, api) = pairs(login, slow).remove(0);
    let measured = run(FLOW, &login, &api, Limits::default());
    assert_eq!(measured.facts.tally, completed(), "{:?}", measured.examples);
    let fastest = |nth: usize| {
        let times = &measured.output.snapshot.targets[nth];
        times.metric(Metric::ResponseTime).unwrap().min().unwrap()
    };
    assert!([1, 2].map(fastest).iter().all(|time| *time >= Nanos::from_millis(25)), "{} {}", fastest(1), fastest(2));
}
