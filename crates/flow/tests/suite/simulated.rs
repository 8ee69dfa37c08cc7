//! Flows in virtual time: exact if the truth is known, with the same books as over sockets.

use truetail_engine::{Control, Plan, Target};
use truetail_flow::{Flow, FlowRun, SimulateError, simulate};
use truetail_model::record::{CompactHistogram, Metric};
use truetail_model::scenario::{Scenario, builtin};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{LoadModel, Workload};
use truetail_run::{EarlyEnd, Run, SessionEnding, SessionFacts, SessionTime, TargetBooks};
use truetail_server::{Server, ServerOptions};
use truetail_sim::SimOptions;

/// The sample flow of the scenario.
const SHOP: &str = include_str!("../../../../scenarios/07-login-that-stalls/shop.hurl");

fn flow(text: &str, host: &str) -> Flow {
    let host = ("host".to_owned(), host.to_owned());
    Flow::parse("a.hurl", text, &[host], &|path| Err(format!("no {path}"))).unwrap()
}

fn scenario(workload: &str, service: &str) -> Scenario {
    let text = format!("[workload]\n{workload}\n[service]\n{service}");
    Scenario::parse(&text, "a.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn simulated(text: &str, scenario: &Scenario) -> Run {
    let run = simulate(&flow(text, "http://127.0.0.1:1").into(), scenario, SimOptions::default()).unwrap();
    run.snapshot.tally.check().unwrap();
    assert_eq!((sessions(&run).imbalance(), sessions(&run).imbalance_of_sample()), (None, None));
    run
}

fn sessions(run: &Run) -> &SessionFacts {
    run.facts.sessions.as_ref().unwrap()
}

/// Runs the flow over sockets against a server of the scenario.
fn measured(text: &str, scenario: &Scenario) -> (SessionFacts, Vec<TargetBooks>) {
    let options = ServerOptions::new(scenario.service.clone(), "127.0.0.1:0".parse().unwrap());
    let server = Server::start(options).unwrap();
    let flow = flow(text, &format!("http://{}", server.addr()));
    let LoadModel::Open(sessions) = &scenario.workload.model else { panic!("a schedule") };
    let model = LoadModel::PartlyOpen {
        sessions: sessions.clone(),
        requests_per_session: flow.requests_per_session(),
        think_time: Nanos::ZERO,
    };
    let target = Target::for_origins(flow.requests(), flow.origins().cloned().collect(), &Default::default()).unwrap();
    let mut plan = Plan::new(Workload { model, ..scenario.workload.clone() }, target);
    let run = FlowRun::new(flow, Timestamp(scenario.workload.warmup.0), 1, 1_700_000_000);
    plan.observer = Some(run.observer_factory());
    let output = truetail_engine::run(&plan, &Control::new()).unwrap();
    (run.facts(), output.by_target)
}

#[test]
fn the_login_that_stalls_is_exact_to_the_nanosecond() {
    let run = simulated(SHOP, &builtin::find("07").unwrap());
    let facts = sessions(&run);
    assert_eq!((facts.tally.planned, facts.tally.completed), (3_000, 3_000));
    // Each session takes 25 ms for the login, 10 for the list, 40 for the order; one begins every 20 ms. A login that
    // would end between 30 s and 31 s ends at 31 s.
    let mut times = CompactHistogram::default();
    let mut logins = CompactHistogram::default();
    for arrival in (0..3_000_u64).map(|nth| nth * 20) {
        let done = arrival + 25;
        let left = if (30_000..31_000).contains(&done) { 31_000 } else { done };
        logins.record_n(Nanos::from_millis(left - arrival), 1);
        times.record_n(Nanos::from_millis(left - arrival + 50), 1);
    }
    assert_eq!(facts.times.get(SessionTime::Completed), &times);
    let of_login = run.snapshot.targets[0].metric(Metric::ResponseTime).unwrap();
    assert_eq!(of_login, &logins);
    let p99 = times.to_histogram().quantile(0.99).unwrap();
    assert!((p99.as_millis_f64() - 470.0).abs() < 0.47, "{p99}");
    // Later steps wait for the login and do not show the stall.
    let of_list = run.snapshot.targets[1].metric(Metric::ResponseTime).unwrap();
    assert_eq!((of_list.min(), of_list.max()), (Some(Nanos::from_millis(10)), Some(Nanos::from_millis(10))));
}

#[test]
fn the_slowest_sessions_are_kept_to_the_nanosecond() {
    let run = simulated(SHOP, &builtin::find("07").unwrap());
    let sampled = sessions(&run).sampled.as_ref().unwrap();
    let ms = 1_000_000;
    // The slowest logins would have ended just after the stall began, at 30 s.
    for (session, arrival) in sampled.slowest.iter().zip((29_980..).step_by(20)) {
        let instants: Vec<_> =
            session.requests.iter().map(|r| (r.step, r.due_ns / ms, r.sent_ns / ms, r.end_ns.unwrap() / ms)).collect();
        let request = |step, due, end| (step, due, due, end);
        let list = request(1, 31_500, 31_510);
        let buy = request(2, 32_510, 32_550);
        assert_eq!(instants, [request(0, arrival, 31_000), list, buy]);
        assert_eq!((session.intended_start_ns, session.end_ns), (arrival * ms, 32_550 * ms));
        assert_eq!((session.time_ns(), session.ending), ((31_050 - arrival) * ms, SessionEnding::Completed));
    }
    assert_eq!((sampled.slowest.len(), sampled.random.len()), (4, 20));
}

#[test]
fn a_sampled_session_has_its_ending_and_its_think_time() {
    let thinks = "GET {{host}}/a\nHTTP 200\n\nGET {{host}}/b\n[Options]\ndelay: 50ms\nHTTP 200\n";
    let service = "baseline = \"5ms\"\n[[service.route]]\npath = \"/b\"\nbaseline = \"9ms\"\n\
        [[service.route.fault]]\nkind = \"error-status\"\nstatus = 503\nevery = 2\n";
    let run = simulated(thinks, &scenario("rate = 1\nduration = \"3s\"", service));
    let sampled = sessions(&run).sampled.as_ref().unwrap();
    let mut all = sampled.random.clone();
    all.sort_by_key(|session| session.intended_start_ns);
    let ended: Vec<_> = all.iter().map(|session| (session.ending, session.think_ns, session.time_ns())).collect();
    let thought = 50_000_000;
    let time = 14_000_000;
    assert_eq!(ended[0], (SessionEnding::Completed, thought, time));
    assert_eq!(ended[1], (SessionEnding::EndedEarly(EarlyEnd::Status), thought, time));
    let second: Vec<_> = all[1].requests.iter().map(|request| (request.due_ns, request.end_ns)).collect();
    assert_eq!(second, [(1_000_000_000, Some(1_005_000_000)), (1_055_000_000, Some(1_064_000_000))]);
}

#[test]
fn a_call_that_a_fault_changed_ends_with_the_status_that_grpc_gives_it() {
    let ended = |expected: &str| {
        let calls = format!(
            "POST grpc://127.0.0.1:1/p.S/One\n{{\"a\": 1}}\nHTTP 200\n[Captures]\nt: jsonpath \"$.a\"\n\n\
             POST grpc://127.0.0.1:1/p.S/Two\n{{\"a\": {{{{t}}}}}}\n{expected}"
        );
        let service = "baseline = \"5ms\"\n[[service.route]]\npath = \"/p.S/Two\"\n\
            [[service.route.fault]]\nkind = \"error-status\"\nstatus = 503\nevery = 2\n";
        let run = simulated(&calls, &scenario("rate = 1\nduration = \"4s\"", service));
        let facts = sessions(&run);
        assert_eq!([&facts.steps[0].name, &facts.steps[1].name], ["p.S/One", "p.S/Two"]);
        assert_eq!(run.facts.by_target[1].url, "grpc://127.0.0.1:1/p.S/Two");
        (facts.tally.completed, facts.steps[1].ended_here.clone(), run.facts.notes.concat())
    };
    for expected in ["", "HTTP 200\n"] {
        let (completed, causes, notes) = ended(expected);
        assert_eq!((completed, causes.get(&EarlyEnd::Status)), (2, Some(&2)), "{expected}");
        assert!(notes.contains("the call ended with UNAVAILABLE, not OK"), "{notes}");
    }
    let asserts = |code: u8| ended(&format!("HTTP *\n[Asserts]\nheader \"grpc-status\" == \"{code}\"\n"));
    assert_eq!((asserts(14).0, asserts(5).0, asserts(5).1.get(&EarlyEnd::Assert)), (4, 2, Some(&2)));
}

/// Three flows, each with a scenario in which sessions end in several ways. A fault that counts requests counts those
/// of a step that each session reaches at most once. So the order of requests does not change how many it affects.
fn cases() -> [(&'static str, &'static str, Scenario); 3] {
    let ends = "\
# truetail: name login
POST {{host}}/login
[Form]
user: ann
HTTP 200
[Captures]
token: body

# truetail: name list
GET {{host}}/items/{{token}}?page=1
X-Token: {{token}}
[Options]
delay: 20ms
HTTP 200

# truetail: name look
GET {{host}}/items/{{token}}/look
[Options]
repeat: 3
HTTP *
[Asserts]
status < 500

POST {{host}}/orders
{\"item\": 7}
HTTP 200
";
    let refusals = "baseline = \"1ms\"\n\
        [[service.route]]\npath = \"/login\"\nbaseline = \"3ms\"\n\
        [[service.route.fault]]\nkind = \"error-status\"\nstatus = 503\nevery = 5\n\
        [[service.route]]\npath = \"/items/*\"\nbaseline = \"2ms\"\n\
        [[service.route]]\npath = \"/orders\"\n\
        [[service.route.fault]]\nkind = \"reset\"\nevery = 4\n\
        [[service.route.fault]]\nkind = \"garbage\"\nevery = 7\n";
    let limits = "\
# truetail: name begin
GET {{host}}/begin
HTTP *
[Asserts]
status < 500

# truetail: delay exponential 20ms
GET {{host}}/slow
[Options]
max-time: 3s
HTTP 200
";
    let holes = "baseline = \"1ms\"\n\
        [[service.route]]\npath = \"/begin\"\n\
        [[service.route.fault]]\nkind = \"error-status\"\nstatus = 500\nevery = 6\nimmediately = true\n\
        [[service.route]]\npath = \"/slow\"\n\
        [[service.route.fault]]\nkind = \"black-hole\"\nevery = 3\n\
        [[service.route.fault]]\nkind = \"short-body\"\nevery = 5\n";
    let thinks = "GET {{host}}/a\n\nGET {{host}}/b\n[Options]\nrepeat: 2\ndelay: 50ms\n\nGET {{host}}/c\n[Options]\n\
        delay: 60s\n";
    let stall = "baseline = \"1ms\"\n[[service.route]]\npath = \"/a\"\n\
        [[service.route.fault]]\nkind = \"stall\"\nat = \"300ms\"\nfor = \"300ms\"\n";
    let workload = "rate = 50\nduration = \"800ms\"\n";
    [
        ("refusals", ends, scenario(workload, refusals)),
        ("limits", limits, scenario(workload, holes)),
        ("thinks", thinks, scenario(&format!("{workload}drain = \"3s\"\n"), stall)),
    ]
}

#[test]
fn the_books_are_those_of_sockets_to_the_last_session() {
    for (name, text, scenario) in cases() {
        let run = simulated(text, &scenario);
        let (measured, by_target) = measured(text, &scenario);
        let facts = sessions(&run);
        assert_eq!(facts.tally, measured.tally, "{name}");
        assert_eq!(facts.steps, measured.steps, "{name}");
        assert_eq!(run.facts.by_target.len(), by_target.len(), "{name}");
        for (virtual_time, sockets) in run.facts.by_target.iter().zip(&by_target) {
            assert_eq!((&virtual_time.tally, &virtual_time.statuses), (&sockets.tally, &sockets.statuses), "{name}");
        }
        for kind in SessionTime::ALL {
            assert_eq!(facts.times.get(kind).count(), measured.times.get(kind).count(), "{name} {kind:?}");
        }
        let sampled = facts.sampled.as_ref().unwrap();
        let of_sockets = measured.sampled.as_ref().unwrap();
        assert_eq!(measured.imbalance_of_sample(), None, "{name}");
        assert_eq!(sampled.random.len(), of_sockets.random.len(), "{name}");
    }
}

#[test]
fn faults_that_count_requests_count_those_of_their_route() {
    let (_, text, scenario) = &cases()[0];
    let run = simulated(text, scenario);
    let steps = &sessions(&run).steps;
    let planned = sessions(&run).tally.planned;
    assert_eq!((planned, steps[0].ended_here[&EarlyEnd::Status]), (40, 8));
    let orders = &steps[3].ended_here;
    // Every 4th of 32 orders is reset, and 7, 14 and 21 are malformed. Order 28 would be both; its reset comes first.
    assert_eq!((orders[&EarlyEnd::Reset], orders[&EarlyEnd::Malformed]), (8, 3));
    assert_eq!(run.facts.notes, ["first end at login: line 5: the status is 503, not 200"]);
}

#[test]
fn an_assert_on_the_duration_is_judged_by_the_exact_one() {
    let scenario = scenario("rate = 10\nduration = \"1s\"", "baseline = \"40ms\"");
    for (assert, completed) in [("duration < 41", 10), ("duration < 40", 0), ("duration >= 40", 10)] {
        let run = simulated(
            &format!("GET {{{{host}}}}/a\nHTTP 201\n[Asserts]\n{assert}\njsonpath \"$.a\" == 1\n"),
            &scenario,
        );
        let facts = sessions(&run);
        assert_eq!(facts.tally.completed, completed, "{assert}");
        let ended = facts.steps[0].ended_here.get(&EarlyEnd::Assert).copied().unwrap_or(0);
        assert_eq!(ended, 10 - completed, "{assert}");
    }
}

#[test]
fn think_times_depend_on_the_seed_and_are_not_session_time() {
    let scenario = scenario("rate = 20\nduration = \"1s\"", "baseline = \"5ms\"");
    let text = "GET {{host}}/a\n\n# truetail: delay exponential 1s\nGET {{host}}/b\n";
    let run = simulated(text, &scenario);
    let times = sessions(&run).times.get(SessionTime::Completed);
    assert_eq!((times.count(), times.min(), times.max()), (20, Some(Nanos(10_000_000)), Some(Nanos(10_000_000))));
    assert_eq!(run.facts.elapsed_ns, simulated(text, &scenario).facts.elapsed_ns);
    assert!(run.facts.elapsed_ns > 1_500_000_000, "{}", run.facts.elapsed_ns);
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let load = "rate = 10\nduration = \"1s\"";
    let routes = "baseline = \"1ms\"\n[[service.route]]\npath = \"/items/7\"\nbaseline = \"9ms\"\n";
    let captured = "GET {{host}}/a\nHTTP 200\n[Captures]\nid: body\n\nGET {{host}}/items/{{id}}\nHTTP 200\n";
    let compared =
        "GET {{host}}/a\nHTTP 200\n[Captures]\nid: body\n\nGET {{host}}/b\nHTTP *\n[Asserts]\nstatus == {{id}}\n";
    for (text, workload, service, says) in [
        (
            captured,
            load,
            routes,
            "line 6: which [[service.route]] http://127.0.0.1:1/items/{{id}} has is not the same in all sessions, or depends on answers",
        ),
        (compared, load, "baseline = \"1ms\"", "line 9: status is compared with a value that comes from answers"),
        ("GET {{host}}/a\n", load, "baseline = \"1ms\"\n[service.stream]\nevents = 3", "no streams"),
        (
            "GET {{host}}/a\n",
            "model = \"closed\"\nusers = 2\nduration = \"1s\"",
            "baseline = \"1ms\"",
            "sessions of the flow arrive on a schedule",
        ),
        (
            "GET {{host}}/a\n",
            "model = \"partly-open\"\nrate = 2\nrequests-per-session = 4\nduration = \"1s\"",
            "baseline = \"1ms\"",
            "the scenario says what a session does, and so does the flow",
        ),
    ] {
        let scenario = scenario(workload, service);
        let error = simulate(&flow(text, "http://127.0.0.1:1").into(), &scenario, SimOptions::default()).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(matches!(error, SimulateError::Flow { .. }), says.starts_with("line"), "{error}");
    }
    // A known start of the path is enough if it tells the routes apart.
    let apart = captured.replace("/items/{{id}}", "/users/{{id}}");
    simulated(&apart, &scenario(load, routes));
}

#[test]
fn a_step_that_finds_no_redirect_has_the_time_of_its_request() {
    let service = "baseline = \"5ms\"\n[[service.route]]\npath = \"/a\"\nbaseline = \"9ms\"\n\
        [[service.route.fault]]\nkind = \"error-status\"\nstatus = 404\nevery = 4\n";
    let text = "GET {{host}}/a\n[Options]\nlocation: true\n\nGET {{host}}/b\nHTTP 200\n";
    let run = simulated(text, &scenario("rate = 40\nduration = \"1s\"", service));
    let step = &sessions(&run).steps[0];
    assert_eq!((step.reached, step.hops, step.most_requests), (40, 0, 1));
    assert_eq!(Some(step.times.get(SessionTime::Completed)), run.snapshot.targets[0].metric(Metric::ResponseTime));
    assert_eq!((sessions(&run).tally.completed, sessions(&run).steps[1].times.count()), (40, 0));
}

/// Every second answer at `/b` is a 503. Of three sessions, the second and the third retry.
#[test]
fn attempts_are_exact_and_those_over_sockets_have_the_same_books() {
    let service = "baseline = \"5ms\"\n[[service.route]]\npath = \"/b\"\nbaseline = \"9ms\"\n\
        [[service.route.fault]]\nkind = \"error-status\"\nstatus = 503\nevery = 2\n";
    let scenario = scenario("rate = 2\nduration = \"1500ms\"", service);
    let tries = |retries: u32| {
        let options = format!("[Options]\nretry: {retries}\nretry-interval: 100ms\n");
        format!("GET {{{{host}}}}/a\n\nGET {{{{host}}}}/b\n{options}HTTP 200\n\nGET {{{{host}}}}/c\nHTTP 200\n")
    };
    let run = simulated(&tries(1), &scenario);
    let facts = sessions(&run);
    let step = &facts.steps[1];
    assert_eq!((facts.tally.completed, step.reached, step.retries, step.most_requests), (3, 3, 2, 2));
    let mut of_step = CompactHistogram::default();
    let mut of_session = CompactHistogram::default();
    for (ms, count) in [(9, 1), (9 + 100 + 9, 2)] {
        of_step.record_n(Nanos::from_millis(ms), count);
        of_session.record_n(Nanos::from_millis(ms + 10), count);
    }
    assert_eq!(
        (step.times.get(SessionTime::Completed), facts.times.get(SessionTime::Completed)),
        (&of_step, &of_session)
    );
    for retries in [0, 1, 3] {
        let run = simulated(&tries(retries), &scenario);
        let (over_sockets, books) = measured(&tries(retries), &scenario);
        let counts = |facts: &SessionFacts| {
            let of = |step: &truetail_run::StepFacts| (step.reached, step.retries, step.ended_here.clone());
            (facts.tally, facts.steps.iter().map(of).collect::<Vec<_>>())
        };
        assert_eq!(counts(sessions(&run)), counts(&over_sockets), "{retries}");
        let tallies = |targets: &[TargetBooks]| -> Vec<_> {
            targets.iter().map(|target| (target.tally, target.statuses.clone())).collect()
        };
        assert_eq!(tallies(&run.facts.by_target), tallies(&books));
    }
}

/// The run ends at 3 s. In one flow, the only session waits for a retry then; in the other, its user thinks.
#[test]
fn the_wait_for_a_retry_counts_as_session_time() {
    let service = "baseline = \"5ms\"\n[[service.route]]\npath = \"/b\"\nbaseline = \"9ms\"\n\
        [[service.route.fault]]\nkind = \"error-status\"\nstatus = 503\nevery = 1\n";
    let scenario = scenario("rate = 1\nduration = \"1s\"\ndrain = \"2s\"", service);
    let censored = |text: &str| {
        let run = simulated(text, &scenario);
        let facts = sessions(&run);
        assert_eq!((facts.tally.planned, facts.tally.in_flight_at_end), (1, 1));
        let of_step = facts.steps[0].times.get(SessionTime::Censored).max();
        (facts.times.get(SessionTime::Censored).max().unwrap(), of_step)
    };
    let near = |time: Nanos, ms: f64| assert!((time.as_millis_f64() - ms).abs() < ms / 1000.0, "{time} is not {ms} ms");
    let (session, step) = censored("GET {{host}}/b\n[Options]\nretry: 1\nretry-interval: 10s\nHTTP 200\n");
    near(session, 3_000.0);
    near(step.unwrap(), 3_000.0);
    let (session, step) = censored("GET {{host}}/a\nHTTP 200\n\nGET {{host}}/a\n[Options]\ndelay: 10s\nHTTP 200\n");
    near(session, 5.0);
    assert_eq!(step, None);
}
