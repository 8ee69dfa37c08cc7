//! Any command line as a load tool.

use std::path::{Path, PathBuf};

use truetail_model::workload::LoadModelKind;
use truetail_tools::{
    CommandError, InstallHint, InstalledTool, Invocation, LoadSpec, ParseError, SearchPath, Tool, ToolInfo,
    ToolNotFound, ToolOutput, ToolReport,
};

/// A command line with placeholders: `{url}`, `{origin}` (the URL without its path), `{address}` (host and port),
/// `{rate}` (requests a second), `{rate/10}` (a tenth of it, for each of ten workers), `{duration}` (such as `20s`),
/// `{seconds}` (such as `20`) and `{timeout}` (of a request, in seconds). If its program is a known tool, that tool's
/// parser reads the output.
pub struct CommandTemplate {
    argv: Vec<String>,
    known_tool: Option<&'static dyn Tool>,
    info: ToolInfo,
}

const NAME: &str = "command";
const INSTALL: InstallHint = InstallHint::anywhere("the command line", "check the command");
const UNKNOWN: ToolInfo = ToolInfo {
    name: NAME,
    label_model: LoadModelKind::Open,
    clock: "unknown",
    install: INSTALL,
    tested_version: "none",
};

impl CommandTemplate {
    /// Creates a template from a program and its arguments.
    pub fn new(argv: Vec<String>) -> CommandTemplate {
        let known_tool = known_tool(&argv);
        let info = ToolInfo { install: INSTALL, ..known_tool.map_or(UNKNOWN, |tool| *tool.info()) };
        CommandTemplate { argv, known_tool, info }
    }

    /// Returns true if the command contains the server's address, as `{url}`, `{origin}` or `{address}`.
    pub fn names_the_server(&self) -> bool {
        self.argv.iter().any(|word| ["{url}", "{origin}", "{address}"].iter().any(|place| word.contains(place)))
    }

    /// Returns the tool whose parser reads the output.
    pub fn known_tool(&self) -> Option<&'static dyn Tool> {
        self.known_tool
    }

    fn fill(&self, load: &LoadSpec) -> Vec<String> {
        filled(&self.argv, load)
    }
}

/// Returns these words with the load in place of the placeholders.
pub(crate) fn filled(words: &[String], load: &LoadSpec) -> Vec<String> {
    let rate = load.rate.as_per_second();
    let values = [
        ("{url}", load.url.clone()),
        ("{origin}", load.origin().to_owned()),
        ("{address}", address_in(load.origin()).to_owned()),
        ("{rate}", rate.to_string()),
        ("{rate/10}", (rate / 10.0).to_string()),
        ("{duration}", load.duration.to_string()),
        ("{seconds}", load.whole_seconds().to_string()),
        ("{timeout}", load.timeout_seconds().unwrap_or(USUAL_TIMEOUT_SECONDS).to_string()),
    ];
    let fill = |word: &String| values.iter().fold(word.clone(), |word, (name, value)| word.replace(name, value));
    words.iter().map(fill).collect()
}

fn address_in(origin: &str) -> &str {
    origin.split_once("://").map_or(origin, |(_, address)| address)
}

/// Value of `{timeout}` if the load has no timeout.
const USUAL_TIMEOUT_SECONDS: u64 = 60;

/// Returns the known tool with the name of this program. If a tool has several modes, the arguments decide.
fn known_tool(argv: &[String]) -> Option<&'static dyn Tool> {
    let stem = Path::new(argv.first()?).file_stem()?.to_str()?;
    let is_closed_truetail = stem == "truetail" && argv.iter().any(|word| word == "closed" || word == "--model=closed");
    let reads_tokens = stem == "truetail" && argv.iter().any(|word| word == "--llm" || word.starts_with("--llm="));
    let name = match (is_closed_truetail, reads_tokens) {
        (true, _) => "truetail-closed",
        (false, true) => "truetail-llm",
        (false, false) => stem,
    };
    let is_mode = |tool: &&&dyn Tool| tool.name().strip_prefix(name).is_some_and(|rest| rest.starts_with('-'));
    truetail_tools::by_name(name).or_else(|| truetail_tools::all().iter().find(is_mode).copied())
}

impl Tool for CommandTemplate {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    /// Takes a path as it is and searches for a name, as a shell does.
    fn locate(&self, search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
        let program = self.argv.first().map_or("", String::as_str);
        let path = if program.contains('/') {
            let path = std::path::absolute(PathBuf::from(program)).ok().filter(|path| path.is_file());
            path.ok_or_else(|| ToolNotFound { looked_for: format!("there is no file {program}") })?
        } else {
            search_path.program(program)?
        };
        // A program that is known by its name can be asked for its version.
        let known = self.known_tool.and_then(|tool| tool.locate(search_path).ok()).filter(|known| known.path == path);
        Ok(known.unwrap_or_else(|| InstalledTool { path, version: "unknown".to_owned() }))
    }

    fn command(&self, found: &InstalledTool, load: &LoadSpec, _folder: &Path) -> Result<Invocation, CommandError> {
        let args = self.fill(load).into_iter().skip(1).collect();
        // Relative file names in the command refer to the user's working directory.
        let started_in = std::env::current_dir().ok();
        Ok(Invocation { program: found.path.clone(), args, started_in, ..Invocation::default() })
    }

    fn parse(&self, output: &ToolOutput, load: &LoadSpec) -> Result<ToolReport, ParseError> {
        let unknown = || ParseError {
            tool: NAME,
            tested: UNKNOWN.tested_version,
            file: "stdout",
            line: None,
            what: "truetail cannot read the output of this program, so it does not judge the numbers it reports"
                .to_owned(),
        };
        self.known_tool.ok_or_else(unknown)?.parse_with_args(&self.argv, output, load)
    }
}

#[cfg(test)]
mod tests {
    use truetail_model::time::{Nanos, Rate};
    use truetail_run::LatencyFrom;

    use super::*;

    fn template(words: &str) -> CommandTemplate {
        CommandTemplate::new(words.split(' ').map(str::to_owned).collect())
    }

    fn load() -> LoadSpec {
        LoadSpec {
            url: "http://127.0.0.1:1/api".to_owned(),
            rate: Rate::per_second(500.0).unwrap(),
            duration: Nanos::from_secs(20),
            users: 1,
            connections: 1,
            timeout: None,
            answer_tokens: None,
        }
    }

    #[test]
    fn placeholders_are_filled_in() {
        let load = load();
        let command = template(
            "gun -d{duration} -t {seconds} --rate={rate} {url}?a={b} at={origin} -q{rate/10} -T{timeout} {address}",
        );
        let filled = [
            "-d20s",
            "-t",
            "20",
            "--rate=500",
            "http://127.0.0.1:1/api?a={b}",
            "at=http://127.0.0.1:1",
            "-q50",
            "-T60",
            "127.0.0.1:1",
        ];
        assert_eq!(command.fill(&load)[1..], filled);
        let is_told = |words| template(words).names_the_server();
        assert!(
            is_told("gun --at={url}")
                && is_told("gun {origin}/v1")
                && is_told("gun {address}")
                && !is_told("gun url {rate}")
        );
    }

    #[test]
    fn a_known_program_is_asked_for_its_version() {
        let folder = tempfile::tempdir().unwrap();
        // Links, because a program that was just written may be busy. `ls --version` prints one.
        for name in ["oha", "gun"] {
            std::os::unix::fs::symlink("/bin/ls", folder.path().join(name)).unwrap();
        }
        let search_path = SearchPath { folder: "/nowhere".into(), path: vec![folder.path().to_owned()] };
        let version = |words| template(words).locate(&search_path).unwrap().version;
        assert_ne!(version("oha {url}"), "unknown");
        assert_eq!(version("gun {url}"), "unknown");
    }

    /// The CSV of oha is the same with and without latency correction.
    #[test]
    fn what_the_command_says_decides_where_the_single_latency_of_oha_starts() {
        let csv =
            "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n0.1,0,0,0.01,0.01,5,200\n";
        let output = ToolOutput { stdout: csv.into(), ..ToolOutput::default() };
        let from = |words: &str| {
            let report = template(words).parse(&output, &load()).unwrap_or_else(|error| panic!("{error}"));
            report.claims.latency_from
        };
        assert_eq!(from("oha -q 1000 --output-format csv {url}"), LatencyFrom::Send);
        assert_eq!(from("oha -q1000 --latency-correction --output-format csv {url}"), LatencyFrom::Intended);
        for rate in ["-q {rate}", "-q=1000", "--burst-delay 1s --burst-rate 100", "--burst-delay=1s --burst-rate=100"] {
            assert_eq!(from(&format!("oha {rate} --latency-correction {{url}}")), LatencyFrom::Intended, "{rate}");
        }
        for none in ["-c 1", "-q 0", "-q0.0", "-q=0"] {
            assert_eq!(from(&format!("oha {none} --latency-correction {{url}}")), LatencyFrom::Send, "no rate: {none}");
        }
    }

    #[test]
    fn tools_are_known_by_their_programs() {
        let name = |words| template(words).known_tool().map(Tool::name);
        assert_eq!(name("/usr/bin/hey -z 1s {url}"), Some("hey"));
        assert_eq!(name("truetail run {url}"), Some("truetail"));
        assert_eq!(name("truetail run {url} --model closed"), Some("truetail-closed"));
        assert_eq!(name("truetail run {url} --llm openai-chat"), Some("truetail-llm"));
        assert_eq!(name("k6 run x.js").map(|name| name.starts_with("k6-")), Some(true));
        assert_eq!(name("sh -c {url}"), None);
    }
}
