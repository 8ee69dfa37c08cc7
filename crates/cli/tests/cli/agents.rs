//! `--agents`: sessions that are graphs of calls of a language model.

use std::collections::BTreeMap;
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::raw_server::{read_body, serve_each};
use crate::support::{CommandOutput, ServeProcess, TestDir, TestProcess, assert_balanced, assert_complete};

/// Text of each answer, beside the prompt that it answers.
const SAID: &str = "\"said\" \\ \n\u{1}\u{2028}\u{1f98a}{{plan}} ";
/// Number of the calls that answer only together.
const TOGETHER: usize = 3;

fn said(prompt: &str) -> String {
    format!("{SAID}<{prompt}>")
}

/// Calls in flight by the name in their prompt; the model answers none of them before all are there.
type Meeting = Arc<(Mutex<BTreeMap<String, usize>>, Condvar)>;

/// Starts a model that answers with [`said`], and prompts that begin with `fail` by status 500. It answers a prompt
/// that begins with `together NAME` only when [`TOGETHER`] of that name are in flight. Sends all bodies of requests.
fn model() -> (String, Receiver<Value>) {
    let (sender, bodies) = channel();
    let meeting = Meeting::default();
    let place = serve_each(move |socket| answer_all(socket, &sender, &meeting));
    (format!("http://{place}/v1/chat/completions"), bodies)
}

fn answer_all(mut socket: TcpStream, sender: &Sender<Value>, meeting: &Meeting) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(socket.try_clone().ok()?);
    loop {
        let body = serde_json::from_str(&read_body(&mut reader)?).expect("JSON");
        let Some(text) = answer(body, sender, meeting)? else {
            socket.write_all(b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n").ok()?;
            continue;
        };
        let length = text.len();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {length}\r\n\r\n");
        socket.write_all(head.as_bytes()).ok()?;
        socket.write_all(text.as_bytes()).ok()?;
    }
}

/// Returns the answer to this body, or `None` inside if it is to fail. `None`: the answer will never be there.
fn answer(body: Value, sender: &Sender<Value>, meeting: &Meeting) -> Option<Option<String>> {
    let prompt = prompt(&body).to_owned();
    sender.send(body).ok()?;
    let words: Vec<&str> = prompt.split(' ').collect();
    if words[0] == "together" {
        meet(meeting, words[1])?;
    }
    let event = |delta: Value, finish: Value| {
        let choice = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        format!("data: {choice}\n\n")
    };
    let content = event(json!({"content": said(&prompt)}), Value::Null);
    let end = event(json!({}), "stop".into());
    let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":4,\"completion_tokens\":9}}\n\ndata: [DONE]\n\n";
    Some((words[0] != "fail").then(|| format!("{content}{end}{usage}")))
}

/// Starts the same model over HTTP/2. It answers each stream in a thread of its own, and none with status 500. Also
/// sends a value for each connection.
fn model_in_http2() -> (String, Receiver<Value>, Receiver<()>) {
    let (sender, bodies) = channel();
    let (connected, connections) = channel();
    let meeting = Meeting::default();
    let place = serve_each(move |socket| {
        connected.send(()).ok()?;
        answer_all_in_http2(socket, &sender, &meeting)
    });
    (format!("http://{place}/v1/chat/completions"), bodies, connections)
}

fn answer_all_in_http2(mut socket: TcpStream, sender: &Sender<Value>, meeting: &Meeting) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    socket.read_exact(&mut [0; 24]).ok()?;
    // Settings without any.
    socket.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).ok()?;
    let writer = Arc::new(Mutex::new(socket.try_clone().ok()?));
    let mut bodies: BTreeMap<[u8; 4], Vec<u8>> = BTreeMap::new();
    loop {
        let mut head = [0; 9];
        socket.read_exact(&mut head).ok()?;
        let [a, b, c, kind, flags, stream @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        socket.read_exact(&mut payload).ok()?;
        // Of data and without padding.
        if (kind, flags & 8) != (0, 0) {
            continue;
        }
        bodies.entry(stream).or_default().extend(payload);
        if flags & 1 == 1 {
            let body = serde_json::from_slice(&bodies.remove(&stream)?).expect("JSON");
            let writer = Arc::clone(&writer);
            let sender = sender.clone();
            let meeting = Arc::clone(meeting);
            thread::spawn(move || {
                let text = answer(body, &sender, &meeting)??;
                // The status, and the content type as a literal that is kept in no table (RFC 7541, section 6.2.2).
                let fields = [&[0x88, 0x0f, 0x10, 17][..], b"text/event-stream"].concat();
                let head = [&[0, 0, fields.len() as u8, 1, 4][..], &stream, &fields].concat();
                let length = u16::try_from(text.len()).expect("a short answer").to_be_bytes();
                let data = [&[0][..], &length, &[0, 1], &stream, text.as_bytes()].concat();
                writer.lock().expect("no panic").write_all(&[head, data].concat()).ok()
            });
        }
    }
}

/// Waits until all calls of this name are there. `None` if they do not come.
fn meet(meeting: &Meeting, name: &str) -> Option<()> {
    let (there, changed) = &**meeting;
    let mut there = there.lock().expect("no panic");
    *there.entry(name.to_owned()).or_default() += 1;
    changed.notify_all();
    let is_waiting = |there: &mut BTreeMap<String, usize>| there[name] < TOGETHER;
    let waited = changed.wait_timeout_while(there, Duration::from_secs(30), is_waiting).expect("no panic").1;
    (!waited.timed_out()).then_some(())
}

fn prompt(body: &Value) -> &str {
    body["messages"][0]["content"].as_str().unwrap_or_else(|| panic!("no prompt: {body}"))
}

fn run(dir: &TestDir, url: &str, more: &[&str]) -> CommandOutput {
    let common = ["run", url, "--llm", "openai-chat", "--agents", "a.jsonl", "--quiet", "--no-preflight"];
    dir.truetail(&[&common, more].concat())
}

/// A plan, three branches at the same time, and a call that has the answers of all.
fn fan_out(name: &str) -> String {
    let branch = |nth: usize| {
        let text = format!("together {name} {nth} after {{{{plan}}}}");
        json!({"session": name, "id": format!("b{nth}"), "after": ["plan"], "think": 0.002, "prompt": text})
    };
    let join = format!("join {name}: {{{{b1}}}}|{{{{b2}}}}|{{{{b3}}}}|{{{{plan}}}}");
    let calls = [
        json!({"session": name, "id": "join", "after": ["b1", "b2", "b3"], "think": 0.001, "prompt": join, "max_tokens": 5}),
        branch(1),
        branch(2),
        branch(3),
        json!({"session": name, "id": "plan", "prompt": format!("plan {name}")}),
    ];
    calls.map(|call| format!("{call}\n")).concat()
}

fn step_counts(run: &Value) -> Vec<[u64; 5]> {
    let steps = run["sessions"]["steps"].as_array().expect("steps").iter();
    let of = |step: &Value, name: &str| step["not_reached"][name].as_u64().unwrap_or(0);
    steps
        .map(|step| {
            let number = |name: &str| step[name].as_u64().unwrap_or_else(|| panic!("no {name}: {step}"));
            let missed = ["ended_early", "run_ended", "never_begun"].map(|name| of(step, name));
            [number("planned"), number("reached"), missed[0], missed[1], missed[2]]
        })
        .collect()
}

#[test]
fn branches_are_in_flight_together_and_say_what_the_model_said() {
    let (url, bodies) = model();
    let dir = TestDir::new();
    let names = ["s1", "s2", "s3", "s4"];
    dir.file("a.jsonl", &names.map(fan_out).concat());
    let more =
        ["-r", "200", "-d", "20ms", "--data", "{\"model\":\"m\",\"max_tokens\":7}", "--slo", "ttft < 1h", "--out", "a"];
    let gates =
        ["--slo", "session-goodput > 50%", "--slo", "session-time mean < 1h", "--slo", "incomplete-sessions < 50%"];
    let output = run(&dir, &url, &[&more[..], &gates].concat());
    let run_json = assert_complete(&dir.path().join("a"));
    assert_balanced(&run_json);
    assert_eq!(run_json["tally"]["responses"], 20, "{output:?}");
    let sessions = &run_json["sessions"];
    assert_eq!((&sessions["tally"]["completed"], &sessions["tally"]["planned"]), (&4.into(), &4.into()), "{sessions}");
    assert_eq!(step_counts(&run_json), [[4, 4, 0, 0, 0], [12, 12, 0, 0, 0], [4, 4, 0, 0, 0]]);
    assert_eq!(sessions["goodput"], json!({"met": 4, "cannot_tell": 0}));
    // From the arrival of a session to its end, with both think times.
    assert_eq!(sessions["session_time"]["count"], 4);
    assert!(sessions["session_time"]["min_ns"].as_u64() >= Some(3_000_000), "{sessions}");
    let shown = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in ["4 of 4 completed", "100% (4 of 4) met ttft < 1h in each call", "depth 2", "agents a.jsonl"] {
        assert!(shown.contains(text), "{text}: {output:?}");
    }
    let streams = &run_json["stream"]["tally"];
    assert_eq!((&streams["planned"], &streams["complete"]), (&20.into(), &20.into()), "{streams}");
    let mut asked: Vec<String> = Vec::new();
    for body in bodies.try_iter() {
        assert_eq!((&body["model"], &body["stream"]), (&"m".into(), &true.into()), "{body}");
        let is_join = prompt(&body).starts_with("join");
        assert_eq!(body["max_tokens"], if is_join { 5 } else { 7 }, "{body}");
        asked.push(prompt(&body).to_owned());
    }
    let mut expected: Vec<String> = Vec::new();
    for name in names {
        let plan = format!("plan {name}");
        let branches = [1, 2, 3].map(|nth| format!("together {name} {nth} after {}", said(&plan)));
        let all = branches.iter().map(|prompt| said(prompt)).collect::<Vec<_>>().join("|");
        expected.push(format!("join {name}: {all}|{}", said(&plan)));
        expected.extend(branches);
        expected.push(plan);
    }
    asked.sort();
    expected.sort();
    assert_eq!(asked, expected);
    let again = dir.truetail(&["report", "a"]);
    assert!(again.stdout.contains("4 of 4 completed"), "{again:?}");
}

#[test]
fn what_is_behind_a_failed_call_is_not_asked_and_the_rest_goes_on() {
    let (url, bodies) = model();
    let dir = TestDir::new();
    let calls = [
        json!({"id": "a", "prompt": "start"}),
        json!({"id": "f", "after": ["a"], "prompt": "fail now"}),
        json!({"id": "g", "after": ["f"], "prompt": "after the failure"}),
        json!({"id": "h", "after": ["g", "d"], "prompt": "after both"}),
        json!({"id": "c", "after": ["a"], "prompt": "beside"}),
        json!({"id": "d", "after": ["c"], "think": 0.002, "prompt": "behind: {{c}}"}),
    ];
    dir.file("a.jsonl", &calls.map(|call| format!("{call}\n")).concat());
    let output = run(&dir, &url, &["-r", "100", "-d", "100ms", "--slo", "e2e < 1h", "--out", "a"]);
    let run_json = assert_complete(&dir.path().join("a"));
    assert_balanced(&run_json);
    let sessions = &run_json["sessions"];
    assert_eq!(
        (&sessions["tally"]["completed"], &sessions["tally"]["ended_early"]),
        (&0.into(), &10.into()),
        "{output:?}"
    );
    assert_eq!(step_counts(&run_json), [[10, 10, 0, 0, 0], [20, 20, 0, 0, 0], [20, 10, 10, 0, 0], [10, 0, 10, 0, 0]]);
    assert_eq!(sessions["steps"][1]["ended_here"], json!({"status": 10}));
    assert_eq!(sessions["goodput"], json!({"met": 0, "cannot_tell": 0}));
    assert_eq!((&run_json["tally"]["issued"], &run_json["tally"]["planned"]), (&40.into(), &40.into()));
    let streams = &run_json["stream"]["tally"];
    assert_eq!(
        (&streams["planned"], &streams["complete"], &streams["not_reached"]),
        (&60.into(), &30.into(), &20.into())
    );
    assert!(
        run_json["notes"].to_string().contains("first end at depth 2: call 'f' (line 2): status 500"),
        "{output:?}"
    );
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    for body in bodies.try_iter() {
        *asked.entry(prompt(&body).split(' ').next().unwrap_or_default().to_owned()).or_default() += 1;
    }
    let expected = ["start", "fail", "beside", "behind:"].map(|word| (word.to_owned(), 10));
    assert_eq!(asked, BTreeMap::from(expected));
}

/// The embedded server has a truth log: the branches of each session are there before the first of them is answered.
#[test]
fn the_truth_log_has_each_call_once_and_branches_side_by_side() {
    let dir = TestDir::new();
    let text = "path = \"/v1/chat/completions\"\n[workload]\nrate = 50\nduration = \"1s\"\n[service]\nbaseline = \"300ms\"\n\
                [service.stream]\nevents = 3\ngap = \"1ms\"\n";
    let served = ServeProcess::start(&dir, dir.file("model.toml", text));
    let url = format!("{}/v1/chat/completions", served.url());
    let calls = [
        json!({"id": "a", "prompt": "x"}),
        json!({"id": "b", "after": ["a"], "prompt": "x {{a}}"}),
        json!({"id": "c", "after": ["a"], "prompt": "x"}),
        json!({"id": "d", "after": ["b", "c"], "prompt": "{{b}} {{c}}"}),
    ];
    dir.file("a.jsonl", &calls.map(|call| format!("{call}\n")).concat());
    // One session after the other, so that the rows of each are known by their order.
    let output = run(&dir, &url, &["-r", "0.5", "-d", "4s", "--json", "--no-save"]);
    let run_json = output.json();
    assert_eq!((&run_json["tally"]["responses"], &run_json["sessions"]["tally"]["completed"]), (&8.into(), &2.into()));
    let (_, rows) = served.stop();
    assert_eq!(rows.len(), 8, "{rows:?}");
    // Epoch, arrival and answer.
    let times = |row: &String| -> [u64; 3] {
        let columns: Vec<&str> = row.split(',').collect();
        [0, 2, 4].map(|nth| columns[nth].parse().unwrap_or_else(|_| panic!("{row}")))
    };
    let mut times: Vec<[u64; 3]> = rows.iter().map(times).collect();
    times.sort_unstable();
    for session in times.chunks(4) {
        let [a, b, c, d] = session else { panic!("{session:?}") };
        assert!(a[2] <= b[1] && b[2].max(c[2]) <= d[1], "in order: {session:?}");
        assert!(c[1] < b[2], "side by side: {session:?}");
    }
}

#[test]
fn a_run_that_ends_counts_the_calls_that_it_did_not_make() {
    let (url, bodies) = model();
    let dir = TestDir::new();
    let calls = [
        json!({"id": "a", "prompt": "first"}),
        json!({"id": "b", "after": ["a"], "think": 3600, "prompt": "much later"}),
        json!({"id": "c", "after": ["b"], "prompt": "never"}),
    ];
    dir.file("a.jsonl", &calls.map(|call| format!("{call}\n")).concat());
    let output = run(&dir, &url, &["-r", "50", "-d", "200ms", "--drain", "300ms", "--out", "a"]);
    let run_json = assert_complete(&dir.path().join("a"));
    assert_balanced(&run_json);
    let sessions = &run_json["sessions"];
    assert_eq!(sessions["tally"]["in_flight_at_end"], 10, "{output:?}");
    assert_eq!(step_counts(&run_json), [[10, 10, 0, 0, 0], [10, 0, 0, 10, 0], [10, 0, 0, 10, 0]]);
    assert_eq!(run_json["tally"]["planned"], 10, "a call that was not due is not planned");
    assert_eq!(bodies.try_iter().count(), 10);
}

/// The prompts that were asked, sorted.
fn asked(bodies: &Receiver<Value>) -> Vec<String> {
    let mut prompts: Vec<String> = bodies.try_iter().map(|body| prompt(&body).to_owned()).collect();
    prompts.sort_unstable();
    prompts
}

#[test]
fn branches_are_streams_of_one_connection_in_http2() {
    let (url, bodies, connections) = model_in_http2();
    let dir = TestDir::new();
    dir.file("a.jsonl", &["s1", "s2"].map(fan_out).concat());
    let output = run(&dir, &url, &["--http2", "-c", "1", "-r", "100", "-d", "20ms", "--out", "a"]);
    let run_json = assert_complete(&dir.path().join("a"));
    assert_balanced(&run_json);
    assert_eq!((&run_json["tally"]["responses"], &run_json["sessions"]["tally"]["completed"]), (&10.into(), &2.into()));
    let prompts = asked(&bodies);
    assert_eq!((prompts.len(), connections.try_iter().count()), (10, 1), "{output:?}");
    let plans = ["s1", "s2"].map(|name| said(&format!("plan {name}")));
    for (name, plan) in ["s1", "s2"].iter().zip(&plans) {
        let branches = [1, 2, 3].map(|nth| said(&format!("together {name} {nth} after {plan}")));
        let join = format!("join {name}: {}|{plan}", branches.join("|"));
        assert!(prompts.contains(&join), "{join}: {prompts:?}");
    }
}

#[test]
fn stripes_make_the_calls_of_the_undivided_run() {
    let (url, bodies) = model();
    let dir = TestDir::new();
    dir.file("a.jsonl", &["s1", "s2", "s3"].map(fan_out).concat());
    let calls_of = |more: &[&str]| {
        run(&dir, &url, &[&["-r", "200", "-d", "40ms", "--slo", "ttft < 1h"], more].concat());
        asked(&bodies)
    };
    let whole = calls_of(&["--out", "whole"]);
    let parts: Vec<Vec<String>> =
        [1, 2, 3].map(|nth| calls_of(&["--stripe", &format!("{nth}/3"), "--out", &format!("part{nth}")])).to_vec();
    assert!(parts.iter().all(|part| !part.is_empty() && part.len() < whole.len()), "{parts:?}");
    let mut all = parts.concat();
    all.sort_unstable();
    assert_eq!((all.len(), &all), (8 * 5, &whole));
    let output = dir.truetail(&["merge", "part1", "part2", "part3", "--out", "merged"]);
    let [whole, merged] = ["whole", "merged"].map(|name| assert_complete(&dir.path().join(name)));
    assert_eq!(merged["sessions"]["tally"], whole["sessions"]["tally"], "{output:?}");
    assert_eq!(merged["sessions"]["goodput"], whole["sessions"]["goodput"]);
    assert_eq!(step_counts(&merged), step_counts(&whole));
}

/// Calls of sessions under way are still made for as long as the run waits for answers.
#[test]
fn an_interrupted_run_counts_each_call_once() {
    let dir = TestDir::new();
    let text = "path = \"/v1/chat/completions\"\n[workload]\nrate = 50\nduration = \"1s\"\n[service]\nbaseline = \"100ms\"\n\
                [service.stream]\nevents = 3\ngap = \"1ms\"\n";
    let served = ServeProcess::start(&dir, dir.file("model.toml", text));
    dir.file("a.jsonl", &["s1", "s2", "s3"].map(fan_out).concat());
    let url = format!("{}/v1/chat/completions", served.url());
    let words = ["run", &url, "--llm", "openai-chat", "--agents", "a.jsonl", "--no-preflight", "-r", "40", "-d", "10m"];
    let arguments = [&words[..], &["--drain", "150ms", "--out", "a"]].concat();
    let mut running = TestProcess::start(dir.command_by(&["env", "--default-signal=INT"], &arguments));
    running.wait_for_stderr("in flight");
    running.signal(Signal::SIGINT);
    let output = running.end();
    let run_json = assert_complete(&dir.path().join("a"));
    assert_balanced(&run_json);
    assert_eq!((output.code, &run_json["interrupted"]), (Some(130), &true.into()), "{output:?}");
    let sessions = &run_json["sessions"]["tally"];
    let of = |name: &str| sessions[name].as_u64().unwrap_or(0);
    assert!(of("planned") > 0 && of("planned") < 24_000, "{sessions}");
    let counts = step_counts(&run_json);
    let reached: u64 = counts.iter().map(|step| step[1]).sum();
    assert!(counts.iter().all(|step| step[0] == step[1..].iter().sum::<u64>()), "{counts:?}");
    assert_eq!(
        counts.iter().map(|step| step[0]).collect::<Vec<_>>(),
        [1, 3, 1].map(|per| per * of("planned")),
        "{sessions}"
    );
    assert_eq!(served.stop().1.len() as u64, reached, "{counts:?}");
}

#[test]
fn what_contradicts_agents_is_one_line() {
    let dir = TestDir::new();
    let call = "{\"id\":\"a\",\"prompt\":\"x\"}\n";
    let url = "http://127.0.0.1:9/v1/chat/completions";
    for (file, more, says) in [
        (
            "{\"id\":\"a\",\"after\":[\"b\"],\"prompt\":\"x\"}\n",
            &["--llm", "openai-chat"][..],
            "a.jsonl:1: call 'a' is after 'b'",
        ),
        ("{\"id\":\"a\",\"prompt\":\"x {{b}}\"}\n", &["--llm", "openai-chat"], "a.jsonl:1: call 'a' says {{b}}"),
        (call, &["--llm", "openai-chat", "--think-time", "1s"], "write think into its file"),
        (call, &["--llm", "openai-chat", "--data", "[]"], "--data: "),
        (
            call,
            &["--llm", "openai-chat", "--data", "{\"stream\":false}"],
            "a.jsonl:1: call 'a', or --data for all, says",
        ),
        (
            "{\"id\":\"a\",\"body\":{\"prompt\":\"x\",\"stream\": false}}\n",
            &["--llm", "openai-chat"],
            "a.jsonl:1: call 'a', or --data for all, says \"stream\": false",
        ),
        (call, &["--llm", "openai-chat", "--connection-per-session"], "in flight at the same time"),
        (call, &["--llm", "tgi"], "a.jsonl:1: prompt has no place that is known in this API"),
        (call, &[], "add --llm openai-chat"),
    ] {
        dir.file("a.jsonl", file);
        let words = [&["run", url, "--agents", "a.jsonl", "-r", "1", "-d", "1s"][..], more].concat();
        let output = dir.truetail(&words);
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
        assert!(output.stderr.contains(says), "{says}: {output:?}");
    }
    let output = dir.truetail(&[
        "run",
        url,
        "-r",
        "1",
        "-d",
        "1s",
        "--llm",
        "openai-chat",
        "--data",
        "{}",
        "--slo",
        "ttft < 1s",
        "--slo",
        "session-goodput > 9%",
    ]);
    assert!(output.code == Some(2) && output.stderr.contains("add --agents FILE.jsonl"), "{output:?}");
}
