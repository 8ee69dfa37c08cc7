//! Any flow in any of these scenarios has books that balance, in virtual time.

use proptest::prelude::*;
use truetail_flow::{Flow, Flows};
use truetail_model::record::Tally;
use truetail_model::scenario::Scenario;
use truetail_model::time::Nanos;
use truetail_run::SessionTime;
use truetail_sim::SimOptions;

const PATHS: [&str; 4] = ["/a", "/b", "/b/{{newUuid}}", "/c?x={{newUuid}}"];
/// Text before a later request, and below it.
const OPTIONS: [(&str, &str); 10] = [
    ("", "[Options]\nretry: 2\nretry-interval: 20ms\n"),
    ("", "[Options]\nretry: 1\nmax-time: 4ms\nrepeat: 2\n"),
    ("", "[Options]\nlocation: true\n"),
    ("", ""),
    ("", "[Options]\ndelay: 30ms\n"),
    ("", "[Options]\nrepeat: 3\n"),
    ("", "[Options]\nmax-time: 4ms\n"),
    ("", "[Options]\ndelay: 700ms\nrepeat: 2\n"),
    ("# truetail: delay exponential 50ms\n", ""),
    ("# truetail: delay uniform 5ms..50ms\n", ""),
];
const ANSWERS: [&str; 5] = [
    "",
    "HTTP 200\n",
    "HTTP *\n[Asserts]\nstatus < 500\n",
    "HTTP 201\n[Captures]\nid: jsonpath \"$.id\"\n",
    "HTTP *\n[Asserts]\nduration < 20\nbody contains \"x\"\n",
];
const FAULTS: [&str; 7] = [
    "kind = \"stall\"\nat = \"300ms\"\nfor = \"400ms\"",
    "kind = \"every-nth\"\nevery = 4\npause = \"30ms\"",
    "kind = \"error-status\"\nstatus = 503\nevery = 5",
    "kind = \"error-status\"\nstatus = 404\nimmediately = true\nevery = 3",
    "kind = \"reset\"\nevery = 6",
    "kind = \"black-hole\"\nevery = 7",
    "kind = \"garbage\"\nshare = 0.2",
];
const ROUTES: [&str; 3] = ["/a", "/b*", "/c"];
const LIMITS: [&str; 4] = ["", "connections = 1\n", "timeout = \"50ms\"\n", "drain = \"100ms\"\nconnections = 3\n"];

fn text(steps: &[(usize, usize, usize)]) -> String {
    let step = |(nth, (path, option, answer)): (usize, &(usize, usize, usize))| {
        let (before, below) = if nth == 0 { ("", "") } else { OPTIONS[*option] };
        format!("{before}GET http://127.0.0.1{}\n{below}{}\n", PATHS[*path], ANSWERS[*answer])
    };
    steps.iter().enumerate().map(step).collect()
}

fn scenario(limits: usize, warmup: bool, faults: &[(usize, usize)]) -> Scenario {
    let warmup = if warmup { "warmup = \"200ms\"\n" } else { "" };
    let head = format!("[workload]\nrate = 40\nduration = \"1s\"\n{warmup}{}", LIMITS[limits]);
    let route = |(nth, path): (usize, &&str)| {
        let own = faults.iter().filter(|(route, _)| *route == nth);
        let own = own.map(|(_, fault)| format!("[[service.route.fault]]\n{}\n", FAULTS[*fault])).collect::<String>();
        format!("[[service.route]]\npath = \"{path}\"\nbaseline = \"{}ms\"\n{own}", nth + 2)
    };
    let routes: String = ROUTES.iter().enumerate().map(route).collect();
    Scenario::parse(&format!("{head}[service]\nbaseline = \"1ms\"\n{routes}"), "any.toml").unwrap()
}

/// Builds one flow, or two if `others` has steps.
fn both(steps: &[(usize, usize, usize)], others: &[(usize, usize, usize)]) -> Flows {
    let of = |name: &str, steps: &[_]| Flow::parse(name, &text(steps), &[], &|path| Err(format!("no {path}"))).unwrap();
    let other = (!others.is_empty()).then(|| of("b.hurl", others));
    Flows::new(std::iter::once(of("a.hurl", steps)).chain(other).collect()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_flow_has_books_that_balance(
        steps in prop::collection::vec((0..PATHS.len(), 0..OPTIONS.len(), 0..ANSWERS.len()), 1..6),
        others in prop::collection::vec((0..PATHS.len(), 0..OPTIONS.len(), 0..ANSWERS.len()), 0..4),
        limits in 0..LIMITS.len(),
        warmup in any::<bool>(),
        faults in prop::collection::vec((0..ROUTES.len(), 0..FAULTS.len()), 0..4),
    ) {
        let flows = both(&steps, &others);
        let scenario = scenario(limits, warmup, &faults);
        let run = truetail_flow::simulate(&flows, &scenario, SimOptions::default()).unwrap();
        let sessions = run.facts.sessions.unwrap();
        prop_assert_eq!((sessions.imbalance(), sessions.imbalance_of_sample()), (None, None));
        if sessions.tally.never_begun == 0 {
            let slowest = sessions.sampled.as_ref().unwrap().slowest.first().map(|session| Nanos(session.time_ns()));
            let longest = SessionTime::ALL.into_iter().filter_map(|time| sessions.times.get(time).max()).max();
            prop_assert_eq!(slowest, longest);
        }
        prop_assert_eq!(sessions.tally.planned, if warmup { 32 } else { 40 });
        prop_assert!(run.snapshot.tally.check().is_ok());
        if steps.len() > 1 {
            let mut all = Tally::default();
            run.facts.by_target.iter().for_each(|books| all.merge(&books.tally));
            prop_assert_eq!(all, run.snapshot.tally);
            if !warmup {
                for (step, books) in sessions.steps.iter().zip(&run.facts.by_target) {
                    prop_assert_eq!(step.reached + step.further(), books.tally.planned - books.tally.never_issued, "{}", step.name);
                }
            }
        }
    }
}
