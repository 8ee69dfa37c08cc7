//! `vllm bench serve`: requests to a language model at a rate.

use std::path::Path;

use serde_json::json;
use truetail_model::workload::LoadModelKind;

use super::parse;
use crate::locate::{printed_by, version_in};
use crate::model::{MODEL, PROMPT, TOKENIZER, half_rate_users, tokenizer};
use crate::output_reader::OutputReader;
use crate::{
    CommandError, InstallHint, InstalledTool, Invocation, LoadSpec, ParseError, SearchPath, Tool, ToolInfo,
    ToolNotFound, ToolOutput, ToolReport,
};

/// `vllm bench serve` with a request rate.
pub enum Vllm {
    /// Without a limit on requests in flight, which is the default.
    Unlimited,
    /// With a limit of [`half_rate_users`] requests in flight. The limit matters only during a stall.
    Limited,
}

const TESTED: &str = "0.32.0";
const RESULTS: &str = "results.json";

const UNLIMITED: ToolInfo = ToolInfo {
    name: "vllm",
    label_model: LoadModelKind::Open,
    clock: "from the moment at which its task gets to send the request; its gaps are equal with --burstiness inf only, and \
            otherwise exponential",
    install: INSTALL,
    tested_version: TESTED,
};

const LIMITED: ToolInfo = ToolInfo {
    name: "vllm-max-concurrency",
    label_model: LoadModelKind::Open,
    clock: "from the moment at which the request has got through --max-concurrency: the wait for a place is in no latency, but in \
            queue_times of its file",
    install: INSTALL,
    tested_version: TESTED,
};

const INSTALL: InstallHint = InstallHint::anywhere("PyPI", "tools/install.sh vllm");

const PROMPTS: &str = "prompts.jsonl";

impl Tool for Vllm {
    fn info(&self) -> &ToolInfo {
        match self {
            Vllm::Unlimited => &UNLIMITED,
            Vllm::Limited => &LIMITED,
        }
    }

    fn measures_streams(&self) -> bool {
        true
    }

    /// Asks the Python next to the program for the version, because `--version` takes many seconds.
    fn locate(&self, search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
        let path = search_path.program("vllm")?;
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        let ask = "import importlib.metadata as facts; print(facts.version('vllm'))";
        let version = version_in(&printed_by(&real.with_file_name("python"), &["-c", ask]));
        Ok(InstalledTool { path, version })
    }

    fn command(&self, found: &InstalledTool, load: &LoadSpec, _folder: &Path) -> Result<Invocation, CommandError> {
        let rate = load.rate.as_per_second();
        // The tool ends after a number of requests, not after a time.
        let planned = (rate * load.duration.as_secs_f64()).ceil() as u64;
        let tokens = load.answer_tokens.unwrap_or(super::ANSWER_TOKENS);
        let invocation =
            Invocation::new(found, "bench serve --backend vllm --base-url").arg(load.origin()).words(&format!(
                "--model {MODEL} --tokenizer {TOKENIZER} --dataset-name custom --dataset-path {PROMPTS} --skip-chat-template \
                 --custom-output-len {tokens} --num-prompts {planned} --request-rate {rate} --burstiness inf \
                 --ready-check-timeout-sec 0 --num-warmups 0 --percentile-metrics ttft,itl,e2el \
                 --metric-percentiles 90,95,99 --save-result --save-detailed --result-filename {RESULTS} --disable-tqdm"
            ));
        let invocation = match self {
            Vllm::Unlimited => invocation,
            Vllm::Limited => invocation.words(&format!("--max-concurrency {}", half_rate_users(load))),
        };
        let row = json!({ "prompt": PROMPT });
        let prompts = format!("{row}\n").repeat(planned as usize);
        Ok(Invocation {
            inputs: [(PROMPTS.to_owned(), prompts)].into_iter().chain(tokenizer()).collect(),
            outputs: vec![(RESULTS, RESULTS.to_owned())],
            ..invocation
        })
    }

    fn parse(&self, output: &ToolOutput, _load: &LoadSpec) -> Result<ToolReport, ParseError> {
        parse::parse(output, OutputReader::stdout(self.name(), TESTED).file(RESULTS), RESULTS)
    }
}
