//! The record of one tool's run: `ran.json` for programs, `cmd.txt` for people.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use truetail_model::time::{Nanos, Rate};
use truetail_run::input;
use truetail_tools::{InstalledTool, LoadSpec};

use crate::process::{EndedBy, ProcessExit};

/// The value of `schema`.
const SCHEMA: &str = "truetail.lab/1";
/// The record as JSON.
const JSON_FILE: &str = "ran.json";
/// The record as text.
const TEXT_FILE: &str = "cmd.txt";

/// How a tool was run. With the files beside it, its result can be computed again at any time.
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
    /// The load that it was asked for.
    pub load: SavedLoad,
    /// The command line.
    pub argv: Vec<String>,
    /// Environment variables that were added.
    pub env: Vec<(String, String)>,
    /// The files that its parser wants: (key, pattern).
    pub outputs: Vec<(String, String)>,
    /// Start of the tool, nanoseconds since 1970 UTC.
    pub started_at_unix_ns: u64,
    /// Start of the fault clock, when its first request arrived, nanoseconds since 1970 UTC; `None` if none did.
    pub clock_started_at_unix_ns: Option<u64>,
    /// After this time the tool counts as hung, and is ended.
    pub limit_ns: u64,
    /// How its process ended; `None` if it was never started.
    pub ended: Option<ProcessExit>,
    /// Why it was not started, or what went wrong outside the tool.
    pub trouble: Option<String>,
}

/// A [`LoadSpec`] in `ran.json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SavedLoad {
    /// The target URL.
    pub url: String,
    /// Requests a second, for an open tool.
    pub rate_per_second: f64,
    /// Duration of the load.
    pub duration_ns: u64,
    /// Users, for a closed tool.
    pub users: u32,
    /// Connections, for an open tool.
    pub connections: u32,
    /// Timeout of a request, if there is one.
    pub timeout_ns: Option<u64>,
    /// Tokens in an answer of a language model, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_tokens: Option<u64>,
}

impl SavedLoad {
    /// From the requested load.
    pub fn of(load: &LoadSpec) -> SavedLoad {
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

    /// As the parsers take it; `None` if the rate is not valid.
    pub fn load(&self) -> Option<LoadSpec> {
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
    /// The record of a tool that is about to be run.
    pub(crate) fn planned(
        tool: &str,
        found: &InstalledTool,
        scenario: String,
        load: &LoadSpec,
        limit: Nanos,
    ) -> ToolRun {
        ToolRun {
            schema: SCHEMA.to_owned(),
            tool: tool.to_owned(),
            version: found.version.clone(),
            found_at: found.path.display().to_string(),
            scenario,
            load: SavedLoad::of(load),
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

    /// Whether the user cancelled it.
    pub fn was_interrupted(&self) -> bool {
        self.ended.is_some_and(|ended| ended.by == EndedBy::User)
    }

    /// Writes both files into `folder`.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        fs::write(folder.join(TEXT_FILE), self.to_text())?;
        let json = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        fs::write(folder.join(JSON_FILE), json + "\n")
    }

    /// Reads `ran.json` back; `None` if there is none with a known schema.
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

/// Quoted for a POSIX shell where necessary.
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
