//! A server program: started in a temporary folder, stopped, and its log read.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rcgen::generate_simple_self_signed;

use crate::support::TestDir;
use crate::test_requests::Logged;

/// Time limit for starting and stopping a server, generous for busy machines.
const TIMEOUT: Duration = Duration::from_secs(50);
const LOG: &str = "access.log";

/// Returns true if the program can be started with this argument and ends successfully.
pub fn starts(program: impl AsRef<OsStr>, argument: &str) -> bool {
    let tried = Command::new(program).arg(argument).stdout(Stdio::null()).stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success())
}

/// Writes `cert.pem` and `key.pem`, for 127.0.0.1.
pub fn certify(dir: &TestDir) {
    let made = generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    dir.file("cert.pem", &made.cert.pem());
    dir.file("key.pem", &made.signing_key.serialize_pem());
}

/// A running server, killed on drop.
pub struct ServerProcess {
    child: Child,
    /// Protocols and origins.
    origins: Vec<(String, String)>,
    log: PathBuf,
    quit: Signal,
}

impl ServerProcess {
    /// Starts a program whose first line holds its origins: `http=http://127.0.0.1:4711 h2=https://127.0.0.1:4712`.
    pub fn start(mut command: Command, dir: &TestDir) -> ServerProcess {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("its origins");
        let pair = |word: &str| word.split_once('=').map(|(name, origin)| (name.to_owned(), origin.to_owned()));
        let origins = line.split_whitespace().map(|word| pair(word).unwrap_or_else(|| panic!("{line:?}"))).collect();
        ServerProcess { child, origins, log: dir.path().join(LOG), quit: Signal::SIGTERM }
    }

    /// Starts a program that listens at `origins` and ends on `quit`. Returns `None` if an address is in use.
    pub fn start_at(
        mut command: Command,
        origins: Vec<(String, String)>,
        quit: Signal,
        log: PathBuf,
    ) -> Option<ServerProcess> {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the server starts");
        let since = Instant::now();
        while !origins.iter().all(|(_, origin)| answers(origin)) {
            if child.try_wait().expect("a child").is_some() {
                let mut output = String::new();
                child.stderr.take().expect("piped").read_to_string(&mut output).expect("why");
                assert!(output.contains("Address already in use"), "{output}");
                return None;
            }
            assert!(since.elapsed() < TIMEOUT, "it does not listen at {origins:?}");
            sleep(Duration::from_millis(5));
        }
        Some(ServerProcess { child, origins, log, quit })
    }

    /// Returns the origin for `http`, `https`, `h2c` or `h2`.
    pub fn origin(&self, protocol: &str) -> &str {
        let found = self.origins.iter().find(|(name, _)| name == protocol);
        &found.unwrap_or_else(|| panic!("no {protocol} among {:?}", self.origins)).1
    }

    /// Ends the server after it has answered all requests, and returns its log.
    pub fn stop(mut self) -> Vec<Logged> {
        kill(Pid::from_raw(self.child.id() as i32), self.quit).expect("it is still there");
        let since = Instant::now();
        while self.child.try_wait().expect("a child").is_none() {
            assert!(since.elapsed() < TIMEOUT, "it does not end");
            sleep(Duration::from_millis(5));
        }
        let text = std::fs::read_to_string(&self.log).expect("its log");
        text.lines().map(Logged::read).collect()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn answers(origin: &str) -> bool {
    origin.split_once("://").is_some_and(|(_, address)| std::net::TcpStream::connect(address).is_ok())
}

/// Returns the path of a file of these tests.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers").join(name)
}

/// Returns the arguments of the test servers: log, certificate, key, most requests per connection (0 for no limit).
pub fn arguments(dir: &TestDir, most_on_one: Option<u32>) -> Vec<String> {
    let at = |name| dir.path().join(name).display().to_string();
    vec![at(LOG), at("cert.pem"), at("key.pem"), most_on_one.unwrap_or(0).to_string()]
}
