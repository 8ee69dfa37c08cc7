//! Answers of language models whose times nobody can know, and answers that are errors: in every book, and in gates.

use std::fs;

use serde_json::{Value, json};

use crate::llm_dialects::{HEAD, answering};
use crate::support::{CommandOutput, TestDir, assert_balanced, assert_complete};

fn run(dir: &TestDir, more: &[&str]) -> CommandOutput {
    dir.truetail(&[&["run", "-r", "100", "-d", "200ms", "--quiet"][..], more].concat())
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn vllm(dir: &TestDir) -> Value {
    serde_json::from_str(&fs::read_to_string(dir.path().join("v.json")).expect("a file")).expect("JSON")
}

/// A model that sends the prompt first, if it is asked to, then two tokens.
fn echoing(body: &str) -> String {
    let asked: Value = serde_json::from_str(body).expect("JSON");
    let text = |text: &str| format!("data: {{\"choices\":[{{\"index\":0,\"text\":\"{text}\"}}]}}\n\n");
    let prompt = if asked["echo"] == json!(true) { text("hello") } else { String::new() };
    let end = "data: {\"choices\":[{\"index\":0,\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\n\
               data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n";
    format!("{HEAD}{prompt}{}{}{end}", text("a"), text("b"))
}

const ECHO: &str = "{\"prompt\":\"hello\",\"echo\":true}";

#[test]
fn a_prompt_in_the_answer_makes_times_unknown_and_leaves_gates_open() {
    let (url, _bodies) = answering(echoing);
    let dir = TestDir::new();
    let gates = ["--fail-if", "ttft p50 > 1h", "--fail-if", "tpot mean > 1h", "--fail-if", "itl mean > 1h"];
    let more = ["--llm", "openai-completions", "--slo", "ttft < 1h", "--vllm-json", "v.json", "--out", "a"];
    let output = run(&dir, &[&[&url, "--data", ECHO][..], &more, &gates].concat());
    let run_json = assert_complete(&dir.path().join("a"));
    assert_balanced(&run_json);
    let states: Vec<&str> =
        run_json["gates"].as_array().unwrap().iter().filter_map(|gate| gate["state"].as_str()).collect();
    assert_eq!((output.code, states), (Some(4), vec!["open"; 3]), "{output:?}");
    let llm = &run_json["stream"]["llm"];
    assert_eq!((&llm["unmeasured"]["echo_events"], &llm["content_events"]), (&60.into(), &0.into()), "{llm}");
    // The end of an answer and its tokens are known.
    assert_eq!((&run_json["stream"]["tally"]["complete"], &run_json["stream"]["tokens"]), (&20.into(), &40.into()));
    assert_eq!(run_json["stream"]["first_content_time"]["count"], 0);
    let shown = flat(&output.stdout);
    for text in [
        "60 events that may be the prompt (echo)",
        "unknown, because of the events that may be the prompt: TTFT of 20 answers, ITL of 60 gaps",
        "0% to 100% of planned requests met ttft < 1h",
        "nothing tells where the prompt ends in the answer",
        "leave \"echo\": true out of the body",
    ] {
        assert!(shown.contains(text), "{text}: {output:?}");
    }
    assert!(!shown.contains("no event has content"), "{output:?}");
    let vllm = vllm(&dir);
    assert_eq!(
        (vllm.get("mean_ttft_ms"), vllm.get("mean_tpot_ms"), &vllm["completed"]),
        (None, None, &20.into()),
        "{vllm}"
    );
    // A row decides, and an answer without the prompt has its times.
    dir.file("rows.jsonl", "{\"body\":{\"prompt\":\"hi\"}}\n{\"body\":{\"prompt\":\"hello\",\"echo\":true}}\n");
    for (body, expected) in [("{{body}}", 60), ("{\"prompt\":\"hello\",\"echo\":false}", 0)] {
        let with_rows: &[&str] = if expected > 0 { &["--data-from", "rows.jsonl"] } else { &[] };
        let output = run(
            &dir,
            &[&[&url, "--llm", "openai-completions", "--data", body, "--no-save", "--json"][..], with_rows].concat(),
        );
        let llm = output.json()["stream"]["llm"].clone();
        let is_echo = llm["unmeasured"]["echo_events"].as_u64() > Some(0);
        let has_content = llm["content_events"].as_u64() > Some(0);
        assert_eq!((is_echo, has_content), (expected > 0, expected == 0), "{output:?}");
    }
}

#[test]
fn a_step_of_a_flow_may_ask_for_the_prompt_too() {
    let (url, _bodies) = answering(echoing);
    let dir = TestDir::new();
    let step = |name: &str, echo: &str| {
        format!(
            "# truetail: name {name}\n# truetail: stream\nPOST {url}\nContent-Type: application/json\n```\n{{\"prompt\":\"{{{{newUuid}}}}\",\
             \"stream\":true{echo}}}\n```\nHTTP 200\n\n"
        )
    };
    dir.file("chat.hurl", &[step("plain", ""), step("echoing", ",\"echo\":true")].concat());
    let more = ["--flow", "chat.hurl", "--llm", "openai-completions", "--no-save", "--json", "--no-preflight"];
    let run_json = run(&dir, &more).json();
    assert_balanced(&run_json);
    let llm = &run_json["stream"]["llm"];
    let planned = run_json["stream"]["tally"]["complete"].as_u64().unwrap();
    let half = Value::from(planned / 2);
    assert_eq!(
        (&llm["unmeasured"]["first_content"], &run_json["stream"]["first_content_time"]["count"]),
        (&half, &half),
        "{run_json}"
    );
}

/// An error beside an empty list of choices, as some gateways send it, then the usual end.
#[test]
fn an_error_beside_no_choice_is_an_error_in_every_book() {
    for error in [
        r#"{"choices":[],"error":{"message":"boom"}}"#,
        r#"{"choices":[],"code":500,"message":"boom"}"#,
        r#"{"choices":[],"detail":"boom"}"#,
    ] {
        let (url, _bodies) = answering(move |_| {
            let token = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n";
            format!("{HEAD}{token}data: {error}\n\ndata: [DONE]\n\n")
        });
        let dir = TestDir::new();
        let gates =
            ["--fail-if", "error-rate > 1%", "--fail-if", "incomplete-streams > 1%", "--fail-if", "goodput < 99%"];
        let fixed = [
            &url,
            "--data",
            "{\"messages\":[]}",
            "--llm",
            "openai-chat",
            "--slo",
            "ttft < 1h",
            "--vllm-json",
            "v.json",
            "--out",
            "a",
        ];
        let output = run(&dir, &[&fixed[..], &gates].concat());
        let run_json = assert_complete(&dir.path().join("a"));
        assert_balanced(&run_json);
        let stream = &run_json["stream"];
        let states: Vec<&str> =
            run_json["gates"].as_array().unwrap().iter().filter_map(|gate| gate["state"].as_str()).collect();
        assert_eq!((output.code, states), (Some(3), vec!["fails"; 3]), "{error}: {output:?}");
        assert_eq!(
            (&stream["tally"]["server_error"], &stream["tally"]["complete"]),
            (&20.into(), &0.into()),
            "{error}"
        );
        assert_eq!((&stream["llm"]["error_events"], &stream["goodput"]["share"]), (&20.into(), &0.0.into()), "{error}");
        assert!(flat(&output.stdout).contains("20 with an error event"), "{error}: {output:?}");
        assert_eq!((&vllm(&dir)["completed"], &vllm(&dir)["failed"]), (&0.into(), &20.into()), "{error}");
    }
}
