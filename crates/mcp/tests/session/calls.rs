//! Calls that are carried out, and their order.

use serde_json::{Value, json};
use truetail_mcp::{JobOutput, Limits, Session, Step};
use truetail_model::time::Nanos;

use super::{FakeFiles, call, limits, output, sent, session, started};

fn ask(session: &mut Session<FakeFiles>, method: &str, params: &Value) -> Value {
    let line = json!({"jsonrpc": "2.0", "id": "x", "method": method, "params": params}).to_string();
    sent(&session.receive(line.as_bytes()))
}

#[test]
fn a_client_is_greeted_in_a_version_that_both_know() {
    for (wanted, agreed) in [("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("2025-03-26", "2025-11-25")] {
        let answer = ask(&mut session(), "initialize", &json!({"protocolVersion": wanted, "capabilities": {}}));
        assert_eq!(answer["result"]["protocolVersion"], agreed, "{wanted}");
        assert_eq!((&answer["id"], &answer["result"]["serverInfo"]["name"]), (&json!("x"), &json!("truetail")));
    }
    assert_eq!(ask(&mut session(), "ping", &Value::Null)["result"], json!({}));
    assert_eq!(ask(&mut session(), "server/discover", &json!({}))["error"]["code"], -32601);
    assert!(session().receive(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).is_empty());
}

#[test]
fn tools_have_schemas_that_name_the_limits_and_a_search_needs_a_folder() {
    let listed =
        |limits: Limits| ask(&mut Session::new(limits, FakeFiles), "tools/list", &Value::Null)["result"].clone();
    let all = listed(limits());
    let tools = all["tools"].as_array().expect("tools");
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap_or_default()).collect();
    assert_eq!(names, ["run", "compare", "capacity", "audit", "explain"]);
    for tool in tools {
        for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
            assert_eq!(schema["type"], "object", "{tool}");
            let known = schema["properties"].as_object().expect("properties");
            let needed = schema["required"].as_array().expect("required");
            assert!(needed.iter().all(|name| known.contains_key(name.as_str().unwrap_or_default())), "{tool}");
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        let loads = ["run", "capacity"].iter().any(|name| tool["name"] == *name);
        assert_eq!(tool["annotations"]["readOnlyHint"], !loads, "{tool}");
    }
    assert_eq!(tools[0]["inputSchema"]["properties"]["rate"]["maximum"], 500.0);
    let read_only = listed(Limits { out: None, ..limits() });
    assert!(
        !read_only.to_string().contains("\"capacity\"") && read_only.to_string().contains("\"run\""),
        "{read_only}"
    );
}

/// The tool reads every argument that its schema names: it complains about a value of a wrong type, not about an
/// unknown argument.
#[test]
fn the_schema_names_the_arguments_that_the_tool_reads() {
    let all = ask(&mut session(), "tools/list", &Value::Null);
    for tool in all["result"]["tools"].as_array().expect("tools") {
        for name in tool["inputSchema"]["properties"].as_object().expect("properties").keys() {
            let answer =
                sent(&session().receive(&call(1, tool["name"].as_str().unwrap(), &json!({(name): {"no": []}}))));
            let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
            assert!(text.contains("invalid type") || text.contains("`no`"), "{name}: {text}");
        }
    }
}

#[test]
fn arguments_become_words_of_a_command() {
    let asked = json!({
        "url": "http://LOCALHOST:8080/a b?c", "rate": 50, "duration": "1m", "spacing": "gamma:0.50", "seed": 7,
        "slo": ["p99 < 50ms"], "checks": ["status == 200"], "name": "first",
        "request": {"method": "head", "headers": {"X-A": "-b"}, "timeout": "5s", "connections": 3, "http2": true},
    });
    let job = started(&session().receive(&call(1, "run", &asked)));
    let expected = [
        "run",
        "http://localhost:8080/a%20b?c",
        "--json",
        "--quiet",
        "--rate=50",
        "--duration=1m",
        "--spacing=gamma:0.5",
        "--seed=7",
        "--slo=p99 < 50ms",
        "--check=status == 200",
        "--method=HEAD",
        "--header=X-A: -b",
        "--timeout=5s",
        "--connections=3",
        "--http2",
        "--out=/out/first",
    ];
    assert_eq!(job.words, expected);
    assert_eq!(job.load, Nanos::from_secs(90));
    let compared =
        started(&session().receive(&call(1, "compare", &json!({"a": ["a"], "b": ["/runs/b"], "fail_if": ["x"]}))));
    assert_eq!(compared.words, ["compare", "/runs/a", "--against", "/runs/b", "--json", "--fail-if=x"]);
    let asked = json!({"url": "http://127.0.0.1:1/", "slo": ["p99 < 1s"], "request": {"headers": {"A": "b"}}});
    let search = started(&session().receive(&call(1, "capacity", &asked)));
    let expected = [
        "capacity",
        "http://127.0.0.1:1/",
        "--json",
        "--quiet",
        "--slo=p99 < 1s",
        "--max-rate=500",
        "--max-time=1m",
        "--out=/out/capacity-1",
        "--",
        "--method=GET",
        "--header=A: b",
    ];
    assert_eq!(search.words, expected);
    let audit =
        started(&session().receive(&call(1, "audit", &json!({"file": "/runs/b", "expected_interval": "10ms"}))));
    assert_eq!(audit.words, ["audit", "/runs/b", "--json", "--expected-interval=10ms"]);
    let explained = started(&session().receive(&call(1, "explain", &json!({"run": "/out/run-1"}))));
    assert_eq!(explained.words, ["report", "/out/run-1", "--json"]);
    let unsaved = Limits { out: None, ..limits() };
    let asked = json!({"url": "http://127.0.0.1:1/", "rate": 1, "duration": "1s"});
    let job = started(&Session::new(unsaved, FakeFiles).receive(&call(1, "run", &asked)));
    assert_eq!(job.words.last().map(String::as_str), Some("--no-save"));
}

fn explain() -> Value {
    json!({"run": "/runs/a"})
}

#[test]
fn one_call_runs_at_a_time_and_others_wait_for_it() {
    let mut session = session();
    started(&session.receive(&call(1, "explain", &explain())));
    assert!(session.receive(&call(2, "explain", &explain())).is_empty() && session.is_busy());
    let again = sent(&session.receive(&call(2, "explain", &explain())));
    assert_eq!(again["error"]["code"], -32600, "{again}");
    // Questions are answered meanwhile.
    assert_eq!(ask(&mut session, "ping", &Value::Null)["result"], json!({}));
    let valid = output(0, &json!({"verdict": {"state": "VALID", "reasons": []}}));
    let [Step::Send(first), Step::Start(_)] = &session.ended(&valid)[..] else { panic!("no answer and next command") };
    let first: Value = serde_json::from_str(first).expect("JSON");
    assert_eq!((&first["id"], &first["result"]["structuredContent"]["state"]), (&json!(1), &json!("VALID")));
    assert_eq!(sent(&session.ended(&valid))["id"], 2);
    assert!(!session.is_busy() && session.ended(&valid).is_empty());
}

#[test]
fn the_line_of_waiting_calls_is_bounded() {
    let mut session = session();
    started(&session.receive(&call(0, "explain", &explain())));
    for id in 1..=16 {
        assert!(session.receive(&call(id, "explain", &explain())).is_empty(), "{id}");
    }
    let refused = sent(&session.receive(&call(17, "explain", &explain())));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
}

#[test]
fn a_cancelled_call_is_stopped_and_not_answered() {
    let cancel = |id: u64| {
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}).to_string()
    };
    let mut session = session();
    started(&session.receive(&call(1, "explain", &explain())));
    session.receive(&call(2, "explain", &explain()));
    session.receive(&call(3, "explain", &explain()));
    assert!(session.receive(cancel(2).as_bytes()).is_empty() && session.receive(cancel(9).as_bytes()).is_empty());
    assert_eq!(session.receive(cancel(1).as_bytes()), [Step::Stop]);
    assert!(session.receive(cancel(1).as_bytes()).is_empty());
    // The third call begins when the first has ended, and the second is forgotten.
    started(&session.ended(&JobOutput::default()));
    assert_eq!(session.close(), [Step::Stop]);
    assert!(session.ended(&JobOutput::default()).is_empty() && !session.is_busy());
}

#[test]
fn progress_is_told_to_a_client_that_wants_it() {
    let mut session = session();
    let arguments = json!({"url": "http://127.0.0.1/", "rate": 1, "duration": "10s"});
    let params = json!({"name": "run", "arguments": arguments, "_meta": {"progressToken": "t"}});
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    assert_eq!(session.progress(Nanos::from_secs(1)), None);
    started(&session.receive(line.as_bytes()));
    let told: Value = serde_json::from_str(&session.progress(Nanos::from_secs(3)).expect("a notice")).expect("JSON");
    let params = &told["params"];
    assert_eq!(
        (&params["progressToken"], &params["progress"], &params["total"]),
        (&json!("t"), &json!(3.0), &json!(40.0))
    );
    let late: Value = serde_json::from_str(&session.progress(Nanos::from_secs(99)).expect("a notice")).expect("JSON");
    assert!(late["params"].get("total").is_none() && late.get("id").is_none(), "{late}");
}

#[test]
fn a_verdict_is_explained_by_its_rules_and_the_marks_of_percentiles() {
    let mut session = session();
    started(&session.receive(&call(1, "explain", &explain())));
    let quantiles = json!([
        {"q": 0.5, "value_ns": 1, "supported": true, "at_least": false, "unresolved": false},
        {"q": 0.9, "value_ns": 9, "supported": true, "unresolved": true, "without_generator_ns": 5},
        {"q": 0.99, "value_ns": null, "supported": false, "needs_n": 368},
    ]);
    let reason =
        json!({"code": "saturated", "state": "INVALID", "message": "the backlog grows", "capacity_per_second": 500});
    let run = json!({"verdict": {"state": "INVALID", "reasons": [reason]}, "response_time": {"quantiles": quantiles}, "host": {}});
    let answer = sent(&session.ended(&output(0, &run)));
    let result = &answer["result"]["structuredContent"];
    assert!(result["meaning"].as_str().is_some_and(|text| text.contains("do not use")), "{result}");
    assert_eq!(result["reasons"][0]["capacity_per_second"], 500);
    assert!(result["reasons"][0]["rules"][0]["when"].as_str().is_some_and(|when| when.contains("backlog")), "{result}");
    let marked: Vec<f64> =
        result["marks"].as_array().expect("marks").iter().filter_map(|mark| mark["q"].as_f64()).collect();
    assert_eq!(marked, [0.9, 0.99], "{result}");
    assert!(result["marks"][1]["meaning"].as_str().is_some_and(|text| text.contains("368")), "{result}");
    assert!(result.get("host").is_none());
}

#[test]
fn a_command_that_fails_is_an_error_with_its_reason() {
    for (output, reason) in [
        (
            JobOutput { code: Some(1), stdout: Vec::new(), stderr: "truetail: a note\ntruetail: no server\n".into() },
            "no server",
        ),
        (JobOutput { code: Some(7), ..JobOutput::default() }, "exit code 7"),
        (JobOutput::default(), "signal"),
        (JobOutput { code: Some(0), stdout: b"[]".to_vec(), stderr: String::new() }, "exit code 0"),
    ] {
        let mut session = session();
        started(&session.receive(&call(1, "explain", &explain())));
        let answer = sent(&session.ended(&output));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(answer["result"]["isError"] == true && text.contains(reason), "{answer}");
    }
}
