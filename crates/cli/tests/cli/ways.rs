//! Recordings as loads: `truetail flow`, `run --replay`, and rows of data for the sessions of a flow.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::flow_server::{Asked, Server};
use super::http2;
use super::support::{CommandOutput, TestDir, assert_balanced, assert_complete};

/// Starts a server that answers every request with 200, and sets a cookie at `/login`.
fn server() -> Server {
    Server::start(|_, asked| {
        let is_login = asked.line.starts_with("POST /login");
        (200, if is_login { vec!["Set-Cookie: sid=1; Path=/".to_owned()] } else { Vec::new() }, "{}".to_owned())
    })
}

pub(super) fn url(server: &Server) -> String {
    format!("http://{}", server.address)
}

/// Returns the requests that the server got, without the preflight.
pub(super) fn asked(server: &Server) -> Vec<Asked> {
    let all = server.asked.lock().unwrap().clone();
    all.into_iter().filter(|asked| asked.field("truetail-preflight").is_none()).collect()
}

pub(super) fn counts(lines: impl Iterator<Item = String>) -> BTreeMap<String, u64> {
    lines.fold(BTreeMap::new(), |mut counts, line| {
        *counts.entry(line).or_default() += 1;
        counts
    })
}

pub(super) fn ok(output: CommandOutput) -> CommandOutput {
    assert_eq!(output.code, Some(0), "{output:?}");
    output
}

/// Thirty lines in two seconds: pages, each with a different query, and a form whose body is not in the log.
fn access_log() -> String {
    let line = |n: u32| {
        let request = if n % 10 == 3 { "POST /login".to_owned() } else { format!("GET /page-{}/{n}?n={n}", n % 4) };
        format!("127.0.0.1 - - [22/Nov/2026:11:00:{:02} +0000] \"{request} HTTP/1.1\" 200 3 \"-\" \"x\"\n", n / 15)
    };
    (0..30).map(line).collect()
}

#[test]
fn an_access_log_is_replayed_with_its_own_timing() {
    let server = server();
    let dir = TestDir::new();
    dir.file("access.log", &access_log());
    let made = ok(dir.truetail(&["flow", "from-access-log", "access.log", "-o", "hour.replay"]));
    for says in [
        "27 of 30 lines of access.log are arrivals; left out: 3 POST",
        "exact to 1s",
        "at random by seed 1",
        "27 arrivals in",
    ] {
        assert!(made.stderr.contains(says), "{says}: {made:?}");
    }
    let text = std::fs::read_to_string(dir.path().join("hour.replay")).unwrap();
    let wanted =
        counts(text.lines().filter_map(|line| Some(format!("{} HTTP/1.1", line.split_once(",GET")?.1.trim()))));
    let length = |run: &Value| run["scenario"]["duration_ns"].as_u64().unwrap();
    let url = url(&server);
    let run = |more: &[&str]| {
        let words = [&["run", &url, "--replay", "hour.replay", "--json", "--quiet", "--no-preflight"], more].concat();
        dir.truetail(&words).json()
    };
    let whole = run(&["--out", "whole", "-H", "X-A: b"]);
    assert_balanced(&whole);
    assert_complete(&dir.path().join("whole"));
    assert_eq!((&whole["tally"]["planned"], &whole["tally"]["responses"]), (&27.into(), &27.into()));
    let seen = asked(&server);
    assert_eq!(counts(seen.iter().map(|asked| asked.line.trim_start_matches("GET ").to_owned())), wanted);
    assert!(
        seen.iter()
            .all(|asked| asked.field("x-a") == Some("b") && asked.field("host") == Some(&server.address.to_string()))
    );
    let planned = |run: &Value| {
        let books = run["by_target"].as_array().unwrap().iter();
        books.map(|target| target["tally"]["planned"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(planned(&whole), [8, 7, 7, 5]);
    assert_eq!(whole["targets"][0]["name"], "GET /page-0/*");
    let notes = whole["notes"].to_string();
    assert!(notes.contains("replay of 27 arrivals") && notes.contains("hour.replay: 27 of 30 lines"), "{notes}");

    let fast = run(&["--out", "fast", "--speed", "4"]);
    assert!(length(&fast).abs_diff(length(&whole) / 4) <= 2, "{} {}", length(&fast), length(&whole));
    run(&["--out", "part1", "--speed", "4", "--stripe", "1/2"]);
    run(&["--out", "part2", "--speed", "4", "--stripe", "2/2"]);
    let partial = |more: &[&str]| dir.truetail(&[&["merge", "part1", "--partial", "--out", "partial"], more].concat());
    assert!(partial(&[]).stderr.contains("or the recording"), "{:?}", partial(&[]));
    let as_recorded = partial(&["--trace", "hour.replay"]);
    assert!(as_recorded.stderr.contains("another --speed"), "{as_recorded:?}");
    let half = partial(&["--trace", "hour.replay", "--speed", "4"]);
    assert_eq!(half.code, Some(4), "{half:?}");
    let half = assert_complete(&dir.path().join("partial"));
    assert_eq!((&half["tally"]["planned"], &half["schedule_hash"]), (&27.into(), &fast["schedule_hash"]));
    let merge = dir.truetail(&["merge", "part1", "part2", "--out", "merged"]);
    let merged = assert_complete(&dir.path().join("merged"));
    merge.assert_code(&merged, 0);
    assert_eq!((&merged["schedule_hash"], planned(&merged)), (&fast["schedule_hash"], planned(&fast)));
}

#[test]
fn what_contradicts_a_recording_is_refused() {
    let dir = TestDir::new();
    dir.file("a.replay", "0,GET /\n");
    dir.file("plain.trace", "0\n1\n");
    dir.file("a.log", "nothing\n");
    std::fs::write(dir.path().join("cut.gz"), b"\x1f\x8b\x08").unwrap();
    let here = "http://127.0.0.1:9";
    for (arguments, code, says) in [
        (&["run", here, "--replay", "a.replay", "-r", "1"][..], 2, "--replay and --rate contradict"),
        (&["run", here, "--replay", "a.replay", "--data", "x"], 2, "--replay and --data contradict"),
        (&["run", here, "--replay", "a.replay", "--speed", "0"], 2, "'0' is not a speed"),
        (&["run", here, "--speed", "2", "-r", "1"], 2, "--replay"),
        (&["run", "http://127.0.0.1:9/x", "--replay", "a.replay"], 2, "has a path or a query"),
        (&["run", here, "--replay", "plain.trace"], 2, "plain.trace:1: no request"),
        (&["run", here, "--replay", "missing"], 1, "missing"),
        (&["run", here, "--replay", "cut.gz"], 1, "cannot unpack cut.gz"),
        (&["run", here, "--profile", "trace:cut.gz"], 1, "cannot unpack cut.gz"),
        (&["flow", "from-access-log", "a.log"], 1, "1 not understood"),
        (&["flow", "from-access-log", "missing.log"], 1, "missing.log"),
        (&["flow", "from-access-log", "a.log", "--from", "noon"], 2, "'noon' is no instant"),
        (&["flow", "from-access-log", "a.log", "--spread", "even", "--seed", "2"], 2, "--seed is of --spread random"),
        (&["flow", "from-access-log", "a.log", "--from", "20", "--to", "10"], 2, "--to is not after --from"),
        (&["flow", "from-har", "a.log"], 1, "cannot make a flow of 'a.log'"),
    ] {
        let output = dir.truetail(arguments);
        assert_eq!((output.code, output.stderr.lines().count()), (Some(code), 1), "{output:?}");
        assert!(output.stderr.contains(says), "{says}: {output:?}");
    }
}

#[test]
fn the_result_never_replaces_what_is_read() {
    let dir = TestDir::new();
    dir.file("a.log", &access_log());
    dir.file("a.har", &archive());
    std::fs::hard_link(dir.path().join("a.log"), dir.path().join("b.log")).unwrap();
    for (arguments, says) in [
        (["flow", "from-access-log", "a.log", "-o", "./a.log"], "--out ./a.log is the file that is read"),
        (["flow", "from-access-log", "a.log", "-o", "b.log"], "--out b.log is the file that is read"),
        (["flow", "from-har", "a.har", "-o", "a.har"], "--out a.har is the file that is read"),
        // The output file is checked first: this log does not even exist.
        (["flow", "from-access-log", "missing.log", "-o", "no/a.replay"], "there is no folder no"),
    ] {
        let output = dir.truetail(&arguments);
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
        assert!(output.stderr.contains(says), "{says}: {output:?}");
    }
    assert_eq!(std::fs::read_to_string(dir.path().join("a.log")).unwrap(), access_log());
}

/// A browser's recording: a page, a login 200 ms later, JSON, and a script that the page loaded.
fn archive() -> String {
    let entry = |ms: u32, method: &str, path: &str, kind: &str, data: Value| {
        let cookies: &[Value] = if path == "/items" { &[json!({"name": "Cookie", "value": "sid=9"})] } else { &[] };
        let set: &[Value] = if path == "/login" { &[json!({"name": "set-cookie", "value": "sid=9"})] } else { &[] };
        json!({
            "startedDateTime": format!("2026-11-20T12:00:00.{ms:03}Z"), "time": 20, "_resourceType": kind,
            "request": {"method": method, "url": format!("https://shop.example{path}"), "headers": cookies, "postData": data},
            "response": {"status": 200, "headers": set, "content": {}},
        })
    };
    let entries = [
        entry(0, "GET", "/?from=mail", "document", Value::Null),
        entry(25, "GET", "/app.js", "script", Value::Null),
        entry(
            220,
            "POST",
            "/login",
            "document",
            json!({"mimeType": "application/x-www-form-urlencoded", "text": "user=ann&note=a%26b"}),
        ),
        entry(250, "PUT", "/items", "fetch", json!({"mimeType": "application/json", "text": "{\"n\": [1, 2]}"})),
    ];
    json!({"log": {"version": "1.2", "entries": entries}}).to_string()
}

#[test]
fn what_a_browser_recorded_is_run_as_a_flow_in_its_order() {
    let server = server();
    let dir = TestDir::new();
    dir.file("shop.har", &archive());
    let made = ok(dir.truetail(&["flow", "from-har", "shop.har", "-o", "shop.hurl"]));
    assert!(made.stderr.contains("3 requests to https://shop.example of shop.har; left out: 1 images"), "{made:?}");
    let host = format!("host={}", url(&server));
    let load = ["run", "--flow", "shop.hurl", "-r", "1", "-d", "100ms", "--variable", &host];
    let output = dir.truetail(&[&load[..], &["--json", "--quiet", "--no-save", "--no-preflight"]].concat());
    let run = output.json();
    assert_balanced(&run);
    assert_eq!(run["sessions"]["tally"]["completed"], 1, "{run}");
    let seen = asked(&server);
    let shown: Vec<_> =
        seen.iter().map(|asked| (asked.line.as_str(), asked.body.as_str(), asked.field("cookie"))).collect();
    let wanted = [
        ("GET /?from=mail HTTP/1.1", "", None),
        ("POST /login HTTP/1.1", "user=ann&note=a%26b", None),
        // From the cookie jar, not from the recording.
        ("PUT /items HTTP/1.1", "{\"n\": [1, 2]}", Some("sid=1")),
    ];
    assert_eq!(shown, wanted);
    assert_eq!(run["scenario"]["model"], "partly-open");
    let text = std::fs::read_to_string(dir.path().join("shop.hurl")).unwrap();
    assert!(text.contains("delay: 200ms\n") && text.contains("delay: 10ms\n"), "{text}");
}

#[test]
fn a_description_is_run_as_targets_with_rows() {
    let server = server();
    let dir = TestDir::new();
    let body = "{type: object, required: [name, n], properties: {name: {type: string}, n: {type: integer}}}";
    let api = format!(
        "openapi: 3.0.3\nservers: [{{url: 'https://shop.example'}}]\npaths:\n  /items/{{id}}:\n    get:\n      parameters: [{{name: id, \
         in: path, required: true, schema: {{type: string}}}}]\n  /orders:\n    post: {{requestBody: {{content: {{application/json: {{schema: \
         {body}}}}}}}}}\n"
    );
    dir.file("api.yaml", &api);
    let made = ok(dir.truetail(&["flow", "from-openapi", "api.yaml", "--base", &url(&server), "-o", "targets.txt"]));
    assert!(
        made.stderr.contains("2 operations of api.yaml") && made.stderr.contains("no value for id, n, name"),
        "{made:?}"
    );
    dir.file("rows.csv", "id,n,name\na b,7,Ann\n");
    let load =
        ["run", "--targets", "targets.txt", "--data-from", "rows.csv", "-r", "50", "-n", "20", "--json", "--quiet"];
    let run = dir.truetail(&[&load[..], &["--no-save", "--no-preflight"]].concat()).json();
    assert_balanced(&run);
    assert_eq!(run["tally"]["responses"], 20, "{run}");
    let seen = asked(&server);
    let has = |line: &str, body: &str| seen.iter().any(|asked| asked.line == line && asked.body == body);
    assert!(
        has("GET /items/a%20b HTTP/1.1", "") && has("POST /orders HTTP/1.1", r#"{"n":7,"name":"Ann"}"#),
        "{seen:?}"
    );
    let output = dir.truetail(&["flow", "from-openapi", "api.yaml", "-o", "api.yaml"]);
    assert!(output.code == Some(2) && output.stderr.contains("is the file that is read"), "{output:?}");
}

const FLOW: &str = "GET {{host}}/in/{{user}}\nHTTP 200\n\nGET {{host}}/out/{{user}}?id={{id}}\nHTTP 200\n";

fn fed(dir: &TestDir, server: &Server, more: &[&str]) -> Value {
    dir.file("shop.hurl", FLOW);
    dir.file("users.csv", "user,id,unused\n007,1,x\nbo b,2,y\ncy,3,z\n");
    let host = format!("host={}", url(server));
    let load =
        ["run", "--flow", "shop.hurl", "--data-from", "users.csv", "-r", "50", "-d", "200ms", "--variable", &host];
    let output = dir.truetail(&[&load[..], &["--json", "--quiet", "--no-preflight"], more].concat());
    let run = output.json();
    assert_balanced(&run);
    run
}

#[test]
fn each_session_has_a_row_and_rows_are_used_again() {
    let server = server();
    let dir = TestDir::new();
    let run = fed(&dir, &server, &["--no-save"]);
    assert_eq!(run["sessions"]["tally"]["completed"], 10, "{run}");
    let rows = ["/in/007", "/out/007?id=1", "/in/bo%20b", "/out/bo%20b?id=2", "/in/cy", "/out/cy?id=3"];
    let wanted = rows.iter().zip([4, 4, 3, 3, 3, 3]).map(|(path, count)| (format!("GET {path} HTTP/1.1"), count));
    assert_eq!(counts(asked(&server).into_iter().map(|asked| asked.line)), wanted.collect());
    assert!(
        run["notes"].to_string().contains("10 sessions for 3 rows: after the last row, the first one is used again"),
        "{run}"
    );
    assert_eq!((&run["scenario"]["mix"]["rows"], &run["scenario"]["mix"]["order"]), (&3.into(), &"in-order".into()));
}

#[test]
fn a_load_ends_with_its_last_row_also_in_stripes() {
    let server = server();
    let dir = TestDir::new();
    let run = fed(&dir, &server, &["--feed", "once", "--no-save"]);
    let books = |run: &Value| run["sessions"]["tally"]["completed"].as_u64();
    assert_eq!((books(&run), &run["sessions"]["tally"]["planned"]), (Some(3), &3.into()), "{run}");
    assert!(run["notes"].to_string().contains("10 sessions were to arrive, and there are 3 rows"), "{run}");
    server.asked.lock().unwrap().clear();
    let parts = ["1/2", "2/2"].map(|stripe| fed(&dir, &server, &["--feed", "once", "--no-save", "--stripe", stripe]));
    assert_eq!(parts.each_ref().map(books), [Some(2), Some(1)]);
    let lines = counts(asked(&server).into_iter().map(|asked| asked.line));
    assert_eq!(lines.into_values().collect::<Vec<_>>(), [1; 6]);
    // Also for plain targets.
    let target = format!("{}/{{{{user}}}}", url(&server));
    let plain =
        ["run", &target, "--data-from", "users.csv", "--feed", "once", "-r", "50", "-d", "200ms", "--json", "--quiet"];
    let plain = dir.truetail(&[&plain[..], &["--no-save"]].concat()).json();
    assert_eq!(plain["tally"]["planned"], 3, "{plain}");
    // The connection tried before the load uses up no row.
    assert_eq!([server.count("GET /007 "), server.count("GET /cy ")], [1, 1]);
}

#[test]
fn feed_once_is_refused_for_verbs_with_several_runs() {
    let dir = TestDir::new();
    dir.file("rows.csv", "user,id\na,1\n");
    let url = "http://127.0.0.1:9/{{id}}";
    let once = ["--data-from", "rows.csv", "--feed", "once"];
    for words in [
        [&["capacity", url, "--slo", "p99 < 50ms", "--"][..], &once].concat(),
        [&["ab", url, url, "-r", "10"][..], &once].concat(),
    ] {
        let output = dir.truetail(&words);
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
        assert!(output.stderr.contains("--feed once has no meaning in 'truetail "), "{output:?}");
    }
}

#[test]
fn feed_once_is_refused_with_users_over_time() {
    let dir = TestDir::new();
    dir.file("rows.csv", "user,id\na,1\nb,2\n");
    let load = ["run", "http://127.0.0.1:9/{{id}}", "--model", "closed", "--data-from", "rows.csv", "--feed", "once"];
    let output = dir.truetail(&[&load[..], &["--users", "steps:1/1s,2/1s"]].concat());
    assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
    assert!(output.stderr.contains("--feed once and --users 1/1s,2/1s contradict"), "{output:?}");
}

#[test]
fn rows_that_do_not_fit_a_flow_are_refused() {
    let dir = TestDir::new();
    dir.file("a.hurl", FLOW);
    dir.file("rows.csv", "user,id\na,1\n");
    dir.file("others.csv", "name\na\n");
    dir.file("half.csv", "user\na\n");
    dir.file("fixed.hurl", "GET http://127.0.0.1:9/\n");
    let rate = ["-r", "1", "-d", "1s"];
    let of_flow = ["--flow", "a.hurl", "--variable", "host=http://127.0.0.1:9"];
    let plain = ["http://127.0.0.1:9/{{id}}", "--data-from", "rows.csv", "--feed", "once"];
    for (load, more, says) in [
        (&of_flow[..], &["--data-from", "others.csv"][..], "the flow uses none of its columns (name)"),
        (&of_flow, &["--data-from", "half.csv"], "the variable id has no value here"),
        (
            &of_flow,
            &["--data-from", "rows.csv", "--variable", "id=3"],
            "--variable id and the column id of rows.csv contradict",
        ),
        (&of_flow, &["--feed", "once"], "--feed sets the order of rows"),
        (&["--flow", "fixed.hurl"], &["--data-from", "rows.csv"], "the flow uses none of its columns (user, id)"),
        (
            &plain,
            &["--model", "partly-open", "--session-length", "2"],
            "--feed once and --model partly-open contradict",
        ),
    ] {
        let output = dir.truetail(&[&["run"], load, &rate, more].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
        assert!(output.stderr.contains(says), "{says}: {output:?}");
    }
}

#[test]
fn a_recording_is_replayed_over_http2_too() {
    let url = http2::serve(100);
    let dir = TestDir::new();
    let lines: String = (0..40).map(|n| format!("{},GET /{}/{n}?n={n}\n", f64::from(n) / 100.0, n % 3)).collect();
    dir.file("a.replay", &lines);
    let words = ["run", url.trim_end_matches('/'), "--http2", "--replay", "a.replay", "--json", "--quiet", "--no-save"];
    let run = dir.truetail(&words).json();
    assert_balanced(&run);
    assert_eq!((&run["tally"]["responses"], &run["statuses"]["200"]), (&40.into(), &40.into()), "{run}");
}
