//! Sessions in a run folder: loaded as saved, merged, and refused if their books do not balance.

use truetail_model::record::RecorderOptions;
use truetail_model::time::Nanos;
use truetail_run::{
    Distribution, EarlyEnd, Findings, Run, SampledSessions, SessionEnding, SessionFacts, SessionFindings, SessionTime,
    SessionTrail, folder, merge,
};

#[path = "../support/sessions.rs"]
mod made;

use crate::support::{self, assert_refused, saved_with};
use made::sessions;
use made::sessions as sessions_made;

pub fn run_with_sessions() -> (Run, Findings) {
    let mut run = support::run(RecorderOptions::default(), &support::steady(2));
    run.facts.sessions = Some(sessions());
    let session_time = Distribution { count: 100, ..Distribution::default() };
    let findings = Findings {
        sessions: Some(SessionFindings { session_time, ..SessionFindings::default() }),
        ..support::findings(&run)
    };
    (run, findings)
}

#[test]
fn sessions_come_back_as_they_were() {
    let (run, findings) = run_with_sessions();
    let dir = saved_with(&run, &findings);
    assert_eq!(folder::load(dir.path()).unwrap().run.facts.sessions, run.facts.sessions);
    let file = folder::load_run_file(dir.path()).unwrap();
    let json: serde_json::Value = serde_json::from_str(&file.to_json()).unwrap();
    let sessions = &json["sessions"];
    assert_eq!((&sessions["tally"]["begun"], &sessions["session_time"]["count"]), (&96.into(), &100.into()));
    assert_eq!(sessions["steps"][0]["ended_here"]["status"], 3);
    assert_eq!(sessions["steps"][1]["not_reached"]["run_ended"], 2);
    assert_eq!((&sessions["steps"][0]["hops"], &sessions["steps"][1]["hops"]), (&serde_json::Value::Null, &12.into()));
}

#[test]
fn sampled_sessions_that_no_run_with_these_books_has_are_refused() {
    assert_refused::<SampledSessions>(
        run_with_sessions(),
        |run| run.facts.sessions.as_mut().unwrap().sampled.as_mut().unwrap(),
        "sessions.json",
        &[
            |sampled| sampled.slowest = sampled.random.clone(),
            |sampled| drop(sampled.random.pop()),
            |sampled| sampled.random[3].requests.clear(),
            |sampled| sampled.random[3].requests[0].step = 2,
            |sampled| sampled.random[3].requests[0].due_ns = 0,
            |sampled| sampled.random[3].requests[0].sent_ns = u64::MAX,
            |sampled| sampled.random[3].requests[0].end_ns = None,
            |sampled| sampled.random[3].requests.iter_mut().for_each(|request| request.end_ns = None),
            |sampled| sampled.random[3].end_ns = u64::MAX,
            |sampled| sampled.random[3].ending = SessionEnding::EndedEarly(EarlyEnd::Assert),
            |sampled| sampled.random[3].left_out = 1,
            |sampled| sampled.random[3].requests = vec![sampled.random[3].requests[0]; 51],
        ],
    );
}

#[test]
fn a_folder_without_sampled_sessions_has_the_rest() {
    let (run, findings) = run_with_sessions();
    let dir = saved_with(&run, &findings);
    std::fs::remove_file(dir.path().join(folder::SESSIONS)).unwrap();
    let loaded = folder::load(dir.path()).unwrap().run.facts.sessions.unwrap();
    let saved = run.facts.sessions.unwrap();
    assert_eq!(loaded, SessionFacts { sampled: None, ..saved.clone() });
    let mut whole = saved;
    whole.merge(&loaded);
    assert_eq!(whole.sampled, None, "half of it is not that of the whole");
}

/// If a session has too many requests, the first ones and the last are kept.
#[test]
fn the_end_of_a_long_session_is_kept() {
    let mut trail = SessionTrail::default();
    let mut sampled = SampledSessions::default();
    trail.restart(0);
    for number in 0..250 {
        trail.issue(number, u64::from(number) * 10);
        trail.end(u64::from(number) * 10 + 1, Some(u64::from(number) * 10 + 2));
    }
    sampled.offer_session(&trail, 2_492, 0, SessionEnding::Completed);
    let session = &sampled.slowest[0];
    let steps: Vec<u32> = session.requests.iter().map(|request| request.step).collect();
    assert_eq!((steps.len() as u64 + session.left_out, &steps[47..]), (250, &[47, 48, 249][..]));
    assert_eq!((session.end_ns, session.time_ns()), (2_492, 2_492));
}

#[test]
fn sessions_of_a_whole_are_those_of_its_parts() {
    let (mut a, _) = run_with_sessions();
    let mut b = a.clone();
    b.facts.started_at_unix_ns = Some(1);
    let merged = merge(vec![a.clone(), b.clone()]).unwrap().facts.sessions.expect("both have sessions");
    assert_eq!((merged.imbalance(), merged.tally.completed, merged.steps[0].ended()), (None, 180, 6));
    let sampled = merged.sampled.as_ref().expect("both have some");
    assert_eq!((sampled.slowest.len(), sampled.random.len()), (4, 20));
    let list = &merged.steps[1];
    assert_eq!((list.hops, list.retries, list.most_requests, list.times.count()), (24, 4, 3, 184));
    // Before the flow was edited, this step was always one request, and had no times.
    let mut edited = a.clone();
    let step = |run: &mut Run| std::mem::take(&mut run.facts.sessions.as_mut().unwrap().steps[1].times);
    step(&mut edited);
    assert!(merge(vec![edited, b.clone()]).unwrap().facts.sessions.is_none());
    a.facts.sessions.as_mut().unwrap().flow = "other.hurl".to_owned();
    let whole = merge(vec![a, b]).unwrap();
    assert!(whole.facts.sessions.is_none() && whole.facts.notes.iter().any(|note| note.contains("flows")));
}

#[test]
fn books_of_sessions_that_do_not_balance_are_refused() {
    assert_refused::<SessionFacts>(
        run_with_sessions(),
        |run| run.facts.sessions.as_mut().unwrap(),
        "under sessions",
        &[
            |sessions| sessions.tally.begun += 1,
            |sessions| sessions.tally.completed -= 1,
            |sessions| sessions.tally.planned = 1 << 59,
            |sessions| sessions.steps[0].reached += 1,
            |sessions| sessions.steps[1].not_reached.run_ended = 1 << 59,
            |sessions| *sessions.steps[1].ended_here.entry(EarlyEnd::Assert).or_default() += 1,
            |sessions| sessions.times.get_mut(SessionTime::Failed).record_n(Nanos(1), 1),
            |sessions| sessions.steps[0].hops = 1,
            |sessions| sessions.steps[1].retries = 171,
            |sessions| sessions.steps[1].hops = 1 << 59,
            |sessions| sessions.steps[1].most_requests = 0,
            |sessions| sessions.steps[1].times.get_mut(SessionTime::Failed).record_n(Nanos(1), 6),
        ],
    );
}

/// Sessions that choose their steps: ten of the completed ones left `list` out, and others repeated it.
fn chosen() -> SessionFacts {
    let mut sessions = sessions();
    let list = &mut sessions.steps[1];
    (list.hops, list.retries, list.times) = (0, 0, Default::default());
    (list.repeats, list.most_requests) = (5, 3);
    (list.reached, list.not_reached.not_asked) = (81, 10);
    sessions
}

#[test]
fn sessions_that_choose_their_steps_come_back_and_are_merged() {
    let (mut run, findings) = run_with_sessions();
    run.facts.sessions = Some(chosen());
    let dir = saved_with(&run, &findings);
    assert_eq!(folder::load(dir.path()).unwrap().run.facts.sessions, Some(chosen()));
    let json: serde_json::Value = serde_json::from_str(&folder::load_run_file(dir.path()).unwrap().to_json()).unwrap();
    let [login, list] = [0, 1].map(|nth| &json["sessions"]["steps"][nth]);
    assert_eq!((&list["repeats"], &list["not_reached"]["not_asked"]), (&5.into(), &10.into()));
    assert_eq!(
        (&login["repeats"], &login["not_reached"]["not_asked"]),
        (&serde_json::Value::Null, &serde_json::Value::Null)
    );
    let mut whole = chosen();
    whole.merge(&chosen());
    let list = &whole.steps[1];
    assert_eq!((list.repeats, list.not_reached.not_asked, list.most_requests, whole.imbalance()), (10, 20, 3, None));
}

#[test]
fn books_of_sessions_that_choose_their_steps_have_to_balance() {
    let changes: [fn(&mut SessionFacts); 4] = [
        |sessions| sessions.steps[1].not_reached.not_asked += 1,
        |sessions| sessions.steps[1].repeats = 163,
        |sessions| sessions.steps[1].most_requests = 0,
        |sessions| {
            let list = &mut sessions.steps[1];
            (list.reached, list.not_reached.not_asked, list.repeats) = (0, 91, 0);
            list.ended_here.clear();
            sessions.steps[0].ended_here.insert(EarlyEnd::TimedOut, 1);
        },
    ];
    assert_eq!(chosen().imbalance(), None);
    for (number, change) in changes.into_iter().enumerate() {
        let mut sessions = chosen();
        change(&mut sessions);
        assert!(
            sessions.imbalance().is_some_and(|why| why.contains("step list")),
            "{number}: {:?}",
            sessions.imbalance()
        );
    }
}

/// Returns the sessions of two flows: the example sessions as `shop`, and again as `other`.
fn two_flows() -> SessionFacts {
    let mut other = sessions();
    other.flow = "other".to_owned();
    let shift =
        |session: &mut truetail_run::SampledSession| session.requests.iter_mut().for_each(|request| request.step += 2);
    let sampled = other.sampled.as_mut().unwrap();
    sampled.slowest.iter_mut().chain(&mut sampled.random).for_each(shift);
    let shop = SessionFacts { flow: "shop".to_owned(), ..sessions() };
    SessionFacts::from_flows(vec![(3, shop), (1, other)]).unwrap()
}

pub fn run_with_flows() -> (Run, Findings) {
    let (mut run, findings) = run_with_sessions();
    run.facts.sessions = Some(two_flows());
    (run, findings)
}

#[test]
fn several_flows_come_back_and_are_merged() {
    let (run, findings) = run_with_flows();
    let both = two_flows();
    assert_eq!((both.imbalance(), both.imbalance_of_sample()), (None, None));
    assert_eq!((both.tally.planned, both.steps.len(), both.flows.len()), (200, 4, 2));
    let steps = |facts: &SessionFacts, name: &str| facts.for_flow(name).map(|part| (part.first_step, part.steps.len()));
    assert_eq!((steps(&both, "shop"), steps(&both, "other")), (Some((0, 2)), Some((2, 2))));
    assert_eq!((steps(&both, "third"), steps(&sessions(), "shop.hurl")), (None, None));
    let dir = saved_with(&run, &findings);
    assert_eq!(folder::load(dir.path()).unwrap().run.facts.sessions, Some(both));
    let json: serde_json::Value = serde_json::from_str(&folder::load_run_file(dir.path()).unwrap().to_json()).unwrap();
    let other = &json["sessions"]["flows"][1];
    assert_eq!(
        (&other["name"], &other["weight"], &other["tally"]["completed"]),
        (&"other".into(), &1.into(), &90.into())
    );

    let mut later = run.clone();
    later.facts.started_at_unix_ns = Some(1);
    let mut lighter = later.clone();
    lighter.facts.sessions.as_mut().unwrap().flows[0].weight = 2;
    assert!(
        merge(vec![run.clone(), lighter]).unwrap().facts.sessions.is_none(),
        "the sessions were drawn in another way"
    );
    let whole = merge(vec![run, later]).unwrap().facts.sessions.unwrap();
    assert_eq!((whole.imbalance(), whole.flows[1].tally.completed, whole.flows[1].times.count()), (None, 180, 200));
}

#[test]
fn books_of_several_flows_that_do_not_balance_are_refused() {
    assert_refused::<SessionFacts>(
        run_with_flows(),
        |run| run.facts.sessions.as_mut().unwrap(),
        "sessions",
        &[
            |sessions| sessions.flows[1].name = "shop".to_owned(),
            |sessions| sessions.flows[1].weight = 0,
            |sessions| {
                let first = sessions.flows[0].clone();
                *sessions = SessionFacts { flows: vec![first], ..sessions_made() };
            },
            |sessions| {
                let times = &mut sessions.flows[0].times;
                *times = Default::default();
                times.get_mut(SessionTime::Completed).record_n(Nanos(7), 90);
                times.get_mut(SessionTime::Censored).record_n(Nanos(7), 7);
                times.get_mut(SessionTime::Failed).record_n(Nanos(7), 3);
            },
            |sessions| sessions.flows[1].tally.completed -= 1,
            |sessions| drop(sessions.flows.pop()),
            |sessions| sessions.flows[1].steps = 1,
            |sessions| sessions.flows[0].steps = usize::MAX,
            |sessions| sessions.tally.planned += 1,
            |sessions| sessions.steps[3].reached -= 1,
            |sessions| sessions.flows[0].times = Default::default(),
            |sessions| sessions.times.get_mut(SessionTime::Failed).record_n(Nanos(1), 1),
            |sessions| sessions.sampled.as_mut().unwrap().random[3].requests[0].step ^= 2,
        ],
    );
}
