//! grpc-go: reflection, unary calls and streams. Its own counts of statuses agree, and a stall of it is measured from
//! the intended start.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::missing::missing;
use crate::support::{TestDir, assert_balanced};

/// A server of tests/grpc/go.
struct GoServer {
    child: Child,
    output: BufReader<ChildStdout>,
    place: String,
}

impl GoServer {
    /// Starts the server; `None` if it is not installed.
    fn start(options: &[&str]) -> Option<GoServer> {
        let tools = std::env::var_os("TRUETAIL_TOOLS").map(PathBuf::from);
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
        let program = tools.or_else(|| Some(cache?.join("truetail/tools")))?.join("bin/truetail-grpc-go");
        if !program.exists() {
            missing("grpc-go's server", "tools/install.sh grpc_go");
            return None;
        }
        let mut command = Command::new(program);
        command.args(["-listen", "127.0.0.1:0"]).args(options).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut place = String::new();
        output.read_line(&mut place).expect("it says where it listens");
        Some(GoServer { child, output, place: place.trim().to_owned() })
    }

    fn url(&self, method: &str) -> String {
        format!("grpc://{}/truth.Greeter/{method}", self.place)
    }

    /// Ends the server, and returns what it counted.
    fn stop(mut self) -> Value {
        let pid = nix::unistd::Pid::from_raw(self.child.id() as i32);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).expect("it runs");
        let mut text = String::new();
        self.output.read_to_string(&mut text).expect("its counts");
        self.child.wait().expect("it ended");
        serde_json::from_str(&text).expect("JSON")
    }
}

#[test]
#[ignore = "needs grpc-go: make test-tools"]
fn statuses_are_those_that_the_server_sent_and_a_stall_is_measured_from_the_intended_start() {
    let Some(server) = GoServer::start(&["-fail-every", "10", "-stall-at", "1s", "-stall-for", "500ms"]) else {
        return;
    };
    let dir = TestDir::new();
    let url = server.url("SayHello");
    let load = ["run", &url, "-r", "400", "-d", "3s", "--data", "{\"name\":\"a\"}", "--quiet", "--no-save", "--json"];
    let run = dir.truetail(&load).json();
    assert_balanced(&run);
    let counts = server.stop();
    let statuses = &run["grpc"]["statuses"];
    assert_eq!(
        (&statuses["OK"], &statuses["UNAVAILABLE"]),
        (&counts["counts"]["OK"], &counts["counts"]["Unavailable"])
    );
    assert_eq!((&run["tally"]["responses"], &counts["calls"]), (&1200.into(), &1200.into()));
    // 200 of 1200 arrivals fall due within the stall, and wait for up to 500 ms: at p95, 500 ms less 60 arrivals.
    let quantiles = run["response_time"]["quantiles"].as_array().expect("a list");
    let p95 = quantiles.iter().find(|quantile| quantile["q"] == 0.95).expect("p95");
    let milliseconds = p95["value_ns"].as_u64().expect("a number") as f64 / 1e6;
    // The wait is at least what the schedule says. How much later the server wakes up depends on the machine.
    assert!((345.0..450.0).contains(&milliseconds), "{milliseconds} ms");
}

#[test]
#[ignore = "needs grpc-go: make test-tools"]
fn messages_of_streams_are_counted_and_decoded() {
    let Some(server) = GoServer::start(&["-fail-every", "10", "-gap", "5ms"]) else { return };
    let dir = TestDir::new();
    let url = server.url("SayMany");
    let load = ["run", &url, "-r", "100", "-n", "100", "--data", "{\"name\":\"a\",\"count\":5}", "--quiet"];
    let more = ["--no-save", "--json", "--check", "jsonpath $[4].message == \"hello a\""];
    let run = dir.truetail(&[&load[..], &more].concat()).json();
    assert_balanced(&run);
    let counts = server.stop();
    assert_eq!((&run["stream"]["events"], &run["checks"][0]["passed"]), (&500.into(), &100.into()));
    assert_eq!(run["stream"]["tally"]["complete"], counts["counts"]["OK"]);
    assert_eq!(run["grpc"]["statuses"]["UNAVAILABLE"], counts["counts"]["Unavailable"]);
}

#[test]
#[ignore = "needs grpc-go: make test-tools"]
fn the_server_tells_its_schema_or_says_that_it_does_not() {
    let Some(server) = GoServer::start(&[]) else { return };
    let dir = TestDir::new();
    let listed = dir.truetail(&["grpc", "list", &server.place]);
    assert!(listed.stdout.contains("SayMany(truth.HelloRequest) returns (stream truth.HelloReply)"), "{listed:?}");
    let unknown = dir.truetail(&["run", &format!("grpc://{}/truth.Other/Do", server.place), "-r", "1"]);
    assert!(unknown.stderr.contains("does not know truth.Other; the only service is truth.Greeter"), "{unknown:?}");
    server.stop();
    let Some(silent) = GoServer::start(&["-reflection=false"]) else { return };
    let refused = dir.truetail(&["grpc", "list", &silent.place]);
    assert!(refused.code == Some(1) && refused.stderr.contains("has no reflection; give the schema"), "{refused:?}");
    silent.stop();
}
