//! `--flow`: sessions and their books, as users see them.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use super::raw_server::serve_each;
use super::support::{CommandOutput, TestDir, assert_balanced, assert_complete};

/// Starts a server and returns its URL. `/login` gives a token that the list requires, and every fourth list fails.
pub(super) fn serve() -> String {
    let count = Arc::new(AtomicU64::new(0));
    let place = serve_each(move |socket| answer_all(socket, &count));
    let url = format!("http://{place}");
    url
}

/// Number of requests for `/again`.
static LOGINS: AtomicU64 = AtomicU64::new(0);

fn answer_all(mut socket: TcpStream, count: &AtomicU64) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    let mut lines = BufReader::new(socket.try_clone().ok()?).lines();
    loop {
        let head: Vec<_> = lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        let (status, token) = match head.first()?.split(' ').nth(1)? {
            "/login" => (200, "X-Token: t0\r\n"),
            "/again" => (
                200,
                if LOGINS.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
                    "X-Token: t0\r\nX-Nth: 0\r\n"
                } else {
                    "X-Token: t0\r\nX-Nth: 1\r\n"
                },
            ),
            _ if !head.iter().any(|line| line == "X-Token: t0") => (403, ""),
            _ if count.fetch_add(1, Ordering::Relaxed) % 4 == 3 => (500, ""),
            _ => (200, ""),
        };
        let answer = format!("HTTP/1.1 {status} X\r\n{token}Content-Length: 9\r\n\r\n{{\"id\": 7}}");
        socket.write_all(answer.as_bytes()).ok()?;
    }
}

const FLOW: &str = "# truetail: name login\nGET {{host}}/login\nHTTP 200\n[Captures]\ntoken: header \"X-Token\"\n\n\
                    GET {{host}}/list\nX-Token: {{token}}\nHTTP 200\n[Asserts]\njsonpath \"$.id\" == 7\n";

fn run(dir: &TestDir, more: &[&str]) -> CommandOutput {
    fs::write(dir.path().join("shop.hurl"), FLOW).expect("a file");
    dir.truetail(&[&["run", "--flow", "shop.hurl", "-r", "50", "-d", "800ms"], more].concat())
}

#[test]
fn a_flow_is_run_and_its_books_balance() {
    let host = format!("host={}", serve());
    let dir = TestDir::new();
    let gates = ["--fail-if", "session-time p50 > 30s", "--fail-if", "p50{login} > 30s"];
    let failing = ["--fail-if", "incomplete-sessions > 1%", "--variable", "password=hunter2"];
    let output =
        run(&dir, &[&["--variable", &host, "--json", "--quiet", "--out", "here"], &gates[..], &failing].concat());
    let run = output.json();
    output.assert_code(&run, 3);
    assert_balanced(&run);
    let sessions = &run["sessions"];
    let gates = &run["gates"];
    let tally = serde_json::json!({"planned": 40, "begun": 40, "never_begun": 0, "completed": 30, "ended_early": 10,
        "in_flight_at_end": 0});
    assert_eq!(sessions["tally"], tally);
    assert_eq!(sessions["steps"][1]["ended_here"], serde_json::json!({"status": 10}));
    assert_eq!((&sessions["session_time"]["count"], &sessions["session_time"]["failed"]), (&40.into(), &10.into()));
    assert_eq!((&run["tally"]["planned"], &run["targets"][0]["name"]), (&80.into(), &"login".into()));
    assert!(gates[0]["state"] != "fails" && gates[1]["state"] != "fails", "{gates}");
    assert!(
        gates[2]["state"] != "holds" && gates[2]["message"].as_str().is_some_and(|says| says.contains("25%")),
        "{gates}"
    );
    assert!(!output.stdout.contains("hunter2") && output.stdout.contains("line 9: the status is 500"));
    assert_eq!(assert_complete(&dir.path().join("here"))["sessions"]["tally"], sessions["tally"]);
    let report = dir.truetail(&["report", "here"]);
    for says in
        ["flow shop.hurl", "30 of 40 completed, 10 ended early", "ended at GET /list: 10 other status", "session time"]
    {
        assert!(report.stdout.contains(says), "{says} is missing in {}", report.stdout);
    }
}

/// Returns the single sessions of a run folder.
fn sessions_of(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("sessions.json")).expect("a file of sessions")).expect("JSON")
}

/// Every fourth of 40 sessions ends at its second step.
#[test]
fn single_sessions_are_saved_drawn_and_merged() {
    let dir = TestDir::new();
    let host = format!("host={}", serve());
    for folder in ["a", "b"] {
        run(&dir, &["--variable", &host, "--out", folder]);
    }
    dir.truetail(&["merge", "a", "b", "--out", "whole"]);
    for (folder, ended) in [("a", 10), ("b", 10), ("whole", 20)] {
        let path = dir.path().join(folder);
        assert_eq!(assert_complete(&path)["sessions"]["tally"]["ended_early"], ended);
        let sampled = sessions_of(&path);
        assert_eq!(sampled["random"].as_array().map(Vec::len), Some(20));
        for session in sampled["slowest"].as_array().expect("sessions") {
            let requests = session["requests"].as_array().expect("requests");
            assert_eq!((requests.len(), &requests[1]["end_ns"]), (2, &session["end_ns"]), "{session}");
        }
    }
    dir.truetail(&["report", "whole", "--svg", "pictures", "-o", "page.html"]);
    for picture in ["session-ends", "sessions"] {
        assert!(dir.path().join(format!("pictures/{picture}.svg")).exists(), "{picture}");
    }
    let page = fs::read_to_string(dir.path().join("page.html")).expect("a page");
    assert!(page.contains("A few sessions, request by request") && page.contains("20 other status"));
    fs::write(dir.path().join("a/sessions.json"), "{\"slowest\": [], \"random\": []}").expect("written");
    let damaged = dir.truetail(&["report", "a"]);
    assert!(damaged.code == Some(1) && damaged.stderr.contains("sessions.json"), "{damaged:?}");
    fs::remove_file(dir.path().join("a/sessions.json")).expect("removed");
    let without = dir.truetail(&["report", "a"]);
    assert!(without.code != Some(1) && without.stdout.contains("30 of 40 completed"), "{without:?}");
}

/// Three in four sessions only look. The rest log in and request the list, and every fourth list fails.
fn run_two(dir: &TestDir, host: &str, more: &[&str]) -> CommandOutput {
    dir.file("shop.hurl", FLOW);
    dir.file("look.hurl", "# truetail: weight 3\nGET {{host}}/login\nUser: {{user}}\nHTTP 200\n");
    dir.file("users.csv", "user,unused\nann,1\nbob,2\ncy,3\n");
    let load =
        ["run", "--flow", "shop.hurl", "--flow", "look.hurl", "-r", "100", "-d", "800ms", "--data-from", "users.csv"];
    dir.truetail(&[&load[..], &["--variable", host], more].concat())
}

#[test]
fn each_session_follows_one_of_two_flows_on_however_many_machines() {
    let host = format!("host={}", serve());
    let dir = TestDir::new();
    let gates = [
        "--fail-if",
        "session-time p50{look} > 30s",
        "--fail-if",
        "incomplete-sessions{look} > 99%",
        "--fail-if",
        "mean{look/GET /login} > 30s",
    ];
    let output = run_two(&dir, &host, &[&["--json", "--quiet", "--out", "whole"], &gates[..]].concat());
    let whole = output.json();
    output.assert_code(&whole, 0);
    assert_balanced(&whole);
    let flows = whole["sessions"]["flows"].as_array().expect("flows").clone();
    let of = |nth: usize, what: &str| flows[nth]["tally"][what].as_u64().expect("a count");
    assert_eq!((&flows[0]["name"], &flows[0]["weight"], &flows[1]["weight"]), (&"shop".into(), &1.into(), &3.into()));
    assert_eq!((of(0, "planned") + of(1, "planned"), of(1, "completed")), (80, of(1, "planned")));
    assert_eq!(of(0, "ended_early"), of(0, "planned") / 4);
    assert!((8..=35).contains(&of(0, "planned")), "20 within about four standard deviations of 3.9: {flows:?}");
    let times = &whole["sessions"]["flow_times"];
    assert_eq!((&times[1]["flow"], &times[1]["session_time"]["count"]), (&"look".into(), &of(1, "planned").into()));
    assert_eq!(whole["scenario"]["mix"]["rows"], 3);
    let report = dir.truetail(&["report", "whole", "-o", "page.html"]);
    let looked = of(1, "planned");
    for says in [
        "flows shop (weight 1), look (weight 3)",
        &format!("look: {looked} of {looked} completed"),
        "ended at shop/GET /list",
    ] {
        assert!(report.stdout.contains(says), "{says} is missing in {}", report.stdout);
    }
    assert!(fs::read_to_string(dir.path().join("page.html")).expect("a page").contains("The sessions of each flow"));

    // A new server, whose count starts at 0.
    let host = format!("host={}", serve());
    for stripe in ["1/2", "2/2"] {
        run_two(&dir, &host, &["--stripe", stripe, "--out", &format!("part{}", &stripe[..1])]);
    }
    dir.truetail(&["merge", "part1", "part2", "--out", "merged"]);
    let merged = assert_complete(&dir.path().join("merged"));
    for nth in [0, 1] {
        assert_eq!(merged["sessions"]["flows"][nth]["tally"]["planned"], flows[nth]["tally"]["planned"]);
    }
    assert_eq!(merged["sessions"]["tally"], whole["sessions"]["tally"]);
}

#[test]
fn a_setup_runs_once_and_its_captures_reach_every_session() {
    let host = format!("host={}", serve());
    let dir = TestDir::new();
    dir.file(
        "setup.hurl",
        "GET {{host}}/again\nHTTP 200\n[Captures]\ntoken: header \"X-Token\"\nnth: header \"X-Nth\"\n",
    );
    dir.file(
        "list.hurl",
        "GET {{host}}/list?{{nth}}&key={{token}}\nX-Token: {{token}}\nHTTP *\n[Asserts]\nstatus != 403\n",
    );
    let load = ["run", "--flow", "list.hurl", "--setup", "setup.hurl", "-r", "50", "-d", "800ms", "--variable", &host];
    let run = |more: &[&str]| dir.truetail(&[&load[..], more].concat());
    let first = run(&["--json"]);
    let second = run(&["--json"]);
    let [one, other] = [&first, &second].map(CommandOutput::json);
    assert!(first.stderr.contains("--setup setup.hurl: 1 request before the load"), "{first:?}");
    assert_balanced(&one);
    let tally = &one["tally"]["responses"];
    let sessions = &one["sessions"]["tally"];
    assert_eq!((tally, &sessions["planned"], &sessions["completed"]), (&40.into(), &40.into(), &40.into()));
    // The two runs sent different values, and are the same load.
    assert_eq!(one["scenario"], other["scenario"]);
    assert_eq!(one["sessions"]["steps"][0]["name"], "GET /list?{{nth}}&key={{token}}");
    assert!(LOGINS.load(Ordering::Relaxed) >= 2 && !first.stdout.contains("t0"), "{first:?}");

    dir.file("wrong.hurl", "GET {{host}}/again\nHTTP 201\n");
    dir.file("none.hurl", "GET {{host}}/\nHTTP 200\n[Captures]\ntoken: header \"X-None\"\n");
    let refused = |more: &[&str], code: i32, says: &str| {
        let output = dir.truetail(&[&["run", "-r", "50", "-d", "800ms", "--no-save"], more].concat());
        assert!(output.code == Some(code) && output.stderr.contains(says), "{more:?}: {output:?}");
        assert_eq!(output.stderr.trim_end().lines().count(), 1, "{output:?}");
    };
    let flow = ["--flow", "list.hurl", "--variable", &host];
    refused(&[&flow[..], &["--setup", "wrong.hurl"]].concat(), 2, "list.hurl:1: the variable nth has no value here");
    let with_nth = [&flow[..], &["--variable", "nth=1"]].concat();
    dir.file("wrong.hurl", "GET {{host}}/again\nHTTP 201\n[Captures]\ntoken: header \"X-Token\"\n");
    refused(
        &[&with_nth[..], &["--setup", "wrong.hurl"]].concat(),
        1,
        "--setup wrong.hurl: it ended at GET /again: line 2: the status is 200",
    );
    refused(&[&with_nth[..], &["--setup", "none.hurl"]].concat(), 1, "--setup none.hurl: it ended at GET /: line ");
    refused(&["http://127.0.0.1:9/", "--setup", "none.hurl"], 2, "--flow");
    refused(&[&with_nth[..], &["--setup", "-"]].concat(), 2, "- can be read once only: beside --setup");
    dir.file("elsewhere.hurl", "GET https://localhost:9/\nHTTP 200\n[Captures]\ntoken: header \"X-Token\"\n");
    let elsewhere = [&with_nth[..], &["--setup", "elsewhere.hurl"]].concat();
    refused(&elsewhere, 1, "--setup elsewhere.hurl: it ended at GET /: could not connect");
    // An option may be meant for only one of flow and setup. It is refused if it is meant for neither.
    let with = |more: &[&'static str]| [&elsewhere[..], more].concat();
    let for_setup = with(&["--insecure", "--resolve", "localhost:9:127.0.0.1"]);
    refused(&for_setup, 1, "--setup elsewhere.hurl: it ended at GET /: could not connect");
    refused(&with(&["--resolve", "nobody:9:127.0.0.1"]), 2, "--resolve: it names nobody:9");
    let insecure = [&with_nth[..], &["--setup", "setup.hurl", "--insecure"]].concat();
    refused(&insecure, 2, "--insecure and http://");
    let nobody = ["--flow", "list.hurl", "--setup", "setup.hurl", "--variable", "host=http://127.0.0.1:9"];
    refused(&nobody, 1, "--setup setup.hurl: it ended at GET /again: could not connect");
    // Other mistakes are reported before anything is sent.
    let before = LOGINS.load(Ordering::Relaxed);
    refused(&[&flow[..], &["--setup", "setup.hurl", "--fail-if", "p99{x} > 1s"]].concat(), 2, "there is no target 'x'");
    assert_eq!(LOGINS.load(Ordering::Relaxed), before);
}

#[test]
fn a_flow_may_go_to_several_servers() {
    let login = serve();
    let list = serve();
    let dir = TestDir::new();
    dir.file("login.hurl", "GET {{login}}/login\nHTTP 200\n[Captures]\nkey: header \"X-Token\"\n");
    dir.file(
        "shop.hurl",
        "GET {{login}}/login\nHTTP 200\n[Captures]\ntoken: header \"X-Token\"\n\n\
         GET {{list}}/list\nX-Token: {{token}}\nHTTP *\n\nGET {{list}}/list\nX-Token: {{key}}\n",
    );
    let variables = [("login", &login), ("list", &list)].map(|(name, url)| format!("{name}={url}"));
    let load = ["run", "--flow", "shop.hurl", "--setup", "login.hurl", "-r", "50", "-d", "800ms", "--out", "here"];
    let load = [&load[..], &["--variable", &variables[0], "--variable", &variables[1]]].concat();
    let output = dir.truetail(&load);
    assert!(
        output.stdout.lines().next().unwrap().contains(&format!("{login} and {list}, flow shop.hurl")),
        "{output:?}"
    );
    let run = assert_complete(&dir.path().join("here"));
    assert_eq!(run["sessions"]["tally"]["completed"], 40, "{output:?}");
    assert_eq!(run["scenario"]["url"], format!("{login} and {list}"));
    let names = [format!("GET {login}/login"), format!("GET {list}/list"), format!("GET {list}/list #2")];
    for (nth, name) in names.iter().enumerate() {
        assert_eq!(run["sessions"]["steps"][nth]["name"], **name);
        assert_eq!(run["targets"][nth]["tally"]["responses"], 40);
    }
    // The second server counted 80 lists, and answered every fourth with an error.
    let errors = |nth: usize| run["by_target"][nth]["statuses"]["500"].as_u64().unwrap_or(0);
    assert_eq!(errors(1) + errors(2), 20);
}

/// Only buyers meet the slow route and the refused payments.
#[test]
fn a_gate_on_a_flow_is_about_its_sessions_alone() {
    let dir = TestDir::new();
    dir.file("look.hurl", "# truetail: weight 3\nGET {{host}}/list\nHTTP 200\n");
    dir.file("buy.hurl", "GET {{host}}/list\nHTTP 200\n\nGET {{host}}/pay\nHTTP 200\n");
    let service = "baseline = \"2ms\"\n[[service.route]]\npath = \"/pay\"\nbaseline = \"30ms\"\n\
                   [[service.route.fault]]\nkind = \"error-status\"\nstatus = 503\nevery = 4\n";
    dir.file("shop.toml", &format!("[workload]\nrate = 100\nduration = \"40s\"\n[service]\n{service}"));
    let gates = [
        ("incomplete-sessions{look} > 0%", "holds"),
        ("incomplete-sessions{buy} > 24%", "fails"),
        ("incomplete-sessions > 10%", "holds"),
        ("session-time p99{look} > 2100us", "holds"),
        ("session-time p50{buy} > 31900us", "fails"),
        ("session-time p50 > 2100us", "holds"),
        ("session-time p50{third} > 1s", "open"),
        ("p99{look/GET /list} > 2100us", "holds"),
        ("p50{buy/GET /pay} > 29900us", "fails"),
    ];
    let conditions = gates.iter().flat_map(|(gate, _)| ["--fail-if", gate]).collect::<Vec<_>>();
    let load =
        ["simulate", "shop.toml", "--flow", "look.hurl", "--flow", "buy.hurl", "--variable", "host=http://a", "--json"];
    let judged = dir.truetail(&[&load[..], &conditions].concat()).json()["series"][0].clone();
    for (nth, (gate, state)) in gates.iter().enumerate() {
        assert_eq!(judged["gates"][nth]["state"], *state, "{gate}: {}", judged["gates"][nth]);
    }
    let unknown = &judged["gates"][6]["message"];
    assert!(unknown.as_str().is_some_and(|says| says.contains("no such flow; it has look, buy")), "{unknown}");
}

#[test]
fn two_flows_that_do_not_fit_together_are_refused_in_one_line() {
    let dir = TestDir::new();
    for (more, says) in [
        (&["--flow", "look.hurl"][..], "two flows are called look"),
        (&["--fail-if", "session-time p99{buy} > 1s"], "there is no flow 'buy'; there is 'shop', 'look'"),
        (
            &["--fail-if", "p99{list} > 1s"],
            "there is no target 'list'; there is 'shop/login', 'shop/GET /list', 'look/GET /login'",
        ),
        (&["--variable", "user=me"], "--variable user and the column user of users.csv contradict each other"),
    ] {
        let output = run_two(&dir, "host=http://127.0.0.1:9", more);
        assert_eq!(output.code, Some(2), "{more:?}: {output:?}");
        assert!(output.stderr.contains(says) && output.stderr.trim_end().lines().count() == 1, "{more:?}: {output:?}");
    }
    let one = run(&dir, &["--variable", "host=http://127.0.0.1:9", "--fail-if", "session-time p99{shop} > 1s"]);
    assert!(one.code == Some(2) && one.stderr.contains("there is one flow only"), "{one:?}");
    let simulated =
        ["simulate", "07", "--flow", "shop.hurl", "--flow", "look.hurl", "--variable", "host=http://127.0.0.1:9"];
    let unknown = dir.truetail(&simulated);
    assert!(
        unknown.code == Some(2) && unknown.stderr.contains("look.hurl:2: the variable user has no value"),
        "{unknown:?}"
    );
}

#[test]
fn a_flow_over_http2_has_the_books_of_any_other() {
    let url = super::http2::serve(7);
    let dir = TestDir::new();
    let host = format!("host={}", url.trim_end_matches('/'));
    let flow = "GET {{host}}/a\nHTTP/2 200\n\nPOST {{host}}/b\n`text`\nHTTP 200\n[Asserts]\nbody == \"ok\"\n";
    fs::write(dir.path().join("two.hurl"), flow).expect("a file");
    let flow = ["run", "--flow", "two.hurl", "-r", "50", "-d", "800ms", "--variable", &host];
    let output = dir.truetail(&[&flow[..], &["--http2", "-c", "1", "--json", "--quiet", "--out", "here"]].concat());
    let run = output.json();
    output.assert_code(&run, 0);
    assert_balanced(&run);
    let tally = serde_json::json!({"planned": 40, "begun": 40, "never_begun": 0, "completed": 40, "ended_early": 0,
        "in_flight_at_end": 0});
    assert_eq!((&run["sessions"]["tally"], &run["statuses"]["200"]), (&tally, &80.into()));
    assert_eq!(
        (&run["generator"]["connections_opened"], &run["generator"]["streams"]["allowed"]),
        (&1.into(), &7.into())
    );
    assert!(run["scenario"]["http2"].is_object());
    assert_eq!(assert_complete(&dir.path().join("here"))["sessions"]["tally"], tally);
    let refused = dir.truetail(&flow);
    assert_eq!((refused.code, refused.stderr.lines().count()), (Some(2), 1), "{refused:?}");
    assert!(refused.stderr.contains("two.hurl:2: HTTP/2 is asked for here") && refused.stderr.contains("--http2"));
}

#[test]
fn what_contradicts_a_flow_is_refused_in_one_line() {
    let dir = TestDir::new();
    let host = ["--variable", "host=http://127.0.0.1:9"];
    for (more, says) in [
        (&["http://127.0.0.1:9/"][..], "--flow and a URL"),
        (&["--max-streams", "3"], "add --http2"),
        (&["--http2", "--no-keepalive"], "--flow and --no-keepalive"),
        (&["--check", "status == 200"], "[Asserts]"),
        (&["--stream", "sse"], "no step of the flow is a stream"),
        (&["--llm", "openai-chat"], "no step of the flow is a stream"),
        (&["--model", "closed"], "--flow and --model"),
        (&["--think-time", "1s"], "delay"),
        (&["--warmup", "auto"], "--warmup TIME"),
        (&["--variable", "x"], "NAME=VALUE"),
        (&["--fail-if", "p99{nobody} > 1s"], "there is no target 'nobody'; there is 'login', 'GET /list'"),
        (&["--fail-if", "incomplete-streams > 1%"], "--stream"),
    ] {
        let output = run(&dir, &[&host, more].concat());
        assert_eq!(output.code, Some(2), "{more:?}: {output:?}");
        assert!(output.stderr.contains(says) && output.stderr.trim_end().lines().count() == 1, "{more:?}: {output:?}");
    }
    let unknown = run(&dir, &[]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    assert!(unknown.stderr.contains("shop.hurl:2: the variable host has no value"), "{unknown:?}");
    let session_gate = dir.truetail(&["run", "http://127.0.0.1:9/", "-r", "9", "--fail-if", "session-time p50 > 1s"]);
    assert!(session_gate.code == Some(2) && session_gate.stderr.contains("--flow FILE.hurl"), "{session_gate:?}");
    let missing: Value = dir.truetail(&["run", "--flow", "none.hurl", "-r", "9"]).code.into();
    assert_eq!(missing, 1);
}

/// The sample flow of its scenario.
const SHOP: &str = include_str!("../../../../scenarios/07-login-that-stalls/shop.hurl");

fn simulate(dir: &TestDir, scenario: &str, more: &[&str]) -> CommandOutput {
    fs::write(dir.path().join("shop.hurl"), SHOP).expect("a file");
    let flow = ["--flow", "shop.hurl", "--variable", "host=http://127.0.0.1:1"];
    dir.truetail(&[&["simulate", scenario], &flow[..], more].concat())
}

#[test]
fn a_simulated_flow_has_the_books_and_the_gates_of_a_run() {
    let dir = TestDir::new();
    let gates = ["--fail-if", "session-time p99 > 475ms", "--fail-if", "p99{list} > 10ms"];
    let output = simulate(&dir, "07", &[&["--json", "--out", "here"], &gates[..]].concat());
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output:?}");
    let simulated = output.json();
    let series = &simulated["series"][0];
    assert_eq!((&series["name"], &series["tally"]["responses"]), (&"partly-open-loop".into(), &9_000.into()));
    let tally = serde_json::json!({"planned": 3000, "begun": 3000, "never_begun": 0, "completed": 3000, "ended_early": 0,
        "in_flight_at_end": 0});
    assert_eq!(series["sessions"]["tally"], tally);
    let quantiles = series["sessions"]["session_time"]["quantiles"].as_array().expect("quantiles");
    for (q, ms) in [(0.5, 75.0), (0.9, 75.0), (0.99, 470.0), (1.0, 1070.0)] {
        let found = quantiles.iter().find(|one| one["q"] == q).and_then(|one| one["value_ns"].as_f64());
        assert!((found.expect("a value") / 1e6 / ms - 1.0).abs() < 0.001, "{q}: {found:?}");
    }
    assert_eq!(series["targets"][2]["name"], "buy");
    assert_eq!((&series["gates"][0]["state"], &series["gates"][1]["state"]), (&"holds".into(), &"holds".into()));
    assert_eq!(assert_complete(&dir.path().join("here"))["sessions"]["tally"], tally);
    let report = dir.truetail(&["report", "here", "--fail-if", "session-time p99 > 465ms"]);
    assert_eq!(report.code, Some(3), "{report:?}");
    for says in ["flow shop.hurl, 07-login-that-stalls, simulated", "3000 of 3000 completed", "FAILED session-time"] {
        assert!(report.stdout.contains(says), "{says} is missing in {}", report.stdout);
    }
    let sampled = sessions_of(&dir.path().join("here"));
    assert_eq!(sampled["slowest"][0]["requests"][0]["end_ns"], 31_000_000_000_u64, "{sampled}");
    let failing = simulate(&dir, "07", &["--slo", "incomplete-sessions < 1%", "--slo", "session-time p50 < 1us"]);
    assert_eq!(failing.code, Some(3), "{failing:?}");
}

#[test]
fn what_cannot_be_simulated_is_refused_in_one_line() {
    let dir = TestDir::new();
    for (scenario, more, says) in [
        ("06", &[][..], "--flow with 06-model-that-stalls: the steps of a flow are whole answers"),
        ("07", &["--stripe", "1/2"], "--flow and --stripe cannot be used together"),
        ("freeze", &[], "--flow lets sessions arrive on the schedule of a scenario, and freeze is a lab"),
        ("07", &["--users", "3"], "--users is an option of the lab freeze"),
        ("07", &["--fail-if", "p99 >"], "--fail-if"),
    ] {
        let output = simulate(&dir, scenario, more);
        assert_eq!(output.code, Some(2), "{more:?}: {output:?}");
        assert!(output.stderr.contains(says) && output.stdout.is_empty(), "{more:?}: {output:?}");
    }
    let judged = dir.truetail(&["simulate", "freeze", "--fail-if", "p99 > 1ms"]);
    assert!(judged.code == Some(2) && judged.stderr.contains("--fail-if judges a scenario"), "{judged:?}");
    let judged = dir.truetail(&["simulate", "freeze", "--slo", "p99 < 1ms"]);
    assert!(judged.code == Some(2) && judged.stderr.contains("--slo judges a scenario"), "{judged:?}");
    let alone = dir.truetail(&["simulate", "07", "--variable", "a=b"]);
    assert!(alone.code == Some(2) && alone.stderr.contains("need --flow too"), "{alone:?}");
}
