//! The same scenario in virtual time (exact) and on sockets against a server that follows it. These tests hold even if
//! the machine pauses for half a second. `acceptance/run.py` checks how close the two are on a quiet machine.

use crate::support::http2::in_http2;
use crate::support::{ends_early_by, plan, tls};
use truetail_model::record::{Metric, Tally};
use truetail_model::scenario::Scenario;
use truetail_model::service::FaultSet;
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModelKind;
use truetail_server::{Certificate, Ending, Server, ServerOptions, ServerTruth};
use truetail_sim::{SimOptions, simulate};

struct Both {
    sim: truetail_run::Run,
    sockets: truetail_engine::RunOutput,
    truth: ServerTruth,
}

/// Protocol between client and server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Speaking {
    Http1,
    Http1OverTls,
    Http2,
    Http2OverTls,
}

impl Speaking {
    const ALL: [Speaking; 4] = [Speaking::Http1, Speaking::Http1OverTls, Speaking::Http2, Speaking::Http2OverTls];

    fn is_http2(self) -> bool {
        matches!(self, Speaking::Http2 | Speaking::Http2OverTls)
    }

    fn is_secured(self) -> bool {
        matches!(self, Speaking::Http1OverTls | Speaking::Http2OverTls)
    }
}

/// Runs the scenario both ways. Checks that the books are identical, and that the server agrees.
fn both(text: &str) -> Both {
    both_speaking(Speaking::Http1, text)
}

fn both_speaking(speaking: Speaking, text: &str) -> Both {
    let scenario = Scenario::parse(text, "test").unwrap();
    let sim = simulate(&scenario, SimOptions::default()).unwrap();
    let pair = tls::valid();
    let certificate = Certificate::from_pem(pair.certificate.as_bytes(), pair.key.as_bytes()).unwrap();
    let certificate = Some(certificate).filter(|_| speaking.is_secured());
    let options = ServerOptions::new(scenario.service.clone(), "127.0.0.1:0".parse().unwrap());
    let server = Server::start(ServerOptions { certificate, ..options }).unwrap();
    let scheme = if speaking.is_secured() { "https" } else { "http" };
    let mut plan = plan(&format!("{scheme}://{}{}", server.addr(), scenario.path), scenario.workload.model.clone());
    plan.workload = scenario.workload.clone();
    if speaking.is_secured() {
        plan = tls::secured(plan, &tls::trusting());
    }
    if speaking.is_http2() {
        plan = in_http2(plan);
    }
    let sockets = crate::support::run(&plan);
    let truth = server.stop();
    assert_eq!(sockets.snapshot.tally, sim.snapshot.tally, "{speaking:?} {text}");
    // In a closed loop the answers determine the schedule, so it cannot be identical.
    if scenario.workload.model.kind() == LoadModelKind::Open {
        assert_eq!(sockets.snapshot.schedule_hash, sim.snapshot.schedule_hash);
    }
    assert_eq!(sockets.snapshot.statuses, sim.snapshot.statuses);
    assert_eq!(truth.rows.len() as u64, sockets.snapshot.tally.issued);
    Both { sim, sockets, truth }
}

fn quantile(snapshot: &truetail_model::record::Snapshot, q: f64) -> Nanos {
    snapshot.metric(Metric::ResponseTime).quantile(q).unwrap()
}

/// Real time only adds to virtual time, so a quantile on sockets must not be below the exact one. The tolerance is for
/// one arrival more or less in a fault whose clock starts late.
fn at_least_exact(both: &Both, q: f64) {
    let exact = quantile(&both.sim.snapshot, q);
    let real = quantile(&both.sockets.snapshot, q);
    let tolerance = Nanos::from_millis(10) + ends_early_by(&both.sockets);
    assert!(exact.saturating_sub(tolerance) <= real, "q {q}: exact {exact}, on sockets {real}");
}

/// Checks that the median exceeds the exact one only by what a slow machine adds to each request. A pause of half a
/// second and the fault together delay fewer than half of all requests.
fn median_is_near(both: &Both) {
    let exact = quantile(&both.sim.snapshot, 0.5);
    let real = quantile(&both.sockets.snapshot, 0.5);
    assert!(real <= exact + Nanos::from_millis(250), "exact {exact}, on sockets {real}");
}

#[test]
fn a_hiccup_is_seen_whole() {
    let both = both(
        r#"
        name = "hiccup"
        about = "one stall"
        [workload]
        rate = 500
        duration = "3s"
        [service]
        baseline = "10ms"
        [[service.fault]]
        kind = "stall"
        at = "1s"
        for = "500ms"
        "#,
    );
    [0.5, 0.85, 0.9, 0.99, 1.0].into_iter().for_each(|q| at_least_exact(&both, q));
    median_is_near(&both);
}

#[test]
fn every_fault_is_told_apart_as_the_server_meant_it() {
    for speaking in Speaking::ALL {
        faults_are_told_apart(speaking);
    }
}

fn faults_are_told_apart(speaking: Speaking) {
    let both = both_speaking(
        speaking,
        r#"
        name = "faults"
        about = "everything that can go wrong"
        [workload]
        rate = 300
        spacing = "poisson"
        seed = 7
        duration = "2s"
        timeout = "2s"
        [service]
        baseline = "2ms"
        [[service.fault]]
        kind = "reset"
        every = 31
        [[service.fault]]
        kind = "black-hole"
        every = 37
        [[service.fault]]
        kind = "short-body"
        every = 41
        [[service.fault]]
        kind = "garbage"
        every = 43
        [[service.fault]]
        kind = "error-status"
        status = 503
        immediately = true
        every = 10
        [[service.fault]]
        kind = "slow-body"
        over = "20ms"
        every = 23
        "#,
    );
    let ended = |ending| both.truth.rows.iter().filter(|row| row.ending == ending).count() as u64;
    let tally: Tally = both.sockets.snapshot.tally;
    assert_eq!(tally.reset, ended(Ending::Reset));
    assert_eq!(tally.malformed, ended(Ending::ShortBody) + ended(Ending::Garbage));
    assert_eq!(tally.responses, ended(Ending::Answered));
    assert_eq!(tally.timed_out, ended(Ending::BlackHole));
    assert!(tally.reset > 0 && tally.malformed > 0 && tally.timed_out > 0);
    assert!(both.sockets.snapshot.statuses[&503] > 0);
    // In HTTP/2 always the stream is reset.
    if !speaking.is_http2() {
        assert_eq!(both.sockets.snapshot.causes, both.sim.snapshot.causes, "{speaking:?}");
    }
}

#[test]
fn a_queue_that_grows_is_the_servers_and_not_the_generators() {
    let both = both(
        r#"
        name = "saturation"
        about = "500/s can be served, 1000/s arrive"
        [workload]
        rate = 1000
        duration = "2s"
        [service]
        baseline = "10ms"
        concurrency = 5
        "#,
    );
    [0.5, 0.9, 1.0].into_iter().for_each(|q| at_least_exact(&both, q));
    // A pause of half a second delays a quarter of all arrivals.
    let lag = both.sockets.snapshot.metric(Metric::GeneratorLag).quantile(0.5).unwrap();
    let response = both.sockets.snapshot.metric(Metric::ResponseTime).quantile(0.5).unwrap();
    assert!(lag.0 * 2 < response.0, "{lag} of {response}");
}

#[test]
fn a_closed_loop_sees_almost_nothing_of_a_hiccup() {
    let scenario = r#"
        name = "closed"
        about = "ten users through one stall"
        [workload]
        model = "closed"
        users = 10
        requests = 1500
        [service]
        baseline = "10ms"
        [[service.fault]]
        kind = "stall"
        at = "500ms"
        for = "500ms"
        "#;
    let both = both(scenario);
    let all = both.sim.snapshot.metric(Metric::ResponseTime);
    let slow = all.count() - all.count_at_or_below(Nanos::from_millis(400));
    let held = both.truth.rows.iter().filter(|row| row.faults != FaultSet::NONE).count();
    // One for each user, and one more for each if the stall ends slightly late. At this rate, a schedule would have
    // 500.
    assert!(slow == 10 && held <= 20, "{slow} in virtual time, {held} on sockets");
}
