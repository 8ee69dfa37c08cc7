//! Any command line as a tool.

use std::path::{Path, PathBuf};

use truetail_model::workload::LoadModelKind;
use truetail_tools::{
    About, CommandError, Found, Install, Invocation, Load, Lookup, Missing, Output, ParseError, Report, Tool,
};

/// A command with places for what differs: `{url}`, `{rate}` (requests a second), `{duration}` (such as `20s`) and
/// `{seconds}` (such as `20`). Its output is read where its program is one of the tools.
pub struct CommandLine {
    argv: Vec<String>,
    known: Option<&'static dyn Tool>,
    about: About,
}

const NAME: &str = "command";
const INSTALL: Install = Install::anywhere("the command line", "check the command");
/// Of a program that is none of the tools.
const UNKNOWN: About =
    About { name: NAME, label_model: LoadModelKind::Open, clock: "unknown", install: INSTALL, tested_version: "none" };

impl CommandLine {
    /// This command: program and arguments.
    pub fn new(argv: Vec<String>) -> CommandLine {
        let known = known(&argv);
        let about = About { install: INSTALL, ..known.map_or(UNKNOWN, |tool| *tool.about()) };
        CommandLine { argv, known, about }
    }

    /// Has it a place of this name?
    pub fn has(&self, place: &str) -> bool {
        self.argv.iter().any(|word| word.contains(&format!("{{{place}}}")))
    }

    /// The tool whose parser reads its output.
    pub fn known(&self) -> Option<&'static dyn Tool> {
        self.known
    }

    fn filled(&self, load: &Load) -> Vec<String> {
        let places = [
            ("{url}", load.url.clone()),
            ("{rate}", load.rate.as_per_second().to_string()),
            ("{duration}", load.duration.to_string()),
            ("{seconds}", load.whole_seconds().to_string()),
        ];
        let fill = |word: &String| places.iter().fold(word.clone(), |word, (place, value)| word.replace(place, value));
        self.argv.iter().map(fill).collect()
    }
}

/// The tool that this program is, by its name; of a tool that can be used in two ways, the one that the arguments name.
fn known(argv: &[String]) -> Option<&'static dyn Tool> {
    let stem = Path::new(argv.first()?).file_stem()?.to_str()?;
    let is_closed_truetail = stem == "truetail" && argv.iter().any(|word| word == "closed" || word == "--model=closed");
    let name = if is_closed_truetail { "truetail-closed" } else { stem };
    let begins = |tool: &&&dyn Tool| tool.name().strip_prefix(name).is_some_and(|rest| rest.starts_with('-'));
    truetail_tools::by_name(name).or_else(|| truetail_tools::all().iter().find(begins).copied())
}

impl Tool for CommandLine {
    fn about(&self) -> &About {
        &self.about
    }

    /// As a shell looks for it: a path as it is, a name on the path.
    fn find(&self, lookup: &Lookup) -> Result<Found, Missing> {
        let program = self.argv.first().map_or("", String::as_str);
        let path = if program.contains('/') {
            let path = std::path::absolute(PathBuf::from(program)).ok().filter(|path| path.is_file());
            path.ok_or_else(|| Missing { looked_for: format!("there is no file {program}") })?
        } else {
            lookup.program(program)?
        };
        Ok(Found { path, version: "unknown".to_owned() })
    }

    fn command(&self, found: &Found, load: &Load, _folder: &Path) -> Result<Invocation, CommandError> {
        let args = self.filled(load).into_iter().skip(1).collect();
        // Files that it names are meant from where the user stands.
        let started_in = std::env::current_dir().ok();
        Ok(Invocation { program: found.path.clone(), args, started_in, ..Invocation::default() })
    }

    fn parse(&self, output: &Output, load: &Load) -> Result<Report, ParseError> {
        let unknown = || ParseError {
            tool: NAME,
            tested: UNKNOWN.tested_version,
            file: "stdout",
            line: None,
            what: "no parser knows this program, so nothing is said of its own numbers".to_owned(),
        };
        self.known.ok_or_else(unknown)?.parse_of(&self.argv, output, load)
    }
}

#[cfg(test)]
mod tests {
    use truetail_model::time::{Nanos, Rate};
    use truetail_run::LatencyFrom;

    use super::*;

    fn of(words: &str) -> CommandLine {
        CommandLine::new(words.split(' ').map(str::to_owned).collect())
    }

    fn load() -> Load {
        Load {
            url: "http://127.0.0.1:1/api".to_owned(),
            rate: Rate::per_second(500.0).unwrap(),
            duration: Nanos::from_secs(20),
            users: 1,
            connections: 1,
            timeout: None,
        }
    }

    #[test]
    fn places_are_filled_in() {
        let load = load();
        let command = of("gun -d{duration} -t {seconds} --rate={rate} {url}?a={b}");
        assert_eq!(command.filled(&load)[1..], ["-d20s", "-t", "20", "--rate=500", "http://127.0.0.1:1/api?a={b}"]);
        assert!(command.has("url") && !of("gun url").has("url"));
    }

    /// oha's CSV is the same with and without its correction.
    #[test]
    fn what_the_command_says_decides_where_the_single_latency_of_oha_starts() {
        let csv =
            "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n0.1,0,0,0.01,0.01,5,200\n";
        let output = Output { stdout: csv.into(), ..Output::default() };
        let from = |words: &str| {
            let report = of(words).parse(&output, &load()).unwrap_or_else(|error| panic!("{error}"));
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
        let name = |words| of(words).known().map(Tool::name);
        assert_eq!(name("/usr/bin/hey -z 1s {url}"), Some("hey"));
        assert_eq!(name("truetail run {url}"), Some("truetail"));
        assert_eq!(name("truetail run {url} --model closed"), Some("truetail-closed"));
        assert_eq!(name("k6 run x.js").map(|name| name.starts_with("k6-")), Some(true));
        assert_eq!(name("sh -c {url}"), None);
    }
}
