//! A server of the folder `tests` in another language: it says where it listens, and at its end what it counted.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::missing::missing;

pub(crate) struct CountingServer {
    child: Child,
    output: BufReader<ChildStdout>,
    /// Host and port.
    pub(crate) place: String,
}

/// Returns the path of a program that `tools/install.sh` puts into its own folder.
pub(crate) fn installed(name: &str) -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from);
    let cache = || set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    let tools = set("TRUETAIL_TOOLS").or_else(|| Some(cache()?.join("truetail/tools")))?;
    Some(tools.join("bin").join(name)).filter(|program| program.exists())
}

impl CountingServer {
    /// Starts the server of that name, such as `grpc-go` for tests/grpc/go; `None` if it is not installed.
    pub(crate) fn start(name: &str, options: &[&str]) -> Option<CountingServer> {
        let Some(program) = installed(&format!("truetail-{name}")) else {
            missing(&format!("the server {name}"), &format!("tools/install.sh {}", name.replace('-', "_")));
            return None;
        };
        let mut command = Command::new(program);
        command.arg("-listen=127.0.0.1:0").args(options).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut place = String::new();
        output.read_line(&mut place).expect("it says where it listens");
        Some(CountingServer { child, output, place: place.trim().to_owned() })
    }

    /// Ends the server, and returns what it counted.
    pub(crate) fn stop(mut self) -> Value {
        let pid = nix::unistd::Pid::from_raw(self.child.id() as i32);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).expect("it runs");
        let mut text = String::new();
        self.output.read_to_string(&mut text).expect("its counts");
        self.child.wait().expect("it ended");
        serde_json::from_str(&text).expect("JSON")
    }
}

/// Ends the server after a failed test, which would otherwise wait for its output for ever.
impl Drop for CountingServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
