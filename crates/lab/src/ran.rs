//! What is known of a tool that was run: `ran.json`, and the same for people in `cmd.txt`.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use truetail_model::time::{Nanos, Rate};
use truetail_tools::{Found, Load};

use crate::process::{Ended, EndedBy};

/// What `schema` says.
const SCHEMA: &str = "truetail.lab/1";
/// The file for programs.
const FILE: &str = "ran.json";
/// The file for people.
const FOR_PEOPLE: &str = "cmd.txt";

/// How a tool was run. With the files beside it, everything that can be said of it can be worked out again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ran {
    schema: String,
    /// Its name.
    pub tool: String,
    /// Its version, as it said before it was run.
    pub version: String,
    /// Its program, or folder.
    pub found_at: String,
    /// The whole scenario as TOML.
    pub scenario: String,
    /// What it was asked to do.
    pub load: Asked,
    /// The command.
    pub argv: Vec<String>,
    /// Variables it was given.
    pub env: Vec<(String, String)>,
    /// Which of its files are wanted, by key.
    pub outputs: Vec<(String, String)>,
    /// When it was started, nanoseconds since 1970 UTC.
    pub started_at_unix_ns: u64,
    /// When its first request arrived at the server, nanoseconds since 1970 UTC; `None` where none did.
    pub clock_started_at_unix_ns: Option<u64>,
    /// Whether it is hung was asked after so long.
    pub limit_ns: u64,
    /// How it ended; `None` where it was never started.
    pub ended: Option<Ended>,
    /// Why it was not started, or what went wrong around it.
    pub trouble: Option<String>,
}

/// A [`Load`] as it is written down.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Asked {
    /// The target.
    pub url: String,
    /// Requests a second of an open tool.
    pub rate_per_second: f64,
    /// For how long.
    pub duration_ns: u64,
    /// Users of a closed tool.
    pub users: u32,
    /// Connections of an open tool.
    pub connections: u32,
    /// Timeout of a request.
    pub timeout_ns: Option<u64>,
}

impl Asked {
    /// As it is written down.
    pub fn of(load: &Load) -> Asked {
        Asked {
            url: load.url.clone(),
            rate_per_second: load.rate.as_per_second(),
            duration_ns: load.duration.0,
            users: load.users,
            connections: load.connections,
            timeout_ns: load.timeout.map(|timeout| timeout.0),
        }
    }

    /// As the tools' parsers take it; `None` where the rate is none.
    pub fn load(&self) -> Option<Load> {
        Some(Load {
            url: self.url.clone(),
            rate: Rate::per_second(self.rate_per_second).ok()?,
            duration: Nanos(self.duration_ns),
            users: self.users,
            connections: self.connections,
            timeout: self.timeout_ns.map(Nanos),
        })
    }
}

impl Ran {
    /// A tool that is about to be run.
    pub(crate) fn planned(tool: &str, found: &Found, scenario: String, load: &Load, limit: Nanos) -> Ran {
        Ran {
            schema: SCHEMA.to_owned(),
            tool: tool.to_owned(),
            version: found.version.clone(),
            found_at: found.path.display().to_string(),
            scenario,
            load: Asked::of(load),
            argv: Vec::new(),
            env: Vec::new(),
            outputs: Vec::new(),
            started_at_unix_ns: 0,
            clock_started_at_unix_ns: None,
            limit_ns: limit.0,
            ended: None,
            trouble: None,
        }
    }

    /// The user ended it.
    pub fn was_interrupted(&self) -> bool {
        self.ended.is_some_and(|ended| ended.by == EndedBy::User)
    }

    /// Writes both files into `folder`.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        fs::write(folder.join(FOR_PEOPLE), self.for_people())?;
        let json = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        fs::write(folder.join(FILE), json + "\n")
    }

    /// Reads it back; `None` where there is none that this version understands.
    pub(crate) fn read(folder: &Path) -> Option<Ran> {
        let ran: Ran = serde_json::from_str(&fs::read_to_string(folder.join(FILE)).ok()?).ok()?;
        (ran.schema == SCHEMA).then_some(ran)
    }

    fn for_people(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: String| writeln!(text, "{name:<14}{value}").expect("a String takes all");
        line("tool", format!("{} {}", self.tool, self.version));
        for (name, value) in &self.env {
            line("env", format!("{name}={value}"));
        }
        line("command", self.argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "));
        let asked = &self.load;
        let duration = Nanos(asked.duration_ns);
        line("asked", format!("{}/s for {duration}, {} users", asked.rate_per_second, asked.users));
        line("hung after", format!("{:.1} s", Nanos(self.limit_ns).as_secs_f64()));
        if let Some(ended) = &self.ended {
            let code = ended.exit_code.map(|code| format!("exit code {code}"));
            let signal = ended.signal.map(|signal| format!("signal {signal}"));
            line("ended", code.or(signal).unwrap_or_default());
            line("ended by", ended.by.name().to_owned());
            line("wall", format!("{:.3} s", Nanos(ended.wall_ns).as_secs_f64()));
            let seconds = |ns| Nanos(ns).as_secs_f64();
            let (user, system) = (seconds(ended.cpu.user_ns), seconds(ended.cpu.system_ns));
            line("cpu", format!("{:.3} s (user {user:.3}, system {system:.3})", user + system));
            let memory = ended.peak_memory_bytes.map_or("unknown".to_owned(), |bytes| format!("{bytes} bytes"));
            line("peak memory", memory);
        }
        if let Some(trouble) = &self.trouble {
            line("trouble", trouble.clone());
        }
        text
    }
}

/// For a shell, and for people.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_for_a_shell() {
        assert_eq!(["-c", "", "a b", "it's"].map(quoted), ["-c", "''", "'a b'", r"'it'\''s'"]);
    }
}
