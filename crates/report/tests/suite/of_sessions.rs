//! Tests that pictures of sessions are well-formed and small for any sessions.

use truetail_analysis::series::{EarlyEnds, SampleReason, SessionSeries, ShownSession};
use truetail_report::plot::{session_ends, session_waterfall};
use truetail_run::{EarlyEnd, SampledRequest, SampledSession, SessionEnding};

use crate::of_runs::assert_well_formed;

/// Returns a session of `requests` requests, each due 7 ms after the one before it.
fn session(requests: u64, ending: SessionEnding) -> SampledSession {
    let request = |nth: u64| SampledRequest {
        step: nth as u32 % 9,
        due_ns: nth * 7_000_000,
        sent_ns: nth * 7_000_000 + 1_000_000,
        end_ns: Some(nth * 7_000_000 + 5_000_000),
    };
    SampledSession {
        intended_start_ns: 0,
        end_ns: requests * 7_000_000,
        think_ns: requests * 2_000_000,
        ending,
        left_out: 0,
        requests: (0..requests).map(request).collect(),
    }
}

fn series(sessions: Vec<SampledSession>, steps: usize) -> SessionSeries {
    let shown = |session| ShownSession { because: SampleReason::Chance, session };
    SessionSeries {
        may_repeat: vec![false; steps],
        has_retries: false,
        steps: (0..steps).map(|step| format!("<step {step}>")).collect(),
        begun: 8,
        early_ends: Vec::new(),
        sampled: sessions.into_iter().map(shown).collect(),
    }
}

#[test]
fn sessions_of_any_length_are_drawn() {
    let open = SampledRequest { step: 0, due_ns: 7, sent_ns: u64::MAX, end_ns: None };
    let odd = SampledSession {
        intended_start_ns: 7,
        end_ns: u64::MAX,
        think_ns: u64::MAX,
        left_out: u64::MAX,
        requests: vec![SampledRequest { end_ns: Some(u64::MAX), ..open }, open],
        ..session(0, SessionEnding::InFlightAtEnd)
    };
    let none = session(0, SessionEnding::EndedEarly(EarlyEnd::Request));
    for sessions in
        [vec![none], vec![odd], vec![session(1, SessionEnding::Completed), session(50, SessionEnding::Completed)]]
    {
        for steps in [0, 1, 4, 9] {
            assert_well_formed("sessions", session_waterfall(&series(sessions.clone(), steps)).svg());
        }
    }
    assert!(session_waterfall(&SessionSeries::default()).svg().contains("No session was kept in full"));
}

#[test]
fn what_is_drawn_is_small_and_says_what_it_shows() {
    let ended = session(50, SessionEnding::EndedEarly(EarlyEnd::TimedOut));
    let all = series([vec![session(50, SessionEnding::Completed); 7], vec![ended]].concat(), 9);
    let svg = session_waterfall(&all).svg().to_owned();
    assert!(svg.len() < 60_000, "{} bytes", svg.len());
    assert_eq!(svg.matches(">due at ").count(), 8);
    assert!(svg.contains("timed out") && svg.contains("the request that ended its session"));
    let few = session_waterfall(&series(vec![session(2, SessionEnding::Completed)], 2)).svg().to_owned();
    assert!(few.contains("&lt;step 1&gt;") && !few.contains("that ended its session"));
}

#[test]
fn ends_are_drawn_in_the_order_of_steps_the_most_frequent_ones() {
    let ends = |step: usize, sessions| EarlyEnds { step, cause: EarlyEnd::Status, sessions };
    let mut all = series(Vec::new(), 20);
    assert!(session_ends(&all).svg().contains("No session ended early"));
    all.early_ends = (0..20).map(|step| ends(step, if step == 3 { 1 } else { 2 + step as u64 })).collect();
    let svg = session_ends(&all).svg().to_owned();
    assert_well_formed("session-ends", &svg);
    assert_eq!(svg.matches(": other status").count(), 12);
    let place = |step: usize| svg.find(&format!("&lt;step {step}&gt;"));
    assert!(place(3).is_none() && place(8) < place(9) && place(9) < place(19));
    all.early_ends = vec![ends(0, u64::MAX), ends(21, 1)];
    assert_well_formed("session-ends", session_ends(&all).svg());
}
