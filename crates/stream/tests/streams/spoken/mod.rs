//! Ways in which servers speak: what is true of each answer, and what truetail shows of it. `docs/llm-dialects.md` has
//! the same table; `UPDATE_GOLDEN=1 cargo test -p truetail-stream --test streams spoken` rewrites it.

mod chat;
mod ends;
mod framing;
mod natives;
mod others;
mod services;
mod tokens;
mod whole;

use std::collections::BTreeSet;
use std::fmt::Write;

use truetail_model::time::Timestamp;
use truetail_run::{LlmApi, StreamFacts, StreamKind, StreamTime};
use truetail_stream::{DescribedDialect, LlmOptions, StreamOptions, StreamRun};

use crate::MS;
use crate::dialects::{Script, event, facts_of_run, then, twenty};

/// Answers from this many bytes on are cut into larger parts, because it takes long.
const MAX_CUT_SMALL: usize = 20_000;
/// Least number of rows.
const MIN_ROWS: usize = 120;

/// Facts about an answer; times in milliseconds. `None` means that there is no such thing.
#[derive(Clone, Copy)]
struct Truth {
    first: Option<u64>,
    /// Smallest and largest gap between content.
    gaps: Option<(u64, u64)>,
    per_token: Option<u64>,
    content_events: u64,
    /// Only complete answers have a count.
    tokens: Option<u64>,
    /// Tokens of reasoning among them.
    reasoning: u64,
    end: &'static str,
}

/// The truth of most answers: 20 tokens, the first after 100 ms, one every 20 ms.
const TRUTH: Truth = Truth {
    first: Some(100),
    gaps: Some((20, 20)),
    per_token: Some(20),
    content_events: 20,
    tokens: Some(20),
    reasoning: 0,
    end: "stop",
};
/// Ten tokens, then an error.
const FAILED: Truth = Truth { per_token: None, content_events: 10, tokens: None, end: "error", ..TRUTH };
/// Ten tokens, then nothing.
const CUT: Truth = Truth { end: "cut off", ..FAILED };
/// An answer that ends well without a word.
const EMPTY: Truth = Truth { first: None, gaps: None, per_token: None, content_events: 0, tokens: Some(0), ..TRUTH };

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Field {
    Ttft,
    Itl,
    Tpot,
    Content,
    Tokens,
    Reasoning,
    End,
}

use Field::{Content, End, Itl, Reasoning, Tokens, Tpot, Ttft};

const FIELDS: [Field; 7] = [Ttft, Itl, Tpot, Content, Tokens, Reasoning, End];

impl Field {
    fn name(self) -> &'static str {
        match self {
            Ttft => "TTFT",
            Itl => "ITL",
            Tpot => "TPOT",
            Content => "events",
            Tokens => "tokens",
            Reasoning => "reasoning tokens",
            End => "end",
        }
    }
}

/// One way to speak.
struct Row {
    /// Name for `--llm`, or the text of a file for `--llm-dialect`.
    api: Result<LlmApi, &'static str>,
    how: &'static str,
    script: Script,
    truth: Truth,
    /// Fields that truetail cannot know.
    unknown: &'static [Field],
    rule: &'static str,
    content_type: Option<&'static str>,
    /// The request asks for the prompt in the answer.
    echo: bool,
}

/// Returns a row of `openai-chat` of which all is known.
fn row(how: &'static str, script: Script, truth: Truth, rule: &'static str) -> Row {
    Row { api: Ok(LlmApi::OpenaiChat), how, script, truth, unknown: &[], rule, content_type: None, echo: false }
}

impl Row {
    fn of(self, api: LlmApi) -> Row {
        Row { api: Ok(api), ..self }
    }

    fn not_known(self, unknown: &'static [Field]) -> Row {
        Row { unknown, ..self }
    }

    /// Returns a row of an answer that repeats the prompt.
    fn with_echo(self) -> Row {
        Row { echo: true, ..self }
    }

    fn options(&self) -> StreamOptions {
        StreamOptions::for_llm(match self.api {
            Ok(api) => LlmOptions::new(api, Vec::new()),
            Err(file) => {
                let dialect = DescribedDialect::parse("own.toml", file).unwrap_or_else(|error| panic!("{error}"));
                LlmOptions::described(dialect, Vec::new())
            }
        })
    }

    fn facts(&self, length: usize) -> StreamFacts {
        let options = self.options();
        let content_type = self.content_type(&options);
        let run = StreamRun::new(options, Timestamp::ZERO).with_echoes(vec![self.echo]);
        facts_of_run(&self.script, run, content_type, length)
    }

    fn content_type(&self, options: &StreamOptions) -> &'static str {
        let usual = if options.kind == StreamKind::Lines { "application/x-ndjson" } else { "text/event-stream" };
        self.content_type.unwrap_or(usual)
    }

    fn llm(&self) -> &'static str {
        self.api.map_or("a file", LlmApi::name)
    }

    /// Returns the problems of this row: figures that are neither true nor unknown, and unknown ones that need not be.
    fn problems(&self) -> String {
        let whole = self.facts(usize::MAX);
        let mut problems = String::new();
        for field in FIELDS {
            let expected = (!self.unknown.contains(&field)).then(|| self.truth.text(field));
            let shown = shown(&whole, field);
            if shown != expected {
                let row = format!("{}: {}", self.llm(), self.how);
                let truth = self.truth.text(field);
                writeln!(problems, "{row}\n  {}: shown {shown:?}, not {expected:?}, truth {truth}", field.name())
                    .unwrap();
            }
        }
        let bytes: usize = self.script.iter().map(|(_, bytes)| bytes.len()).sum();
        let length = if bytes < MAX_CUT_SMALL { 1 } else { 4_093 };
        if self.facts(length) != whole {
            writeln!(problems, "{}: other facts in parts of {length}", self.how).unwrap();
        }
        problems
    }
}

fn span(value: Option<(u64, u64)>) -> String {
    match value {
        None => "none".to_owned(),
        Some((min, max)) if min == max => format!("{min} ms"),
        Some((min, max)) => format!("{min} to {max} ms"),
    }
}

impl Truth {
    fn text(&self, field: Field) -> String {
        let time = |time: Option<u64>| span(time.map(|time| (time, time)));
        match field {
            Ttft => time(self.first),
            Itl => span(self.gaps),
            Tpot => time(self.per_token),
            Content => self.content_events.to_string(),
            Tokens => self.tokens.map_or("none".to_owned(), |tokens| tokens.to_string()),
            Reasoning => self.reasoning.to_string(),
            End => self.end.to_owned(),
        }
    }
}

/// Returns the figure as a user sees it; `None` if truetail says that it is unknown.
fn shown(facts: &StreamFacts, field: Field) -> Option<String> {
    let of = |time: StreamTime| {
        let times = facts.times.get(time);
        let rounded = |ns: u64| (ns + MS / 2) / MS;
        times.min().zip(times.max()).map(|(min, max)| (rounded(min.0), rounded(max.0)))
    };
    let llm = facts.llm.as_ref().expect("it was asked for");
    let tally = facts.tally;
    if tally.not_a_stream == 1 {
        return (field == Reasoning).then(|| "0".to_owned());
    }
    // An answer that ended badly has neither TPOT nor a count. What was not understood may have been a good end.
    if tally.complete == 0 && matches!(field, Tpot | Tokens) {
        return (llm.unreadable_events == 0).then(|| "none".to_owned());
    }
    match field {
        Ttft => (llm.unmeasured.first_content == 0).then(|| span(of(StreamTime::FirstContent))),
        Itl => {
            let is_known = llm.unmeasured.gaps == 0 && llm.coalesced_content_gaps == 0;
            is_known.then(|| span(of(StreamTime::ContentGap)))
        }
        Tpot => {
            let is_known = llm.tokens.unknown_time_per_output_token == 0;
            is_known.then(|| span(of(StreamTime::TimePerOutputToken)))
        }
        Content => (llm.unreadable_events + llm.unmeasured.echo_events == 0).then(|| llm.content_events.to_string()),
        Tokens => (llm.tokens.counted == 1).then(|| llm.tokens.output.to_string()),
        // The screen says nothing of reasoning that nobody counted.
        Reasoning if llm.tokens.reasoning == 0 && (llm.reasoning_events > 0 || llm.unreadable_events > 0) => None,
        Reasoning => Some(llm.tokens.reasoning.to_string()),
        End if tally.server_error == 1 => Some("error".to_owned()),
        End if tally.unfinished == 1 => (llm.unreadable_events == 0).then(|| "cut off".to_owned()),
        End => llm.finish.named().iter().find(|(count, _)| *count == 1).map(|(_, reason)| (*reason).to_owned()),
    }
}

/// Sections of the table.
fn sections() -> [(&'static str, Vec<Row>); 7] {
    [
        ("Chats", chat::rows()),
        ("Services and servers", services::rows()),
        ("Lines and bytes", framing::rows()),
        ("Tokens", tokens::rows()),
        ("Ends and errors", ends::rows()),
        ("Other APIs of services", others::rows()),
        ("Other APIs of servers", natives::rows()),
    ]
}

fn page_rows(rows: &[Row]) -> String {
    let mut text =
        String::from("| `--llm` | how it speaks | truth | what truetail shows | rule |\n|---|---|---|---|---|\n");
    for row in rows {
        let truth = &row.truth;
        let of = |field: Field| truth.text(field);
        let mut true_text = format!("TTFT {}, ITL {}, TPOT {}; {} events, ", of(Ttft), of(Itl), of(Tpot), of(Content));
        true_text += &match (truth.tokens, truth.reasoning) {
            (None, _) => "no count".to_owned(),
            (Some(tokens), 0) => format!("{tokens} tokens"),
            (Some(tokens), reasoning) => format!("{tokens} tokens, {reasoning} of reasoning"),
        };
        write!(true_text, "; {}", truth.end).unwrap();
        let unknown: Vec<&str> = row.unknown.iter().map(|field| field.name()).collect();
        let seen = if unknown.is_empty() { "the same".to_owned() } else { format!("unknown: {}", unknown.join(", ")) };
        let cells = [row.how, &true_text, &seen, row.rule].map(|cell| cell.replace('|', "\\|"));
        writeln!(text, "| {} | {} |", row.llm(), cells.join(" | ")).unwrap();
    }
    text
}

#[test]
fn no_dialect_is_read_silently_wrong() {
    let sections = sections();
    let rows: Vec<&Row> = sections.iter().flat_map(|(_, rows)| rows).collect();
    let names: BTreeSet<_> = rows.iter().map(|row| (row.llm(), row.how)).collect();
    assert_eq!(names.len(), rows.len(), "two rows have the same name");
    assert!(rows.len() >= MIN_ROWS, "{} rows", rows.len());
    let mut of_streams = LlmApi::ALL.iter().filter(|api| !api.comes_whole());
    let unnamed = of_streams.find(|api| !rows.iter().any(|row| row.llm() == api.name()));
    assert_eq!(unnamed, None);
    let problems: String = rows.iter().map(|row| row.problems()).collect();
    assert!(problems.is_empty(), "\n{problems}");
}

#[test]
fn the_page_has_the_same_table() {
    let path = format!("{}/../../docs/llm-dialects.md", env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let (prose, _) = page.split_once("\n## ").expect("a section");
    let mut expected = format!("{prose}\n");
    for (title, rows) in sections() {
        write!(expected, "## {title}\n\n{}\n", page_rows(&rows)).unwrap();
    }
    let expected = format!("{}\n", expected.trim_end());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, expected).unwrap();
        return;
    }
    assert!(page == expected, "docs/llm-dialects.md has another table; if the new one is right: UPDATE_GOLDEN=1");
}

/// Returns an event of a chat whose delta has these members.
fn chunk(delta: &str) -> String {
    chunk_with(delta, "")
}

/// Returns the same with more members of the event.
fn chunk_with(delta: &str, more: &str) -> String {
    format!(
        r#"{{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{{"index":0,"delta":{{{delta}}},"finish_reason":null}}]{more}}}"#
    )
}

/// Returns the last event of a choice.
fn finish(reason: &str) -> String {
    format!(
        r#"{{"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#
    )
}

const ROLE: &str = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#;
const FINISH: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":20,"total_tokens":27}}"#;
const DONE: &str = "[DONE]";

fn word(i: usize) -> String {
    chunk(&format!(r#""content":"w{i} ""#))
}

/// Returns twenty events, after the role.
fn said(piece: impl Fn(usize) -> String) -> Script {
    let mut script = vec![(10, event(ROLE))];
    script.extend(twenty(|i| event(&piece(i))));
    script
}

/// Returns twenty events with the usual end.
fn ended(piece: impl Fn(usize) -> String) -> Script {
    then(said(piece), &[FINISH, USAGE, DONE])
}

/// Returns ten words, then these bytes after 300 ms.
fn ten_and(bytes: &str) -> Script {
    let mut script = said(word);
    script.retain(|(at, _)| *at < 300);
    script.push((300, bytes.as_bytes().to_vec()));
    script
}

/// Returns twenty events of which the first ten have these members.
fn half(members: &'static str) -> impl Fn(usize) -> String {
    move |i| if i < 10 { chunk(members) } else { word(i) }
}
