//! Targets at several origins: each request goes to its own origin, over connections to that origin.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::support::http2::{Honest, in_http2};
use crate::support::tls::{self, TlsPuppet, secured, trusting, usual};
use crate::support::{Act, Puppet, closed, nobody, ok, open, run};
use truetail_engine::{
    AddressOverrides, FeedOrder, Method, Origin, Plan, PreflightError, Request, RequestSet, Target, TargetError,
    TargetRequests, preflight,
};
use truetail_model::record::Metric;
use truetail_model::time::Nanos;

/// Returns a target with one entry for each URL and weight, each at a separate origin.
pub fn mixed(urls: &[(&str, u32)]) -> Target {
    let (mut targets, mut origins): (Vec<TargetRequests>, Vec<Origin>) = (Vec::new(), Vec::new());
    for (nth, (url, weight)) in (0..).zip(urls) {
        let request = Request::new(Method::Get, url, &[], Vec::new()).unwrap();
        let mut target = TargetRequests::new(Method::Get, (*url).to_owned(), *weight).at_origin(nth);
        target.push(&request.parts());
        targets.push(target);
        origins.push(request.origin());
    }
    let requests = RequestSet::new(targets, 0, FeedOrder::InOrder, 1).unwrap();
    Target::for_origins(requests, origins, &AddressOverrides::default()).unwrap()
}

fn at(plan: Plan, target: Target) -> Plan {
    Plan { target, ..plan }
}

/// Returns how many arrivals the choice gives to each target.
fn expected(target: &Target, arrivals: u64) -> Vec<u64> {
    (0..arrivals).fold(vec![0; target.origins().len()], |mut counts, index| {
        counts[target.requests().choose(index).target as usize] += 1;
        counts
    })
}

#[test]
fn one_with_tls_and_one_without_get_what_the_choice_says() {
    let plain = Puppet::start(|_| Act::Send(ok()));
    let secure = TlsPuppet::start(usual(), |_| tls::Act::Send(ok()));
    let target = mixed(&[(&plain.url(), 3), (&secure.url(), 1)]);
    let expected = expected(&target, 600);
    let mut plan = secured(at(open(&plain.url(), 1500.0, 600), target), &trusting());
    plan.threads = Some(2);
    let measured = run(&plan);
    assert_eq!(measured.snapshot.tally.responses, 600, "{:?}", measured.snapshot.causes);
    assert_eq!([plain.seen(), secure.requests.load(Ordering::SeqCst)], expected[..]);
    let of_targets: Vec<u64> = measured.by_target.iter().map(|target| target.tally.responses).collect();
    assert_eq!(of_targets, expected);
    // Only connections with TLS have a handshake.
    let handshakes = measured.snapshot.metric(Metric::TlsHandshakeTime).count();
    assert_eq!(handshakes, secure.connections.load(Ordering::SeqCst));
    assert!(handshakes < measured.generator.connections_opened);
}

#[test]
fn users_who_change_the_origin_keep_their_connections() {
    let [one, two] = [(); 2].map(|()| Puppet::start(|_| Act::Send(ok())));
    let target = mixed(&[(&one.url(), 1), (&two.url(), 1)]);
    assert_eq!(target.url(), format!("http://{} and http://{}", one.address, two.address));
    let mut plan = at(closed(&one.url(), 3, 600), target.clone());
    plan.threads = Some(1);
    let measured = run(&plan);
    assert_eq!([one.seen(), two.seen()], expected(&target, 600)[..]);
    assert!(measured.generator.connections_opened <= 6, "{}", measured.generator.connections_opened);
    // The user's limit applies to both origins together.
    plan.workload.limits.connections = Some(3);
    let limited = run(&plan).generator;
    assert!(limited.connections_peak <= 3 && limited.connections_opened > 6, "{limited:?}");
}

#[test]
fn in_http2_each_origin_has_connections_that_its_requests_share() {
    let [one, two] = [(); 2].map(|()| Honest::start(100, Duration::from_millis(5), b"ok".to_vec()));
    let target = mixed(&[(&one.url(), 2), (&two.url(), 1)]);
    let expected = expected(&target, 600);
    let mut plan = in_http2(at(open(&one.url(), 2000.0, 600), target));
    plan.threads = Some(1);
    let measured = run(&plan);
    assert_eq!(measured.snapshot.tally.responses, 600, "{:?}", measured.snapshot.causes);
    assert_eq!([one.seen(), two.seen()], expected[..]);
    assert_eq!([&one, &two].map(|server| server.connections.load(Ordering::SeqCst)), [1, 1]);
    for server in [&one, &two] {
        let authority = server.address.to_string();
        assert!(server.asked.lock().unwrap().iter().all(|asked| asked.contains(&authority)));
    }
}

#[test]
fn what_one_origin_allows_at_once_holds_up_its_own_requests_alone() {
    // Two at a time, 20 ms each, at 200/s: they queue up in the generator. The other origin has room for all.
    let narrow = Honest::start(2, Duration::from_millis(20), b"ok".to_vec());
    let wide = Honest::start(200, Duration::from_millis(20), b"ok".to_vec());
    let target = mixed(&[(&narrow.url(), 1), (&wide.url(), 1)]);
    let mut plan = in_http2(at(open(&narrow.url(), 400.0, 200), target));
    plan.threads = Some(1);
    let measured = run(&plan);
    assert_eq!(measured.snapshot.tally.responses, 200, "{:?}", measured.snapshot.causes);
    assert!(narrow.at_once.load(Ordering::SeqCst) <= 2);
    let slowest = |nth: usize| {
        let times = &measured.snapshot.targets[nth];
        times.metric(Metric::ResponseTime).unwrap().max().unwrap()
    };
    // A hundred requests, two at a time, take a second. Requests to the other origin waited for none of them.
    assert!(slowest(0) >= Nanos::from_millis(400), "{} {}", slowest(0), slowest(1));
    assert!(slowest(1) < slowest(0), "{} {}", slowest(0), slowest(1));
    let waited = measured.snapshot.metric(Metric::ConnectionWait).max().unwrap();
    assert!(waited >= Nanos::from_millis(300), "{waited}");
}

/// Returns a listener that accepts connections and stays silent.
fn silent() -> std::net::TcpListener {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap()
}

#[test]
fn a_silent_origin_holds_up_no_other() {
    let silent = silent();
    let quick = Honest::start(100, Duration::from_millis(1), b"ok".to_vec());
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let target = mixed(&[(&url, 1), (&quick.url(), 1)]);
    let expected = expected(&target, 400);
    let mut plan = in_http2(at(open(&url, 800.0, 400), target));
    plan.threads = Some(1);
    plan.workload.limits.drain = Nanos::from_millis(300);
    let measured = run(&plan);
    assert_eq!(quick.seen(), expected[1], "{:?}", measured.snapshot.tally);
    // The quick origin was never delayed by the silent one, whose requests wait until the end of the run.
    assert_eq!(measured.by_target[1].tally.responses, expected[1]);
    assert_eq!(measured.by_target[0].tally.responses, 0);
}

#[test]
fn a_request_that_waits_for_room_has_its_timeout_before_it() {
    // One at a time, with answers that take much longer than the timeout. The next request still has its full timeout.
    let narrow = Honest::start(1, Duration::from_secs(20), b"ok".to_vec());
    let other = Honest::start(100, Duration::ZERO, b"ok".to_vec());
    let target = mixed(&[(&narrow.url(), 1), (&other.url(), 1)]);
    let mut plan = in_http2(at(open(&narrow.url(), 1000.0, 12), target));
    plan.threads = Some(1);
    plan.workload.limits.timeout = Some(Nanos::from_millis(200));
    let measured = run(&plan);
    let of_narrow = &measured.by_target[0].tally;
    // Each of them was sent, and gave the stream to the next one when it timed out.
    assert_eq!((of_narrow.timed_out, of_narrow.responses), (of_narrow.planned, 0), "{of_narrow:?}");
    assert_eq!(narrow.seen(), of_narrow.planned);
    assert_eq!(measured.by_target[1].tally.responses, measured.by_target[1].tally.planned);
}

#[test]
fn users_on_several_workers_have_a_connection_to_each_origin() {
    let [one, two] = [(); 2].map(|()| Puppet::start(|_| Act::Send(ok())));
    let mut plan = at(closed(&one.url(), 5, 1000), mixed(&[(&one.url(), 1), (&two.url(), 1)]));
    plan.threads = Some(4);
    let measured = run(&plan);
    assert_eq!(measured.snapshot.tally.responses, 1000);
    assert!(measured.generator.connections_opened <= 10, "{}", measured.generator.connections_opened);
}

#[test]
fn origins_of_two_schemes_do_not_go_together_in_http2() {
    let refused = mixed(&[("http://127.0.0.1:1/", 1), ("https://127.0.0.1:2/", 1)]).use_http2().unwrap_err();
    assert!(matches!(refused, TargetError::SchemesInHttp2 { .. }), "{refused}");
    assert!(refused.to_string().contains("http://127.0.0.1:1 and https://127.0.0.1:2"), "{refused}");
}

#[test]
fn each_origin_is_tried_before_the_load() {
    let puppet = Puppet::start(|_| Act::Send(ok()));
    let (_held, address) = nobody();
    let mut target = mixed(&[(&puppet.url(), 1), (&format!("http://{address}/"), 1)]);
    match preflight(&mut target, Nanos::from_secs(10)) {
        Err(error @ PreflightError::At { .. }) => {
            assert_eq!(error.asked_for(&target), format!("http://{address}"));
            assert!(matches!(error.innermost(), PreflightError::Connect { .. }), "{error}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(puppet.seen(), 0, "nothing is asked for where one is missing");
}
