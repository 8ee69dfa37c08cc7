//! Streams of single requests: `samples.csv`, the lists of `--vllm-json`, and `serve` as the model.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::llm_dialects::answering;
use crate::support::{CommandOutput, ServeProcess, TestDir, assert_balanced, assert_complete};

const BODY: &str = r#"{"model":"m","prompt":"{{prompt}}","max_tokens":{{output_tokens}}}"#;

/// A row of `samples.csv`: values by column. No value has a comma.
pub struct Row(HashMap<String, String>);

impl Row {
    pub fn text(&self, column: &str) -> &str {
        self.0.get(column).unwrap_or_else(|| panic!("no column {column}"))
    }

    pub fn number(&self, column: &str) -> Option<u64> {
        Some(self.text(column)).filter(|text| !text.is_empty()).map(|text| text.parse().expect("a number"))
    }

    fn gaps(&self) -> Vec<u64> {
        self.text("gaps_ns").split_whitespace().map(|gap| gap.parse().expect("a number")).collect()
    }

    fn since_start(&self, column: &str) -> Option<u64> {
        Some(self.number(column)? - self.number("intended_start_ns")?)
    }
}

/// Returns the rows of `samples.csv` in this folder.
pub fn rows(folder: &Path) -> Vec<Row> {
    let text = fs::read_to_string(folder.join("samples.csv")).expect("samples");
    let mut lines = text.lines().map(|line| line.split(','));
    let names: Vec<&str> = lines.next().expect("a header").collect();
    lines.map(|line| Row(names.iter().map(|name| (*name).to_owned()).zip(line.map(str::to_owned)).collect())).collect()
}

fn json(dir: &TestDir, file: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(dir.path().join(file)).expect("a file")).expect("JSON")
}

/// Checks that the rows of a run without failures add up to its distributions.
fn check(run: &Value, rows: &[Row]) {
    let stream = &run["stream"];
    let all = |column: &str| rows.iter().filter_map(|row| row.since_start(column)).collect::<Vec<_>>();
    let of = |time: &str, values: &[u64]| {
        assert_eq!(stream[time]["count"], values.len(), "{time}");
        assert_eq!(stream[time]["min_ns"].as_u64(), values.iter().min().copied(), "{time}");
        assert_eq!(stream[time]["max_ns"].as_u64(), values.iter().max().copied(), "{time}");
    };
    of("first_event_time", &all("first_event_ns"));
    of("last_event_time", &all("last_event_ns"));
    of("first_content_time", &all("first_content_ns"));
    of("content_gap", &rows.iter().flat_map(Row::gaps).collect::<Vec<_>>());
    let per_token: Vec<u64> = rows.iter().filter_map(|row| row.number("time_per_output_token_ns")).collect();
    of("time_per_output_token", &per_token);
    let sum = |column: &str| rows.iter().filter_map(|row| row.number(column)).sum::<u64>();
    assert_eq!(stream["tokens"], sum("output_tokens"));
    assert_eq!(stream["llm"]["tokens"]["input"], sum("input_tokens"));
}

fn run(dir: &TestDir, url: &str, more: &[&str]) -> CommandOutput {
    let load = ["run", url, "-r", "100", "-n", "60", "--quiet", "--llm", "auto", "--data", BODY];
    let prompts = ["--prompts", "synthetic:input=40..60,output=3..9", "--seed", "7"];
    dir.truetail(&[&load[..], &prompts, more].concat())
}

#[test]
fn the_streams_of_the_requests_are_those_of_the_run() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "06");
    let url = format!("{}/v1/completions", server.url);
    let output = run(&dir, &url, &["--out", "a", "--vllm-json", "v.json"]);
    let saved = assert_complete(&dir.path().join("a"));
    assert_balanced(&saved);
    let rows_of_run = rows(&dir.path().join("a"));
    assert_eq!((rows_of_run.len(), &saved["stream"]["llm"]["recognised"]), (60, &true.into()), "{output:?}");
    check(&saved, &rows_of_run);
    let prompts = &saved["stream"]["llm"]["prompts"];
    assert_eq!((&prompts["answers"], &prompts["input_off"]), (&60.into(), &0.into()), "{prompts}");
    assert_eq!(prompts["counted_output"], prompts["asked_output"], "{prompts}");
    for row in &rows_of_run {
        assert_eq!((row.text("stream"), row.text("finish"), row.text("cached_tokens")), ("complete", "length", ""));
        let gaps = row.gaps();
        assert_eq!(row.number("gaps"), Some(gaps.len() as u64));
        let last_content = row.number("first_content_ns").unwrap() + gaps.iter().sum::<u64>();
        assert!(row.number("last_event_ns") >= Some(last_content));
    }
    let lists = json(&dir, "v.json");
    let seconds = |ns: u64| ns as f64 / 1e9;
    for (nth, row) in rows_of_run.iter().enumerate() {
        assert_eq!(lists["ttfts"][nth], seconds(row.since_start("first_content_ns").unwrap()));
        assert_eq!(lists["latencies"][nth], seconds(row.since_start("last_event_ns").unwrap()));
        assert_eq!(lists["start_times"][nth], seconds(row.number("intended_start_ns").unwrap()));
        assert_eq!(lists["itls"][nth], Value::from_iter(row.gaps().into_iter().map(seconds)));
        assert_eq!(lists["output_lens"][nth].as_u64(), row.number("output_tokens"));
        assert_eq!(lists["input_lens"][nth].as_u64(), row.number("input_tokens"));
        assert_eq!(lists["errors"][nth], "");
    }
    // A saved run gives the same file.
    dir.truetail(&["report", "a", "--vllm-json", "again.json"]);
    assert_eq!(json(&dir, "again.json"), lists);
}

#[test]
fn the_streams_of_stripes_are_those_of_the_whole() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "06");
    let url = format!("{}/v1/completions", server.url);
    for part in ["1", "2"] {
        let output = run(&dir, &url, &["--stripe", &format!("{part}/2"), "--out", &format!("part{part}")]);
        assert_eq!(output.code, Some(0), "{output:?}");
    }
    let output = dir.truetail(&["merge", "part1", "part2", "--out", "whole"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let merged = rows(&dir.path().join("whole"));
    check(&assert_complete(&dir.path().join("whole")), &merged);
    let line = |row: &Row| [row.text("index"), row.text("gaps_ns"), row.text("first_content_ns")].map(str::to_owned);
    let mut parts: Vec<_> = ["part1", "part2"].iter().flat_map(|part| rows(&dir.path().join(part))).collect();
    parts.sort_by_key(|row| row.number("index"));
    assert!(merged.iter().map(line).eq(parts.iter().map(line)));
}

#[test]
fn answers_that_failed_have_an_error_and_no_numbers() {
    let event =
        |text: &str| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    let (url, _bodies) = answering(move |body| {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":2,\"completion_tokens\":1}}\n\n";
        match body.contains("break") {
            true => format!("{head}{}", event("half")),
            false => format!("{head}{}{usage}data: [DONE]\n\n", event("whole")),
        }
    });
    let dir = TestDir::new();
    dir.file("rows.csv", "word\ngo\nbreak\n");
    let body = r#"{"messages":[{"role":"user","content":"{{word}}"}]}"#;
    let load = ["run", &url, "-r", "100", "-n", "40", "--quiet", "--llm", "openai-chat", "--data", body];
    let output =
        dir.truetail(&[&load[..], &["--data-from", "rows.csv", "--out", "a", "--vllm-json", "v.json"]].concat());
    let saved = assert_complete(&dir.path().join("a"));
    let tally = &saved["stream"]["tally"];
    let rows = rows(&dir.path().join("a"));
    let of = |ending: &str| rows.iter().filter(|row| row.text("stream") == ending).collect::<Vec<_>>();
    let complete = of("complete");
    let broken = of("unfinished");
    assert_eq!(tally["complete"], complete.len(), "{output:?}");
    assert!(!complete.is_empty() && complete.len() + broken.len() == 40 && !broken.is_empty(), "{tally}");
    for row in broken {
        assert_eq!((row.text("output_tokens"), row.text("time_per_output_token_ns")), ("", ""));
        assert!(row.number("first_content_ns").is_some());
    }
    let lists = json(&dir, "v.json");
    for (nth, row) in rows.iter().enumerate() {
        let (error, tokens) =
            if row.text("stream") == "complete" { ("", 1.into()) } else { ("without its end", Value::Null) };
        assert_eq!((&lists["errors"][nth], &lists["output_lens"][nth]), (&error.into(), &tokens));
        assert_eq!(lists["ttfts"][nth].is_null(), !error.is_empty());
    }
}
