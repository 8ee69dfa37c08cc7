//! Gates on streams and language models.

use super::*;

/// A healthy run of streams with gaps of 10 ms and one of 500 ms. `failed` of them failed to begin.
fn of_streams(mut run: Run, failed: u64) -> Run {
    let planned = run.snapshot.tally.planned;
    let mut times = StreamTimes::default();
    times.get_mut(StreamTime::FirstEvent).record_n(Nanos::from_millis(10), planned - failed);
    times.get_mut(StreamTime::FirstEventFailed).record_n(Nanos::from_millis(10), failed);
    times.get_mut(StreamTime::EventGap).record_n(Nanos::from_millis(10), 9 * planned);
    times.get_mut(StreamTime::EventGap).record_n(Nanos::from_millis(500), 1);
    run.facts.stream = Some(StreamFacts {
        reading: StreamReading::new(StreamKind::Sse),
        tally: StreamTally { planned, complete: planned - failed, failed, ..StreamTally::default() },
        events: planned - failed + 9 * planned + 1,
        bytes: Some(0),
        coalesced_gaps: 0,
        listened_ns: None,
        stamps: None,
        stalls: 0,
        llm: None,
        times,
        requests: Default::default(),
        detail: None,
    });
    run
}

/// A healthy run of a language model: content after 200 ms, then every 20 ms. `uncounted` answers have no token count.
fn of_llm(uncounted: u64) -> Run {
    let mut run = of_streams(healthy(), 0);
    let planned = run.snapshot.tally.planned;
    let streams = run.facts.stream.as_mut().expect("streams");
    for (time, ms, count) in [
        (StreamTime::FirstContent, 200, planned),
        (StreamTime::ContentGap, 20, 9 * planned),
        (StreamTime::TimePerOutputToken, 20, planned - uncounted),
    ] {
        streams.times.get_mut(time).record_n(Nanos::from_millis(ms), count);
    }
    let mut llm = LlmFacts::new(LlmApi::OpenaiChat, vec!["tpot < 50ms".to_owned()]);
    llm.tokens = TokenCounts {
        counted: planned - uncounted,
        not_counted: uncounted,
        unknown_time_per_output_token: uncounted,
        ..TokenCounts::default()
    };
    llm.slo = llm.slo.map(|slo| SloCounts { met: planned - uncounted, cannot_tell: uncounted, ..slo });
    streams.llm = Some(llm);
    run
}

#[test]
fn gates_on_language_models_decide() {
    let run = of_llm(0);
    for (gate, expected) in [
        ("ttft p99 > 500ms", GateState::Holds),
        ("ttft p99 > 100ms", GateState::Fails),
        ("itl max > 15ms", GateState::Fails),
        ("itl p99 > 25ms", GateState::Holds),
        ("tpot p50 > 25ms", GateState::Holds),
        ("tpot mean > 15ms", GateState::Fails),
    ] {
        assert_eq!(state(gate, &run), expected, "{gate}");
    }
    assert_eq!(state("ttft p99 > 500ms", &of_streams(healthy(), 0)), GateState::Open);
}

#[test]
fn answers_without_a_token_count_may_be_slowest_or_fastest() {
    let planned = healthy().snapshot.tally.planned;
    for (gate, uncounted, expected) in [
        ("tpot p50 > 25ms", 1, GateState::Holds),
        ("tpot p50 > 25ms", planned * 3 / 4, GateState::Open),
        ("tpot p50 > 15ms", 1, GateState::Fails),
        ("tpot p99 > 25ms", planned / 50, GateState::Open),
        ("tpot p50 > 25ms", planned, GateState::Open),
        ("tpot mean > 25ms", 1, GateState::Open),
    ] {
        let run = of_llm(uncounted);
        let found = judged(gate, &run, &findings(&run));
        assert_eq!(found.state, expected, "{gate} {uncounted}: {}", found.message);
    }
}

/// Of some answers the first content may have come at any time, and around it any gap.
#[test]
fn times_that_were_not_understood_may_be_the_smallest_or_the_largest() {
    let planned = healthy().snapshot.tally.planned;
    for (gate, unknown, expected) in [
        ("ttft p50 > 500ms", 1, GateState::Holds),
        ("ttft p50 > 100ms", 1, GateState::Fails),
        ("ttft p99 > 500ms", planned / 50, GateState::Open),
        ("ttft p50 > 100ms", planned, GateState::Open),
        ("ttft mean > 500ms", 1, GateState::Open),
        ("itl p50 > 25ms", 1, GateState::Holds),
        ("itl p50 > 15ms", 1, GateState::Fails),
        ("itl max > 25ms", 1, GateState::Open),
        ("itl p99 > 25ms", planned, GateState::Open),
    ] {
        let mut run = of_llm(0);
        let streams = run.facts.stream.as_mut().expect("streams");
        let mut first = CompactHistogram::default();
        first.record_n(Nanos::from_millis(200), planned - unknown);
        *streams.times.get_mut(StreamTime::FirstContent) = first;
        let llm = streams.llm.as_mut().expect("a language model");
        (llm.unmeasured.first_content, llm.unmeasured.gaps) = (unknown, unknown);
        let found = judged(gate, &run, &findings(&run));
        assert_eq!(found.state, expected, "{gate} {unknown}: {}", found.message);
        let says_why = found.message.contains("does not understand");
        assert_eq!(says_why, expected == GateState::Open, "{gate} {unknown}: {}", found.message);
    }
}

#[test]
fn goodput_is_a_range_where_it_cannot_be_told() {
    let run = of_llm(100);
    let planned = run.snapshot.tally.planned;
    let goodput = findings(&run).stream.and_then(|streams| streams.llm?.goodput).expect("goodput");
    assert_eq!((goodput.planned, goodput.met, goodput.cannot_tell), (planned, planned - 100, 100));
    assert_eq!(goodput.share_at_most, Some(1.0));
    let share = goodput.share.expect("a share");
    assert!((share * planned as f64 - (planned - 100) as f64).abs() < 1e-6, "{share}");
    assert!(goodput.per_second < goodput.per_second_at_most, "{goodput:?}");
}

#[test]
fn a_gap_that_our_own_pause_may_have_made_decides_nothing() {
    let steady = of_streams(healthy(), 0);
    let found = findings(&steady);
    assert_eq!(judged("event-gap max > 100ms", &steady, &found).state, GateState::Fails);
    let paused = of_streams(with_pause(&healthy(), Timestamp(20_000_000_000), Nanos::from_millis(600)), 0);
    // Only the pause, without its effect on the verdict.
    let judged = |text| judged(text, &paused, &found).state;
    assert_eq!((judged("event-gap max > 100ms"), judged("event-gap max > 1s")), (GateState::Open, GateState::Holds));
    assert_eq!(judged("incomplete-streams > 1%"), GateState::Holds);
}

#[test]
fn streams_that_failed_on_this_machine_fail_no_gate() {
    let short_of_ports = changed(&healthy(), |record| {
        if record.index % 50 == 0 {
            record.outcome = Outcome::ConnectFailed(Cause::NoLocalPort);
        }
    });
    let failed = short_of_ports.snapshot.tally.connect_failed;
    let run = of_streams(short_of_ports, failed);
    assert_eq!(state("incomplete-streams > 1%", &run), GateState::Open);
    assert_eq!(state("incomplete-streams > 1%", &of_streams(healthy(), failed)), GateState::Fails);
}

/// Returns a run of a flow whose second step is a stream, with sessions that did not reach it.
fn of_steps(run: Run, not_reached: NotReached) -> Run {
    let mut run = of_streams(run, 0);
    let streams = run.facts.stream.as_mut().expect("streams");
    streams.reading.of_steps = vec!["chat".to_owned()];
    streams.tally.count_not_reached(not_reached.total());
    let chat = StepFacts { name: "chat".to_owned(), per_session: 1, not_reached, ..StepFacts::default() };
    run.facts.sessions = Some(SessionFacts {
        flow: "a.hurl".to_owned(),
        flows: Vec::new(),
        tally: SessionTally::default(),
        steps: vec![StepFacts::default(), chat],
        goodput: None,
        times: SessionTimes::default(),
        sampled: None,
    });
    run
}

#[test]
fn a_stream_behind_a_step_that_failed_is_lost_for_certain() {
    let some = healthy().snapshot.tally.planned / 20;
    let cut_off = |not_reached: NotReached| {
        let mut run = of_steps(healthy(), not_reached);
        run.facts.interrupted = true;
        state("incomplete-streams > 1%", &run)
    };
    let nothing = NotReached::default();
    assert_eq!(cut_off(NotReached { ended_early: some, ..nothing }), GateState::Fails);
    // These sessions might have reached the step.
    assert_eq!(cut_off(NotReached { run_ended: some, ..nothing }), GateState::Open);
    assert_eq!(cut_off(NotReached { never_begun: some, ..nothing }), GateState::Open);
}

#[test]
fn a_stream_after_a_step_that_failed_here_fails_no_gate() {
    let short_of_ports = changed(&healthy(), |record| {
        if record.index % 20 == 0 {
            record.outcome = Outcome::ConnectFailed(Cause::NoLocalPort);
        }
    });
    let lost = NotReached { ended_early: short_of_ports.snapshot.tally.connect_failed, ..NotReached::default() };
    assert_eq!(state("incomplete-streams > 1%", &of_steps(short_of_ports, lost)), GateState::Open);
    assert_eq!(state("incomplete-streams > 1%", &of_steps(healthy(), lost)), GateState::Fails);
}

/// A step of four requests takes 500 ms. A single pause may have delayed any of the four, but not each by its length.
#[test]
fn pauses_delay_a_step_by_no_more_than_their_sum() {
    let of_pauses = |lengths_ms: &[u64]| {
        let mut run = of_steps(healthy(), NotReached::default());
        let sessions = run.facts.sessions.as_mut().expect("a flow");
        sessions.steps[1].most_requests = 4;
        sessions.steps[1].times.get_mut(SessionTime::Completed).record_n(Nanos::from_millis(500), 900);
        let lengths = lengths_ms.iter().map(|ms| ms * 1_000_000);
        run.facts.generator = Some(GeneratorStats {
            pauses: lengths.clone().map(|length_ns| Pause { worker: 0, at_ns: 0, length_ns }).collect(),
            paused_ns: lengths.sum(),
            ..GeneratorStats::default()
        });
        state("p50{chat} > 200ms", &run)
    };
    assert_eq!(of_pauses(&[]), GateState::Fails);
    assert_eq!(of_pauses(&[200]), GateState::Fails);
    assert_eq!(of_pauses(&[200, 150]), GateState::Open);
    assert_eq!(of_pauses(&[70; 9]), GateState::Fails);
}

/// An answer whose stream reports a failure has a status of success, and a stream that was cut has no answer.
#[test]
fn error_events_and_cut_streams_are_errors() {
    let clean = of_streams(healthy(), 0);
    assert_eq!(judged("error-rate > 0", &clean, &findings(&clean)).message, "measured 0%");
    let planned = clean.snapshot.tally.planned;
    for (server_error, cut) in [(planned, 0), (planned / 2, 0), (planned / 4, planned / 4), (0, planned / 2)] {
        let left = std::cell::Cell::new(cut);
        let cut_at_all = changed(&healthy(), |record| {
            if left.get() > 0 && record.outcome.is_response() {
                left.set(left.get() - 1);
                record.outcome = Outcome::TimedOut;
            }
        });
        let mut run = of_streams(cut_at_all, 0);
        let tally = &mut run.facts.stream.as_mut().expect("streams").tally;
        (tally.server_error, tally.cut, tally.complete) = (server_error, cut, planned - server_error - cut);
        let found = judged("error-rate > 1%", &run, &findings(&run));
        let share = (server_error + cut) as f64 / planned as f64;
        assert_eq!((found.state, found.value), (GateState::Fails, Some(share)), "{found:?}");
        for (count, what) in [(server_error, "an error event in the stream"), (cut, "a cut stream")] {
            assert_eq!(found.message.contains(&format!("{count} with {what}")), count > 0, "{found:?}");
        }
        assert!(!found.message.contains("no answer"), "a cut stream is told once: {found:?}");
        // Arrivals without an answer are another question.
        assert_eq!(judged("unanswered > 99%", &run, &findings(&run)).state, GateState::Holds);
    }
}

#[test]
fn goodput_is_a_gate_with_bounds() {
    let planned = healthy().snapshot.tally.planned;
    for (gate, uncounted, expected) in [
        ("goodput > 99%", 0, GateState::Holds),
        ("goodput < 99%", 0, GateState::Holds),
        ("goodput > 99%", planned / 1000, GateState::Holds),
        // Half of the answers have no known time per output token, and may have met the objective.
        ("goodput > 60%", planned / 2, GateState::Open),
        ("goodput > 40%", planned / 2, GateState::Holds),
    ] {
        assert_eq!(state(gate, &of_llm(uncounted)), expected, "{gate} {uncounted}");
    }
    let mut missed = of_llm(0);
    let llm = missed.facts.stream.as_mut().and_then(|streams| streams.llm.as_mut()).expect("a model");
    llm.slo = llm.slo.take().map(|slo| SloCounts { met: planned / 2, ..slo });
    assert_eq!(
        (state("goodput > 99%", &missed), state("goodput > 49%", &missed)),
        (GateState::Fails, GateState::Holds)
    );
    let llm = missed.facts.stream.as_mut().and_then(|streams| streams.llm.as_mut()).expect("a model");
    llm.slo = None;
    assert_eq!(state("goodput > 1%", &missed), GateState::Open);
    assert_eq!("ttft p99 <= 2s".parse::<Gate>().unwrap().for_each_request().as_deref(), Some("ttft <= 2s"));
    assert_eq!("ttft p99 > 2s".parse::<Gate>().unwrap().for_each_request(), None);
}
