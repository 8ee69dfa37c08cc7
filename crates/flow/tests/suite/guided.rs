//! Guided sessions: what was sent, and what was recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use truetail_engine::{Control, HttpVersion, Plan, RunOutput, Target};
use truetail_flow::{Guide, GuidedAnswer, GuidedPlan, GuidedRequest, GuidedRun, MakeGuide, NextMove};
use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::record::Metric;
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_run::{EarlyEnd, NotReached, SessionFacts, SessionTally, SessionTime};

use crate::server::Server;
use crate::server_http2::{Place, in_both};

/// Sessions of each run.
const SESSIONS: u64 = 20;

/// Function that returns a session's next move from its number, the count of its answers, and the last answer.
type Says = dyn Fn(u64, usize, Option<&GuidedAnswer<'_>>) -> NextMove + Send + Sync;

struct ByFunction {
    says: Arc<Says>,
    /// The open session of each user, and the count of its answers.
    under_way: BTreeMap<u32, (u64, usize)>,
    abandoned: Arc<AtomicU64>,
}

impl ByFunction {
    fn next(&mut self, user: u32, answer: Option<&GuidedAnswer<'_>>) -> NextMove {
        let (number, answers) = self.under_way[&user];
        let next = (self.says)(number, answers, answer);
        match next {
            NextMove::Ask(_) => self.under_way.insert(user, (number, answers + 1)),
            _ => self.under_way.remove(&user),
        };
        next
    }
}

impl Guide for ByFunction {
    fn begin(&mut self, user: u32, number: u64) -> NextMove {
        assert!(self.under_way.insert(user, (number, 0)).is_none(), "the session before it was ended");
        self.next(user, None)
    }

    fn answered(&mut self, user: u32, answer: &GuidedAnswer<'_>) -> NextMove {
        self.next(user, Some(answer))
    }

    fn abandon(&mut self, user: u32) {
        assert!(self.under_way.remove(&user).is_some(), "a session ends once");
        self.abandoned.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for ByFunction {
    fn drop(&mut self) {
        assert!(std::thread::panicking() || self.under_way.is_empty(), "each session was ended: {:?}", self.under_way);
    }
}

struct Measured {
    output: RunOutput,
    facts: SessionFacts,
    notes: Vec<String>,
    abandoned: u64,
}

/// Runs a session every 20 ms, with the steps `login`, `list` and `buy`.
fn run(server: &impl Place, limits: Limits, says: Arc<Says>) -> Measured {
    let (address, version) = server.place();
    let steps = ["login", "list", "buy"].map(str::to_owned);
    let guided = GuidedPlan::new("shop", &[format!("http://{address}")], &steps, version).unwrap();
    let schedule = Schedule {
        profile: Profile::constant("50/s".parse().unwrap()),
        spacing: Spacing::Even,
        seed: 1,
        horizon: Horizon { duration: Some(Nanos::from_millis(20 * SESSIONS)), requests: None },
    };
    let model = LoadModel::PartlyOpen { sessions: schedule, requests_per_session: 3, think_time: Nanos::ZERO };
    let target =
        Target::for_origins(guided.requests(), guided.origins().cloned().collect(), &Default::default()).unwrap();
    let mut plan = Plan::new(Workload { model, limits, warmup: Nanos::ZERO }, target);
    plan.threads = Some(1);
    if version == HttpVersion::Http2 {
        plan.target.use_http2().unwrap();
    }
    let abandoned: Arc<AtomicU64> = Arc::default();
    let counted = Arc::clone(&abandoned);
    let make = MakeGuide::new(move || {
        let says = Arc::clone(&says);
        let abandoned = Arc::clone(&counted);
        Box::new(ByFunction { says, under_way: BTreeMap::new(), abandoned })
    });
    let sessions = GuidedRun::new(guided, make, Timestamp::ZERO, 1_700_000_000);
    plan.observer = Some(sessions.observer_factory());
    let output = truetail_engine::run(&plan, &Control::new()).unwrap();
    output.snapshot.tally.check().unwrap();
    let facts = sessions.facts();
    assert_eq!((facts.imbalance(), facts.imbalance_of_sample()), (None, None));
    for (step, books) in facts.steps.iter().zip(&output.by_target) {
        assert_eq!(step.reached + step.further(), books.tally.planned - books.tally.never_issued, "{}", step.name);
    }
    Measured { output, facts, notes: sessions.notes(), abandoned: abandoned.load(Ordering::Relaxed) }
}

const STEPS: [&str; 3] = ["/login", "/list", "/buy"];

fn ask(step: u32) -> NextMove {
    let path = STEPS[step as usize].to_owned();
    NextMove::Ask(GuidedRequest { step, method: "GET".to_owned(), path, ..GuidedRequest::default() })
}

fn fail(why: &str) -> NextMove {
    NextMove::Fail { cause: EarlyEnd::Raised, why: why.to_owned() }
}

/// Sessions take four ways in turn: log in and fail, only log in, log in and list three times, or take all steps.
fn four_ways(number: u64, answers: usize) -> NextMove {
    let way: &[u32] = [&[0][..], &[0], &[0, 1, 1, 1], &[0, 1, 2]][number as usize % 4];
    match way.get(answers) {
        Some(step) => ask(*step),
        None if number.is_multiple_of(4) => fail("KeyError: 'token'"),
        None => NextMove::Done,
    }
}

#[test]
fn a_session_may_leave_steps_out_and_do_one_again() {
    for server in in_both(|_, _| (200, Vec::new(), String::new())) {
        let measured = run(&server, Limits::default(), Arc::new(|number, answers, _| four_ways(number, answers)));
        let each = SESSIONS / 4;
        let steps = &measured.facts.steps;
        let tally = SessionTally {
            planned: SESSIONS,
            begun: SESSIONS,
            completed: 3 * each,
            ended_early: each,
            ..SessionTally::default()
        };
        assert_eq!((measured.facts.tally, measured.facts.flow.as_str()), (tally, "shop"));
        let counts: Vec<_> = steps.iter().map(|step| (step.reached, step.repeats, step.most_requests)).collect();
        assert_eq!(counts, [(SESSIONS, 0, 0), (2 * each, 2 * each, 3), (each, 0, 0)]);
        let missed: Vec<NotReached> = steps.iter().map(|step| step.not_reached).collect();
        let of = |not_asked| NotReached { ended_early: each, not_asked, ..NotReached::default() };
        assert_eq!(missed, [NotReached::default(), of(each), of(2 * each)]);
        for (step, path) in steps.iter().zip(STEPS) {
            assert_eq!(server.count(&format!("GET {path} ")), step.reached + step.repeats, "{path}");
        }
        assert_eq!(steps[0].ended_here, BTreeMap::from([(EarlyEnd::Raised, each)]));
        assert_eq!((measured.notes, measured.abandoned), (vec!["first end at login: KeyError: 'token'".to_owned()], 0));
    }
}

/// An answer as a guide saw it, with one of its fields.
struct Seen {
    status: u16,
    bytes: usize,
    is_whole: bool,
    field: String,
}

#[test]
fn an_answer_is_seen_whole_and_cookies_are_kept() {
    let body = "x".repeat(1 << 20);
    for server in in_both(move |number, asked| {
        let cookie = asked.field("cookie").map(str::to_owned);
        let fields = vec![format!("Set-Cookie: id={number}"), "X-Token: a".to_owned()];
        match cookie {
            None => (201, fields, format!("{}{}", body, if asked.line.contains("long") { "x" } else { "" })),
            Some(cookie) => (200, vec![format!("X-Cookie: {cookie}")], String::new()),
        }
    }) {
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let kept = Arc::clone(&seen);
        let says = move |number: u64, answers: usize, answer: Option<&GuidedAnswer<'_>>| {
            if let Some(answer) = answer {
                let name = if answers == 1 { "x-token" } else { "X-Cookie" };
                let field = answer.fields.all(name).next().unwrap_or_default();
                let field = String::from_utf8_lossy(field).into_owned();
                assert!(answer.response_time > Nanos::ZERO);
                let status = answer.status;
                let bytes = answer.body.len();
                let is_whole = answer.is_whole;
                kept.lock().unwrap().push(Seen { status, bytes, is_whole, field });
            }
            let path = if number.is_multiple_of(2) { "/long" } else { "/exact" };
            match answers {
                0 => {
                    let path = path.to_owned();
                    NextMove::Ask(GuidedRequest { path, method: "POST".to_owned(), ..GuidedRequest::default() })
                }
                1 => ask(1),
                _ => NextMove::Done,
            }
        };
        let measured = run(&server, Limits::default(), Arc::new(says));
        assert_eq!(measured.facts.tally.completed, SESSIONS);
        let seen = seen.lock().unwrap();
        let (logins, lists): (Vec<&Seen>, Vec<&Seen>) = seen.iter().partition(|one| one.status == 201);
        assert_eq!((logins.len() as u64, lists.len() as u64), (SESSIONS, SESSIONS));
        assert!(logins.iter().all(|one| (one.bytes, one.field.as_str()) == (1 << 20, "a")));
        assert_eq!(logins.iter().filter(|one| one.is_whole).count() as u64, SESSIONS / 2);
        assert!(lists.iter().all(|one| one.status == 200 && one.is_whole));
        let cookies: BTreeSet<&str> = lists.iter().map(|one| one.field.as_str()).collect();
        assert!(
            cookies.len() as u64 == SESSIONS && cookies.iter().all(|cookie| cookie.starts_with("id=")),
            "{cookies:?}"
        );
    }
}

#[test]
fn think_time_is_planned_and_in_no_time_of_a_session() {
    let server = Server::start(|_, _| (200, Vec::new(), String::new()));
    let says = |_: u64, answers: usize, _: Option<&GuidedAnswer<'_>>| match (answers, ask(1)) {
        (0, _) => ask(0),
        (1, NextMove::Ask(asked)) => NextMove::Ask(GuidedRequest { think: Nanos::from_secs(1), ..asked }),
        _ => NextMove::Done,
    };
    let measured = run(&server, Limits::default(), Arc::new(says));
    let times = measured.facts.times.get(SessionTime::Completed);
    assert!(times.count() == SESSIONS && times.min().unwrap() < Nanos::from_secs(1), "{:?}", times.min());
    let sampled = measured.facts.sampled.unwrap();
    let thought =
        |session: &truetail_run::SampledSession| session.requests[1].due_ns - session.requests[0].end_ns.unwrap();
    assert!(
        sampled.slowest.iter().all(|session| session.think_ns == 1_000_000_000 && thought(session) == 1_000_000_000)
    );
    let cut = run(&server, Limits { drain: Nanos::from_millis(200), ..Limits::default() }, Arc::new(says));
    assert_eq!((cut.facts.tally.in_flight_at_end, cut.abandoned), (SESSIONS, SESSIONS));
    assert_eq!(cut.facts.steps[1].not_reached.run_ended, SESSIONS);
}

#[test]
fn a_session_that_asks_for_nothing_never_begins() {
    for server in in_both(|_, _| (200, Vec::new(), String::new())) {
        let says = |number: u64, answers: usize, _: Option<&GuidedAnswer<'_>>| match (number % 2, answers) {
            (0, _) => fail("IndexError: pop from empty list"),
            (_, 0) => ask(0),
            _ => NextMove::Done,
        };
        let measured = run(&server, Limits::default(), Arc::new(says));
        let half = SESSIONS / 2;
        let tally = measured.facts.tally;
        assert_eq!((tally.planned, tally.begun, tally.never_begun, tally.completed), (SESSIONS, half, half, half));
        assert_eq!(
            (measured.output.snapshot.tally.planned, measured.output.snapshot.tally.never_issued),
            (SESSIONS, half)
        );
        assert_eq!(server.count("GET /login"), half);
        assert!(measured.facts.steps.iter().all(|step| step.not_reached.never_begun == half));
        let note = "first session that never made a request: IndexError: pop from empty list";
        assert_eq!((measured.notes, measured.abandoned), (vec![note.to_owned()], 0));
    }
}

#[test]
fn what_cannot_be_asked_for_ends_a_session() {
    let server = Server::start(|_, _| (200, Vec::new(), String::new()));
    let wrong: [(GuidedRequest, &str); 3] = [
        (GuidedRequest { path: "list".to_owned(), ..GuidedRequest::default() }, "does not begin with a slash"),
        (
            GuidedRequest { headers: vec![("Content-Length".to_owned(), "1".to_owned())], ..GuidedRequest::default() },
            "follows",
        ),
        (GuidedRequest { step: 3, ..GuidedRequest::default() }, "there is no step 3"),
    ];
    for (wrong, why) in wrong {
        let path = if wrong.path.is_empty() { "/list".to_owned() } else { wrong.path.clone() };
        let wrong = GuidedRequest { method: "GET".to_owned(), path, ..wrong };
        let first = wrong.clone();
        let says = move |_: u64, answers: usize, _: Option<&GuidedAnswer<'_>>| {
            if answers == 0 { ask(0) } else { NextMove::Ask(wrong.clone()) }
        };
        let measured = run(&server, Limits::default(), Arc::new(says));
        assert_eq!(measured.facts.steps[0].ended_here, BTreeMap::from([(EarlyEnd::Request, SESSIONS)]));
        assert!(
            measured.notes[0].starts_with("first end at login: ") && measured.notes[0].contains(why),
            "{:?}",
            measured.notes
        );
        assert_eq!(measured.abandoned, SESSIONS, "each guide is told");
        let at_once = run(&server, Limits::default(), Arc::new(move |_, _, _| NextMove::Ask(first.clone())));
        assert_eq!((at_once.facts.tally.never_begun, at_once.abandoned), (SESSIONS, SESSIONS));
        assert!(at_once.notes[0].contains(why), "{:?}", at_once.notes);
    }
    let early = |_: u64, _: usize, _: Option<&GuidedAnswer<'_>>| match ask(0) {
        NextMove::Ask(asked) => NextMove::Ask(GuidedRequest { think: Nanos(1), ..asked }),
        other => other,
    };
    let measured = run(&server, Limits::default(), Arc::new(early));
    assert_eq!((measured.facts.tally.never_begun, measured.abandoned), (SESSIONS, SESSIONS));
    assert!(measured.notes[0].contains("would only move the arrival"), "{:?}", measured.notes);
}

#[test]
fn without_an_answer_a_session_ends_by_what_the_engine_says() {
    for server in in_both(|_, asked| {
        if asked.line.contains("/list") {
            sleep(Duration::from_secs(30));
        }
        (200, Vec::new(), String::new())
    }) {
        let limits = Limits { timeout: Some(Nanos::from_millis(200)), ..Limits::default() };
        let says = |_: u64, answers: usize, _: Option<&GuidedAnswer<'_>>| ask(answers as u32);
        let measured = run(&server, limits, Arc::new(says));
        assert_eq!(measured.facts.steps[1].ended_here, BTreeMap::from([(EarlyEnd::TimedOut, SESSIONS)]));
        assert_eq!((measured.facts.times.get(SessionTime::Censored).count(), measured.abandoned), (SESSIONS, SESSIONS));
    }
}

/// The time that a guide takes is generator lag, before the first request and before later ones.
#[test]
fn a_slow_guide_is_not_billed_to_the_server() {
    const TAKES: Nanos = Nanos::from_millis(600);
    for server in in_both(|_, _| (200, Vec::new(), String::new())) {
        for slow_at in [0, 1] {
            let says = move |number: u64, answers: usize, _: Option<&GuidedAnswer<'_>>| {
                // The first session opens the connection that the last one uses.
                let is_last = number + 1 == SESSIONS;
                if is_last && answers == slow_at {
                    sleep(TAKES.into());
                }
                if (number > 0 && !is_last) || answers == 2 { NextMove::Stop } else { ask(answers as u32) }
            };
            let measured = run(&server, Limits::default(), Arc::new(says));
            let of = |metric: Metric| measured.output.snapshot.metric(metric);
            let lag = of(Metric::GeneratorLag).max().unwrap();
            assert!(lag >= TAKES, "slow at {slow_at}: the lag is {lag}");
            let service = of(Metric::ServiceTime).max().unwrap();
            assert!(service < TAKES, "slow at {slow_at}, {:?}: the service took {service}", server.version);
            assert_eq!(measured.facts.tally.completed + measured.facts.tally.in_flight_at_end, 2);
        }
    }
}

#[test]
fn origins_and_steps_that_cannot_be_are_refused() {
    let steps = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let plan =
        |origin: &str, names: &[&str]| GuidedPlan::new("f", &[origin.to_owned()], &steps(names), HttpVersion::Http1);
    for (origin, names, why) in [
        ("127.0.0.1:80", &["a"][..], "no scheme"),
        ("http://127.0.0.1/shop", &["a"], "paths belong to the requests"),
        ("http://127.0.0.1/?a=b", &["a"], "paths belong to the requests"),
        ("http://127.0.0.1/", &[], "none given"),
        ("http://127.0.0.1/", &["a", "b", "a"], "'a' is there twice"),
        ("http://127.0.0.1/", &[" "], "no name of a step"),
        ("http://127.0.0.1/", &["a\nb"], "no name of a step"),
    ] {
        let error = plan(origin, names).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    let origins = ["http://127.0.0.1", "https://127.0.0.1", "http://127.0.0.1:80/"].map(str::to_owned);
    let several = GuidedPlan::new("f", &origins, &steps(&["a"]), HttpVersion::Http1).unwrap();
    assert_eq!(several.origins().map(|origin| origin.to_string()).collect::<Vec<_>>(), origins[..2]);
    assert!(
        GuidedPlan::new("f", &[], &steps(&["a"]), HttpVersion::Http1).unwrap_err().to_string().contains("none given")
    );
}
