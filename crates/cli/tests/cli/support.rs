//! Runs the binary in a temporary folder, with a time limit.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

use noise::expected_code;

#[path = "noise.rs"]
mod noise;

/// Time limit, generous for busy machines.
const TIMEOUT: Duration = Duration::from_secs(180);

/// Working folder, removed on drop.
pub struct TestDir(TempDir);

impl TestDir {
    pub fn new() -> TestDir {
        TestDir(tempfile::tempdir().expect("a temporary folder"))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file and returns its name.
    pub fn file<'a>(&self, name: &'a str, text: &str) -> &'a str {
        std::fs::write(self.path().join(name), text).expect("a file");
        name
    }

    /// Returns the command `truetail ARGUMENTS` in this folder, without environment variables that change its output.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bare(env!("CARGO_BIN_EXE_truetail"));
        command.args(arguments);
        command
    }

    /// Returns the command `truetail ARGUMENTS`, run by a shell after `before`.
    pub fn command_after(&self, before: &str, arguments: &[&str]) -> Command {
        let mut command = self.bare("sh");
        let script = format!("{before} && exec \"$@\"");
        command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_truetail")]).args(arguments);
        command
    }

    /// Returns the command `truetail ARGUMENTS`, run by a wrapper that executes it.
    pub fn command_by(&self, wrapper: &[&str], arguments: &[&str]) -> Command {
        let mut command = self.bare(wrapper[0]);
        command.args(&wrapper[1..]).arg(env!("CARGO_BIN_EXE_truetail")).args(arguments);
        command
    }

    fn bare(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for name in ["NO_COLOR", "TERM", "LC_ALL", "LC_CTYPE", "LANG"] {
            command.env_remove(name);
        }
        command
    }

    pub fn truetail(&self, arguments: &[&str]) -> CommandOutput {
        TestProcess::start(self.command(arguments)).end()
    }

    /// Returns the folders of runs under `truetail-runs`.
    pub fn runs(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.path().join("truetail-runs")) else { return Vec::new() };
        entries.map(|entry| entry.expect("an entry").path()).collect()
    }
}

/// Output and exit code of the binary.
#[derive(Debug)]
pub struct CommandOutput {
    /// Exit code; `None` if a signal ended the process.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl CommandOutput {
    /// Parses standard output, which must be a single JSON value.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// Checks the exit code of a run: `code`, or 4 if the run measured that the machine was too noisy for it.
    pub fn assert_code(&self, run: &Value, code: i32) {
        let code = expected_code(run, code).unwrap_or_else(|why| panic!("{why}: {self:?}"));
        assert_eq!(self.code, Some(code), "{self:?}");
    }
}

/// The running binary, killed on drop.
pub struct TestProcess {
    child: Child,
    stdout: Option<thread::JoinHandle<String>>,
    stderr: Receiver<String>,
    stderr_so_far: String,
}

impl TestProcess {
    pub fn start(command: Command) -> TestProcess {
        let mut running = TestProcess::spawn(command);
        running.stdout = running.child.stdout.take().map(|mut out| {
            thread::spawn(move || {
                let mut text = String::new();
                out.read_to_string(&mut text).expect("standard output in UTF-8");
                text
            })
        });
        running
    }

    /// Closes the reading end of standard output, as `head` does.
    pub fn start_without_reader(command: Command) -> TestProcess {
        let mut running = TestProcess::spawn(command);
        drop(running.child.stdout.take());
        running
    }

    fn spawn(mut command: Command) -> TestProcess {
        let mut child = command.spawn().expect("the binary starts");
        let (sender, stderr) = channel();
        let lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        TestProcess { child, stdout: None, stderr, stderr_so_far: String::new() }
    }

    /// Waits for a line on standard error that contains `part`, and returns it.
    pub fn wait_for_stderr(&mut self, part: &str) -> String {
        let until = Instant::now() + TIMEOUT;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line =
                self.stderr.recv_timeout(left).unwrap_or_else(|_| panic!("no '{part}' in {:?}", self.stderr_so_far));
            self.stderr_so_far += &format!("{line}\n");
            if line.contains(part) {
                return line;
            }
        }
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).expect("it is still there");
    }

    pub fn wait_for_file(&self, file: &Path) {
        let until = Instant::now() + TIMEOUT;
        while !file.exists() {
            assert!(Instant::now() < until, "no {}; it said {:?}", file.display(), self.stderr_so_far);
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn end(mut self) -> CommandOutput {
        let until = Instant::now() + TIMEOUT;
        let status = loop {
            match self.child.try_wait().expect("a child") {
                Some(status) => break status,
                None if Instant::now() > until => panic!("it does not end; it said {:?}", self.stderr_so_far),
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        let stdout = self.stdout.take().map_or(String::new(), |thread| thread.join().expect("standard output"));
        let mut stderr = std::mem::take(&mut self.stderr_so_far);
        self.stderr.iter().for_each(|line| stderr += &format!("{line}\n"));
        CommandOutput { code: status.code(), stdout, stderr }
    }
}

impl Drop for TestProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Running `truetail serve`, killed on drop.
pub struct ServeProcess {
    child: Child,
    /// Such as `http://127.0.0.1:4711`.
    pub url: String,
    truth: PathBuf,
}

impl ServeProcess {
    pub fn start(dir: &TestDir, scenario: &str) -> ServeProcess {
        ServeProcess::start_with(dir, scenario, &[])
    }

    pub fn start_with(dir: &TestDir, scenario: &str, more: &[&str]) -> ServeProcess {
        let truth = dir.path().join("truth.csv");
        let log = truth.display().to_string();
        let words = ["serve", "--scenario", scenario, "--listen", "127.0.0.1:0", "--truth", &log];
        let mut command = dir.command(&[&words[..], more].concat());
        let mut child = command.stderr(Stdio::null()).spawn().expect("the server starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        let url = line.strip_prefix("listening on ").unwrap_or_else(|| panic!("{line:?}")).trim().to_owned();
        ServeProcess { child, url, truth }
    }

    pub fn api(&self) -> String {
        format!("{}/api", self.url)
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn port(&self) -> u16 {
        self.url.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("a port")
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).expect("it is still there");
    }

    /// Ends the server with SIGTERM. Returns its exit code, and the rows of its truth log without the heading.
    pub fn stop(mut self) -> (Option<i32>, Vec<String>) {
        self.signal(Signal::SIGTERM);
        let status = self.child.wait().expect("it ends");
        let text = std::fs::read_to_string(&self.truth).expect("a truth log");
        assert!(text.ends_with('\n'), "the last row is whole");
        (status.code(), text.lines().skip(1).map(str::to_owned).collect())
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command with `text` as its standard input.
pub fn feed(mut command: Command, text: &str) -> CommandOutput {
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the binary starts");
    child.stdin.take().expect("piped").write_all(text.as_bytes()).expect("it reads");
    let Output { status, stdout, stderr } = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    CommandOutput { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
}

/// Checks the books of a run: every planned arrival has one outcome.
pub fn assert_balanced(run: &Value) {
    let of = |name: &str| run["tally"][name].as_u64().unwrap_or_else(|| panic!("no {name} in {}", run["tally"]));
    let outcomes = ["responses", "connect_failed", "reset", "malformed", "timed_out", "in_flight_at_end"];
    assert_eq!(of("planned"), of("issued") + of("never_issued"), "{}", run["tally"]);
    assert_eq!(of("issued"), outcomes.iter().map(|name| of(name)).sum::<u64>(), "{}", run["tally"]);
}

/// Checks that all files of a run exist, and returns its run.json.
pub fn assert_complete(folder: &Path) -> Value {
    for name in ["histograms.hlog", "timeline.csv", "samples.csv"] {
        assert!(folder.join(name).is_file(), "{name} in {}", folder.display());
    }
    let text = std::fs::read_to_string(folder.join("run.json")).expect("run.json");
    let run: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(run["schema"], "truetail.run/1");
    run
}
