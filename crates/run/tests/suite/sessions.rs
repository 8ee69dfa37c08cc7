//! Sessions in a run folder: they come back as they were, are merged, and are refused where their books do not balance.

use truetail_model::record::RecorderOptions;
use truetail_model::time::Nanos;
use truetail_run::{
    Distribution, EarlyEnd, Findings, NotReached, Run, SessionFacts, SessionFindings, SessionTally, SessionTime,
    StepFacts, folder, merge,
};

use crate::support;

/// A hundred sessions of two steps: three failed at the first, one timed out at the second, two were in flight at the end, and
/// four never began.
fn sessions() -> SessionFacts {
    let step = |name: &str, reached, not_reached, ended_here: &[(EarlyEnd, u64)]| StepFacts {
        name: name.to_owned(),
        line: 1,
        per_session: 1,
        reached,
        not_reached,
        ended_here: ended_here.iter().copied().collect(),
    };
    let never = NotReached { never_begun: 4, ..NotReached::default() };
    let mut facts = SessionFacts {
        flow: "shop.hurl".to_owned(),
        tally: SessionTally {
            planned: 100,
            begun: 96,
            never_begun: 4,
            completed: 90,
            ended_early: 4,
            in_flight_at_end: 2,
        },
        steps: vec![
            step("login", 96, never, &[(EarlyEnd::Status, 3)]),
            step("list", 91, NotReached { ended_early: 3, run_ended: 2, ..never }, &[(EarlyEnd::TimedOut, 1)]),
        ],
        times: Default::default(),
    };
    for (time, value, count) in [
        (SessionTime::Completed, 1_234_567, 90),
        (SessionTime::Censored, 5_000_000_001, 7),
        (SessionTime::Failed, 10_000_003, 3),
    ] {
        facts.times.of_mut(time).record_n(Nanos(value), count);
    }
    facts
}

fn run_with_sessions() -> (Run, Findings) {
    let mut run = support::run(RecorderOptions::default(), &support::steady(2));
    run.facts.sessions = Some(sessions());
    let session_time = Distribution { count: 100, ..Distribution::default() };
    let findings = Findings { sessions: Some(SessionFindings { session_time }), ..support::findings(&run) };
    (run, findings)
}

#[test]
fn sessions_come_back_as_they_were() {
    let ((run, findings), dir) = (run_with_sessions(), tempfile::tempdir().unwrap());
    folder::save(dir.path(), &run, &findings).unwrap();
    assert_eq!(folder::load(dir.path()).unwrap().run.facts.sessions, run.facts.sessions);
    let file = folder::load_run_file(dir.path()).unwrap();
    let json: serde_json::Value = serde_json::from_str(&file.to_json()).unwrap();
    let sessions = &json["sessions"];
    assert_eq!((&sessions["tally"]["begun"], &sessions["session_time"]["count"]), (&96.into(), &100.into()));
    assert_eq!(sessions["steps"][0]["ended_here"]["status"], 3);
    assert_eq!(sessions["steps"][1]["not_reached"]["run_ended"], 2);
}

#[test]
fn sessions_of_a_whole_are_those_of_its_parts() {
    let (mut a, _) = run_with_sessions();
    let mut b = a.clone();
    b.facts.started_at_unix_ns = Some(1);
    let merged = merge(vec![a.clone(), b.clone()]).unwrap().facts.sessions.expect("both have sessions");
    assert_eq!((merged.imbalance(), merged.tally.completed, merged.steps[0].ended()), (None, 180, 6));
    a.facts.sessions.as_mut().unwrap().flow = "other.hurl".to_owned();
    let whole = merge(vec![a, b]).unwrap();
    assert!(whole.facts.sessions.is_none() && whole.facts.notes.iter().any(|note| note.contains("flows")));
}

#[test]
fn books_of_sessions_that_do_not_balance_are_refused() {
    let changes: [fn(&mut SessionFacts); 7] = [
        |sessions| sessions.tally.begun += 1,
        |sessions| sessions.tally.completed -= 1,
        |sessions| sessions.tally.planned = u64::MAX,
        |sessions| sessions.steps[0].reached += 1,
        |sessions| sessions.steps[1].not_reached.run_ended = u64::MAX,
        |sessions| *sessions.steps[1].ended_here.entry(EarlyEnd::Assert).or_default() += 1,
        |sessions| sessions.times.of_mut(SessionTime::Failed).record_n(Nanos(1), 1),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let ((mut run, findings), dir) = (run_with_sessions(), tempfile::tempdir().unwrap());
        change(run.facts.sessions.as_mut().unwrap());
        folder::save(dir.path(), &run, &findings).unwrap();
        let error = folder::load(dir.path()).expect_err("a folder that no run writes").to_string();
        assert!(error.contains("under sessions") && !error.contains('\n'), "{number}: {error}");
    }
}
