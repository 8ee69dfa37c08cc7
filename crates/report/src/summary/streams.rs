//! Endings of streams, and the times of their events.

use truetail_analysis::figures;
use truetail_model::time::NANOS_PER_SECOND;
use truetail_run::{
    Distribution, Findings, LlmFacts, PromptFacts, Run, StampBooks, StreamFacts, StreamKind, TokenCounts,
};

use super::labelled::LabelledText;
use super::tail::{QUANTILES_OF_A_ROW, at, with_quantiles};
use crate::number;
use crate::style::Style;

/// Describes the endings and the events of a run's streams. Empty if answers were not read as streams.
pub fn streams(run: &Run) -> Vec<LabelledText> {
    if let Some((streams, llm)) = whole(run) {
        let lengths = if llm.reading.api.has_output() { prompts } else { input_of_prompts };
        let prompts = llm.reading.prompts.as_ref().and_then(lengths).map(|text| ("Prompts", text));
        let counts = if llm.reading.api.has_output() { output_tokens(run, llm) } else { input_tokens(run, llm) };
        let finish = finish(llm).map(|text| ("", text));
        let results = Some(("Results", ends(streams)));
        let lines = [results, not_understood(llm), Some(("Tokens", counts)), finish, prompts];
        return lines.into_iter().flatten().collect();
    }
    let of_llm = |llm: &LlmFacts| {
        let lines = [Some(("Tokens", tokens(llm))), Some(("", content(llm))), unmeasured(llm).map(|text| ("", text))];
        let prompts = llm.reading.prompts.as_ref().and_then(prompts).map(|text| ("Prompts", text));
        lines.into_iter().flatten().chain(finish(llm).map(|text| ("", text))).chain(prompts).collect::<Vec<_>>()
    };
    run.facts.stream.as_ref().map_or(Vec::new(), |streams| {
        let name = if streams.reading.kind == StreamKind::Pushes { "Pushes" } else { "Streams" };
        let lines = [(name, ends(streams)), ("", events(streams))];
        let delays = streams.stamps.iter().flat_map(delays);
        lines.into_iter().chain(delays).chain(streams.llm.iter().flat_map(of_llm)).collect()
    })
}

/// Returns the books of answers of a language model that came whole, if there are any.
fn whole(run: &Run) -> Option<(&StreamFacts, &LlmFacts)> {
    let streams = run.facts.stream.as_ref().filter(|streams| streams.reading.kind == StreamKind::Whole)?;
    Some((streams, streams.llm.as_ref()?))
}

fn not_understood(llm: &LlmFacts) -> Option<LabelledText> {
    let count = number::count(llm.unreadable_events);
    let api = llm.reading.api.name();
    (llm.unreadable_events > 0)
        .then(|| ("", format!("{count} not understood: no JSON, or without a result that --llm {api} knows")))
}

/// Describes the tokens of chats and completions that came whole, and the output tokens per second.
fn output_tokens(run: &Run, llm: &LlmFacts) -> String {
    let rate = llm.output_tokens().filter(|_| llm.tokens.counted > 0).and_then(|output| per_second(run, output));
    let rate = rate.map(|rate| format!("output at {rate}"));
    std::iter::once(tokens(llm)).chain(rate).collect::<Vec<_>>().join(", ")
}

/// Returns tokens divided by the time of the answers.
fn per_second(run: &Run, tokens: u64) -> Option<String> {
    let seconds = run.snapshot.last_end.since(run.snapshot.measure_from).as_secs_f64();
    (seconds > 0.0).then(|| number::rate(tokens as f64 / seconds))
}

/// Describes the input tokens of answers that came whole: in all, of each answer, and per second.
fn input_tokens(run: &Run, llm: &LlmFacts) -> String {
    let TokenCounts { counted, not_counted, input, .. } = llm.tokens;
    if counted == 0 {
        return uncounted(not_counted);
    }
    let mut parts =
        vec![format!("{} input tokens{} in {}", number::count(input), cached(&llm.tokens), answers(counted))];
    parts.push(format!("{} an answer", mean(input, counted)));
    parts.extend(per_second(run, input));
    parts.extend((not_counted > 0).then(|| format!("not counted in {}", answers(not_counted))));
    parts.join(", ")
}

fn answers(count: u64) -> String {
    number::counted(count, "answer")
}

/// Explains why no answer has a count.
fn uncounted(complete: u64) -> String {
    match complete {
        0 => "not counted: no answer was complete".to_owned(),
        complete => format!("not counted: the server sent no usage in {}", answers(complete)),
    }
}

/// Returns the number of requests that met the objectives, if objectives were set.
pub fn goodput(run: &Run, findings: &Findings) -> Option<LabelledText> {
    let of_steps = run.facts.stream.as_ref().is_some_and(|streams| !streams.reading.of_steps.is_empty());
    // In a flow, requests without a stream are planned requests too.
    let planned = if of_steps { "planned streams" } else { "planned requests" };
    let goodput = findings.stream.as_ref()?.llm.as_ref()?.goodput.as_ref()?;
    let (share, at_most) = (number::share(goodput.share?), number::share(goodput.share_at_most?));
    let rate = |per_second: Option<f64>| per_second.map(number::rate);
    let per_second = rate(goodput.per_second);
    let most_per_second = rate(goodput.per_second_at_most);
    let slo = goodput.slo.join(", ");
    let text = if goodput.cannot_tell == 0 {
        let per_second = per_second.map_or(String::new(), |rate| format!(", {rate}"));
        format!("{share} of {planned} met {slo}{per_second}")
    } else {
        let per_second =
            per_second.zip(most_per_second).map_or(String::new(), |(low, high)| format!(", {low} to {high}"));
        let untold = number::count(goodput.cannot_tell);
        format!("{share} to {at_most} of {planned} met {slo}{per_second}; {untold} cannot be told")
    };
    Some(("Goodput", text))
}

/// Describes the tokens, counted by the server or else by a tokenizer, or not at all.
fn tokens(llm: &LlmFacts) -> String {
    let tokens = llm.tokens;
    let by_client = llm.by_client.as_ref().filter(|client| client.counted > 0);
    if tokens.counted == 0 && by_client.is_none() {
        let neither = llm.by_client.is_some() && tokens.not_counted > 0;
        return uncounted(tokens.not_counted) + if neither { ", and the tokenizer counted none" } else { "" };
    }
    let output = |tokens: u64, counted| format!("{} output tokens in {}", number::count(tokens), answers(counted));
    let mut parts = Vec::new();
    if tokens.counted > 0 {
        parts.push(format!("{}{}", output(tokens.output, tokens.counted), reasoning(&tokens)));
    }
    if tokens.counted > 0 && tokens.without_input == 0 {
        parts.push(format!("{} input tokens{}", number::count(tokens.input), cached(&tokens)));
    }
    if let Some(client) = by_client {
        parts.push(format!("{} by {}, truetail's count", output(client.output, client.counted), client.tokenizer));
    }
    let not_counted = tokens.not_counted.saturating_sub(by_client.map_or(0, |client| client.counted));
    if not_counted > 0 {
        parts.push(format!("not counted in {}", answers(not_counted)));
    }
    parts.join(", ")
}

/// Returns how many of the output tokens are reasoning, and how many of these were not sent.
fn reasoning(tokens: &TokenCounts) -> String {
    let reasoning = number::count(tokens.reasoning);
    match tokens.hidden_reasoning {
        _ if tokens.reasoning == 0 => String::new(),
        0 => format!(" ({reasoning} of reasoning)"),
        hidden => {
            let visible = number::count(tokens.output.saturating_sub(hidden));
            format!(
                " ({reasoning} of reasoning, {} of it not sent: TPOT is of {visible} tokens)",
                number::count(hidden)
            )
        }
    }
}

/// Returns how many of the input tokens were cached, if the server said it of each answer.
fn cached(tokens: &TokenCounts) -> String {
    if tokens.with_cached < tokens.counted || tokens.input == 0 {
        return String::new();
    }
    let share = tokens.cached_input.min(tokens.input) as f64 / tokens.input as f64;
    format!(" ({} of them cached)", number::share(share))
}

/// Describes the lengths of made prompts and their answers, as asked for and as the server counted them.
fn prompts(prompts: &PromptFacts) -> Option<String> {
    let input = input_of_prompts(prompts)?;
    if prompts.answers == 0 {
        return Some(input);
    }
    let [asked, counted] = [prompts.asked_output, prompts.counted_output].map(|sum| mean(sum, prompts.answers));
    Some(format!("{input}; {asked} output tokens asked for and {counted} counted"))
}

fn mean(sum: u64, answers: u64) -> String {
    format!("{:.1}", sum as f64 / answers as f64)
}

/// Describes the lengths of made prompts alone.
fn input_of_prompts(prompts: &PromptFacts) -> Option<String> {
    if prompts.answers == 0 {
        return Some("the server counted no answer with its input".to_owned());
    }
    let [asked, counted] = [prompts.asked_input, prompts.counted_input].map(|sum| mean(sum, prompts.answers));
    let off = match prompts.asked_input {
        0 => return None,
        asked => (prompts.counted_input as f64 / asked as f64 - 1.0) * 100.0,
    };
    let far = match prompts.input_off {
        0 => "none".to_owned(),
        count => number::count(count),
    };
    Some(format!(
        "{asked} input tokens asked for and {counted} counted in the mean ({off:+.1}%), {far} off by more than 5%"
    ))
}

/// Describes the times that are unknown because events were not understood, or may have been prompts.
fn unmeasured(llm: &LlmFacts) -> Option<String> {
    let unmeasured = llm.unmeasured;
    let times = [("TTFT", unmeasured.first_content, "answer"), ("ITL", unmeasured.gaps, "gap")];
    let unknown = times.into_iter().filter(|(_, count, _)| *count > 0);
    let unknown = unknown.map(|(time, count, of)| format!("{time} of {}", number::counted(count, of)));
    let unknown = unknown.collect::<Vec<_>>().join(", ");
    let causes = [(llm.unreadable_events, "not understood"), (llm.unmeasured.echo_events, "that may be the prompt")];
    let causes = causes.into_iter().filter(|(count, _)| *count > 0).map(|(_, which)| which);
    let causes = causes.collect::<Vec<_>>().join(", or ");
    (!unknown.is_empty()).then(|| format!("unknown, because of the events {causes}: {unknown}"))
}

/// Describes why complete answers ended, if the server said it of any.
fn finish(llm: &LlmFacts) -> Option<String> {
    let finish = llm.finish;
    let told = finish.named().into_iter().filter(|(count, _)| *count > 0);
    let told = told.map(|(count, reason)| format!("{} {reason}", number::count(count))).collect::<Vec<_>>();
    (finish.answers() > finish.none).then(|| format!("ended by {}", told.join(", ")))
}

fn content(llm: &LlmFacts) -> String {
    let others = [
        (llm.reasoning_events, "of them reasoning"),
        (llm.coalesced_content_gaps, "came together with the one before"),
        (llm.error_events, "error events"),
        (llm.unreadable_events, "events not understood"),
        (llm.unmeasured.echo_events, "events that may be the prompt (echo)"),
    ];
    let content = format!("{} events with content", number::count(llm.content_events));
    let others = others.into_iter().filter(|(count, _)| *count > 0);
    let others = others.map(|(count, what)| format!("{} {what}", number::count(count)));
    std::iter::once(content).chain(others).collect::<Vec<_>>().join(", ")
}

/// Returns the pushes per second of listening on one channel; `None` for other streams.
fn rate_of_a_channel(streams: &StreamFacts) -> Option<String> {
    let listened = streams.listened_ns.filter(|listened| *listened > 0)?;
    let rate = number::rate(streams.events as f64 * NANOS_PER_SECOND as f64 / listened as f64);
    Some(format!("{rate} on each channel"))
}

/// Describes how far the delays of pushes are known.
fn delays(stamps: &StampBooks) -> Vec<LabelledText> {
    let bound = number::time(stamps.bound_ns());
    let known = format!("delay from the time at {}, in {}: known to ±{bound}", stamps.pointer, stamps.unit);
    let unread = format!(
        "{} pushes without a time that can be read, or with one of more than a day ago: does --stamp-unit fit?",
        number::count(stamps.unread)
    );
    let ahead = format!(
        "{} pushes came before their time by more than that: the clocks differ by more, and their delay is unknown",
        number::count(stamps.contradictory)
    );
    let told = [(true, known), (stamps.unread > 0, unread), (stamps.contradictory > 0, ahead)];
    told.into_iter().filter(|(is_told, _)| *is_told).map(|(_, text)| ("", text)).collect()
}

fn ends(streams: &StreamFacts) -> String {
    let tally = streams.tally;
    if streams.reading.kind == StreamKind::Pushes {
        let channels = format!("subscribed on {}", number::counted(tally.planned, "channel"));
        return if tally.cut > 0 { format!("{channels}, {} lost", number::count(tally.cut)) } else { channels };
    }
    let complete = format!("{} of {} complete", number::count(tally.complete), number::count(tally.planned));
    let others = tally.incomplete().into_iter().filter(|(count, _)| *count > 0);
    let words = |how| match (streams.reading.kind, how) {
        (StreamKind::Messages, "with an error event") => "with a status other than OK",
        (StreamKind::Whole, "with an error event") => "with an error",
        (StreamKind::Whole, "without their end") => "cut short or not understood",
        (StreamKind::Whole, "not a stream") => "not JSON with status 200",
        _ => how,
    };
    let others = others.map(|(count, how)| format!("{} {}", number::count(count), words(how)));
    let ends = std::iter::once(complete).chain(others).collect::<Vec<_>>().join(", ");
    match streams.reading.of_steps.as_slice() {
        [] => ends,
        [step] => format!("step {step}: {ends}"),
        steps => format!("steps {}: {ends}", steps.join(", ")),
    }
}

fn events(streams: &StreamFacts) -> String {
    let what = match streams.reading.kind {
        StreamKind::Sse => "events",
        StreamKind::Lines => "lines",
        StreamKind::Chunks => "chunks",
        StreamKind::Messages => "messages",
        StreamKind::Items => "items",
        StreamKind::Pushes => "pushes",
        StreamKind::Whole => "answers",
    };
    let mut parts = vec![format!("{} {what}", number::count(streams.events))];
    parts.extend(rate_of_a_channel(streams));
    if streams.coalesced_gaps > 0 {
        parts.push(format!("{} came together with the one before", number::count(streams.coalesced_gaps)));
    }
    if let Some(stall) = streams.reading.stall_ns {
        parts.push(format!("{} stalls of {} or longer", number::count(streams.stalls), figures::time(stall as f64)));
    }
    parts.join(", ")
}

/// Column heads of [`stream_times`].
pub fn stream_times_heads() -> Vec<String> {
    let heads = ["streams", "values"].map(str::to_owned);
    heads.into_iter().chain(QUANTILES_OF_A_ROW.map(number::quantile_name)).collect()
}

/// Returns the times of streams that have values, one per row. Answers that come whole have their response time only.
pub fn stream_times(run: &Run, findings: &Findings) -> Vec<Vec<String>> {
    let Some(streams) = findings.stream.as_ref().filter(|_| whole(run).is_none()) else { return Vec::new() };
    let rows = [
        ("first event", &streams.first_event_time),
        ("last event", &streams.last_event_time),
        ("gap", &streams.event_gap),
        ("longest gap", &streams.longest_gap),
    ];
    let delay = streams.push_delay.iter().map(|times| ("delay", times));
    let of_llm = streams.llm.iter().flat_map(|llm| {
        [
            ("TTFT", &llm.first_content_time),
            ("  once sent", &llm.first_content_service_time),
            ("ITL", &llm.content_gap),
            ("TPOT", &llm.time_per_output_token),
        ]
    });
    let row = |(name, times): (&str, &Distribution)| {
        [name.to_owned(), number::count(times.count)]
            .into_iter()
            .chain(QUANTILES_OF_A_ROW.map(|q| at(times, q)))
            .collect()
    };
    rows.into_iter().chain(delay).chain(of_llm).filter(|(_, times)| times.count > 0).map(row).collect()
}

pub(super) fn table(run: &Run, findings: &Findings, style: Style) -> Vec<String> {
    let rows = stream_times(run, findings);
    if rows.is_empty() {
        return Vec::new();
    }
    with_quantiles(&stream_times_heads(), rows, style)
}
