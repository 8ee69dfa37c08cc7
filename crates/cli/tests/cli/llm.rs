//! `--llm`: request bodies, output, files, gates, and refused options.

use serde_json::Value;

use crate::documented::root;
use crate::raw_server::RawServer;
use crate::support::{CommandOutput, TestDir, assert_balanced, assert_complete};
use crate::tls;

/// End of an answer of nine tokens, and of an answer without a count.
const COUNTED: &str =
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":4,\"completion_tokens\":9}}\n\ndata: [DONE]\n\n";
const UNCOUNTED: &str = "data: [DONE]\n\n";
const BODY: &str = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}";

/// Starts a model that sends a role, three content events and this end, in separate writes with pauses.
fn model(end: &'static str) -> String {
    const TOKEN: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n";
    const ROLE: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}\n\n";
    let events = [ROLE, TOKEN, TOKEN, TOKEN, end];
    let length: usize = events.iter().map(|event| event.len()).sum();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {length}\r\n\r\n");
    let pieces: Vec<&'static [u8]> =
        std::iter::once(&*head.leak()).chain(events).map(|piece| piece.as_bytes()).collect();
    tls::serve_pieces(pieces.leak())
}

fn run(dir: &TestDir, url: &str, more: &[&str]) -> CommandOutput {
    let arguments = ["run", url, "-k", "-r", "50", "-n", "20", "--quiet", "--llm", "openai-chat", "--data", BODY];
    dir.truetail(&[&arguments[..], more].concat())
}

#[test]
fn a_model_is_measured_shown_saved_and_merged() {
    let url = model(COUNTED);
    let dir = TestDir::new();
    for folder in ["a", "b"] {
        let output = run(&dir, &url, &["--out", folder, "--slo", "ttft < 1h", "--slo", "e2e < 1h"]);
        for text in [
            "20 of 20 complete",
            "180 output tokens in 20 answers",
            "TTFT",
            "ITL",
            "100% of planned requests met ttft < 1h",
        ] {
            assert!(
                output.stdout.split_whitespace().collect::<Vec<_>>().join(" ").contains(text),
                "{text}: {output:?}"
            );
        }
        let stream = &assert_complete(&dir.path().join(folder))["stream"];
        assert_eq!((&stream["llm"]["api"], &stream["tokens"]), (&"openai-chat".into(), &180.into()));
        assert_eq!((&stream["first_content_time"]["count"], &stream["end_mark"]), (&20.into(), &"[DONE]".into()));
        assert_eq!((&stream["goodput"]["met"], &stream["goodput"]["share"]), (&20.into(), &1.0.into()));
        // The role follows the head, and the first token follows the role.
        let least = 2 * tls::BETWEEN.as_nanos() as u64;
        assert!(stream["first_content_time"]["min_ns"].as_u64() >= Some(least), "{stream}");
        let again = dir.truetail(&["report", folder]);
        assert!(again.stdout.contains("180 output tokens"), "{again:?}");
    }
    let output = dir.truetail(&["merge", "a", "b", "--out", "whole"]);
    let whole = assert_complete(&dir.path().join("whole"));
    assert_eq!(
        (&whole["stream"]["tokens"], &whole["stream"]["goodput"]["met"]),
        (&360.into(), &40.into()),
        "{output:?}"
    );
}

#[test]
fn chunks_are_never_counted_as_tokens() {
    let url = model(UNCOUNTED);
    let dir = TestDir::new();
    let output = run(&dir, &url, &["--no-save", "--slo", "tpot < 1h"]);
    let text = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("not counted: the server sent no usage in 20 answers"), "{output:?}");
    assert!(text.contains("0% to 100% of planned requests met tpot < 1h"), "{output:?}");
    let json = run(&dir, &url, &["--no-save", "--json", "--fail-if", "tpot mean > 1h", "--vllm-json", "vllm.json"]);
    assert_eq!(json.code, Some(4), "{json:?}");
    let run = json.json();
    assert_balanced(&run);
    assert_eq!((&run["stream"]["tokens"], &run["gates"][0]["state"]), (&Value::Null, &"open".into()));
    let vllm = vllm(&dir);
    for name in ["total_output_tokens", "output_throughput", "mean_tpot_ms", "median_tpot_ms"] {
        assert_eq!(vllm.get(name), None, "{vllm}");
    }
}

/// Returns a tokenizer that counts each letter as a token.
fn letters() -> String {
    root().join("testdata/llm/letters.tokenizer.json").display().to_string()
}

#[cfg(feature = "tokenizer")]
#[test]
fn a_tokenizer_counts_what_the_server_does_not_and_says_so() {
    let url = model(UNCOUNTED);
    let dir = TestDir::new();
    let output = run(&dir, &url, &["--out", "a", "--tokenizer", &letters(), "--vllm-json", "vllm.json"]);
    let text = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("60 output tokens in 20 answers by letters.tokenizer.json, truetail's count"), "{output:?}");
    let stream = &assert_complete(&dir.path().join("a"))["stream"];
    assert_eq!((&stream["tokens"], &stream["llm"]["tokens"]["not_counted"]), (&Value::Null, &20.into()));
    assert_eq!((&stream["llm"]["by_client"]["output"], &vllm(&dir)["total_output_tokens"]), (&60.into(), &60.into()));
    let vllm = vllm(&dir);
    assert_eq!((&vllm["truetail_output_tokens_by_tokenizer"], vllm.get("total_input_tokens")), (&60.into(), None));
    assert_eq!(vllm["truetail_tokenizer"], "letters.tokenizer.json");
    assert!(text.contains("is by truetail's count, with letters.tokenizer.json"), "{output:?}");
    // The counts of stripes add up.
    run(&dir, &url, &["--out", "b", "--tokenizer", &letters()]);
    let merged = dir.truetail(&["merge", "a", "b", "--out", "whole"]);
    let whole = assert_complete(&dir.path().join("whole"));
    assert_eq!(whole["stream"]["llm"]["by_client"]["output"], 120, "{merged:?}");
}

fn vllm(dir: &TestDir) -> Value {
    let text = std::fs::read_to_string(dir.path().join("vllm.json")).expect("a file");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn the_result_has_the_names_of_vllm() {
    let url = model(COUNTED);
    let dir = TestDir::new();
    let output = run(&dir, &url, &["--out", "a", "--slo", "ttft < 1h", "--vllm-json", "vllm.json"]);
    let first = vllm(&dir);
    assert_eq!((&first["completed"], &first["failed"], &first["num_prompts"]), (&20.into(), &0.into(), &20.into()));
    assert_eq!((&first["total_output_tokens"], &first["total_input_tokens"]), (&180.into(), &80.into()));
    for name in ["duration", "request_throughput", "output_throughput", "total_token_throughput", "request_goodput"] {
        assert!(first[name].as_f64() > Some(0.0), "{name}: {first} {output:?}");
    }
    for name in ["mean_ttft_ms", "median_ttft_ms", "std_ttft_ms", "median_e2el_ms", "mean_e2el_ms"] {
        assert!(first[name].is_number(), "{name}: {first}");
    }
    assert!(first["mean_ttft_ms"].as_f64() < first["mean_e2el_ms"].as_f64(), "{first}");
    assert_eq!(first.get("p99_ttft_ms"), None, "20 requests carry no p99");
    assert_eq!(dir.truetail(&["report", "a", "--vllm-json", "vllm.json"]).code, output.code);
    assert_eq!(vllm(&dir), first);
}

/// Returns the request bodies that a server got, sorted.
fn asked(more: &[&str]) -> Vec<String> {
    const ANSWER: &str =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: [DONE]\n\n";
    let server = RawServer::start_whole(ANSWER);
    let dir = TestDir::new();
    dir.file("prompts.jsonl", "{\"p\": \"say \\\"hi\\\"\\n\\\\ to é\", \"n\": 16}\n{\"p\": \"b\", \"n\": 32}\n");
    let arguments = ["run", &server.url, "-r", "20", "-n", "2", "--no-save", "--llm", "openai-chat"];
    let output = dir.truetail(&[&arguments[..], more].concat());
    assert!(output.stdout.contains("2 of 2 complete"), "{output:?}");
    // The connection tried before the load sends no request, so that no server has the first prompt in its cache.
    let mut asked: Vec<String> = server.asked.iter().filter(|asked| !asked.is_empty()).take(2).collect();
    asked.sort();
    assert_eq!(asked.len(), 2);
    assert!(asked.iter().all(|text| !text.contains("truetail-preflight")), "{asked:?}");
    assert!(asked.iter().all(|text| text.contains("\r\nContent-Type: application/json\r\n")), "{asked:?}");
    asked.iter().map(|text| text.split_once("\r\n\r\n").expect("a body").1.to_owned()).collect()
}

#[test]
fn the_body_asks_for_a_stream_and_its_tokens() {
    for (body, expected) in [
        (BODY, format!("{{\"stream\":true,\"stream_options\":{{\"include_usage\":true}},{}", &BODY[1..])),
        ("{\"stream\":true,\"stream_options\":null}", "{\"stream\":true,\"stream_options\":null}".to_owned()),
    ] {
        assert_eq!(asked(&["--data", body])[0], expected);
    }
}

#[test]
fn prompts_of_rows_stay_texts_of_json() {
    let body = "{\"stream_options\":{}, \"max_tokens\": {{n}}, \"messages\":[{\"content\":\"<{{p}}>\"}]}";
    let bodies: Vec<Value> = asked(&["--data", body, "--data-from", "prompts.jsonl"])
        .iter()
        .map(|body| serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}")))
        .collect();
    let find = |tokens: u64| bodies.iter().find(|body| body["max_tokens"] == tokens).expect("a request of each row");
    assert_eq!(find(16)["messages"][0]["content"], "<say \"hi\"\n\\ to é>");
    assert_eq!((&find(32)["messages"][0]["content"], &find(32)["stream"]), (&"<b>".into(), &true.into()));
}

#[test]
fn prompts_are_distinct_and_the_same_command_repeats_them() {
    let prompts = |more: &[&str]| {
        let fixed = ["--cache-bust", "--data", BODY];
        let bodies = asked(&[&fixed[..], more].concat());
        bodies
            .iter()
            .map(|body| serde_json::from_str::<Value>(body).expect("JSON")["messages"][0]["content"].to_string())
            .collect::<Vec<_>>()
    };
    let first = prompts(&[]);
    assert!(first.iter().all(|prompt| prompt.ends_with("] hello\"")), "{first:?}");
    assert!(first[0].starts_with("\"[0-") && first[1].starts_with("\"[1-"), "{first:?}");
    assert_eq!(prompts(&[]), first, "the same seed");
    let other = prompts(&["--seed", "2"]);
    assert!(other.iter().all(|prompt| !first.contains(prompt)), "{first:?} {other:?}");
}

#[test]
fn prompts_that_cannot_be_made_distinct_are_refused() {
    let dir = TestDir::new();
    dir.file("flow.hurl", "# truetail: stream\nPOST http://127.0.0.1:9/\nHTTP 200\n");
    let url = "http://127.0.0.1:9/";
    for (arguments, says) in [
        (&[url, "--cache-bust", "--data", "{\"prompt\":\"a\"}"][..], "add --llm openai-chat"),
        (
            &[url, "--llm", "openai-chat", "--cache-bust", "--data", "{\"messages\":[]}"],
            "there is no prompt in the body",
        ),
        (&["--flow", "flow.hurl", "--llm", "openai-chat", "--cache-bust"], "with --flow there is none"),
    ] {
        let output = dir.truetail(&[&["run", "-r", "10", "-d", "1s"][..], arguments].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{arguments:?}: {output:?}");
        assert!(output.stderr.contains(says), "{arguments:?}: {output:?}");
    }
}

#[test]
fn prompts_of_the_baseline_may_be_cached_and_a_note_says_so() {
    let url = model(COUNTED);
    let dir = TestDir::new();
    run(&dir, &url, &["--cache-bust", "--out", "old"]);
    assert_eq!(assert_complete(&dir.path().join("old"))["scenario"]["values_seed"], 1);
    run(&dir, &url, &["--seed", "2", "--out", "plain"]);
    assert_eq!(assert_complete(&dir.path().join("plain"))["scenario"].get("values_seed"), None);
    let noted = |more: &[&str]| {
        let output = run(&dir, &url, &[&["--json", "--no-save"][..], more].concat());
        let notes = output.json()["notes"].to_string();
        let says = "--cache-bust sends the prompts of the baseline old again, because both have the seed 1";
        assert_eq!(notes.contains(says), output.stderr.contains(says), "before the load and in the result: {output:?}");
        if notes.contains(says) {
            assert!(notes.contains("such as --seed 2, sends others"), "{notes}");
        }
        notes.contains(says)
    };
    assert!(noted(&["--baseline", "old", "--cache-bust"]));
    assert!(!noted(&["--baseline", "old", "--cache-bust", "--seed", "2"]), "other prompts");
    assert!(!noted(&["--baseline", "plain", "--cache-bust", "--seed", "2"]), "the baseline had one prompt");
    assert!(!noted(&["--baseline", "old"]), "this run has one prompt");
}

#[test]
fn rows_that_are_used_again_may_be_cached_and_a_note_says_so() {
    let usage = "data: {\"usage\":{\"prompt_tokens\":4,\"completion_tokens\":9,\"prompt_tokens_details\":{\"cached_tokens\":3}}}\n\ndata: [DONE]\n\n";
    let url = model(usage);
    let dir = TestDir::new();
    dir.file("p.jsonl", "{\"p\": \"a\"}\n{\"p\": \"b\"}\n");
    let of = |more: &[&str]| {
        let body = "{\"prompt\":\"{{p}}\"}";
        let fixed = ["run", &url, "-k", "-r", "50", "--quiet", "--no-save", "--llm", "openai-chat", "--data", body];
        dir.truetail(&[&fixed[..], &["--data-from", "p.jsonl"], more].concat()).stdout
    };
    let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let again = flat(of(&["-n", "6"]));
    for text in ["6 requests for 2 rows: after the last row", "--feed once", "24 input tokens (75% of them cached)"] {
        assert!(again.contains(text), "{text}: {again}");
    }
    assert!(flat(of(&["-n", "2"])).contains("8 input tokens") && !flat(of(&["-n", "2"])).contains("used again"));
    assert!(again.contains("--cache-bust makes each prompt different"), "{again}");
    assert!(!flat(of(&["-n", "6", "--cache-bust"])).contains("used again"), "no prompt comes again");
    let closed = flat(of(&["-n", "6", "--feed", "once"]));
    assert!(closed.contains("the load ends with the last row") && !closed.contains("cache by then"), "{closed}");
}

/// A server of Ollama's API, asked without OpenAI's members.
#[test]
fn another_api_is_asked_and_read_in_its_way() {
    const LINES: &str = "{\"message\":{\"content\":\"a\"},\"done\":false}\n{\"done\":true,\"done_reason\":\"length\",\"eval_count\":9}\n";
    const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n";
    let server = RawServer::start_whole(format!("{HEAD}{LINES}").leak());
    let dir = TestDir::new();
    let arguments = ["run", &server.url, "-r", "20", "-n", "2", "--no-save", "--llm", "ollama", "--data", BODY];
    let output = dir.truetail(&arguments);
    let shown = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in ["2 of 2 complete", "4 lines", "18 output tokens in 2 answers", "ended by 2 length"] {
        assert!(shown.contains(text), "{text}: {output:?}");
    }
    let asked = server.asked.iter().find(|asked| !asked.is_empty()).expect("a request");
    assert!(asked.ends_with(&format!("{{\"stream\":true,{}", &BODY[1..])), "{asked}");
}

#[test]
fn what_makes_no_sense_is_refused_in_one_line() {
    let dir = TestDir::new();
    dir.file("empty.json", "");
    for (arguments, says) in [
        (&["--llm", "openai-chat"][..], "there is no body"),
        (&["--llm", "openai-chat", "--data", "hello"], "no JSON object"),
        (&["--llm", "openai-chat", "--data", "{}", "--stream", "chunks"], "leave --stream out"),
        (&["--llm", "openai-chat", "--data", "{}", "--warmup", "auto"], "--warmup TIME"),
        (&["--llm", "openai-chat", "--data", "{}", "--slo", "ttft > 1s"], "ttft, tpot or e2e"),
        (
            &["--llm", "openai-chat", "--data", "{\"prompt\":\"{{prompt}}\"}"],
            "the body has {{prompt}}: no rows are given",
        ),
        (&["--data", "<{{newUUID}}>"], "the body has {{newUUID}}: no rows are given"),
        (&["-H", "X: {{id}}"], "'X: {{id}}': no rows are given"),
        (&["--llm", "openai-chat", "--data", "{}", "--end-mark", " "], "write none"),
        (&["--llm", "ollama", "--data", "{}", "--stream", "sse"], "leave --stream out"),
        (&["--slo", "ttft < 1s"], "add --llm"),
        (&["--tokenizer", "t.json"], "add --llm"),
        #[cfg(not(feature = "tokenizer"))]
        (&["--llm", "openai-chat", "--data", "{}", "--tokenizer", &letters()], "--features tokenizer"),
        #[cfg(feature = "tokenizer")]
        (&["--llm", "openai-chat", "--data", "{}", "--tokenizer", "empty.json"], "it is no tokenizer.json"),
        (&["--stream", "sse", "--vllm-json", "x.json"], "add --llm"),
        (&["--llm", "openai-chat", "--data", "{}", "--vllm-json", "no/x.json"], "there is no folder"),
        (&["--stream", "sse", "--fail-if", "ttft p99 > 1s"], "needs --llm"),
    ] {
        let output = dir.truetail(&[&["run", "http://127.0.0.1:9/", "-r", "10", "-n", "10"][..], arguments].concat());
        let lines = output.stderr.lines().count();
        assert!(output.code == Some(2) && output.stderr.contains(says) && lines == 1, "{arguments:?}: {output:?}");
    }
}
