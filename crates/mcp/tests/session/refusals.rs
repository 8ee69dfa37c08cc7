//! Calls of a hostile client: each is refused in one line, and starts nothing.

use proptest::prelude::*;
use serde_json::{Value, json};
use truetail_mcp::{Limits, Session, Step};

use super::{FakeFiles, call, limits, sent, session};

/// Returns the arguments of a run with these changes.
fn run(changes: &Value) -> Value {
    let mut arguments = json!({"url": "http://127.0.0.1:8080/", "rate": 10, "duration": "1s"});
    for (name, value) in changes.as_object().expect("an object") {
        arguments[name] = value.clone();
    }
    arguments
}

#[test]
fn what_a_user_did_not_allow_is_refused_in_one_line() {
    let header = |name: &str, value: &str| run(&json!({"request": {"headers": {(name): value}}}));
    let folder = |name: &str| run(&json!({"name": name}));
    for (tool, arguments, part) in [
        ("run", run(&json!({"url": "http://example.com/"})), "--allow-host"),
        ("run", run(&json!({"url": "http://127.0.0.1@example.com/"})), "--allow-host"),
        ("run", run(&json!({"url": "http://169.254.169.254/latest"})), "--allow-host"),
        ("run", run(&json!({"url": "http://0.0.0.0/"})), "--allow-host"),
        ("run", run(&json!({"url": "redis://127.0.0.1:6379"})), "http:// and https:// only"),
        ("run", run(&json!({"url": "file:///etc/passwd"})), "http:// and https:// only"),
        ("run", run(&json!({"url": "--targets=/etc/passwd"})), "no URL"),
        ("run", run(&json!({"url": "checkout"})), "no URL"),
        ("run", header("Host", "example.com"), "--allow-host"),
        ("run", header("hOST", "example.com:80"), "--allow-host"),
        ("run", header("Host", "127.0.0.1/@example.com"), "no host"),
        ("run", header("Host", ""), "no host"),
        ("run", header("Host ", "127.0.0.1"), "no name of a header"),
        ("run", header("A: b\r\nHost", "example.com"), "no name of a header"),
        ("run", header("A", "b\r\nHost: example.com"), "control character"),
        ("run", header(":authority", "example.com"), "no name of a header"),
        ("run", run(&json!({"request": {"method": "DELETE"}})), "--allow-method"),
        ("run", run(&json!({"request": {"body": "x"}})), "--allow-method"),
        ("run", run(&json!({"rate": 501})), "--max-rate"),
        ("run", run(&json!({"rate": 0})), "above 0"),
        ("run", run(&json!({"rate": -1e300})), "above 0"),
        ("run", run(&json!({"duration": "61s"})), "--max-duration"),
        ("run", run(&json!({"duration": "0s"})), "above 0"),
        ("run", run(&json!({"duration": "x"})), "'duration'"),
        ("run", run(&json!({"resolve": ["127.0.0.1:80:10.0.0.1"]})), "unknown field"),
        ("run", run(&json!({"request": {"resolve": ["a:80:10.0.0.1"]}})), "unknown field"),
        ("run", run(&json!({"targets": "/etc/passwd"})), "unknown field"),
        ("run", run(&json!({"spacing": "--out=/etc"})), "use even, poisson, or gamma:SHAPE"),
        ("run", folder("../x"), "plain name"),
        ("run", folder("/etc"), "plain name"),
        ("run", folder(".."), "plain name"),
        ("run", folder("-x"), "plain name"),
        ("run", folder(""), "plain name"),
        ("run", folder(&"x".repeat(65)), "plain name"),
        ("run", Value::Null, "missing field"),
        ("run", json!([1]), "not valid"),
        ("compare", json!({"a": ["/runs/a"], "b": ["/etc/passwd"]}), "--read"),
        ("compare", json!({"a": ["/runs/link"], "b": ["/runs/a"]}), "--read"),
        ("compare", json!({"a": ["/runs-of-others/a"], "b": ["/runs/a"]}), "--read"),
        ("compare", json!({"a": ["--json"], "b": ["/runs/a"]}), "--read"),
        ("compare", json!({"a": [], "b": ["/runs/a"]}), "must name a run"),
        ("audit", json!({"file": "/etc/passwd"}), "--read"),
        ("audit", json!({"file": "-"}), "--read"),
        ("audit", json!({"file": "/etc/no-such-file"}), "--read"),
        ("explain", json!({"run": "/etc"}), "--read"),
        ("capacity", json!({"url": "http://example.com/", "slo": ["p99 < 1s"]}), "--allow-host"),
        ("capacity", json!({"url": "http://127.0.0.1/", "slo": []}), "objective"),
        ("capacity", json!({"url": "http://127.0.0.1/", "slo": ["p99 < 1s"], "max_rate": 501}), "--max-rate"),
        ("capacity", json!({"url": "http://127.0.0.1/", "slo": ["p99 < 1s"], "max_time": "2h"}), "--max-duration"),
    ] {
        let mut session = session();
        let answer = sent(&session.receive(&call(1, tool, &arguments)));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(answer["result"]["isError"] == true && text.contains(part), "{tool} {arguments}: {answer}");
        assert!(!text.contains(['\n', '\r']) && !session.is_busy(), "{tool} {arguments}: {text:?}");
    }
}

#[test]
fn a_search_without_a_folder_is_refused() {
    let limits = Limits { out: None, ..limits() };
    let asked = json!({"url": "http://127.0.0.1/", "slo": ["p99 < 1s"]});
    let answer = sent(&Session::new(limits, FakeFiles).receive(&call(1, "capacity", &asked)));
    assert!(answer["result"]["content"][0]["text"].as_str().is_some_and(|text| text.contains("--out-dir")), "{answer}");
}

#[test]
fn an_unknown_tool_and_a_call_without_a_name_are_errors_of_the_protocol() {
    for params in [json!({"name": "shell"}), json!({}), json!([]), json!(7), Value::Null, json!({"name": ["run"]})] {
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let answer = sent(&session().receive(line.as_bytes()));
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
    }
}

#[test]
fn hosts_and_methods_that_the_user_allowed_are_requested() {
    let allowed = Limits { hosts: vec!["example.com:8443".parse().unwrap()], methods: vec!["POST".into()], ..limits() };
    let asked = json!({"url": "https://example.com:8443/", "rate": 1, "duration": "1s", "request": {"body": "-x"}});
    let steps = Session::new(allowed, FakeFiles).receive(&call(1, "run", &asked));
    let [Step::Start(job)] = &steps[..] else { panic!("{steps:?}") };
    assert!(job.words.contains(&"--data=-x".to_owned()) && job.words.contains(&"--method=POST".to_owned()), "{job:?}");
}

proptest! {
    /// Whatever a client writes as a URL, a command that starts has a host that is allowed.
    #[test]
    fn no_url_reaches_a_host_that_is_not_allowed(url in "(https?:)?[/\\\\]{0,3}[a-z0-9.:@%\\[\\]#?\t ]{0,30}") {
        let asked = json!({"url": url, "rate": 1, "duration": "1s"});
        match &session().receive(&call(1, "run", &asked))[..] {
            [Step::Start(job)] => {
                let reached = url::Url::parse(&job.words[1]).expect("a URL");
                let host = reached.host_str().unwrap_or_default();
                prop_assert!(host == "localhost" || host.starts_with("127.") || host == "[::1]" || host.starts_with("[::ffff:7f"), "{}", host);
            }
            [Step::Send(_)] => {}
            other => prop_assert!(false, "{other:?}"),
        }
    }

    /// Whatever bytes come, a line is answered by lines, and never by a command.
    #[test]
    fn damaged_lines_start_nothing(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for step in session().receive(&bytes) {
            let Step::Send(line) = step else { panic!("{step:?}") };
            prop_assert!(!line.contains('\n') && serde_json::from_str::<Value>(&line).is_ok());
        }
    }
}
