//! `--llm embeddings`, `--llm rerank` and `--llm whole`: answers that come whole.

use std::io::{BufReader, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use crate::raw_server::{read_body, serve_each};
use crate::support::{CommandOutput, ServeProcess, TestDir, assert_balanced, assert_complete};

const BODY: &str = "{\"model\":\"m\",\"input\":[\"one two\",\"three\"]}";
/// Tokens of all answers, and answers, of a service that counts.
type Counted = Arc<(AtomicU64, AtomicU64)>;

/// Starts a service of embeddings whose answers have different counts, and of which each fifth is an error with status
/// 200. Requests must be as they were written.
fn service() -> (String, Counted) {
    let counted = Counted::default();
    let sum = Arc::clone(&counted);
    let place = serve_each(move |socket| {
        let mut reader = BufReader::new(socket.try_clone().ok()?);
        loop {
            let asked = read_body(&mut reader)?;
            let number = sum.1.fetch_add(1, Ordering::SeqCst);
            let body = if asked != BODY {
                "{\"error\":\"another body\"}".to_owned()
            } else if number % 5 == 4 {
                "{\"error\":{\"message\":\"overloaded\"}}".to_owned()
            } else {
                sum.0.fetch_add(number + 3, Ordering::SeqCst);
                let numbers = "0.125,".repeat(1_000);
                let usage = format!("{{\"prompt_tokens\":{0},\"total_tokens\":{0}}}", number + 3);
                format!("{{\"object\":\"list\",\"data\":[{{\"embedding\":[{numbers}1]}}],\"usage\":{usage}}}")
            };
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}", body.len());
            (&socket).write_all(format!("{head}\r\n\r\n{body}").as_bytes()).ok()?;
        }
    });
    (format!("http://{place}/v1/embeddings"), counted)
}

fn run(dir: &TestDir, url: &str, more: &[&str]) -> CommandOutput {
    let arguments = ["run", url, "-r", "50", "-n", "20", "--quiet", "--llm", "embeddings", "--data", BODY];
    dir.truetail(&[&arguments[..], more].concat())
}

fn words(output: &CommandOutput) -> String {
    output.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn tokens_are_those_of_the_service_and_errors_in_the_body_are_errors() {
    let (url, counted) = service();
    let dir = TestDir::new();
    let slo = ["--slo", "e2e < 1h", "--vllm-json", "vllm.json", "--html", "page.html", "--fail-if", "error-rate > 30%"];
    let mut tokens = Vec::new();
    for folder in ["a", "b"] {
        let before = counted.0.load(Ordering::SeqCst);
        let output = run(&dir, &url, &[&["--out", folder], &slo[..]].concat());
        tokens.push(counted.0.load(Ordering::SeqCst) - before);
        let sum = tokens[tokens.len() - 1];
        let text = words(&output);
        let mean = format!("{:.1} an answer", sum as f64 / 16.0);
        for part in [
            "16 of 20 complete, 4 with an error",
            &format!("{sum} input tokens in 16 answers"),
            &mean,
            "80% of planned",
        ] {
            assert!(text.contains(part), "{part}: {output:?}");
        }
        let page = std::fs::read_to_string(dir.path().join("page.html")).expect("a page");
        assert!(page.contains(&format!("{sum} input tokens")));
        for part in ["TTFT", "ITL", "TPOT", "output token", "first event", "content"] {
            assert!(!text.contains(part), "{part}: {output:?}");
        }
        assert!(!page.contains("TTFT") && !page.contains("first event"));
        let run = assert_complete(&dir.path().join(folder));
        let stream = &run["stream"];
        assert_eq!((&stream["kind"], &stream["llm"]["api"]), (&"whole".into(), &"embeddings".into()));
        assert_eq!((&stream["llm"]["tokens"]["input"], &stream["tokens"]), (&sum.into(), &Value::Null));
        assert_eq!((&stream["tally"]["server_error"], &stream["goodput"]["met"]), (&4.into(), &16.into()));
        assert_eq!((&stream["first_content_time"]["count"], &run["gates"][0]["state"]), (&0.into(), &"holds".into()));
    }
    let vllm: Value =
        serde_json::from_slice(&std::fs::read(dir.path().join("vllm.json")).expect("a file")).expect("JSON");
    assert_eq!(
        (&vllm["completed"], &vllm["failed"], &vllm["total_input_tokens"]),
        (&16.into(), &4.into(), &tokens[1].into())
    );
    assert!(vllm["mean_e2el_ms"].is_number() && vllm["total_token_throughput"].is_number(), "{vllm}");
    for name in ["total_output_tokens", "output_throughput", "mean_ttft_ms", "mean_itl_ms", "mean_tpot_ms"] {
        assert_eq!(vllm.get(name), None, "{vllm}");
    }
    let output = dir.truetail(&["merge", "a", "b", "--out", "whole"]);
    let whole = assert_complete(&dir.path().join("whole"));
    assert_eq!(whole["stream"]["llm"]["tokens"]["input"], tokens[0] + tokens[1], "{output:?}");
    for comparison in [&["compare", "a", "b"][..], &["history", "."]] {
        let output = dir.truetail(comparison);
        assert!(!output.stdout.contains("ttft") && !output.stdout.contains("TTFT"), "{output:?}");
    }
}

#[test]
fn the_server_of_truetail_embeds() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    let url = format!("{}/v1/embeddings", server.url);
    let json = run(&dir, &url, &["--no-save", "--json"]).json();
    assert_balanced(&json);
    let llm = &json["stream"]["llm"];
    assert_eq!((&json["stream"]["tally"]["complete"], &llm["tokens"]["input"]), (&20.into(), &60.into()), "{llm}");
    // Some services have the order of documents in data, too.
    let body = ["--no-save", "--llm", "rerank", "--data", "{\"input\":\"a b\"}"];
    let output = dir.truetail(&[&["run", &url, "-n", "5", "-r", "50", "--quiet"], &body[..]].concat());
    assert!(words(&output).contains("2.0 an answer"), "{output:?}");
}

#[test]
fn what_needs_tokens_one_by_one_is_refused_in_one_line() {
    let dir = TestDir::new();
    let url = "http://127.0.0.1:1/v1/embeddings";
    for (more, expected) in [
        (&["--slo", "ttft < 1s"][..], "'ttft < 1s' needs answers that come token by token"),
        (&["--slo", "tpot < 1s"], "'tpot < 1s' needs"),
        (&["--slo", "ttft p99 < 1s"], "'ttft p99 < 1s' needs answers that come in pieces"),
        (&["--fail-if", "itl p99 > 1s"], "'itl p99 > 1s' needs answers that come in pieces"),
        (&["--fail-if", "tpot mean > 1s"], "'tpot mean > 1s' needs"),
        (&["--fail-if", "first-event p50 > 1s"], "'first-event p50 > 1s' needs"),
        (&["--stall", "1s"], "--stall is about answers that come token by token"),
        (&["--end-mark", "none"], "--end-mark is about"),
        (&["--stream", "sse"], "--stream is about"),
        (&["--tokenizer", "t.json"], "--tokenizer is about"),
    ] {
        let output = run(&dir, url, more);
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{more:?}: {output:?}");
        assert!(output.stderr.contains(expected), "{expected}: {output:?}");
    }
    let search = ["capacity", url, "--llm", "embeddings", "--slo", "ttft p99 < 1s", "--", "--data", BODY];
    let output = dir.truetail(&search);
    assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
    assert!(output.stderr.contains("'ttft p99 < 1s' needs answers that come in pieces"), "{output:?}");
}

#[test]
fn an_api_whose_answers_come_whole_is_recognised() {
    let (url, _) = service();
    let dir = TestDir::new();
    let arguments = ["run", &url, "-r", "50", "-n", "10", "--quiet", "--no-save", "--llm", "auto", "--data", BODY];
    let output = dir.truetail(&arguments);
    assert!(words(&output).contains("--llm auto took --llm embeddings"), "{output:?}");
    assert!(words(&output).contains("input tokens in 8 answers"), "{output:?}");
}

/// Starts a service of chats without streams, which counts the output tokens that it sends.
fn chats() -> (String, Arc<AtomicU64>) {
    let counted = Arc::new(AtomicU64::new(0));
    let sum = Arc::clone(&counted);
    let place = serve_each(move |socket| {
        let mut reader = BufReader::new(socket.try_clone().ok()?);
        loop {
            let asked = read_body(&mut reader)?;
            let tokens = 10 + sum.load(Ordering::SeqCst) % 7;
            let body = if asked.contains("stream_options") {
                "{\"error\":\"stream_options without a stream\"}".to_owned()
            } else {
                sum.fetch_add(tokens, Ordering::SeqCst);
                let message = "{\"role\":\"assistant\",\"content\":\"Hi\"}";
                let usage = format!("{{\"prompt_tokens\":3,\"completion_tokens\":{tokens}}}");
                format!("{{\"choices\":[{{\"message\":{message},\"finish_reason\":\"stop\"}}],\"usage\":{usage}}}")
            };
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}", body.len());
            (&socket).write_all(format!("{head}\r\n\r\n{body}").as_bytes()).ok()?;
        }
    });
    (format!("http://{place}/v1/chat/completions"), counted)
}

#[test]
fn a_chat_without_a_stream_has_the_tokens_of_the_service() {
    let (url, counted) = chats();
    let dir = TestDir::new();
    let read = |file: &str| std::fs::read_to_string(dir.path().join(file)).expect(file);
    let body = "{\"model\":\"m\",\"stream\":false,\"messages\":[]}";
    let arguments = ["run", &url, "-r", "50", "-n", "20", "--quiet", "--data", body];
    for (api, asked_before) in [("whole", false), ("auto", true)] {
        let before = counted.load(Ordering::SeqCst);
        let more = ["--llm", api, "--out", api, "--json", "--vllm-json", "vllm.json", "--slo", "e2e < 1h"];
        let json = dir.truetail(&[&arguments[..], &more].concat()).json();
        assert_balanced(&json);
        let stream = &json["stream"];
        // The trial connection asks nothing; auto asks once, and gets ten to sixteen tokens.
        let sent = counted.load(Ordering::SeqCst) - before;
        let output = stream["llm"]["tokens"]["output"].as_u64().expect("a count");
        let beside = sent - output;
        assert_eq!((beside > 0, beside <= 16), (asked_before, true), "{sent} {stream}");
        assert_eq!(stream["llm"]["api"], "whole", "{stream}");
        assert_eq!((&stream["tokens"], &stream["llm"]["finish"]["stop"]), (&output.into(), &20.into()));
        let vllm: Value = serde_json::from_str(&read("vllm.json")).expect("JSON");
        assert_eq!((&vllm["total_output_tokens"], vllm.get("mean_ttft_ms")), (&output.into(), None), "{vllm}");
        let samples = read(&format!("{api}/samples.csv"));
        let column = |name: &str| samples.lines().next().and_then(|head| head.split(',').position(|each| each == name));
        let at = column("output_tokens").expect("a column");
        let rows = samples.lines().skip(1).filter_map(|row| row.split(',').nth(at)?.parse::<u64>().ok());
        assert_eq!(rows.sum::<u64>(), output);
    }
    // The service knows no streams.
    let refused = dir.truetail(&[&arguments[..], &["--llm", "openai-chat"]].concat());
    assert_eq!((refused.code, refused.stderr.lines().count()), (Some(2), 1), "{refused:?}");
    assert!(refused.stderr.contains("read them with --llm whole"), "{refused:?}");
    let arguments = ["run", &url, "-r", "50", "-n", "5", "--quiet", "--no-save", "--data", "{\"messages\":[]}"];
    let output = dir.truetail(&[&arguments[..], &["--llm", "anthropic"]].concat());
    assert!(words(&output).contains("no answer is a stream"), "{output:?}");
}

#[test]
fn a_request_of_a_file_that_refuses_a_stream_is_refused_or_read_whole() {
    let (url, _) = chats();
    let dir = TestDir::new();
    let row = |id: u32, stream: &str| {
        format!(
            "{{\"custom_id\":\"{id}\",\"method\":\"POST\",\"url\":\"/v1/chat/completions\",\"body\":{{\"model\":\"m\"{stream},\"messages\":[]}}}}\n"
        )
    };
    std::fs::write(dir.path().join("b.jsonl"), row(1, "") + &row(2, ",\"stream\":false")).expect("a file");
    let batch = ["run", &url, "-r", "50", "-n", "4", "--no-save", "--prompts", "batch:b.jsonl", "--llm"];
    let refused = dir.truetail(&[&batch[..], &["openai-chat"]].concat());
    assert_eq!((refused.code, refused.stderr.lines().count()), (Some(2), 1), "{refused:?}");
    assert!(refused.stderr.contains("request 2 says \"stream\": false"), "{refused:?}");
    let output = dir.truetail(&[&batch[..], &["whole"]].concat());
    assert!(words(&output).contains("in 4 answers, 12 input tokens"), "{output:?}");
}
