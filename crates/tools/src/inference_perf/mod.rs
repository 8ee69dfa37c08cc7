//! inference-perf, by the Kubernetes project: requests to a language model at a rate that it calls constant.

mod parse;

use std::path::Path;

use serde_json::{Value, json};
use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, SUMMARY, TESTED};
use crate::locate::{printed_by, version_in};
use crate::model::{MODEL, TOKENIZER, prompts, tokenizer};
use crate::{
    CommandError, InstallHint, InstalledTool, Invocation, LoadSpec, ParseError, SearchPath, Tool, ToolInfo,
    ToolNotFound, ToolOutput, ToolReport,
};

/// inference-perf with its load type `constant`.
pub struct InferencePerf;

const INFO: ToolInfo = ToolInfo {
    name: NAME,
    label_model: LoadModelKind::Open,
    clock: "from the moment at which a worker sends the request; prints by how much its schedule was late beside that; its \
            'constant' rate has exponential gaps",
    install: InstallHint::anywhere("PyPI", "tools/install.sh inference_perf"),
    tested_version: TESTED,
};

const CONFIG: &str = "config.yml";
const REPORTS: &str = "reports";
/// Tokens of a prompt, one per word.
const PROMPT_TOKENS: u64 = 8;
/// Tokens of an answer if the load does not say.
const ANSWER_TOKENS: u64 = 30;

impl Tool for InferencePerf {
    fn info(&self) -> &ToolInfo {
        &INFO
    }

    fn measures_streams(&self) -> bool {
        true
    }

    /// Asks the Python next to the program for the version, because the program does not print it.
    fn locate(&self, search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
        let path = search_path.program(NAME)?;
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        let ask = "import importlib.metadata as facts; print(facts.version('inference-perf'))";
        let version = version_in(&printed_by(&real.with_file_name("python"), &["-c", ask]));
        Ok(InstalledTool { path, version })
    }

    fn command(&self, found: &InstalledTool, load: &LoadSpec, _folder: &Path) -> Result<Invocation, CommandError> {
        Ok(Invocation {
            inputs: [(CONFIG.to_owned(), format!("{:#}\n", config(load)))].into_iter().chain(tokenizer()).collect(),
            outputs: vec![(SUMMARY, format!("{REPORTS}/{SUMMARY}"))],
            ..Invocation::new(found, &format!("-c {CONFIG}"))
        })
    }

    fn parse(&self, output: &ToolOutput, _load: &LoadSpec) -> Result<ToolReport, ParseError> {
        parse::parse(output)
    }
}

/// Returns the configuration in JSON, which is also YAML. Prompts are random words of a tokenizer that knows nine.
fn config(load: &LoadSpec) -> Value {
    let count = prompts(load);
    let fixed = |tokens: u64| json!({ "type": "fixed", "min": tokens, "max": tokens, "mean": tokens, "std_dev": 0, "total_count": count });
    json!({
        "api": { "type": "completion", "streaming": true },
        "data": {
            "type": "random",
            "input_distribution": fixed(PROMPT_TOKENS),
            "output_distribution": fixed(load.answer_tokens.unwrap_or(ANSWER_TOKENS)),
        },
        "load": {
            "type": "constant",
            "stages": [{ "rate": load.rate.as_per_second(), "duration": load.whole_seconds() }],
        },
        "server": { "type": "vllm", "model_name": MODEL, "base_url": load.origin(), "ignore_eos": true },
        "tokenizer": { "pretrained_model_name_or_path": TOKENIZER },
        "report": { "request_lifecycle": { "summary": true, "per_stage": false, "per_request": false } },
        "storage": { "local_storage": { "path": REPORTS } },
    })
}
