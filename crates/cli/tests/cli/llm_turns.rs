//! Conversations of several turns: `deltas` captures what the model said, and the next request says exactly that again.

use std::collections::BTreeMap;
use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::{Value, json};

use super::raw_server::{read_body, serve_each};
use crate::support::{CommandOutput, TestDir, assert_balanced, assert_complete};

/// Pieces of the answer to each turn in JSON, and the text that they make together.
const TURNS: [(&[&str], &str); 3] = [
    (
        &[r#""He said \"hi\" \\ and \/""#, r#""\n\r\t\b\f\u0000\u001b\u007f""#, "\"\"", "null", r#""'$&`%s\\n""#],
        "He said \"hi\" \\ and /\n\r\t\u{8}\u{c}\0\u{1b}\u{7f}'$&`%s\\n",
    ),
    (
        // Emoji in UTF-8, as a pair, as a pair over two events, and halves alone.
        &["\"\u{1f98a}\u{e9}\"", r#""\ud83d\ude00""#, r#""a\ud83d""#, r#""\ude00b""#, r#""\ud83dx""#, r#""\ude00""#],
        "\u{1f98a}\u{e9}\u{1f600}a\u{1f600}b\u{fffd}x\u{fffd}",
    ),
    (
        &[
            "\"\u{2028}\u{2029}\"",
            "\"</script> {{newUuid}} {{a1}}\"",
            r#""{\"json\": [1, 2]}\n\n""#,
            "\"data: [DONE]  \"",
        ],
        "\u{2028}\u{2029}</script> {{newUuid}} {{a1}}{\"json\": [1, 2]}\n\ndata: [DONE]  ",
    ),
];

/// The text of an answer in the conversation that began with `id`.
fn said(turn: usize, id: &str) -> String {
    format!("{}{id}", TURNS[turn].1)
}

fn content(messages: &Value, at: usize) -> &str {
    messages[at]["content"].as_str().unwrap_or_else(|| panic!("no content {at}: {messages}"))
}

/// Starts a model that answers the turns of [`TURNS`] in tiny parts, after a thought. Sends all bodies of requests.
fn model() -> (String, Receiver<String>) {
    let (sender, bodies) = channel();
    let place = serve_each(move |socket| answer_all(socket, &sender));
    let url = format!("http://{place}");
    (url, bodies)
}

fn answer_all(mut socket: TcpStream, sender: &Sender<String>) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(socket.try_clone().ok()?);
    loop {
        let body = read_body(&mut reader)?;
        let answer = answer(&body);
        sender.send(body).ok()?;
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";
        socket.write_all(head.as_bytes()).ok()?;
        for part in answer.as_bytes().chunks(7) {
            socket.write_all(&[format!("{:x}\r\n", part.len()).as_bytes(), part, b"\r\n"].concat()).ok()?;
        }
        socket.write_all(b"0\r\n\r\n").ok()?;
    }
}

fn answer(body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"));
    let messages = &body["messages"];
    let turn = messages.as_array().expect("a list").len() / 2;
    let event = |delta: &str| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{{delta}}}}}]}}\n\n");
    let thought = event(r#""role":"assistant","content":"","reasoning_content":"hm \"so\"""#);
    let pieces = match TURNS.get(turn) {
        Some((pieces, _)) => pieces.iter().map(|piece| event(&format!("\"content\":{piece}"))).collect(),
        None => String::new(),
    };
    let id = event(&format!("\"content\":\"{}\"", content(messages, 0)));
    let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
               data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":9}}\n\ndata: [DONE]\n\n";
    format!("{thought}{pieces}{id}{end}")
}

/// A flow of four turns. Each request has all that was said before.
fn four_turns() -> String {
    let mut flow = String::new();
    let mut history = r#"{"role": "user", "content": "{{id}}"}"#.to_owned();
    for turn in 1..=4 {
        flow += &format!(
            "# truetail: name turn{turn}\n# truetail: stream\nPOST {{{{host}}}}/v1/chat/completions\n\
             {{\"model\": \"m\", \"stream\": true, \"messages\": [{history}]}}\nHTTP 200\n[Captures]\na{turn}: deltas\n\n"
        );
        history += &format!(
            r#", {{"role": "assistant", "content": "{{{{a{turn}}}}}"}}, {{"role": "user", "content": "and {turn}?"}}"#
        );
    }
    flow
}

fn run(dir: &TestDir, flow: &str, url: &str, more: &str) -> CommandOutput {
    dir.file("chat.hurl", flow);
    let line = format!("run --flow chat.hurl --variable host={url} --no-preflight --quiet --llm openai-chat {more}");
    dir.truetail(&line.split_whitespace().collect::<Vec<_>>())
}

#[test]
fn each_turn_says_exactly_what_the_model_said_before() {
    let (url, bodies) = model();
    let dir = TestDir::new();
    let ids: String = (0..10).map(|number| format!("\nconversation {number}")).collect();
    dir.file("rows.csv", &format!("id{ids}\n"));
    let output = run(&dir, &four_turns(), &url, "-r 100 -d 100ms --out a --data-from rows.csv");
    let run_json = assert_complete(&dir.path().join("a"));
    assert_balanced(&run_json);
    assert_eq!(run_json["sessions"]["tally"]["completed"], 10, "{output:?}");
    let mut turns: BTreeMap<String, usize> = BTreeMap::new();
    for body in bodies.try_iter() {
        let body: Value = serde_json::from_str(&body).expect("JSON");
        let messages = &body["messages"];
        let id = content(messages, 0);
        let length = messages.as_array().expect("a list").len();
        *turns.entry(id.to_owned()).or_default() += 1;
        for at in (1..length).step_by(2) {
            assert_eq!(messages[at]["role"], "assistant");
            assert_eq!(content(messages, at).as_bytes(), said(at / 2, id).as_bytes(), "turn {} of {length}", at / 2);
        }
    }
    assert_eq!((turns.len(), turns.values().sum::<usize>()), (10, 40));
    // What the model thought is measured, and not said again.
    assert_eq!(run_json["stream"]["llm"]["reasoning_events"], 40);
}

#[test]
fn an_answer_that_cannot_be_said_again_ends_its_session_and_a_note_says_why() {
    let step = |path: &str| {
        format!("# truetail: stream\nPOST {{{{host}}}}/{path}\n{{\"messages\": []}}\nHTTP 200\n[Captures]\na: deltas\n")
    };
    let call = "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}]}\n\n\
                data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
    let boom = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"error\":{\"message\":\"boom\"}}\n\n";
    for (answer, says) in [(call, "it calls a tool, which has no text"), (boom, "it has an error event")] {
        let (url, _bodies) = crate::llm_dialects::answering(move |_| format!("{}{answer}", crate::llm_dialects::HEAD));
        let dir = TestDir::new();
        let host = url.trim_end_matches("/v1/chat/completions");
        let run_json = run(&dir, &step("v1/chat/completions"), host, "-r 100 -d 30ms --json --no-save").json();
        assert_eq!(run_json["sessions"]["steps"][0]["ended_here"]["capture"], 3, "{run_json}");
        assert!(run_json["notes"].to_string().contains(says), "{says}: {}", run_json["notes"]);
    }
}

/// The recorded text of a turn in the conversation of so many turns.
fn asked(turns: usize, turn: usize) -> String {
    match turn {
        0 => turns.to_string(),
        _ => format!("\"{turn}\" of {{{{turn_1}}}}\n{{{{said_1}}}} \\ \u{1f98a}"),
    }
}

#[test]
fn recorded_conversations_are_sent_with_the_answers_of_this_run() {
    let (url, bodies) = model();
    let dir = TestDir::new();
    let conversation = |turns: usize| {
        let said = json!({"from": "gpt", "value": "not said again"});
        let messages =
            (0..turns).flat_map(|turn| [json!({"from": "human", "value": asked(turns, turn)}), said.clone()]);
        json!({"conversations": messages.collect::<Vec<_>>()})
    };
    dir.file("chats.json", &json!([conversation(1), conversation(2), conversation(3)]).to_string());
    let made = dir.truetail(&["flow", "from-conversations", "chats.json", "--out", "chat", "--delay", "1ms"]);
    assert!(made.code == Some(0) && made.stderr.contains("3 conversations of 2.0 turns on average"), "{made:?}");
    let flow = std::fs::read_to_string(dir.path().join("chat/conversations.hurl")).expect("a flow");
    let more =
        "-r 120 -d 100ms --out a --data-from chat/conversations.jsonl --variable model=m --variable max_tokens=9";
    let output = run(&dir, &flow, &url, more);
    let run_json = assert_complete(&dir.path().join("a"));
    assert_balanced(&run_json);
    let mut requests = [0; 4];
    for body in bodies.try_iter() {
        let body: Value = serde_json::from_str(&body).expect("JSON");
        let messages = body["messages"].as_array().expect("a list");
        let turns: usize = content(&body["messages"], 0).parse().expect("a number");
        requests[turns] += 1;
        for (at, message) in messages.iter().enumerate() {
            let turn = at / 2;
            let (role, text) =
                if at % 2 == 0 { ("user", asked(turns, turn)) } else { ("assistant", said(turn, &turns.to_string())) };
            assert_eq!((&message["role"], &message["content"]), (&role.into(), &text.into()), "{body}");
        }
    }
    // Twelve sessions: four conversations of each length, and each is as long as it was.
    assert_eq!(requests, [0, 4, 8, 12], "{output:?}");
    assert_eq!(run_json["sessions"]["tally"]["completed"], 12);
    let steps = run_json["sessions"]["steps"].as_array().expect("steps");
    // A count of zero is not there.
    let left_out = |step: &Value| step["not_reached"]["not_asked"].as_u64().unwrap_or(0);
    let counts: Vec<_> = steps.iter().map(|step| (step["reached"].as_u64(), left_out(step))).collect();
    assert_eq!(counts, [(Some(12), 0), (Some(8), 4), (Some(4), 8)]);
    let streams = &run_json["stream"]["tally"];
    // A turn that its conversation does not have is no lost stream.
    assert_eq!((&streams["planned"], &streams["complete"]), (&24.into(), &24.into()));
    assert!(streams["not_reached"].is_null(), "{streams}");
}
