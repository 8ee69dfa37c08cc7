//! Lines, bytes and pieces.

use super::*;

/// Returns the usual answer with each event written in this way.
fn written(as_event: impl Fn(&str) -> Vec<u8>) -> Script {
    let mut script = vec![(10, as_event(ROLE))];
    script.extend(twenty(|i| as_event(&word(i))));
    script.extend([FINISH, USAGE, DONE].map(|data| (480, as_event(data))));
    script
}

/// Returns the usual answer with these bytes ten milliseconds before each event.
fn between(bytes: &[u8]) -> Script {
    let beats = (0..25).map(|i| (5 + 20 * i, bytes.to_vec()));
    let mut script: Script = ended(word).into_iter().chain(beats).collect();
    script.sort_by_key(|(at, _)| *at);
    script
}

fn lines() -> Vec<Row> {
    let with_lines = |end: &'static str| move |data: &str| format!("data: {data}{end}{end}").into_bytes();
    let broken = |data: &str| {
        let broken = data.replace(",\"", ",\n\"");
        let lines: Vec<_> = broken.lines().map(|line| format!("data: {line}\n")).collect();
        format!("{}\n", lines.concat()).into_bytes()
    };
    let with_mark =
        |data: &str| if data == ROLE { format!("\u{feff}data: {data}\n\n") } else { format!("data: {data}\n\n") };
    let standard = "lines are read as the HTML standard says";
    let beat = "what keeps a connection open is no content";
    let named = |data: &str| format!("event: chat.completion.chunk\ndata: {data}\n\n").into_bytes();
    vec![
        row("lines end with CR LF", written(with_lines("\r\n")), TRUTH, standard),
        row("lines end with CR", written(with_lines("\r")), TRUTH, standard),
        row("`data:` without a space", written(|data| format!("data:{data}\n\n").into_bytes()), TRUTH, standard),
        row("a byte order mark in front", written(|data| with_mark(data).into_bytes()), TRUTH, standard),
        row("JSON over several `data` lines", written(broken), TRUTH, standard),
        row(
            "`id`, `event: message` and `retry` before `data`",
            written(|data| format!("id: 1\nevent: message\nretry: 3000\ndata: {data}\n\n").into_bytes()),
            TRUTH,
            standard,
        ),
        row("events with a type of their own", written(named), TRUTH, standard),
        row("comments: `: keep-alive` (DeepSeek)", between(b": keep-alive\n\n"), TRUTH, beat),
        row("comments without an empty line", between(b":ping\n"), TRUTH, beat),
        row("empty lines", between(b"\n"), TRUTH, beat),
        row("events with empty data", between(b"data: \n\n"), TRUTH, beat),
        row(
            "`event: ping` with `{\"type\": \"ping\"}`",
            between(b"event: ping\ndata: {\"type\": \"ping\"}\n\n"),
            TRUTH,
            beat,
        ),
        row("empty events named `error`", between(b"event: error\n\n"), TRUTH, "an event without data does not exist"),
    ]
}

fn bytes() -> Vec<Row> {
    let in_text = |with: &'static [u8]| {
        written(move |data| {
            let text = format!("data: {data}\n\n").into_bytes();
            let at = text.windows(2).position(|bytes| bytes == b"\"w").map_or(0, |at| at + 2);
            let with = if at == 0 { &[][..] } else { with };
            [&text[..at], with, &text[at..]].concat()
        })
    };
    let long = |i: usize| {
        format!(
            r#"{{"choices":[{{"index":0,"delta":{{"content":"w{i}"}},"finish_reason":null,"logprobs":{{"x":"{}"}}}}]}}"#,
            "x".repeat(80_000)
        )
    };
    let late = |i: usize| match i {
        0 => format!(
            r#"{{"choices":[{{"index":0,"logprobs":{{"x":"{}"}},"delta":{{"content":"w"}}}}]}}"#,
            "x".repeat(80_000)
        ),
        _ => word(i),
    };
    let browsers = "half a character is U+FFFD, as in browsers";
    let memory = "the limit of 64 KiB is one of memory, not of time";
    vec![
        row("bytes that are no UTF-8 in texts", in_text(b"\xF0\x9F"), TRUTH, browsers),
        row("half surrogate pairs in texts: `\\ud83e`", in_text(br"\ud83e"), TRUTH, browsers),
        row("characters that are no letters: 🦊", in_text("🦊".as_bytes()), TRUTH, "content is text"),
        row("the first content has 80 KB", ended(|i| if i == 0 { long(i) } else { word(i) }), TRUTH, memory),
        row("each content has 80 KB", ended(long), TRUTH, memory),
        row("the first content comes after 80 KB of its event", ended(late), TRUTH, "what is not read may be content")
            .not_known(&[Ttft, Itl, Tpot, Content, Reasoning]),
    ]
}

fn pieces() -> Vec<Row> {
    let in_two = |(at, bytes): (u64, Vec<u8>)| {
        let (first, rest) = bytes.split_at(bytes.len() - 1);
        [(at - 3, first.to_vec()), (at, rest.to_vec())]
    };
    let mut late: Script = said(word).into_iter().flat_map(in_two).collect();
    late = then(late, &[FINISH, USAGE, DONE]);
    let whole: Vec<u8> = ended(word).into_iter().flat_map(|(_, bytes)| bytes).collect();
    let pairs: Vec<_> =
        (0..10).map(|i| (120 + 40 * i as u64, [event(&word(2 * i)), event(&word(2 * i + 1))].concat())).collect();
    let at_once = Truth { first: Some(480), gaps: Some((0, 0)), per_token: Some(0), ..TRUTH };
    let in_pairs = Truth { first: Some(120), gaps: Some((0, 40)), per_token: Some(19), ..TRUTH };
    vec![
        row(
            "the last byte of each event comes 3 ms after the others",
            late,
            TRUTH,
            "an event is there when its empty line is",
        ),
        row(
            "two events in each piece",
            then(pairs, &[FINISH, USAGE, DONE]),
            in_pairs,
            "the time between events of one read is unknown",
        )
        .not_known(&[Itl]),
        row("the whole answer in one piece", vec![(480, whole)], at_once, "a span of nothing is divided by nothing")
            .not_known(&[Itl, Tpot]),
    ]
}

fn heads() -> Vec<Row> {
    let with = |how, content_type| Row {
        content_type: Some(content_type),
        ..row(how, ended(word), TRUTH, "as a browser accepts it")
    };
    let no_stream = |how, content_type| {
        let row = row(how, ended(word), TRUTH, "an answer with another content type is no stream, and not good");
        let unknown = &[Ttft, Itl, Tpot, Content, Tokens, End];
        Row { content_type: Some(content_type), ..row }.not_known(unknown)
    };
    vec![
        with("`text/event-stream; charset=utf-8`", "text/event-stream; charset=utf-8"),
        with("`Text/Event-Stream;charset=UTF-8`", "Text/Event-Stream;charset=UTF-8"),
        no_stream("the content type `text/plain`", "text/plain"),
        no_stream("the content type `application/json`", "application/json"),
        no_stream(
            "the content type `application/vnd.amazon.eventstream` (Bedrock)",
            "application/vnd.amazon.eventstream",
        ),
    ]
}

pub(super) fn rows() -> Vec<Row> {
    [lines(), bytes(), pieces(), heads()].into_iter().flatten().collect()
}
