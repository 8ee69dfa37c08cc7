//! `truetail mcp` as a client of the protocol sees it, line by line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::missing::missing;
use super::support::{ServeProcess, TestDir, assert_complete};

/// A client that waits for each answer.
struct Client {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    last_id: u64,
}

impl Client {
    fn start(dir: &TestDir, options: &[&str]) -> Client {
        let mut command = dir.command(&[&["mcp"], options].concat());
        let mut child = command.stdin(Stdio::piped()).spawn().expect("the binary starts");
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().expect("piped"));
        let mut client = Client { child, to, from, last_id: 0 };
        let greeting =
            client.ask("initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}));
        assert_eq!(greeting["result"]["serverInfo"]["name"], "truetail");
        client.tell(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        client
    }

    fn tell(&mut self, line: &str) {
        let to = self.to.as_mut().expect("open");
        to.write_all(format!("{line}\n").as_bytes()).expect("it reads");
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).expect("UTF-8");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn send(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        self.tell(&message.to_string());
        self.last_id
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let answer = self.hear();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool, and returns its result, which is no error.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        answer["result"]["structuredContent"].clone()
    }

    /// Calls a tool, and returns the text of its error.
    fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        answer["result"]["content"][0]["text"].as_str().expect("a text").to_owned()
    }

    /// Closes standard input, and returns the exit code.
    fn end(mut self) -> Option<i32> {
        drop(self.to.take());
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_agent_runs_compares_and_has_a_verdict_explained() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    let mut client = Client::start(&dir, &["--out-dir", "kept"]);
    let load = json!({"url": server.api(), "rate": 100, "duration": "1s", "slo": ["p50 < 10s", "p50 < 1us"],
        "checks": ["status == 200"]});
    let first = client.call("run", &load);
    let folder = first["run"].as_str().expect("a folder").to_owned();
    let run = assert_complete(&dir.path().join(&folder));
    for part in ["tally", "verdict", "response_time", "statuses"] {
        assert_eq!(first[part], run[part], "{part}");
    }
    assert_eq!((&first["tally"]["planned"], &first["checks"][0]["failed"]), (&json!(100), &json!(0)));
    let states: Vec<_> = first["gates"].as_array().expect("gates").iter().map(|gate| gate["state"].clone()).collect();
    assert_eq!((first["outcome"].as_str(), states), (Some("gate_failed"), vec![json!("holds"), json!("fails")]));
    let second = client.call("run", &json!({"url": server.api(), "rate": 100, "duration": "1s", "name": "second"}));
    assert!(second["run"].as_str().is_some_and(|run| run.ends_with("second")), "{second}");
    let compared = client.call("compare", &json!({"a": [folder], "b": [second["run"]]}));
    assert_eq!((&compared["comparable"], &compared["quantiles"][0]["q"]), (&json!(true), &json!(0.5)), "{compared}");
    let explained = client.call("explain", &json!({"run": folder}));
    assert_eq!((&explained["state"], &explained["gates"]), (&first["verdict"]["state"], &first["gates"]));
    // p99 needs 368 requests.
    let marks = explained["marks"].as_array().expect("marks");
    assert!(marks.iter().any(|mark| mark["q"] == 0.99 && mark["meaning"].to_string().contains("368")), "{explained}");
    // A run never replaces another one.
    let again = client.refused("run", &json!({"url": server.api(), "rate": 100, "duration": "1s", "name": "second"}));
    assert!(again.contains("already holds a run"), "{again}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn without_a_folder_nothing_is_written_and_only_this_machine_is_reached() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    std::fs::create_dir(dir.path().join("inside")).expect("a folder");
    let outside = dir.file("outside.csv", "x");
    let before = dir.path().read_dir().expect("a folder").count();
    let mut client = Client::start(&dir, &["--read", "inside", "--max-rate", "200", "--max-duration", "2s"]);
    let run = client.call("run", &json!({"url": server.api(), "rate": 100, "duration": "1s"}));
    assert_eq!((&run["run"], &run["tally"]["planned"]), (&Value::Null, &json!(100)), "{run}");
    for (tool, arguments, part) in [
        ("run", json!({"url": "http://192.0.2.1/", "rate": 1, "duration": "1s"}), "--allow-host"),
        ("run", json!({"url": server.api(), "rate": 201, "duration": "1s"}), "--max-rate"),
        ("run", json!({"url": server.api(), "rate": 1, "duration": "3s"}), "--max-duration"),
        ("run", json!({"url": server.api(), "rate": 1, "duration": "1s", "slo": ["p99"]}), "p99"),
        ("audit", json!({"file": outside}), "--read"),
        ("capacity", json!({"url": server.api(), "slo": ["p99 < 1s"]}), "--out-dir"),
    ] {
        let text = client.refused(tool, &arguments);
        assert!(text.contains(part) && !text.contains('\n'), "{tool}: {text}");
    }
    assert_eq!(client.end(), Some(0));
    assert_eq!(dir.path().read_dir().expect("a folder").count(), before, "nothing was written");
}

#[test]
fn a_capacity_is_searched_and_a_file_audited() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/import");
    let mut client =
        Client::start(&dir, &["--out-dir", "kept", "--read", data, "--max-rate", "50", "--max-duration", "8s"]);
    let found = client.call("capacity", &json!({"url": server.api(), "slo": ["p50 < 10s"], "min_rate": 40}));
    let folder = dir.path().join(found["folder"].as_str().expect("a folder"));
    assert!(folder.join("capacity.json").is_file(), "{found}");
    // Eight seconds may prove nothing, but each probe says what it saw.
    let probes = found["probes"].as_array().expect("probes");
    assert!(!probes.is_empty() && probes.iter().all(|probe| probe["rate"].as_f64() <= Some(50.0)), "{found}");
    let file = format!("{data}/jmeter/5.6.3/errors.xml");
    let audit = client.call("audit", &json!({"file": file}));
    assert!(audit["finding"].is_string() && audit["requests"].as_u64() > Some(0), "{audit}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_cancelled_call_ends_its_load_and_others_follow() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    let mut client = Client::start(&dir, &["--out-dir", "kept", "--max-duration", "10m"]);
    let long = json!({"name": "run", "arguments": {"url": server.api(), "rate": 50, "duration": "10m", "name": "long"},
        "_meta": {"progressToken": 5}});
    let id = client.send("tools/call", long);
    // The first notice of progress says that it runs. Questions are answered meanwhile.
    assert_eq!(client.hear()["params"]["progressToken"], 5);
    client
        .tell(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}).to_string());
    let next = client.call("run", &json!({"url": server.api(), "rate": 50, "duration": "500ms"}));
    assert_eq!(next["tally"]["planned"], 25, "{next}");
    // The cancelled run was saved with what it had.
    let saved = assert_complete(&dir.path().join("kept/long"));
    assert_eq!(saved["cut_short"].as_bool().or(saved["interrupted"].as_bool()), Some(true), "{}", saved["verdict"]);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_client_that_goes_away_takes_its_load_with_it() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    for by_signal in [false, true] {
        let mut client = Client::start(&dir, &["--max-duration", "10m"]);
        let arguments = json!({"url": server.api(), "rate": 50, "duration": "10m"});
        client.send("tools/call", json!({"name": "run", "arguments": arguments, "_meta": {"progressToken": 1}}));
        client.hear();
        if by_signal {
            kill(Pid::from_raw(client.child.id() as i32), Signal::SIGTERM).expect("it is still there");
            assert_eq!(client.child.wait().expect("it ends").code(), Some(143));
        } else {
            assert_eq!(client.end(), Some(0));
        }
    }
    // All that was sent has been sent: the load is over.
    let (_, rows) = server.stop();
    assert!(!rows.is_empty() && rows.len() < 3000, "{} requests", rows.len());
}

#[test]
fn lines_that_are_no_messages_are_refused_and_the_server_lives_on() {
    let dir = TestDir::new();
    let mut client = Client::start(&dir, &[]);
    for (line, code) in
        [("{", -32700), ("[]", -32600), ("{\"jsonrpc\":\"2.0\"}", -32600), (&"x".repeat(3 << 20), -32600)]
    {
        client.tell(line);
        assert_eq!(client.hear()["error"]["code"], code, "{}", &line[..line.len().min(40)]);
    }
    let unknown = client.ask("resources/list", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    assert_eq!(client.ask("ping", Value::Null)["result"], json!({}));
    assert_eq!(client.end(), Some(0));
}

/// The official client for Python checks each result against the schema that the server stated.
#[test]
fn the_client_of_pypi_runs_reads_compares_and_is_refused_a_foreign_host() {
    let Some(python) = std::env::var_os("TRUETAIL_TEST_PYTHON") else {
        return missing("a Python with a client of the protocol (TRUETAIL_TEST_PYTHON is not set)", "make test");
    };
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp_client.py");
    let output = std::process::Command::new(python)
        .args([script, env!("CARGO_BIN_EXE_truetail"), &server.api()])
        .current_dir(dir.path())
        .output()
        .expect("Python starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said.trim(), "run, explain, compare, audit refused, foreign host refused");
}
