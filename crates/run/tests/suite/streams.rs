//! Streams in a run folder: loaded as saved, merged, and refused if their books do not balance.

use truetail_model::record::RecorderOptions;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{
    DialectFile, Distribution, Findings, FinishCounts, GapLists, LlmApi, LlmFacts, ObjectiveCounts, PromptFacts,
    RequestStreams, Run, SloCounts, StreamDetail, StreamFacts, StreamFindings, StreamKind, StreamTime, TokenCounts,
    UnmeasuredContent, folder, merge,
};

#[path = "../support/streams.rs"]
mod made;

use crate::support::{self, assert_refused, saved_with};
use made::{request_streams, streams};

pub fn run_with_streams() -> (Run, Findings) {
    let mut run = support::run(RecorderOptions::default(), &support::steady(2));
    let requests = request_streams(&run.snapshot.samples, false);
    run.facts.stream = Some(StreamFacts { requests, ..streams(run.snapshot.tally.planned) });
    let event_gap = Distribution { count: 3, ..Distribution::default() };
    let findings =
        Findings { stream: Some(StreamFindings { event_gap, ..StreamFindings::default() }), ..support::findings(&run) };
    (run, findings)
}

#[test]
fn streams_come_back_as_they_were() {
    let (run, findings) = run_with_streams();
    let dir = saved_with(&run, &findings);
    assert_eq!(folder::load(dir.path()).unwrap().run.facts.stream, run.facts.stream);
    let file = folder::load_run_file(dir.path()).unwrap();
    let json: serde_json::Value = serde_json::from_str(&file.to_json()).unwrap();
    let stream = &json["stream"];
    assert_eq!(
        (&stream["kind"], &stream["cut"], &stream["tokens"]),
        (&"sse".into(), &2.into(), &serde_json::Value::Null)
    );
    assert_eq!((&stream["tally"]["idle"], &stream["event_gap"]["count"]), (&3.into(), &3.into()));
}

/// Turns the streams into answers of a language model: one token per event, and one complete answer uncounted.
pub fn with_llm(mut run: Run) -> Run {
    let requests = request_streams(&run.snapshot.samples, true);
    let streams = run.facts.stream.as_mut().unwrap();
    let planned = streams.tally.planned;
    let complete = streams.tally.complete;
    streams.requests = requests;
    for (time, value, count) in [
        (StreamTime::FirstContent, 2_234_567, complete),
        (StreamTime::FirstContentCensored, 5_000_000_001, planned - complete - 1),
        (StreamTime::FirstContentService, 2_134_567, complete),
        (StreamTime::ContentGap, 10_000_003, complete),
        (StreamTime::TimePerOutputToken, 10_000_003, complete - 1),
    ] {
        streams.times.get_mut(time).record_n(Nanos(value), count);
    }
    let mut llm = LlmFacts::new(LlmApi::OpenaiChat, vec!["ttft < 1s".to_owned()]);
    llm.reading.dialect = Some(DialectFile { file: "own.toml".to_owned(), toml: "text = 'a'".to_owned() });
    llm.reading.recognised = true;
    let mut prompts = PromptFacts::new("synthetic:input=9,output=1".to_owned());
    (0..20).for_each(|_| prompts.add((9, 1), (10, 1)));
    llm.reading.prompts = Some(prompts);
    llm.content_events = 2 * complete;
    llm.other_events = streams.events - llm.content_events - 1;
    llm.tokens = TokenCounts {
        counted: complete - 1,
        not_counted: 1,
        output: 2 * (complete - 1),
        reasoning: 3,
        hidden_reasoning: 2,
        cached_input: 5,
        with_cached: 1,
        unknown_time_per_output_token: 1,
        ..TokenCounts::default()
    };
    llm.unmeasured = UnmeasuredContent { first_content: 1, gaps: 2, without_gap: 3, further_parts: 3, echo_events: 1 };
    llm.finish = FinishCounts { stop: complete - 5, length: 1, tool_calls: 1, content_filter: 1, other: 1, none: 1 };
    let each = vec![ObjectiveCounts { met: complete, ..ObjectiveCounts::default() }];
    llm.slo = llm.slo.map(|slo| SloCounts { met: complete, each, ..slo });
    streams.llm = Some(llm);
    run
}

/// Saves a run, loads it, and merges it with another like it. Returns the books of the model of one run, and of both.
fn one_and_merged(run: &Run, findings: &Findings) -> [LlmFacts; 2] {
    let dir = saved_with(run, findings);
    assert_eq!(folder::load(dir.path()).unwrap().run.facts.stream, run.facts.stream);
    let mut other = run.clone();
    other.facts.started_at_unix_ns = Some(1);
    let whole = merge(vec![run.clone(), other]).unwrap();
    let merged = whole.facts.stream.expect("both have streams");
    assert_eq!(merged.imbalance(whole.snapshot.tally.planned), None);
    [run.facts.stream.clone().unwrap().llm.unwrap(), merged.llm.unwrap()]
}

#[test]
fn language_models_come_back_as_they_were_and_are_merged() {
    let (run, findings) = run_with_streams();
    let run = with_llm(run);
    let [one, both] = one_and_merged(&run, &findings);
    assert_eq!((both.tokens.output, both.content_events), (2 * one.tokens.output, 2 * one.content_events));
    let prompts = both.reading.prompts.expect("prompts were made");
    assert_eq!((prompts.answers, prompts.counted_input, prompts.input_off), (40, 400, 40));
    let one = one.slo.unwrap();
    let both = both.slo.unwrap();
    assert_eq!((both.met, both.each[0].met), (2 * one.met, 2 * one.each[0].met));
    let mut other = run.clone();
    other.facts.started_at_unix_ns = Some(1);
    other.facts.stream.as_mut().unwrap().llm.as_mut().unwrap().slo = None;
    assert!(merge(vec![run, other]).unwrap().facts.stream.is_none(), "other objectives are another goodput");
}

/// Adds the books of a service of embeddings to a run with streams. Each stream is one answer.
fn with_embeddings(mut run: Run) -> Run {
    let streams = run.facts.stream.as_mut().expect("it has streams");
    streams.reading.kind = StreamKind::Whole;
    let complete = streams.tally.complete;
    let mut llm = LlmFacts::new(LlmApi::Embeddings, Vec::new());
    llm.other_events = streams.events;
    llm.tokens = TokenCounts {
        counted: complete - 1,
        not_counted: 1,
        input: 7 * (complete - 1),
        no_time_per_output_token: complete,
        ..TokenCounts::default()
    };
    streams.llm = Some(llm);
    run
}

#[test]
fn answers_that_come_whole_come_back_as_they_were_and_are_merged() {
    let (run, findings) = run_with_streams();
    let run = with_embeddings(run);
    let [one, both] = one_and_merged(&run, &findings);
    assert_eq!(both.tokens.input, 2 * one.tokens.input);
    assert_refused::<StreamFacts>(
        (run, findings),
        |run| run.facts.stream.as_mut().unwrap(),
        "under stream",
        &[
            |streams| streams.reading.kind = StreamKind::Sse,
            |streams| streams.llm = None,
            |streams| streams.llm.as_mut().unwrap().reading.api = LlmApi::OpenaiChat,
            |streams| streams.llm.as_mut().unwrap().tokens.output = 1,
            |streams| streams.llm.as_mut().unwrap().content_events = 1,
        ],
    );
}

#[test]
fn books_of_language_models_that_do_not_balance_are_refused() {
    let (run, findings) = run_with_streams();
    assert_refused::<LlmFacts>(
        (with_llm(run), findings),
        |run| run.facts.stream.as_mut().unwrap().llm.as_mut().unwrap(),
        "under stream llm",
        &[
            |llm| llm.content_events += 1,
            |llm| llm.unreadable_events += 1,
            |llm| llm.coalesced_content_gaps += 1,
            |llm| llm.tokens.counted += 1,
            |llm| llm.tokens.no_time_per_output_token += 1,
            |llm| llm.tokens.hidden_reasoning = 4,
            |llm| llm.tokens.with_cached = llm.tokens.counted + 1,
            |llm| llm.unmeasured.first_content += 1,
            |llm| llm.unmeasured.without_gap += 1,
            |llm| llm.finish.other += 1,
            |llm| llm.slo.as_mut().unwrap().cannot_tell = 1 << 59,
            |llm| llm.slo.as_mut().unwrap().each[0].missed = 1,
            |llm| llm.slo.as_mut().unwrap().each.push(ObjectiveCounts::default()),
        ],
    );
}

#[test]
fn what_is_drawn_of_other_streams_is_refused() {
    assert_refused::<StreamDetail>(
        run_with_streams(),
        |run| run.facts.stream.as_mut().unwrap().detail.as_mut().unwrap(),
        "streams.json",
        &[
            |detail| detail.gaps.record(Timestamp::ZERO, Nanos(1)),
            |detail| detail.gaps.record_open(Timestamp::ZERO),
            |detail| detail.sampled.slowest = detail.sampled.random.clone(),
            |detail| detail.sampled.random[3].marks[0].coalesced = 5,
            |detail| detail.sampled.random[3].end_ns = 0,
        ],
    );
}

#[test]
fn a_folder_without_what_is_drawn_has_the_rest() {
    let (run, findings) = run_with_streams();
    let dir = saved_with(&run, &findings);
    std::fs::remove_file(dir.path().join(folder::STREAMS)).unwrap();
    let loaded = folder::load(dir.path()).unwrap().run.facts.stream.unwrap();
    let saved = run.facts.stream.unwrap();
    assert_eq!(loaded, StreamFacts { detail: None, ..saved.clone() });
    let mut whole = saved;
    whole.merge(&loaded);
    assert_eq!(whole.detail, None, "half of it is not that of the whole");
}

#[test]
fn streams_of_requests_that_no_run_has_are_refused() {
    let (run, findings) = run_with_streams();
    let dir = saved_with(&with_llm(run), &findings);
    let path = dir.path().join(folder::SAMPLES);
    let good = std::fs::read_to_string(&path).unwrap();
    let names: Vec<&str> = good.lines().next().unwrap().split(',').collect();
    let place = |name: &str| names.iter().position(|other| *other == name).unwrap();
    let many = vec!["1"; 4_097].join(" ");
    for (column, value, why) in [
        ("stream", "eaten", "unknown variant `eaten`"),
        ("finish", "bored", "unknown variant `bored`"),
        ("output_tokens", "-1", "line 4: field 27: invalid digit"),
        ("first_event_ns", "0", "line 4: its stream has an event before the intended start"),
        ("first_content_ns", "99999999999999999999", "number too large"),
        ("last_event_ns", "9999999999999999999", "no run is longer"),
        ("time_per_output_token_ns", "9999999999999999999", "longer than any run"),
        ("gaps_ns", "5 x", "gaps_ns: invalid digit"),
        ("gaps_ns", "9999999999999999999", "no run is longer"),
        ("gaps_ns", "1 2 3 4 5 6", "gaps_ns lists 6 gaps, but its stream has 2"),
        ("gaps_ns", &many, "more gaps than the 4096 of a stream"),
    ] {
        let mut lines: Vec<String> = good.lines().map(str::to_owned).collect();
        let mut fields: Vec<&str> = lines[3].split(',').collect();
        fields[place(column)] = value;
        lines[3] = fields.join(",");
        std::fs::write(&path, lines.join("\n")).unwrap();
        let error = folder::load(dir.path()).map(drop).expect_err(column).to_string();
        assert!(error.contains("samples.csv") && error.contains(why), "{column} = {value}: {error}");
    }
}

#[test]
fn streams_of_requests_are_merged_if_parts_have_different_requests() {
    let (whole, _) = run_with_streams();
    let whole = whole.facts.stream.unwrap();
    let of = |rest: u64| {
        let rows = whole.requests.all().iter().filter(|row| row.index % 2 == rest).copied().collect();
        let mut lists = GapLists::default();
        whole.requests.all().iter().filter(|row| row.index % 2 == rest).for_each(|row| {
            lists.keep(row.index, whole.requests.gaps_of(row.index).unwrap());
        });
        StreamFacts { requests: RequestStreams::new(rows, lists), ..whole.clone() }
    };
    let mut sum = of(0);
    sum.merge(&of(1));
    assert_eq!(sum.requests, whole.requests);
    sum.merge(&of(1));
    assert!(sum.requests.is_empty(), "nothing tells whose streams they are");
}

#[test]
fn streams_of_a_whole_are_those_of_its_parts() {
    let (mut a, _) = run_with_streams();
    let mut b = a.clone();
    b.facts.started_at_unix_ns = Some(1);
    let whole = merge(vec![a.clone(), b.clone()]).unwrap();
    let merged = whole.facts.stream.expect("both have streams");
    assert_eq!(merged.imbalance(whole.snapshot.tally.planned), None);
    let complete = a.snapshot.tally.planned - 5;
    let drawn = merged.detail.as_ref().expect("both have it");
    assert_eq!((drawn.gaps.gaps(), drawn.gaps.open()), (4 * complete, 4));
    assert_eq!((merged.stalls, merged.times.get(StreamTime::LongestGap).count()), (14, 2 * complete));
    a.facts.stream.as_mut().unwrap().reading.stall_ns = None;
    let whole = merge(vec![a, b]).unwrap();
    assert!(whole.facts.stream.is_none() && whole.facts.notes.iter().any(|note| note.contains("streams")));
}

#[test]
fn books_of_streams_that_do_not_balance_are_refused() {
    assert_refused::<StreamFacts>(
        run_with_streams(),
        |run| run.facts.stream.as_mut().unwrap(),
        "under stream",
        &[
            |streams| streams.tally.cut += 1,
            |streams| streams.tally.planned -= 1,
            |streams| streams.events += 1,
            |streams| streams.times.get_mut(StreamTime::FirstEventFailed).record_n(Nanos(1), 1),
            |streams| streams.times.get_mut(StreamTime::LongestGap).record_n(Nanos(1), 9),
        ],
    );
}
