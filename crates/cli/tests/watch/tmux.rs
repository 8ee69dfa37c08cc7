//! A tmux terminal with a shell in a temporary folder.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::missing::missing;
use crate::support::TestDir;

/// Time limit, generous for busy machines.
const TIMEOUT: Duration = Duration::from_secs(50);
/// Time from one look to the next.
const LOOK: Duration = Duration::from_millis(100);

/// A separate tmux server with one window, ended on drop.
pub struct Tmux {
    dir: TestDir,
    socket: PathBuf,
}

impl Tmux {
    /// Returns `None` without tmux.
    pub fn start(width: u16, height: u16) -> Option<Tmux> {
        if !Command::new("tmux").arg("-V").output().is_ok_and(|output| output.status.success()) {
            missing("tmux", "tools/install.sh tmux");
            return None;
        }
        let dir = TestDir::new();
        let socket = dir.path().join("tmux");
        let tmux = Tmux { dir, socket };
        let width = width.to_string();
        let height = height.to_string();
        let folder = tmux.dir.path().display().to_string();
        // A shell that reads no user files, with a known prompt.
        let shell = "env -u NO_COLOR -u COLORTERM -u LC_ALL LANG=C.UTF-8 PS1='$ ' sh";
        let mut arguments = vec!["-u", "-f", "/dev/null", "new-session", "-d", "-s", "test", "-c", &folder];
        arguments.extend(["-x", &width, "-y", &height, shell]);
        tmux.command(&arguments);
        for (option, value) in [("status", "off"), ("default-terminal", "tmux-256color"), ("window-size", "manual")] {
            tmux.command(&["set-option", "-g", option, value]);
        }
        tmux.wait_for("$");
        let program = PathBuf::from(env!("CARGO_BIN_EXE_truetail"));
        let folder = program.parent().expect("a folder").display().to_string();
        tmux.enter(&format!("export PATH=\"{folder}:$PATH\" TERM=tmux-256color; clear"));
        Some(tmux)
    }

    pub fn dir(&self) -> &TestDir {
        &self.dir
    }

    fn output(&self, arguments: &[&str]) -> Output {
        Command::new("tmux").arg("-S").arg(&self.socket).args(arguments).output().expect("tmux starts")
    }

    fn command(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Types a line.
    pub fn enter(&self, line: &str) {
        self.command(&["send-keys", "-t", "test", "-l", line]);
        self.command(&["send-keys", "-t", "test", "Enter"]);
    }

    pub fn keys(&self, key: &str) {
        self.command(&["send-keys", "-t", "test", key]);
    }

    pub fn resize(&self, width: u16, height: u16) {
        let width = width.to_string();
        let height = height.to_string();
        self.command(&["resize-window", "-t", "test", "-x", &width, "-y", &height]);
    }

    /// Returns the text on the screen.
    pub fn screen(&self) -> String {
        self.command(&["capture-pane", "-p", "-t", "test"]).trim_end().to_owned()
    }

    /// Returns the text on the screen and the lines that have scrolled off.
    pub fn everything(&self) -> String {
        self.command(&["capture-pane", "-p", "-S", "-200", "-t", "test"])
    }

    pub fn screen_with_colors(&self) -> String {
        self.command(&["capture-pane", "-p", "-e", "-t", "test"])
    }

    pub fn ask(&self, format: &str) -> String {
        self.command(&["display-message", "-p", "-t", "test", format]).trim().to_owned()
    }

    /// Waits until the screen contains `part`, and returns it.
    pub fn wait_for(&self, part: &str) -> String {
        let until = Instant::now() + TIMEOUT;
        loop {
            let screen = self.screen();
            if screen.contains(part) {
                return screen;
            }
            assert!(Instant::now() < until, "no '{part}' in\n{screen}");
            thread::sleep(LOOK);
        }
    }

    /// Waits until the screen fulfils the condition.
    pub fn wait_for_screen(&self, is_so: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + TIMEOUT;
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return screen;
            }
            assert!(Instant::now() < until, "still\n{screen}");
            thread::sleep(LOOK);
        }
    }

    /// Returns the process that the shell runs.
    pub fn program(&self) -> Pid {
        let shell = self.ask("#{pane_pid}");
        let text = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).expect("its children");
        Pid::from_raw(text.trim().parse().unwrap_or_else(|_| panic!("one process of {shell}: {text:?}")))
    }

    pub fn signal(&self, signal: Signal) {
        kill(self.program(), signal).expect("it is still there");
    }

    pub fn close_window(&self) {
        self.command(&["kill-window", "-t", "test"]);
    }

    /// Waits for the end of a process that is not a child of this one.
    pub fn wait_for_end_of(&self, program: Pid) {
        let until = Instant::now() + TIMEOUT;
        while kill(program, None).is_ok() {
            assert!(Instant::now() < until, "{program} is still there");
            thread::sleep(LOOK);
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.output(&["kill-server"]);
    }
}
