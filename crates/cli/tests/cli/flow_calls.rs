//! `--flow` with steps that are gRPC calls.

#[cfg(feature = "script")]
use serde_json::Value;
use serde_json::json;

use super::flows;
use super::grpc::{Server, contains, proto};
use super::support::{CommandOutput, TestDir, assert_balanced};

const SESSIONS: u64 = 40;

/// Sessions that log in with the user of their row, and use the answer twice. Every fifth user is unknown.
const FLOW: &str = "# truetail: name login\nPOST {{host}}/test.Asker/Ask\n\
    {\"name\": \"{{user}}\", \"part\": {\"words\": [\"a\", \"b\"]}}\nHTTP 200\n[Captures]\ntoken: jsonpath \"$.name\"\n\n\
    # truetail: name list\nPOST {{host}}/test.Asker/Ask\nX-Token: {{token}}\n[Options]\ndelay: 10ms\n\
    {\"name\": \"{{token}}!\", \"count\": 300}\nHTTP 200\n[Asserts]\njsonpath \"$.name\" == \"{{token}}!\"\n\
    header \"content-type\" == \"application/grpc\"\n";

#[cfg(feature = "script")]
const SCRIPT: &str = r#"
    steps = { "login", "list" }
    function session(s)
      local login = s:step("login"):call("test.Asker/Ask", { name = s.row.user, part = { words = { "a", "b" } } })
      s:check(login.status == "OK", "logged in")
      s:sleep(0.01)
      local token = login.message.name
      local list = s:step("list"):call("test.Asker/Ask", { name = token .. "!", count = 300 }, { ["x-token"] = token })
      s:check(list.message.name == token .. "!", "listed")
    end
"#;

fn rows(dir: &TestDir) -> &'static str {
    let user = |nth: u64| if nth % 5 == 4 { format!("lost{nth}") } else { format!("u{nth}") };
    let users: Vec<String> = (0..SESSIONS).map(user).collect();
    dir.file("users.csv", &format!("user\n{}\n", users.join("\n")))
}

/// Runs a flow for forty sessions.
fn run(server: &Server, flow: &str, more: &[&str]) -> CommandOutput {
    let dir = TestDir::new();
    let host = format!("host=grpc://{}", server.place);
    let flow = dir.file("load.hurl", flow);
    let load = ["run", "--flow", flow, "--variable", &host, "-r", "400", "-d", "100ms"];
    let rest = ["--no-save", "--quiet", "--json", "--proto", proto(&dir)];
    let rows = if std::fs::read_to_string(dir.path().join(flow)).expect("a flow").contains("{{user}}") {
        vec!["--data-from", rows(&dir)]
    } else {
        Vec::new()
    };
    dir.truetail(&[&load[..], &rest, &rows, more].concat())
}

/// Returns the bodies of the calls that a server got, in a fixed order.
fn bodies(server: &Server) -> Vec<Vec<u8>> {
    let mut bodies: Vec<_> = server.calls().into_iter().map(|(_, body)| body).collect();
    bodies.sort();
    bodies
}

#[test]
fn a_flow_of_calls_has_the_books_of_its_server() {
    let server = Server::faithful();
    let output = run(&server, FLOW, &["--deadline", "5s"]);
    let run = output.json();
    assert_balanced(&run);
    let unknown = SESSIONS / 5;
    let known = SESSIONS - unknown;
    let calls = server.calls();
    let lost = calls.iter().filter(|(_, body)| contains(body, "lost")).count() as u64;
    assert_eq!((calls.len() as u64, lost), (SESSIONS + known, unknown));
    assert_eq!(run["grpc"]["statuses"], json!({"OK": SESSIONS + known - lost, "NOT_FOUND": lost}), "{output:?}");
    assert_eq!(run["statuses"], json!({"200": SESSIONS + known - lost, "1005": lost}));
    assert_eq!(run["scenario"]["grpc"], json!({"kind": "unary"}));
    let sessions = &run["sessions"];
    assert_eq!((&sessions["tally"]["completed"], &sessions["tally"]["ended_early"]), (&known.into(), &unknown.into()));
    assert_eq!(sessions["steps"][0]["ended_here"], json!({"status": unknown}));
    let books: Vec<_> = run["by_target"].as_array().expect("targets").iter().collect();
    let url = format!("grpc://{}/test.Asker/Ask", server.place);
    for (book, (name, count)) in books.iter().zip([("login", SESSIONS), ("list", known)]) {
        assert_eq!((&book["url"], &book["tally"]["responses"]), (&url.clone().into(), &count.into()), "{name}");
    }
    let why = "first end at login: line 4: the call ended with NOT_FOUND, not OK: no room";
    assert!(run["notes"].to_string().contains(why), "{}", run["notes"]);
    let first = b"\0\0\0\0\x0c\x0a\x02u0\x1a\x06\x0a\x01a\x0a\x01b";
    let second = b"\0\0\0\0\x08\x0a\x03u0!\x10\xac\x02";
    assert!([&first[..], second].iter().all(|body| calls.iter().filter(|(_, sent)| sent == body).count() == 1));
    // The first call of a connection names its fields.
    let fields = &calls[0].0;
    for text in ["/test.Asker/Ask", "application/grpc", "trailers", "grpc-timeout", "5000000u"] {
        assert!(contains(fields, text), "{text}: {fields:?}");
    }
    for text in ["content-length", "accept", "json"] {
        assert!(!contains(fields, text), "{text}: {fields:?}");
    }
    assert!(calls.iter().any(|(fields, _)| contains(fields, "x-token")));
}

#[cfg(feature = "script")]
#[test]
fn the_same_sessions_as_a_script_have_the_same_books() {
    let server = Server::faithful();
    let run = run(&server, FLOW, &[]).json();
    let other = Server::faithful();
    let dir = TestDir::new();
    let url = format!("grpc://{}", other.place);
    let script = dir.file("load.lua", SCRIPT);
    let load = ["run", &url, "--script", script, "-r", "400", "-d", "100ms", "--no-save", "--quiet", "--json"];
    let scripted = dir.truetail(&[&load[..], &["--proto", proto(&dir), "--data-from", rows(&dir)]].concat()).json();
    for book in ["grpc", "statuses", "tally"] {
        assert_eq!(run[book], scripted[book], "{book}");
    }
    assert_eq!(run["sessions"]["tally"], scripted["sessions"]["tally"]);
    for step in 0..2 {
        let reached = |run: &Value| run["sessions"]["steps"][step]["reached"].clone();
        assert_eq!(reached(&run), reached(&scripted));
        let tally = |run: &Value| run["by_target"][step]["tally"].clone();
        assert_eq!(tally(&run), tally(&scripted));
    }
    assert_eq!(bodies(&server), bodies(&other));
}

#[test]
fn a_step_may_expect_another_status() {
    let server = Server::faithful();
    let step = |name: &str, rest: &str| format!("POST {{{{host}}}}/test.Asker/Ask\n{{\"name\": \"{name}\"}}\n{rest}\n");
    let asserts = "HTTP 200\n[Asserts]\nheader \"grpc-status\" == \"5\"\nheader \"grpc-message\" contains \"room\"";
    let expected = [
        step("lost", asserts),
        step("lost", "HTTP 200\ngrpc-status: 5"),
        // A reset has a status, and no head.
        step("gone", "HTTP *\n[Asserts]\nheader \"grpc-status\" == \"1\""),
        step("a", ""),
    ];
    let output = run(&server, &expected.concat(), &["--no-preflight"]);
    let run_of = output.json();
    assert_balanced(&run_of);
    assert_eq!(run_of["sessions"]["tally"]["completed"], SESSIONS, "{}", run_of["notes"]);
    let statuses = json!({"OK": SESSIONS, "CANCELLED": SESSIONS, "NOT_FOUND": 2 * SESSIONS});
    assert_eq!(run_of["grpc"]["statuses"], statuses);
    assert_eq!(server.calls().len() as u64, 4 * SESSIONS);
    let steps = run_of["sessions"]["steps"].as_array().expect("steps");
    let names: Vec<_> = steps.iter().map(|step| &step["name"]).collect();
    assert_eq!(names[..2], ["test.Asker/Ask", "test.Asker/Ask #2"]);

    for (flow, cause, why) in [
        (step("lost", ""), "status", "line 1: the call ended with NOT_FOUND, not OK: no room"),
        (step("gone", "HTTP *"), "status", "line 3: the call ended with CANCELLED, not OK"),
        (
            step("a", "HTTP 200\n[Asserts]\nheader \"grpc-status\" == \"5\""),
            "assert",
            "line 5: the assert does not hold",
        ),
        (step("a", "HTTP 200\n[Asserts]\njsonpath \"$.name\" == \"b\""), "assert", "line 5: the assert does not hold"),
        (step("a", "HTTP 200\n[Captures]\nx: jsonpath \"$.nam\""), "capture", "line 5: the capture found nothing"),
        (step("a", "HTTP 200\n{\"name\": \"b\"}"), "assert", "line 4: the body is another one"),
    ] {
        let output = run(&server, &flow, &["--allow-errors"]);
        let run = output.json();
        assert_balanced(&run);
        assert_eq!(run["sessions"]["steps"][0]["ended_here"], json!({cause: SESSIONS}), "{flow}: {}", run["notes"]);
        assert!(run["notes"].to_string().contains(why), "{flow}: {}", run["notes"]);
    }
    let same = step("a", "HTTP 200\n{\"name\": \"a\"}");
    assert_eq!(run(&server, &same, &[]).json()["sessions"]["tally"]["completed"], SESSIONS);
}

#[test]
fn a_captured_value_that_does_not_fit_ends_its_session() {
    let server = Server::faithful();
    let flow = "POST {{host}}/test.Asker/Ask\n{\"name\": \"many\"}\nHTTP 200\n[Captures]\nn: jsonpath \"$.name\"\n\n\
                POST {{host}}/test.Asker/Ask\n{\"count\": \"{{n}}\"}\n";
    let output = run(&server, flow, &[]);
    let run = output.json();
    assert_balanced(&run);
    assert_eq!(run["sessions"]["steps"][0]["ended_here"], json!({"request": SESSIONS}), "{}", run["notes"]);
    assert!(run["notes"].to_string().contains("line 7: the request cannot be made of what was captured"));
    assert_eq!(server.calls().len() as u64, SESSIONS);
}

#[test]
fn a_setup_may_have_the_other_protocol() {
    let server = Server::faithful();
    let dir = TestDir::new();
    let web = format!("web={}", flows::serve());
    let host = format!("host=grpc://{}", server.place);
    dir.file("login.hurl", "GET {{web}}/login\nHTTP 200\n[Captures]\ntoken: header \"X-Token\"\n");
    dir.file("list.hurl", "POST {{host}}/test.Asker/Ask\n{\"name\": \"{{token}}\"}\nHTTP 200\n");
    dir.file(
        "ask.hurl",
        "POST {{host}}/test.Asker/Ask\n{\"name\": \"t0\"}\nHTTP 200\n[Captures]\ntoken: jsonpath \"$.name\"\n",
    );
    dir.file("web.hurl", "GET {{web}}/list\nX-Token: {{token}}\nHTTP *\n");
    let load = ["run", "-r", "100", "-d", "100ms", "--no-save", "--quiet", "--json", "--proto", proto(&dir)];
    let variables = ["--variable", &web, "--variable", &host];
    for (setup, flow, calls) in
        [("login.hurl", "list.hurl", 10), ("ask.hurl", "web.hurl", 1), ("ask.hurl", "list.hurl", 11)]
    {
        let before = server.calls().len();
        let output = dir.truetail(&[&load[..], &variables, &["--setup", setup, "--flow", flow]].concat());
        let run = output.json();
        assert_balanced(&run);
        assert_eq!(run["sessions"]["tally"]["completed"], 10, "{setup} {flow}: {}", output.stderr);
        assert_eq!(server.calls().len() - before, calls, "{setup} {flow}");
        assert_eq!(run["grpc"].is_null(), flow == "web.hurl");
    }
    assert!(bodies(&server).iter().all(|body| body == b"\0\0\0\0\x04\x0a\x02t0"));
    let output = dir.truetail(&[&load[..], &variables, &["--setup", "login.hurl", "--flow", "web.hurl"]].concat());
    assert!(output.stderr.contains("--proto is for gRPC"), "{}", output.stderr);
}

#[test]
fn what_cannot_be_called_has_its_line() {
    let dir = TestDir::new();
    let file = proto(&dir);
    dir.file("web.hurl", "GET http://127.0.0.1:9/\n");
    let ask = "POST grpc://127.0.0.1:9/test.Asker/Ask\n";
    let later = format!("{ask}HTTP 200\n[Captures]\nx: jsonpath \"$.name\"\n\n{ask}");
    for (flow, more, wanted) in [
        (
            format!("{ask}{{\"nam\": \"a\"}}"),
            &[][..],
            "a.hurl:1: no field 'nam' in Question; it has: name, part, count",
        ),
        (
            format!("{later}{{\"part\": {{\"word\": [\"{{{{x}}}}\"]}}}}"),
            &[],
            "a.hurl:6: no field 'word' in Part; it has: words",
        ),
        (
            format!("{later}{{\"count\": \"{{{{v}}}}\"}}"),
            &["--variable", "v=many"],
            "a.hurl:6: the JSON is no Question: ",
        ),
        (
            format!("{ask}{{\"count\": \"{{{{v}}}}\"}}"),
            &["--variable", "v=many"],
            "a.hurl:1: the JSON is no Question: ",
        ),
        (
            format!("{ask}{{\"name\": \"{{{{user}}}}\", \"count\": {{{{n}}}}}}"),
            &["--data-from", "rows.csv"],
            "with row 2: the message is not JSON: ",
        ),
        (format!("{ask}[1]"), &[], "a.hurl:1: Question is an object in JSON"),
        (
            ask.replace("Ask\n", "Asks\n"),
            &[],
            "a.hurl:1: test.Asker has no method Asks; the methods are Ask, Many, Chat, Talk",
        ),
        (
            ask.replace("Asker/", "Other/"),
            &[],
            "a.hurl:1: there is no service test.Other; the only service is test.Asker",
        ),
        (
            ask.replace("/Ask\n", "/Many\n"),
            &[],
            "a.hurl:1: test.Asker/Many has a stream of messages, and a step sends one",
        ),
        (ask.replace("/Ask\n", "/Chat\n"), &[], "a.hurl:1: test.Asker/Chat has a stream of messages"),
        (ask.replace("/Ask\n", "\n"), &[], "a.hurl:1: 'grpc://127.0.0.1:9/test.Asker': no method is named"),
        (ask.replace(":9/", "/"), &[], "a.hurl:1: 'grpc://127.0.0.1/test.Asker/Ask': it has no port"),
        (ask.replace("POST", "GET"), &[], "a.hurl:1: a call is a POST; write POST in place of GET"),
        (format!("{ask}[Form]\na: b"), &[], "a.hurl:1: a call has one message and no [Form]"),
        (format!("{ask}[Query]\na: b"), &[], "a.hurl:1: a call has one message and no [Query]"),
        (format!("{ask}[Options]\nlocation: true"), &[], "a.hurl:1: a call follows no redirects"),
        (format!("# truetail: stream\n{ask}"), &[], "a.hurl:2: a call of a step is answered with one message"),
        (format!("{ask}HTTP/1.1 200"), &[], "a.hurl:2: HTTP/1.1 is asked for here, not HTTP/2; gRPC needs it"),
        (
            format!("{later}\nPOST grpc://127.0.0.1:9/test.{{{{x}}}}/Ask\n"),
            &[],
            "the method of this call is only known during the run",
        ),
        (
            format!("{ask}\nGET http://127.0.0.1:9/\n"),
            &[],
            "a.hurl:3: this is a request of HTTP, and line 1 has a gRPC call: ",
        ),
        (
            format!("GET http://127.0.0.1:9/\n\n{ask}"),
            &[],
            "a.hurl:3: this is a gRPC call, and line 1 has a request of HTTP: ",
        ),
        (
            ask.to_owned(),
            &["--flow", "web.hurl"],
            "the steps of a.hurl are gRPC calls, and those of web.hurl are requests of HTTP",
        ),
        (ask.to_owned(), &["--message-gap", "5ms"], "--message-gap: a call of a session has one message"),
        (ask.to_owned(), &["--stream", "sse"], "--stream is for HTTP"),
        (ask.to_owned(), &["--check", "grpc-status == OK"], "--flow and --check contradict each other"),
        ("GET http://127.0.0.1:9/".to_owned(), &[], "--proto is for gRPC"),
    ] {
        dir.file("a.hurl", &flow);
        dir.file("rows.csv", "user,n\na,1\nb,c\n");
        let load = ["run", "--flow", "a.hurl", "-r", "9", "-d", "1s", "--quiet", "--no-save", "--proto", file];
        let output = dir.truetail(&[&load[..], more].concat());
        assert_eq!(output.code, Some(2), "{flow}: {}", output.stderr);
        assert!(output.stderr.contains(wanted), "{flow}: {}", output.stderr);
        assert_eq!(output.stderr.trim_end().lines().count(), 1, "{}", output.stderr);
    }
}
