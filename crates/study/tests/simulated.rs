//! Searches over simulated services, whose capacity is known.

#[allow(dead_code, reason = "the example uses the rest")]
#[path = "../examples/capacity_study/servers.rs"]
mod servers;

use servers::{Server, SimProbe, search_for, search_in, seeded_search};
use truetail_analysis::capacity::{Answer, SearchState};
use truetail_model::time::Nanos;
use truetail_study::capacity::StopReason;

/// Wide, so that a search takes a second.
const RESOLUTION: f64 = 0.5;

/// A small version of `examples/capacity_study`: the truth lies between the proven and the refuted rate.
#[test]
fn the_truth_lies_between_proven_and_refuted() {
    for server in Server::all() {
        let mut outside = 0;
        for seed in 1..=2 {
            let found = seeded_search(server, seed, RESOLUTION);
            assert!(found.probes > 3, "{server:?} {seed}: {found:?}");
            outside += usize::from(!found.holds(server));
        }
        assert_eq!(outside, 0, "{server:?}");
    }
}

/// A kill leaves the lines of some probes, and half a line.
#[test]
fn a_search_that_was_killed_ends_with_the_same_answer() {
    let whole = tempfile::tempdir().expect("a folder");
    let (ended, probes) = search_in(whole.path(), &mut SimProbe::new(Server::MM1, 1), RESOLUTION);
    assert_eq!(ended.finding.state, SearchState::Found);
    let text = std::fs::read_to_string(whole.path().join("probes.jsonl")).expect("a journal");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    assert_eq!(lines.len(), probes + 1, "the question, and a line for each probe");
    for kept in [1, 2, probes / 2, probes] {
        let folder = tempfile::tempdir().expect("a folder");
        let half = lines.get(kept).map_or("", |line| &line[..line.len() / 2]);
        std::fs::write(folder.path().join("probes.jsonl"), lines[..kept].concat() + half).expect("a journal");
        let (again, probes_again) = search_in(folder.path(), &mut SimProbe::new(Server::MM1, 1), RESOLUTION);
        let journal = std::fs::read_to_string(folder.path().join("probes.jsonl")).expect("a journal");
        assert!(journal.starts_with(&lines[..kept].concat()), "what was there stays");
        assert!(again.stopped.is_none() && probes_again >= kept - 1, "{again:?}");
        let proven = again.finding.proven.expect("proven").0;
        let refuted = again.finding.refuted.expect("refuted").0;
        assert!(proven <= Server::MM1.truth() && refuted >= Server::MM1.truth(), "{again:?}");
        assert!(refuted / proven <= 1.0 + RESOLUTION + 1e-9, "{again:?}");
        let about = again.finding.estimate.expect("both ends are known");
        assert!(proven <= about.low && about.low <= about.rate && about.rate <= about.high && about.high <= refuted);
    }
}

#[test]
fn a_service_that_dies_keeps_what_is_proven() {
    let folder = tempfile::tempdir().expect("a folder");
    let (ended, probes) = search_in(folder.path(), &mut SimProbe::new(Server::MM1, 1).dying_after(4), RESOLUTION);
    assert!(matches!(ended.stopped, Some(StopReason::ServiceGone(_))), "{ended:?}");
    assert_eq!((ended.finding.state, probes), (SearchState::OutOfTime, 3), "the probe in which it died says nothing");
    assert!(ended.finding.proven.is_some_and(|(rate, again)| rate >= 200.0 && !again), "{ended:?}");
    let (again, _) = search_in(folder.path(), &mut SimProbe::new(Server::MM1, 1), RESOLUTION);
    assert_eq!(again.finding.state, SearchState::Found);
}

/// Some time limits cut off a probe without an answer. The search returns it, but not in the journal.
#[test]
fn a_probe_that_the_time_cut_off_is_handed_over() {
    let ends = (1..120).map(|end| {
        let folder = tempfile::tempdir().expect("a folder");
        let mut probe = SimProbe::new(Server::MM1, 1);
        let (ended, probes) = search_for(folder.path(), &mut probe, RESOLUTION, Nanos::from_secs(3 * end));
        let journal = std::fs::read_to_string(folder.path().join("probes.jsonl")).expect("a journal");
        assert_eq!(journal.lines().count(), probes + 1);
        ended
    });
    let ended = ends.into_iter().find(|ended| ended.cut.is_some()).expect("a probe that was cut off");
    assert_eq!((ended.stopped, ended.finding.state), (Some(StopReason::TimeUp), SearchState::OutOfTime));
    assert_eq!(ended.cut.expect("it").probed.answer, Answer::Open);
}
