//! `--script` with `session(s)` over gRPC: calls from Lua tables, and answers as tables.

use serde_json::{Value, json};

use super::grpc::{Server, proto};
use super::support::{TestDir, assert_balanced};

const SESSIONS: u64 = 40;

/// Runs a script for forty sessions.
fn run(server: &Server, script: &str, more: &[&str]) -> super::support::CommandOutput {
    let dir = TestDir::new();
    let url = format!("grpc://{}", server.place);
    let script = dir.file("load.lua", script);
    let proto = proto(&dir);
    let base = ["run", &url, "-r", "400", "-d", "100ms", "--script", script, "--no-save", "--quiet", "--json"];
    dir.truetail(&[&base[..], &["--proto", proto], more].concat())
}

#[test]
fn a_session_of_calls_uses_one_answer_in_the_next_call() {
    let script = r#"
        steps = { "test.Asker/Ask", "again" }
        function session(s)
          local first = s:call("test.Asker/Ask", { name = "u" .. s.number, part = { words = { "a", "b" } } })
          if first.status == "UNAVAILABLE" then
            assert(first.message == nil and first.headers["grpc-message"] == "no%20room")
          end
          s:check(first.status == "OK", "the first call")
          s:sleep(0.01)
          local second = s:step("again"):call("test.Asker/Ask", { name = first.message.name .. "!" }, { ["x-token"] = "t" })
          assert(second.status ~= "OK" or second.message.name == "u" .. s.number .. "!")
        end
    "#;
    let server = Server::start(Some(1));
    let output = run(&server, script, &["-H", "x-team: search", "--deadline", "5s"]);
    let run = output.json();
    assert_balanced(&run);
    let calls = server.calls();
    let failed = calls.len() as u64 / 10;
    let ok = calls.len() as u64 - failed;
    assert_eq!(run["grpc"]["statuses"], json!({"OK": ok, "UNAVAILABLE": failed}), "{output:?}");
    assert_eq!(run["scenario"]["grpc"], json!({"kind": "unary"}));
    assert_eq!(run["scenario"]["mix"]["targets"][0]["url"], format!("grpc://{}/", server.place));
    let sessions = &run["sessions"];
    assert_eq!(sessions["tally"]["planned"], SESSIONS);
    let names: Vec<&Value> = sessions["steps"].as_array().expect("steps").iter().map(|step| &step["name"]).collect();
    assert_eq!(names, ["test.Asker/Ask", "again"]);
    let ended = sessions["steps"][0]["ended_here"]["assert"].as_u64().unwrap_or(0);
    assert_eq!(sessions["tally"]["completed"], SESSIONS - ended);
    assert_eq!(calls.len() as u64, 2 * SESSIONS - ended);
    // A name has its length in front of it, and the first message of each session a part behind it.
    let body = |session: u64, end: &str| format!("u{session}{end}").into_bytes();
    let of = |name: Vec<u8>, rest: &[u8]| {
        let message = [&[0x0a, name.len() as u8][..], &name, rest].concat();
        [&[0, 0, 0, 0, message.len() as u8][..], &message].concat()
    };
    for session in 0..SESSIONS {
        let first = of(body(session, ""), b"\x1a\x06\x0a\x01a\x0a\x01b");
        assert_eq!(calls.iter().filter(|(_, body)| *body == first).count(), 1, "session {session}");
    }
    let seconds = (0..SESSIONS).filter(|session| {
        let second = of(body(*session, "!"), b"");
        calls.iter().any(|(_, body)| *body == second)
    });
    assert_eq!(seconds.count() as u64, SESSIONS - ended);
    // The first call of a connection names its fields.
    let fields = &calls[0].0;
    let has = |text: &str| fields.windows(text.len()).any(|window| window == text.as_bytes());
    for text in ["/test.Asker/Ask", "application/grpc", "trailers", "grpc-timeout", "5000000u", "x-team", "search"] {
        assert!(has(text), "{text}: {fields:?}");
    }
    assert!(!has("content-length") && !has("accept"), "{fields:?}");
}

#[test]
fn a_wrong_call_ends_its_session_and_says_what_there_is() {
    for (call, why) in [
        (r#"s:call("test.Asker/Ask", { nam = "a" })"#, "load.lua:4: no field 'nam' in Question; it has: name, "),
        (r#"s:call("test.Asker/Tell")"#, "load.lua:4: test.Asker has no method Tell"),
        (r#"s:step("x"):call("test.Asker/Tell")"#, "load.lua:4: test.Asker has no method Tell; the methods are Ask, "),
        (r#"s:step("x"):call("test.Asker/Many")"#, "load.lua:4: test.Asker/Many has a stream of messages"),
        (r#"s:step("x"):call("Ask")"#, "load.lua:4: 'Ask' is no method; write package.Service/Method"),
        (r#"s:call("test.Asker/Ask", "a")"#, "load.lua:4: the message is a string, and must be a table"),
        (r#"s:call("test.Asker/Ask", {}, { a = {} })"#, "load.lua:4: the header a is a table"),
        (r#"s:get("/")"#, "load.lua:4: the URL begins with grpc, so a session makes calls"),
    ] {
        let script = format!(
            "steps = {{ \"test.Asker/Ask\", \"x\" }}\nfunction session(s)\n s:call(\"test.Asker/Ask\")\n {call}\nend"
        );
        let output = run(&Server::start(Some(1)), &script, &["--allow-errors"]);
        let run = output.json();
        let notes = run["notes"].to_string();
        assert!(notes.contains(why), "{call}: {notes} {}", output.stderr);
        assert_eq!(run["sessions"]["tally"]["completed"], 0, "{call}");
    }
}

#[test]
fn what_cannot_be_a_session_of_calls_is_refused_before_the_load() {
    let server = Server::start(Some(1));
    let session = "function session(s) s:call('test.Asker/Ask') end";
    for (script, more, why) in [
        (format!("steps = {{ 'test.Asker/Tell' }} {session}"), &[][..], "steps: test.Asker has no method Tell"),
        (format!("steps = {{ 'test.Asker/Talk' }} {session}"), &[], "steps: test.Asker/Talk has a stream of messages"),
        ("function request() return wrk.format() end".to_owned(), &[], "over gRPC a script leads sessions"),
        (
            format!("steps = {{ 'a' }} {session}"),
            &["--message-gap", "1ms"],
            "--message-gap: a call of a session has one",
        ),
        (format!("steps = {{ 'a' }} {session}"), &["--data", "{}"], "--script with session(s) and --data contradict"),
    ] {
        let output = run(&server, &script, more);
        assert!(output.stderr.contains(why), "{script}: {output:?}");
        assert_ne!(output.code, Some(0), "{script}");
    }
    let dir = TestDir::new();
    let script = dir.file("load.lua", session);
    let url = format!("grpc://{}/test.Asker/Ask", server.place);
    let output = dir.truetail(&["run", &url, "-r", "10", "-d", "100ms", "--script", script, "--proto", proto(&dir)]);
    assert!(output.stderr.contains("end the URL after the port"), "{output:?}");
    let url = format!("http://{}", server.place);
    let script = dir.file("http.lua", "steps = { 'a' } function session(s) s:step('a'):call('p.S/M', {}) end");
    let output = dir.truetail(&["run", &url, "-r", "10", "-d", "100ms", "--script", script, "--no-save", "--json"]);
    assert!(output.stdout.contains("calls need a URL with grpc:// or grpcs://"), "{output:?}");
    assert_eq!(server.calls().len(), 0);
}
