//! Several flows in a run: the flow of each session, and the books of each flow.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use truetail_engine::{Control, HttpVersion, Plan, Target};
use truetail_flow::{Flow, FlowRun, Flows, FlowsError, SimulateError, simulate};
use truetail_model::scenario::Scenario;
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{LoadModel, Workload};
use truetail_run::{EarlyEnd, Run, SessionFacts, SessionTally, TargetBooks};
use truetail_sim::SimOptions;

use crate::server::Asked;
use crate::server_http2::{Place, in_both};

const BROWSE: &str = "# truetail: weight 3\n# truetail: name list\nGET {{host}}/list\nHTTP 200\n\n\
     # truetail: name item\nGET {{host}}/item\n[Options]\nrepeat: 2\nHTTP 200\n";
/// Every fourth payment is refused.
const BUY: &str =
    "# truetail: name list\nGET {{host}}/list\nHTTP 200\n\n# truetail: name pay\nGET {{host}}/pay\nHTTP 200\n";
const SERVICE: &str = "baseline = \"2ms\"\n[[service.route]]\npath = \"/pay\"\nbaseline = \"3ms\"\n\
     [[service.route.fault]]\nkind = \"error-status\"\nstatus = 503\nevery = 4\n";

fn flow(name: &str, text: &str, host: &str) -> Result<Flow, String> {
    let host = ("host".to_owned(), host.to_owned());
    Flow::parse(name, text, &[host], &|path| Err(format!("no {path}")))
        .map_err(|error| format!("{}: {}", error.line, error.problem))
}

fn flows(host: &str) -> Flows {
    Flows::new(vec![flow("browse.hurl", BROWSE, host).unwrap(), flow("buy.hurl", BUY, host).unwrap()]).unwrap()
}

fn scenario(workload: &str) -> Scenario {
    Scenario::parse(&format!("[workload]\n{workload}\n[service]\n{SERVICE}"), "a.toml").unwrap()
}

fn simulated(scenario: &Scenario) -> Run {
    let run = simulate(&flows("http://127.0.0.1:1"), scenario, SimOptions::default()).unwrap();
    run.snapshot.tally.check().unwrap();
    check(run.facts.sessions.as_ref().unwrap());
    run
}

fn check(sessions: &SessionFacts) {
    assert_eq!((sessions.imbalance(), sessions.imbalance_of_sample()), (None, None));
}

fn measured(
    place: &impl Place,
    scenario: &Scenario,
    start_at_unix_ns: Option<u64>,
) -> (SessionFacts, Vec<TargetBooks>) {
    let (address, version) = place.place();
    let host = format!("http://{address}");
    let each = [("browse.hurl", BROWSE), ("buy.hurl", BUY)];
    let each = each.map(|(name, text)| flow(name, text, &host).unwrap().over(version).unwrap());
    let flows = Flows::new(each.to_vec()).unwrap();
    let LoadModel::Open(sessions) = &scenario.workload.model else { panic!("a schedule") };
    let model = LoadModel::PartlyOpen {
        sessions: sessions.clone(),
        requests_per_session: flows.requests_per_session(),
        think_time: Nanos::ZERO,
    };
    let target =
        Target::for_origins(flows.requests(), flows.origins().cloned().collect(), &Default::default()).unwrap();
    let mut plan = Plan::new(Workload { model, ..scenario.workload.clone() }, target);
    (plan.threads, plan.start_at_unix_ns) = (Some(2), start_at_unix_ns);
    if version == HttpVersion::Http2 {
        plan.target.use_http2().unwrap();
    }
    let run = FlowRun::new(flows, Timestamp::ZERO, 1, 1_700_000_000);
    plan.observer = Some(run.observer_factory());
    let output = truetail_engine::run(&plan, &Control::new()).unwrap();
    (run.facts(), output.by_target)
}

/// Name, weight, tally, and how often each step was reached.
type Books = Vec<(String, u32, SessionTally, Vec<(String, u64)>)>;

fn books(facts: &SessionFacts) -> Books {
    let steps = |nth: usize| {
        let part = facts.parts()[nth];
        part.steps.iter().map(|step| (step.name.clone(), step.reached)).collect()
    };
    let of = facts.flows.iter().enumerate();
    of.map(|(nth, flow)| (flow.name.clone(), flow.weight, flow.tally, steps(nth))).collect()
}

#[test]
fn each_flow_has_books_and_together_they_are_those_of_the_run() {
    let run = simulated(&scenario("rate = 100\nduration = \"40s\""));
    let facts = run.facts.sessions.unwrap();
    let [browse, buy] = &books(&facts)[..] else { panic!("two flows") };
    let browsers = browse.2.planned;
    let buyers = buy.2.planned;
    assert_eq!((browse.0.as_str(), browse.1, buy.0.as_str(), buy.1), ("browse", 3, "buy", 1));
    // 3,000 of 4,000 sessions are expected, within five standard deviations of 27.4 each.
    assert!(browsers + buyers == 4_000 && browsers.abs_diff(3_000) < 137, "{browsers}");
    assert_eq!(
        browse.2,
        SessionTally { planned: browsers, begun: browsers, completed: browsers, ..SessionTally::default() }
    );
    let refused = buyers / 4;
    assert_eq!((buy.2.completed, buy.2.ended_early), (buyers - refused, refused));
    let reached = |steps: &[(&str, u64)]| -> Vec<(String, u64)> {
        steps.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    };
    assert_eq!(browse.3, reached(&[("browse/list", browsers), ("browse/item", 2 * browsers)]));
    assert_eq!(buy.3, reached(&[("buy/list", buyers), ("buy/pay", buyers)]));
    assert_eq!(facts.steps[3].ended_here, BTreeMap::from([(EarlyEnd::Status, refused)]));
    // The duration of a session of each flow is known to the nanosecond.
    let slowest = |nth: usize| facts.flows[nth].times.recorded().map(|(_, times)| times.max().unwrap()).max();
    assert_eq!((slowest(0), slowest(1)), (Some(Nanos::from_millis(6)), Some(Nanos::from_millis(5))));
    assert!((facts.steps_per_session() - (3 * browsers + 2 * buyers) as f64 / 4_000.0).abs() < 1e-9);
    assert_eq!(facts.flow, "browse, buy");
}

#[test]
fn over_sockets_the_books_are_those_of_virtual_time() {
    // Every fourth payment is answered with 503, as in the simulated service.
    let payments = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&payments);
    let answer = move |_: u64, asked: &Asked| {
        let nth = if asked.line.contains("/pay") { counted.fetch_add(1, Ordering::SeqCst) + 1 } else { 1 };
        (if u64::is_multiple_of(nth, 4) { 503 } else { 200 }, Vec::new(), "ok".to_owned())
    };
    let scenario = scenario("rate = 100\nduration = \"2s\"");
    let expected = simulated(&scenario);
    for server in in_both(answer) {
        payments.store(0, Ordering::SeqCst);
        let (facts, targets) = measured(&server, &scenario, None);
        check(&facts);
        assert_eq!(books(&facts), books(expected.facts.sessions.as_ref().unwrap()));
        let tallies = |targets: &[TargetBooks]| -> Vec<_> {
            targets.iter().map(|target| (target.url.rsplit('/').next().unwrap().to_owned(), target.tally)).collect()
        };
        assert_eq!(tallies(&targets), tallies(&expected.facts.by_target));
    }
}

#[test]
fn sessions_that_never_began_count_in_their_drawn_flow() {
    // The service stalls from 1 s on, and a session waits for the only connection until the end of the drain.
    let load = "rate = 50\nduration = \"2s\"\nconnections = 1\ndrain = \"100ms\"";
    let service = "baseline = \"1ms\"\n[[service.fault]]\nkind = \"stall\"\nat = \"1s\"\nfor = \"9s\"\n";
    let stalled = Scenario::parse(&format!("[workload]\n{load}\n[service]\n{service}"), "a.toml").unwrap();
    let run = simulate(&flows("http://127.0.0.1:1"), &stalled, SimOptions::default()).unwrap();
    let facts = run.facts.sessions.unwrap();
    check(&facts);
    assert_eq!((facts.tally.planned, facts.tally.begun < 60), (100, true), "{:?}", facts.tally);
    // The choice of a session's flow does not depend on the outcomes of other sessions.
    let undisturbed = simulated(&scenario("rate = 50\nduration = \"2s\"")).facts.sessions.unwrap();
    let planned = |facts: &SessionFacts| [facts.flows[0].tally.planned, facts.flows[1].tally.planned];
    assert_eq!(planned(&facts), planned(&undisturbed));
    assert!(facts.flows.iter().all(|flow| flow.tally.never_begun > 0), "{:?}", facts.flows);
}

#[test]
fn sessions_that_a_late_machine_missed_have_a_flow_too() {
    let scenario = scenario("rate = 50\nduration = \"2s\"");
    let undisturbed = simulated(&scenario).facts.sessions.unwrap();
    let ok = |_: u64, _: &Asked| (200, Vec::new(), "ok".to_owned());
    let [server, _] = in_both(ok);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let (facts, _) = measured(&server, &scenario, Some((now - Duration::from_secs(1)).as_nanos() as u64));
    check(&facts);
    let planned = |facts: &SessionFacts| [facts.flows[0].tally.planned, facts.flows[1].tally.planned];
    assert_eq!(planned(&facts), planned(&undisturbed));
    // Fifty of the hundred are over when it begins.
    assert!(facts.tally.never_begun >= 50 && facts.flows.iter().all(|flow| flow.tally.never_begun > 0), "{facts:?}");
}

#[test]
fn the_seed_decides_who_follows_which() {
    let planned = |seed: u64| {
        let load = format!("rate = 100\nduration = \"10s\"\nspacing = \"poisson\"\nseed = {seed}\nrequests = 1000");
        simulated(&scenario(&load)).facts.sessions.unwrap().flows[0].tally.planned
    };
    assert_eq!(planned(1), planned(1));
    assert!((2..8).any(|seed| planned(seed) != planned(1)));
}

#[test]
fn flows_that_do_not_fit_together_are_refused() {
    let of = |name, host| flow(name, BUY, host).unwrap();
    let here = "http://127.0.0.1:1";
    assert_eq!(Flows::new(Vec::new()).unwrap_err(), FlowsError::Nothing);
    let same = Flows::new(vec![of("a.hurl", here), of("b.hurl", here), of("a.hurl", here)]).unwrap_err();
    assert!(same.to_string().starts_with("two flows are called a,"), "{same}");
    // Each flow may have another origin.
    let there = "http://127.0.0.1:2";
    let both = Flows::new(vec![of("a.hurl", here), of("b.hurl", there), of("c.hurl", here)]).unwrap();
    assert_eq!(both.origins().map(|origin| origin.to_string()).collect::<Vec<_>>(), [here, there]);
    let numbers: Vec<_> = both.requests().targets().iter().map(|target| target.origin()).collect();
    assert_eq!(numbers, [0, 0, 1, 1, 0, 0]);
    // A single flow is unchanged.
    let one = Flows::new(vec![of("a.hurl", here)]).unwrap();
    assert_eq!((one.iter().count(), one.requests()), (1, of("a.hurl", here).requests()));
    assert_eq!(one.iter().map(Flow::name).collect::<Vec<_>>(), ["a.hurl"]);
    assert_ne!(flows(here).requests().hash(), {
        let lighter = BROWSE.replace("weight 3", "weight 2");
        let each = vec![flow("browse.hurl", &lighter, here).unwrap(), of("buy.hurl", here)];
        Flows::new(each).unwrap().requests().hash()
    });
}

#[test]
fn an_error_says_in_which_flow_it_is() {
    let captured = "GET {{host}}/list\nHTTP 200\n[Captures]\nid: jsonpath \"$.id\"\n\nGET {{host}}/{{id}}\n";
    let here = "http://127.0.0.1:1";
    let each = vec![flow("buy.hurl", BUY, here).unwrap(), flow("read.hurl", captured, here).unwrap()];
    let scenario = scenario("rate = 10\nduration = \"1s\"");
    let error = simulate(&Flows::new(each).unwrap(), &scenario, SimOptions::default()).unwrap_err();
    assert!(matches!(&error, SimulateError::Flow { nth: 1, error } if error.line == 6), "{error:?}");
}

#[test]
fn a_flow_has_one_weight_before_its_first_request() {
    let weight = |text: &str| flow("a.hurl", text, "http://127.0.0.1:1").map(|flow| flow.weight());
    let get = "GET {{host}}/\n";
    assert_eq!(weight(get), Ok(1));
    assert_eq!(weight(&format!("#truetail:  weight\t1000000 \n\n# name\n{get}")), Ok(1_000_000));
    for (text, says) in [
        (format!("# truetail: weight 0\n{get}"), "1: the weight '0': write a whole number from 1 to 1000000"),
        (format!("# truetail: weight 1000001\n{get}"), "1: the weight '1000001': "),
        (format!("# truetail: weight\n{get}"), "1: the weight '': "),
        (format!("# truetail: weight 2.5\n{get}"), "1: the weight '2.5': "),
        (format!("# truetail: weight 2\n# truetail: weight 2\n{get}"), "2: a second weight"),
        (format!("{get}\n# truetail: weight 2\n{get}"), "3: the weight is that of the whole flow"),
        (format!("{get}# truetail: weight 2\n"), "2: the weight is that of the whole flow"),
    ] {
        let error = weight(&text).unwrap_err();
        assert!(error.starts_with(says), "{text}: {error}");
    }
}
