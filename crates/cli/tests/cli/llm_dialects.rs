//! `--llm-dialect` and `--llm auto`.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::Value;

use crate::documented::root;
use crate::raw_server::{RawServer, is_whole};
use crate::support::{CommandOutput, TestDir, assert_complete};

pub const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
const BODY: &str = "{\"model\":\"m\",\"prompt\":\"hello\"}";
/// Nine tokens in three events, in a dialect that no API has.
const OWN: &str = "data: {\"state\":\"on\",\"out\":{\"say\":\"a\"}}\n\ndata: {\"state\":\"on\",\"out\":{\"say\":\"b\"}}\n\n\
                   data: {\"state\":\"over\",\"out\":{\"say\":\"c\"},\"made\":9,\"got\":4}\n\n";
const OWN_TOML: &str = "text = 'out.say'\nend = 'state == over'\nerror = 'state == broken'\n[usage]\noutput = 'made'\ninput = 'got'\n\
                        [request]\nmode = 'live'\n";
const CHAT: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n\
                    data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
                    data: {\"choices\":[],\"usage\":{\"prompt_tokens\":4,\"completion_tokens\":9}}\n\ndata: [DONE]\n\n";

fn serving(answer: &str) -> RawServer {
    RawServer::start_whole(format!("{HEAD}{answer}").leak())
}

fn run(dir: &TestDir, url: &str, more: &[&str]) -> CommandOutput {
    dir.truetail(&[&["run", url, "-r", "50", "-n", "4", "--quiet", "--data", BODY][..], more].concat())
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn answers_are_read_by_a_file_that_describes_them() {
    let server = serving(OWN);
    let dir = TestDir::new();
    dir.file("own.toml", OWN_TOML);
    let more = ["--llm-dialect", "own.toml", "--out", "a", "--slo", "ttft < 1h", "--vllm-json", "v.json"];
    let output = run(&dir, &server.url, &more);
    let shown = flat(&output.stdout);
    for text in ["4 of 4 complete", "36 output tokens in 4 answers, 16 input tokens", "100% of planned requests met"] {
        assert!(shown.contains(text), "{text}: {output:?}");
    }
    let llm = &assert_complete(&dir.path().join("a"))["stream"]["llm"];
    assert_eq!((&llm["api"], &llm["dialect"]["toml"]), (&"described".into(), &OWN_TOML.into()));
    assert_eq!((&llm["content_events"], &llm["dialect"]["file"]), (&12.into(), &"own.toml".into()));
    let asked = server.asked.iter().find(|asked| !asked.is_empty()).expect("a request");
    assert!(asked.ends_with(&format!("{{\"mode\":\"live\",{}", &BODY[1..])), "{asked}");
    // A saved run is read again, and parts with the same description can be merged.
    run(&dir, &server.url, &more[..2].iter().chain(&["--out", "b", "--slo", "ttft < 1h"]).copied().collect::<Vec<_>>());
    assert!(flat(&dir.truetail(&["report", "a"]).stdout).contains("36 output tokens"));
    dir.truetail(&["merge", "a", "b", "--out", "whole"]);
    assert_eq!(assert_complete(&dir.path().join("whole"))["stream"]["tokens"], 72);
}

#[test]
fn a_description_shows_what_the_known_api_shows() {
    let server = serving(CHAT);
    let dir = TestDir::new();
    let example = root().join("examples/dialects/openai-chat.toml").display().to_string();
    let counts = |more: &[&str]| {
        let mut llm = run(&dir, &server.url, &[&["--no-save", "--json"], more].concat()).json()["stream"]["llm"].take();
        llm.as_object_mut().expect("a model").retain(|name, value| {
            // Times differ from run to run.
            !["api", "dialect"].contains(&name.as_str()) && value.get("quantiles").is_none()
        });
        llm
    };
    let known = counts(&["--llm", "openai-chat"]);
    assert_eq!(known["tokens"]["output"], 36);
    assert_eq!(counts(&["--llm-dialect", &example]), known);
}

#[test]
fn auto_takes_the_api_of_the_first_answer_and_says_so() {
    let server = serving(CHAT);
    let dir = TestDir::new();
    let output = run(&dir, &server.url, &["--llm", "auto", "--out", "a"]);
    let run_json = assert_complete(&dir.path().join("a"));
    let llm = &run_json["stream"]["llm"];
    assert_eq!((&llm["api"], &llm["recognised"]), (&"openai-chat".into(), &true.into()));
    assert_eq!(run_json["stream"]["end_mark"], "[DONE]");
    let says = "--llm auto took --llm openai-chat, by the answer to one request before the load; its prompt is";
    assert!(run_json["notes"].to_string().contains(says) && flat(&output.stdout).contains(says), "{output:?}");
    let asked: Vec<String> = server.asked.iter().filter(|asked| !asked.is_empty()).take(5).collect();
    let (before, load): (Vec<_>, Vec<_>) = asked.iter().partition(|asked| asked.contains("truetail-preflight"));
    assert_eq!((before.len(), load.len()), (1, 4), "{asked:?}");
    assert!(before[0].contains("{\"stream\":true,\"model\""), "the path tells no API: {}", before[0]);
    assert!(load.iter().all(|asked| asked.contains("\"include_usage\":true")), "{load:?}");
    let known = run(&dir, &server.url, &["--llm", "openai-chat", "--no-save", "--json"]).json();
    assert_eq!(known["stream"]["llm"].get("recognised"), None);
}

#[test]
fn auto_says_what_it_saw_and_what_helps_if_no_api_fits() {
    let dir = TestDir::new();
    let own = serving(OWN);
    let failing = RawServer::start_whole("HTTP/1.1 404 Not Found\r\nContent-Length: 8\r\n\r\nno model");
    for (url, parts) in [
        (&own.url, vec!["no event of the 3 in the answer has content that is known: 'data: {", "--llm-dialect FILE"]),
        (&failing.url, vec!["status 404: 'no model'", "name the API with --llm NAME"]),
    ] {
        let output = run(&dir, url, &["--llm", "auto", "--out", "a"]);
        assert_eq!((output.code, output.stderr.lines().count()), (Some(1), 1), "{output:?}");
        assert!(parts.iter().all(|part| output.stderr.contains(part)), "{parts:?}: {output:?}");
        assert!(!dir.path().join("a").exists());
    }
    assert_eq!(own.asked.iter().filter(|asked| !asked.is_empty()).take(1).count(), 1);
}

/// Answers each body as a function says. Sends the bodies of all requests.
pub fn answering(answer: impl Fn(&str) -> String + Clone + Send + 'static) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1/chat/completions", listener.local_addr().expect("an address"));
    let (sender, bodies) = channel();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let sender = sender.clone();
            let answer = answer.clone();
            thread::spawn(move || {
                let mut asked = Vec::new();
                let mut buffer = [0; 4096];
                while let Ok(count @ 1..) = stream.read(&mut buffer) {
                    asked.extend_from_slice(&buffer[..count]);
                    if is_whole(&asked) {
                        let text = String::from_utf8_lossy(&asked);
                        let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
                        let answer = answer(body);
                        let _ = sender.send(body.to_owned());
                        let _ = stream.write_all(answer.as_bytes());
                        return;
                    }
                }
            });
        }
    });
    (url, bodies)
}

/// A model that refuses to be asked for a count.
fn model_without_counts() -> (String, Receiver<String>) {
    answering(|body| match body.contains("stream_options") {
        true => "HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno".to_owned(),
        false => format!("{HEAD}{CHAT}"),
    })
}

#[test]
fn auto_asks_again_without_what_the_server_refuses_and_so_does_the_load() {
    let (url, bodies) = model_without_counts();
    let dir = TestDir::new();
    let output = run(&dir, &url, &["--llm", "auto", "--no-save", "--json"]);
    let notes = output.json()["notes"].to_string();
    assert!(notes.contains("the server refuses stream_options, so it is not asked to count tokens"), "{notes}");
    let bodies: Vec<String> = bodies.try_iter().collect();
    let asking = |bodies: &[String]| bodies.iter().filter(|body| body.contains("stream_options")).count();
    assert_eq!((bodies.len(), asking(&bodies[..1]), asking(&bodies[1..])), (6, 1, 0), "{bodies:?}");
    assert_eq!(output.json()["stream"]["tally"]["complete"], 4);
}

#[test]
fn what_makes_no_sense_is_refused_in_one_line() {
    let dir = TestDir::new();
    dir.file("bad.toml", "text = 'a'\nend = 'b'\n\ntxet = 'c'\n");
    dir.file("lines.toml", "events = 'lines'\ntext = 'a'\nend = 'b'\n");
    dir.file("flow.hurl", "# truetail: stream\nPOST http://127.0.0.1:9/\nHTTP 200\n");
    let url = "http://127.0.0.1:9/";
    for (arguments, code, says) in [
        (&[url, "--llm-dialect", "bad.toml", "--data", "{}"][..], 2, "--llm-dialect: bad.toml:4:1: unknown key 'txet'"),
        (
            &[url, "--llm-dialect", "lines.toml", "--data", "{}", "--stream", "sse"],
            2,
            "--llm-dialect lines.toml reads lines",
        ),
        (&[url, "--llm-dialect", "lines.toml", "--data", "hello"], 2, "--llm-dialect: the body is no JSON object"),
        (&[url, "--llm-dialect", "no.toml", "--data", "{}"], 1, "no.toml"),
        (&[url, "--llm-dialect", "-", "--data", "{}"], 2, "write it to a file"),
        (&[url, "--llm", "auto", "--data", "{}", "--no-preflight"], 2, "name the API, such as --llm openai-chat"),
        (&["--flow", "flow.hurl", "--llm", "auto"], 2, "--llm auto and --flow contradict each other"),
        (&[url, "--llm", "auto", "--data", "{}"], 1, "is the server running?"),
    ] {
        let output = dir.truetail(&[&["run", "-r", "10", "-d", "1s"][..], arguments].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(code), 1), "{arguments:?}: {output:?}");
        assert!(output.stderr.contains(says), "{arguments:?}: {output:?}");
    }
    let both = dir.truetail(&["run", url, "-r", "1", "--llm", "ollama", "--llm-dialect", "lines.toml"]);
    assert!(both.code == Some(2) && both.stderr.contains("--llm"), "{both:?}");
}

#[test]
fn the_file_goes_to_the_pods() {
    let dir = TestDir::new();
    dir.file("own.toml", OWN_TOML);
    let words = [
        "k8s",
        "render",
        "http://api.shop:8080/generate",
        "-r",
        "10",
        "-d",
        "10s",
        "--shards",
        "2",
        "--image",
        "i",
        "--start-at",
        "+99s",
    ];
    let output = dir.truetail(&[&words[..], &["--data", BODY, "--llm-dialect", "own.toml"]].concat());
    assert!(output.stdout.contains(".llm-dialect-1") && output.code == Some(0), "{output:?}");
}

#[test]
fn a_search_reads_answers_by_a_description_or_recognises_them() {
    let server = serving(CHAT);
    let dir = TestDir::new();
    let example = root().join("examples/dialects/openai-chat.toml").display().to_string();
    for reading in [["--llm-dialect", &*example], ["--llm", "auto"]] {
        let fixed = [
            "capacity",
            &server.url,
            "--slo",
            "ttft p50 < 10s",
            "--max-rate",
            "20/s",
            "--max-time",
            "2s",
            "--json",
            "--quiet",
        ];
        let output = dir.truetail(&[&fixed[..], &reading, &["--", "--data", BODY]].concat());
        let result: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        assert!(result["probes"].as_array().is_some_and(|probes| !probes.is_empty()), "{output:?}");
    }
}
