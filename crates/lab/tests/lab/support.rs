//! Fake tools made of small shell scripts.

use std::path::Path;

use truetail_lab::TrialPlan;
use truetail_model::scenario::Scenario;
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModelKind;
use truetail_run::{ClaimedQuantile, Claims, LatencyFrom};
use truetail_tools::{
    CommandError, InstallHint, InstalledTool, Invocation, LoadSpec, ParseError, SearchPath, Tool, ToolInfo,
    ToolNotFound, ToolOutput, ToolReport,
};

/// A shell script as a tool. It prints its p99 in nanoseconds, or writes it to `results/<any>/p99`.
pub struct Fake {
    pub info: ToolInfo,
    pub script: String,
    pub version: &'static str,
    pub program: &'static str,
    /// A shell command to run before the tool.
    pub before: &'static str,
    pub here: bool,
}

impl Fake {
    pub fn new(name: &'static str, script: &str) -> Fake {
        Fake {
            info: ToolInfo { name, ..INFO },
            script: script.to_owned(),
            version: "1.0",
            program: "/bin/sh",
            before: "echo compiled > compiled",
            here: true,
        }
    }

    /// Returns the tool with static lifetime, as real tools have.
    pub fn leaked(self) -> &'static Fake {
        Box::leak(Box::new(self))
    }
}

const INFO: ToolInfo = ToolInfo {
    name: "fake",
    label_model: LoadModelKind::Closed,
    clock: "from nothing",
    install: InstallHint { origin: "here", debian: "fetch the fake", macos: None },
    tested_version: "1.0",
};

impl Tool for Fake {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn locate(&self, _search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
        let found = InstalledTool { path: self.program.into(), version: self.version.to_owned() };
        self.here.then_some(found).ok_or(ToolNotFound { looked_for: "a fake".to_owned() })
    }

    fn command(&self, found: &InstalledTool, load: &LoadSpec, _folder: &Path) -> Result<Invocation, CommandError> {
        Ok(Invocation {
            started_in: None,
            program: found.path.clone(),
            args: vec!["script.sh".to_owned(), load.url.clone()],
            env: vec![("GREETING".to_owned(), "good day".to_owned())],
            stdin: "from standard input\n".to_owned(),
            inputs: vec![("script.sh".to_owned(), self.script.clone())],
            outputs: vec![("p99", "results/*/p99".to_owned())],
            before: vec![["sh", "-c", self.before].map(str::to_owned).to_vec()],
            after: vec![("decoded".to_owned(), ["sh", "-c", "echo decoded"].map(str::to_owned).to_vec())],
        })
    }

    fn parse(&self, output: &ToolOutput, _load: &LoadSpec) -> Result<ToolReport, ParseError> {
        let bytes = output.file("p99").unwrap_or(&output.stdout);
        let text = String::from_utf8_lossy(bytes);
        let broken = |_| ParseError {
            tool: self.info.name,
            tested: self.info.tested_version,
            file: "stdout",
            line: Some(1),
            what: format!("'{}' is not a number", text.trim()),
        };
        let value_ns = text.trim().parse().map_err(broken)?;
        let quantiles = vec![ClaimedQuantile { q: 0.99, value_ns, printed: true }];
        Ok(ToolReport::from_claims(Claims { quantiles, ..Claims::silent(LatencyFrom::Send) }))
    }
}

/// Returns a plan of 100 ms with a stall. A tool counts as hung after `limit`.
pub fn plan(limit: Nanos) -> TrialPlan {
    let text = "name = \"small\"\n[workload]\nrate = 1000\nduration = \"100ms\"\n[service]\nbaseline = \"1ms\"\n\
                [[service.fault]]\nkind = \"stall\"\nat = \"50ms\"\nfor = \"20ms\"\n";
    let plan = TrialPlan::new(Scenario::parse(text, "small.toml").expect("a scenario")).expect("it is fit");
    TrialPlan { grace: limit.saturating_sub(plan.duration), ..plan }
}

/// Returns true if a process with this id exists and is not a zombie.
pub fn is_alive(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}
