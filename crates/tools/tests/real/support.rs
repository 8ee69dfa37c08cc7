//! Runs a tool and waits for its end, with less supervision than the laboratory.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};
use truetail_model::service::Service;
use truetail_model::time::{Nanos, Rate};
use truetail_server::{Server, ServerOptions, ServerTruth};
use truetail_tools::{
    InstalledTool, Invocation, LoadSpec, ParseError, SearchPath, Tool, ToolOutput, ToolReport, by_name, grpc,
};

use crate::missing::{missing, missing_everywhere};

/// Time limit that only a hanging tool exceeds.
const PATIENCE: Duration = Duration::from_secs(300);

/// Users of a closed tool.
pub(crate) const USERS: u32 = 4;
pub(crate) const CONNECTIONS: u32 = 10;
/// Requests per second of an open tool.
pub(crate) const RATE: f64 = 100.0;

/// The report of a tool, and the server's truth.
pub(crate) struct Observation {
    pub(crate) report: ToolReport,
    pub(crate) truth: ServerTruth,
}

/// Locates the tool, if it is installed.
pub(crate) fn locate(name: &str) -> Option<(&'static dyn Tool, InstalledTool)> {
    let tool = by_name(name).unwrap_or_else(|| panic!("no tool {name}"));
    match tool.locate(&SearchPath::from_env()) {
        Ok(found) => Some((tool, found)),
        Err(_) => {
            let hint = &tool.info().install;
            // Vegeta and wrk2 must be built from source.
            let say = if hint.origin == "source" { missing_everywhere } else { missing };
            say(name, hint.debian);
            None
        }
    }
}

/// Runs the tool against a server with this behaviour; `None` if it is not installed.
pub(crate) fn run(name: &str, service: Service, duration: Nanos) -> Option<Observation> {
    observe(name, "http://ADDRESS/api", service, duration)
}

/// Runs the tool over gRPC, like [`run`].
pub(crate) fn calls(name: &str, service: Service, duration: Nanos) -> Option<Observation> {
    observe(name, &format!("grpc://ADDRESS{}", grpc::METHOD_PATH), service, duration)
}

fn observe(name: &str, url: &str, service: Service, duration: Nanos) -> Option<Observation> {
    let (tool, found) = locate(name)?;
    let server = Server::start(ServerOptions::new(service, SocketAddr::from(([127, 0, 0, 1], 0)))).expect("a server");
    let load = load(url, server.addr(), duration);
    let output = leave(tool, &found, &load);
    let report = tool.parse(&output, &load).unwrap_or_else(|error| panic!("{error}\n{}", told(&output)));
    Some(Observation { report, truth: server.stop() })
}

/// Runs the tool against an address without a server; `None` if it is not installed.
pub(crate) fn run_alone(name: &str, duration: Nanos) -> Option<Result<ToolReport, ParseError>> {
    alone(name, "http://ADDRESS/api", duration)
}

/// Runs the tool over gRPC, like [`run_alone`].
pub(crate) fn calls_alone(name: &str, duration: Nanos) -> Option<Result<ToolReport, ParseError>> {
    alone(name, &format!("grpc://ADDRESS{}", grpc::METHOD_PATH), duration)
}

fn alone(name: &str, url: &str, duration: Nanos) -> Option<Result<ToolReport, ParseError>> {
    let (tool, found) = locate(name)?;
    let taken = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    taken.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).expect("a port");
    let address = taken.local_addr().expect("its address").as_socket().expect("an IP address");
    let load = load(url, address, duration);
    Some(tool.parse(&leave(tool, &found, &load), &load))
}

fn load(url: &str, address: SocketAddr, duration: Nanos) -> LoadSpec {
    LoadSpec {
        url: url.replace("ADDRESS", &address.to_string()),
        rate: Rate::per_second(RATE).expect("a rate"),
        duration,
        users: USERS,
        connections: CONNECTIONS,
        timeout: None,
        answer_tokens: None,
    }
}

/// Runs the tool in a temporary folder and collects its output.
fn leave(tool: &dyn Tool, found: &InstalledTool, load: &LoadSpec) -> ToolOutput {
    let folder = tempfile::tempdir().expect("a folder");
    let invocation = tool.command(found, load, folder.path()).expect("a command line");
    for (name, text) in &invocation.inputs {
        fs::write(folder.path().join(name), text).expect("an input is written");
    }
    for command in &invocation.before {
        assert!(also(command, folder.path(), Stdio::null()).success(), "{command:?}");
    }
    let status = wait(start(&invocation, folder.path()));
    for (name, command) in &invocation.after {
        also(command, folder.path(), File::create(folder.path().join(name)).expect("a file for its output").into());
    }
    let read = |name: &str| fs::read(folder.path().join(name));
    let left = |name: &str| fs::read(place(folder.path(), name)?).ok();
    let files = invocation.outputs.iter().filter_map(|(key, name)| Some(((*key).to_owned(), left(name)?)));
    ToolOutput {
        files: files.collect(),
        stdout: read("stdout").expect("its output"),
        stderr: read("stderr").expect("its complaints"),
        exit_code: status.code(),
    }
}

/// Runs a command before or after the tool.
fn also(command: &[String], folder: &Path, stdout: Stdio) -> ExitStatus {
    let mut also = Command::new(&command[0]);
    also.args(&command[1..]).current_dir(folder).stdin(Stdio::null()).stdout(stdout);
    also.status().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Resolves a relative path. A component `*` matches the only folder in its place.
fn place(folder: &Path, path: &str) -> Option<PathBuf> {
    let only = |folder: &Path| Some(fs::read_dir(folder).ok()?.next()?.ok()?.path());
    let step = |place: PathBuf, part| if part == "*" { only(&place) } else { Some(place.join(part)) };
    path.split('/').try_fold(folder.to_owned(), step)
}

fn start(invocation: &Invocation, folder: &Path) -> Child {
    let file = |name: &str| File::create(folder.join(name)).expect("a file for its output");
    fs::write(folder.join("stdin"), &invocation.stdin).expect("its input is written");
    let stdin = File::open(folder.join("stdin")).expect("its input");
    let mut command = Command::new(&invocation.program);
    command.args(&invocation.args).envs(invocation.env.iter().cloned()).current_dir(folder);
    command.stdin(stdin).stdout(file("stdout")).stderr(file("stderr"));
    command.spawn().unwrap_or_else(|error| panic!("{}: {error}", invocation.program.display()))
}

fn wait(mut child: Child) -> ExitStatus {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("its state") {
            return status;
        }
        if started.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            panic!("it hangs: not done after {PATIENCE:?}");
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn told(output: &ToolOutput) -> String {
    format!("{}\n{}", output.text(), String::from_utf8_lossy(&output.stderr))
}
