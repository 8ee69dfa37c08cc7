//! `--prompts` with files: Mooncake and BurstGPT with their arrivals, ShareGPT, batches.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::llm_dialects::{HEAD, answering};
use crate::support::{CommandOutput, ServeProcess, TestDir, assert_balanced, assert_complete};

const MODEL: &str = "name = \"model\"\nabout = \"a model\"\npath = \"/v1/chat/completions\"\n\n[service]\nbaseline = \"1ms\"\n\n\
                     [service.stream]\ngap = \"100us\"\n\n[workload]\nrate = \"10/s\"\nduration = \"10s\"\n";
const BODY: &str = "{\"max_tokens\":{{output_tokens}},\"messages\":[{\"role\":\"user\",\"content\":\"{{prompt}}\"}]}";

/// Instants in milliseconds, lengths, and hashes of blocks.
const MOONCAKE: [(u64, u32, u32, &[u64]); 6] = [
    (27_000, 1_300, 3, &[0, 1, 2]),
    (27_000, 1_100, 4, &[0, 1, 3]),
    (27_250, 600, 5, &[0, 4]),
    (27_500, 700, 0, &[9, 9]),
    (27_750, 500, 6, &[5]),
    (28_000, 2_000, 7, &[0, 1, 2, 6]),
];

fn mooncake(dir: &TestDir) {
    let line = |(at, input, output, hashes): &(u64, u32, u32, &[u64])| {
        json!({"timestamp": at, "input_length": input, "output_length": output, "hash_ids": hashes}).to_string() + "\n"
    };
    dir.file("trace.jsonl", &MOONCAKE.iter().map(line).collect::<String>());
}

fn content(body: &Value) -> &str {
    body["messages"][0]["content"].as_str().unwrap_or_else(|| panic!("a prompt in {body}"))
}

/// A model that counts words, with eleven more around them, and says that it sent as many tokens as it was asked for.
fn counting(body: &str) -> String {
    let asked: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"));
    let words = content(&asked).split(' ').count() + 11;
    let usage = format!("\"usage\":{{\"prompt_tokens\":{words},\"completion_tokens\":{}}}", asked["max_tokens"]);
    format!(
        "{HEAD}data: {{\"choices\":[{{\"delta\":{{\"content\":\"a\"}}}}]}}\n\ndata: {{\"choices\":[],{usage}}}\n\ndata: [DONE]\n\n"
    )
}

fn run(dir: &TestDir, url: &str, more: &[&str]) -> CommandOutput {
    dir.truetail(&[&["run", url, "--quiet", "--llm", "openai-chat"][..], more].concat())
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the planned instants of a saved run, in nanoseconds.
fn planned(dir: &TestDir, folder: &str) -> Vec<u64> {
    let text = std::fs::read_to_string(dir.path().join(folder).join("samples.csv")).expect("samples");
    let mut lines = text.lines();
    let heading: Vec<&str> = lines.next().expect("a heading").split(',').collect();
    let column = |name: &str| heading.iter().position(|found| *found == name).expect("a column");
    let index = column("index");
    let at = column("intended_start_ns");
    let number = |text: &str| text.parse::<u64>().expect("a number");
    let rows = lines.map(|line| line.split(',').collect::<Vec<_>>());
    rows.map(|row| (number(row[index]), number(row[at]))).collect::<BTreeMap<_, _>>().into_values().collect()
}

#[test]
fn a_trace_of_mooncake_arrives_as_recorded_with_the_recorded_lengths() {
    let dir = TestDir::new();
    mooncake(&dir);
    let served = ServeProcess::start(&dir, dir.file("model.toml", MODEL));
    let url = format!("{}/v1/chat/completions", served.url());
    // This server counts a word as a token, and answers no calls before the load.
    let words = ["--data", BODY, "--prompts", "mooncake:trace.jsonl", "--no-preflight"];
    let output = run(&dir, &url, &[&words[..], &["--out", "a"]].concat());
    let run_json = assert_complete(&dir.path().join("a"));
    assert_balanced(&run_json);
    assert_eq!(run_json["tally"]["responses"], 5, "{output:?}");
    assert_eq!(planned(&dir, "a"), [0, 0, 250_000_000, 750_000_000, 1_000_000_000]);
    let prompts = &run_json["stream"]["llm"]["prompts"];
    assert_eq!((&prompts["made"], &prompts["answers"]), (&"mooncake:trace.jsonl".into(), &5.into()));
    assert_eq!((&prompts["asked_input"], &prompts["asked_output"]), (&5_500.into(), &25.into()));
    assert_eq!(prompts["counted_output"], 25);
    assert_eq!((&prompts["counted_input"], &prompts["input_off"]), (&5_500.into(), &0.into()));
    let shown = flat(&output.stdout);
    for part in [
        "--prompts mooncake:trace.jsonl: 5 requests in 1.0 s, with 1100.0 input and 5.0 output tokens in the mean",
        "left out: 1 without an answer (the first is line 4)",
        "the load takes 5 of them; one token a word is assumed",
    ] {
        assert!(shown.contains(part), "{part}: {output:?}");
    }
    // Faster, and only a part of it.
    let faster = run(&dir, &url, &[&words[..], &["--speed", "2", "-n", "4", "--out", "b"]].concat());
    assert_eq!(planned(&dir, "b"), [0, 0, 125_000_000, 375_000_000], "{faster:?}");
    assert!(flat(&faster.stdout).contains("at 2 times the recorded speed; the load takes 4 of them"), "{faster:?}");
    let cut = run(&dir, &url, &[&words[..], &["-d", "500ms", "--out", "c"]].concat());
    assert_eq!(planned(&dir, "c"), [0, 0, 250_000_000], "{cut:?}");
    let (_, log) = served.stop();
    assert_eq!(log.len(), 5 + 4 + 3);
}

#[test]
fn equal_hashes_are_equal_beginnings_on_the_wire() {
    let (url, bodies) = answering(counting);
    let dir = TestDir::new();
    mooncake(&dir);
    let output = run(&dir, &url, &["--data", BODY, "--prompts", "mooncake:trace.jsonl", "--no-save", "--json"]);
    let run_json = output.json();
    assert_eq!(run_json["tally"]["responses"], 5, "{output:?}");
    assert!(
        run_json["notes"].to_string().contains("a word has 1.000 tokens, and 11 are around a prompt"),
        "{run_json}"
    );
    let prompts = &run_json["stream"]["llm"]["prompts"];
    assert_eq!((&prompts["counted_input"], &prompts["asked_input"]), (&5_500.into(), &5_500.into()));
    let bodies: Vec<Value> = bodies.try_iter().map(|body| serde_json::from_str(&body).expect("JSON")).collect();
    let of = |tokens: u32| {
        let body = bodies.iter().find(|body| body["max_tokens"] == tokens).expect("a request");
        content(body).to_owned()
    };
    let [first, second, third, fifth, last] = [3, 4, 5, 6, 7].map(of);
    let shared = |a: &str, b: &str| a.split(' ').zip(b.split(' ')).take_while(|(a, b)| a == b).count();
    // The words of two blocks, one, and three; the next words may be equal by chance.
    for (one, other, blocks) in [(&first, &second, 2), (&first, &third, 1), (&first, &last, 2), (&first, &fifth, 0)] {
        let words = shared(one, other);
        let block = 512 * blocks;
        let most = if one == &first && other == &last { 1_300 } else { block + 5 };
        assert!((block..=most).contains(&words), "{words} words for {blocks} blocks");
    }
    // The last block of the first request is the beginning of the third block of the last one.
    assert_eq!(shared(&first, &last), first.split(' ').count());
    assert_eq!(first.split(' ').count() + 11, 1_300);
}

#[test]
fn a_trace_of_burst_gpt_arrives_as_recorded() {
    let (url, bodies) = answering(counting);
    let dir = TestDir::new();
    dir.file(
        "burst.csv",
        "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n100,ChatGPT,72,8,80,API log\n\
         100.2,ChatGPT,60,0,60,API log\n100.5,GPT-4,90,16,106,Conversation log\n",
    );
    let output = run(&dir, &url, &["--data", BODY, "--prompts", "burstgpt:burst.csv", "--out", "a"]);
    assert_eq!(planned(&dir, "a"), [0, 500_000_000], "{output:?}");
    assert!(flat(&output.stdout).contains("left out: 1 that failed, with 0 response tokens (the first is line 3)"));
    let sent = bodies.try_iter().map(|body| serde_json::from_str::<Value>(&body).expect("JSON"));
    let sent: BTreeMap<String, usize> =
        sent.map(|body| (body["max_tokens"].to_string(), content(&body).split(' ').count() + 11)).collect();
    assert_eq!((sent.get("8"), sent.get("16")), (Some(&72), Some(&90)));
}

#[test]
fn conversations_and_batches_are_sent_at_a_rate() {
    let (url, bodies) = answering(counting);
    let dir = TestDir::new();
    let turns =
        |text: &str| json!({"conversations": [{"from": "human", "value": text}, {"from": "gpt", "value": "12345678"}]});
    dir.file("share.json", &json!([turns("one \"two\"\nthree"), {"conversations": []}, turns("ä")]).to_string());
    let fixed = ["-r", "50", "-n", "4", "--no-save"];
    let output = run(&dir, &url, &[&fixed[..], &["--data", BODY, "--prompts", "sharegpt:share.json"]].concat());
    let shown = flat(&output.stdout);
    assert!(
        shown
            .contains("2 requests, with about 2.5 input and 2.0 output tokens in the mean, at 4 bytes of text a token")
    );
    assert!(shown.contains("4 requests for 2 rows: after the last row, the first one is used again"), "{output:?}");
    let sent: Vec<Value> = bodies.try_iter().map(|body| serde_json::from_str(&body).expect("JSON")).collect();
    let texts: Vec<&str> = sent.iter().map(content).collect();
    assert_eq!((texts.len(), texts.iter().filter(|text| **text == "ä").count()), (4, 2), "no call comes before");
    assert!(texts.contains(&"one \"two\"\nthree") && sent[0]["max_tokens"] == 2, "{texts:?}");

    let body = r#"{"model": "m1",  "max_tokens": 9, "messages": [{"role": "user", "content": "{{x}} a"}]}"#;
    let line = |body: &str| {
        format!("{{\"custom_id\": \"1\", \"method\": \"POST\", \"url\": \"/v1/chat/completions\", \"body\": {body}}}\n")
    };
    dir.file("batch.jsonl", &line(body));
    let origin = url.trim_end_matches("/v1/chat/completions");
    let paths = answering_with_path();
    let output = run(&dir, origin, &[&fixed[..], &["--prompts", "batch:batch.jsonl"]].concat());
    assert!(
        flat(&output.stdout).contains("--prompts batch:batch.jsonl: 1 request; the load takes 1 of them"),
        "{output:?}"
    );
    let sent: Vec<String> = bodies.try_iter().collect();
    let expected = format!("{{\"stream\":true,\"stream_options\":{{\"include_usage\":true}},{}", &body[1..]);
    assert_eq!(sent, vec![expected; 4]);
    // The URL's own path, and another model.
    let other = format!("{}/my/path", paths.0);
    let output = dir.truetail(&[
        "run",
        &other,
        "-r",
        "50",
        "-n",
        "1",
        "--llm",
        "auto",
        "--no-save",
        "--json",
        "--quiet",
        "--prompts",
        "batch:batch.jsonl,model=m2",
    ]);
    assert_eq!(output.json()["stream"]["llm"]["api"], "openai-chat", "{output:?}");
    let sent: Vec<String> = paths.1.try_iter().collect();
    assert!(sent.iter().all(|body| body.contains("\"model\":\"m2\",\"max_tokens\":9")) && sent.len() == 2, "{sent:?}");
}

/// A model whose URL has no path.
fn answering_with_path() -> (String, std::sync::mpsc::Receiver<String>) {
    let (url, bodies) = answering(counting);
    (url.trim_end_matches("/v1/chat/completions").to_owned(), bodies)
}

#[test]
fn what_makes_no_sense_is_refused_in_one_line() {
    let dir = TestDir::new();
    mooncake(&dir);
    dir.file("bad.jsonl", "{\"timestamp\": 1, \"input_length\": 9, \"output_length\": 9}\n{\"timestamp\": 0}\n");
    dir.file("batch.jsonl", "{\"method\": \"POST\", \"url\": \"/v1/chat/completions\", \"body\": {}}\n");
    let url = "http://127.0.0.1:9/v1/chat/completions";
    let run = |more: &[&'static str]| [&["run", url, "--llm", "ollama"][..], more].concat();
    let of =
        |prompts: &'static str, more: &[&'static str]| run(&[&["--data", BODY, "--prompts", prompts], more].concat());
    let trace = "mooncake:trace.jsonl";
    for (arguments, code, says) in [
        (
            of(trace, &["-r", "5"]),
            2,
            "--prompts mooncake:trace.jsonl and --rate contradict each other: the file says when",
        ),
        (of(trace, &["--spacing", "poisson"]), 2, "and --spacing contradict each other"),
        (of(trace, &["--model", "closed", "--users", "3"]), 2, "and --model contradict each other"),
        (of(trace, &["--feed", "random"]), 2, "and --feed contradict each other"),
        (of(trace, &["--data-from", "rows.csv"]), 2, "leave one out"),
        (run(&["--data", "{}", "--prompts", trace]), 2, "no body has a place for the prompt"),
        (of("mooncake:bad.jsonl", &[]), 2, "bad.jsonl:2: no request of Mooncake: missing field `input_length`"),
        (of("mooncake:none.jsonl", &[]), 1, "cannot read none.jsonl"),
        (of("burstgpt:trace.jsonl", &[]), 2, "trace.jsonl:1: the first line has no column 'Timestamp'"),
        (of("batch:batch.jsonl", &["-r", "5"]), 2, "--prompts batch:FILE and --data contradict each other"),
        (run(&["--prompts", "batch:batch.jsonl", "-r", "5", "--speed", "2"]), 2, "--prompts and --speed contradict"),
        (of("synthetic:input=9,output=1", &["-r", "5", "--speed", "2"]), 2, "made prompts have no arrivals"),
        (
            vec!["capacity", url, "--slo", "p99 < 1s", "--llm", "ollama", "--", "--data", BODY, "--prompts", trace],
            2,
            "has arrivals of its own, and a search sets the rate",
        ),
    ] {
        let output = dir.truetail(&arguments);
        assert_eq!((output.code, output.stderr.lines().count()), (Some(code), 1), "{arguments:?}: {output:?}");
        assert!(output.stderr.contains(says), "{says}: {output:?}");
    }
}
