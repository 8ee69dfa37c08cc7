//! The record of a tool's run: `ran.json` for programs, `cmd.txt` for people.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use truetail_model::time::{Nanos, Rate};
use truetail_run::input;
use truetail_tools::{InstalledTool, LoadSpec};

use crate::process::{EndedBy, ProcessExit};

const SCHEMA: &str = "truetail.lab/1";
const JSON_FILE: &str = "ran.json";
const TEXT_FILE: &str = "cmd.txt";

/// The record of a tool's run. With the files next to it, the result can be computed again at any time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ToolRun {
    schema: String,
    /// Name of the tool.
    pub tool: String,
    /// Version that the tool printed before the run.
    pub version: String,
    /// Path of its program or folder.
    pub found_at: String,
    /// The scenario as TOML.
    pub scenario: String,
    /// The requested load.
    pub load: SavedLoad,
    /// The command line.
    pub argv: Vec<String>,
    /// Environment variables that were added.
    pub env: Vec<(String, String)>,
    /// Files that its parser wants, as (key, pattern).
    pub outputs: Vec<(String, String)>,
    /// Start of the tool, in nanoseconds since 1970 UTC.
    pub started_at_unix_ns: u64,
    /// Start of the fault clock, at the arrival of the first request, in nanoseconds since 1970 UTC; `None` if no
    /// request arrived.
    pub clock_started_at_unix_ns: Option<u64>,
    /// Time after which the tool counts as hung and is ended.
    pub limit_ns: u64,
    /// The end of its process; `None` if it was never started.
    pub ended: Option<ProcessExit>,
    /// Reason that it was not started, or a problem outside the tool.
    pub trouble: Option<String>,
}

/// A [`LoadSpec`] in `ran.json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SavedLoad {
    /// The target URL.
    pub url: String,
    /// Requests per second, for an open tool.
    pub rate_per_second: f64,
    /// Duration of the load.
    pub duration_ns: u64,
    /// Users, for a closed tool.
    pub users: u32,
    /// Connections, for an open tool.
    pub connections: u32,
    /// Timeout of a request, if any.
    pub timeout_ns: Option<u64>,
    /// Tokens in an answer, if the service is a language model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_tokens: Option<u64>,
}

impl SavedLoad {
    /// Copies the requested load.
    pub fn from_spec(load: &LoadSpec) -> SavedLoad {
        SavedLoad {
            url: load.url.clone(),
            rate_per_second: load.rate.as_per_second(),
            duration_ns: load.duration.0,
            users: load.users,
            connections: load.connections,
            timeout_ns: load.timeout.map(|timeout| timeout.0),
            answer_tokens: load.answer_tokens,
        }
    }

    /// Returns the load for the parsers; `None` if the rate is not valid.
    pub fn to_spec(&self) -> Option<LoadSpec> {
        Some(LoadSpec {
            url: self.url.clone(),
            rate: Rate::per_second(self.rate_per_second).ok()?,
            duration: Nanos(self.duration_ns),
            users: self.users,
            connections: self.connections,
            timeout: self.timeout_ns.map(Nanos),
            answer_tokens: self.answer_tokens,
        })
    }
}

impl ToolRun {
    /// Creates the record of a tool that is about to run.
    pub(crate) fn new(tool: &str, found: &InstalledTool, scenario: String, load: &LoadSpec, limit: Nanos) -> ToolRun {
        ToolRun {
            schema: SCHEMA.to_owned(),
            tool: tool.to_owned(),
            version: found.version.clone(),
            found_at: found.path.display().to_string(),
            scenario,
            load: SavedLoad::from_spec(load),
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

    /// Returns true if the user cancelled the tool.
    pub fn was_interrupted(&self) -> bool {
        self.ended.is_some_and(|ended| ended.by == EndedBy::User)
    }

    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        fs::write(folder.join(TEXT_FILE), self.to_text())?;
        let json = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        fs::write(folder.join(JSON_FILE), json + "\n")
    }

    /// Reads `ran.json`; `None` if it is missing or has an unknown schema.
    pub(crate) fn read(folder: &Path) -> Option<ToolRun> {
        let run: ToolRun = serde_json::from_str(&input::text(&folder.join(JSON_FILE)).ok()?).ok()?;
        (run.schema == SCHEMA).then_some(run)
    }

    fn to_text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: String| writeln!(text, "{name:<14}{value}").expect("a String takes all");
        line("tool", format!("{} {}", self.tool, self.version));
        for (name, value) in &self.env {
            line("env", format!("{name}={value}"));
        }
        line("command", self.argv.iter().map(|word| shell_quoted(word)).collect::<Vec<_>>().join(" "));
        let load = &self.load;
        let duration = Nanos(load.duration_ns);
        line("asked", format!("{}/s for {duration}, {} users", load.rate_per_second, load.users));
        line("hung after", format!("{:.1} s", Nanos(self.limit_ns).as_secs_f64()));
        if let Some(ended) = &self.ended {
            let code = ended.exit_code.map(|code| format!("exit code {code}"));
            let signal = ended.signal.map(|signal| format!("signal {signal}"));
            line("ended", code.or(signal).unwrap_or_default());
            line("ended by", ended.by.name().to_owned());
            line("wall", format!("{:.3} s", Nanos(ended.wall_ns).as_secs_f64()));
            let seconds = |ns| Nanos(ns).as_secs_f64();
            let user = seconds(ended.cpu.user_ns);
            let system = seconds(ended.cpu.system_ns);
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

/// Quotes a word for a POSIX shell if necessary.
fn shell_quoted(word: &str) -> String {
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
    fn words_are_quoted_where_a_shell_needs_it() {
        assert_eq!(["-c", "", "a b", "it's"].map(shell_quoted), ["-c", "''", "'a b'", r"'it'\''s'"]);
    }
}
