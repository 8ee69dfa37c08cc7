//! inference-perf, by the Kubernetes project: requests to a language model at a rate that it calls constant.

mod parse;

use serde_json::{Value, json};
use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, SUMMARY, TESTED};
use crate::known_tool::KnownTool;
use crate::locate::locate_python;
use crate::model::{MODEL, TOKENIZER, prompts, tokenizer};
use crate::{InstallHint, InstalledTool, Invocation, LoadSpec, ToolInfo};

const CONFIG: &str = "config.yml";
const REPORTS: &str = "reports";
/// Tokens of a prompt, one per word.
const PROMPT_TOKENS: u64 = 8;
/// Tokens of an answer if the load does not say.
const ANSWER_TOKENS: u64 = 30;

/// inference-perf with its load type `constant`.
pub(crate) static TOOL: KnownTool = KnownTool::new(
    ToolInfo {
        name: NAME,
        label_model: LoadModelKind::Open,
        clock: "from the moment at which a worker sends the request; prints by how much its schedule was late beside that; its \
                'constant' rate has exponential gaps",
        install: InstallHint::anywhere("PyPI", "tools/install.sh inference_perf"),
        tested_version: TESTED,
    },
    |search_path| locate_python(search_path, NAME, "inference-perf"),
    |found, load, _| Ok(command(found, load)),
    |output, _| parse::parse(output),
)
.measuring_streams();

fn command(found: &InstalledTool, load: &LoadSpec) -> Invocation {
    Invocation {
        inputs: [(CONFIG.to_owned(), format!("{:#}\n", config(load)))].into_iter().chain(tokenizer()).collect(),
        outputs: vec![(SUMMARY, format!("{REPORTS}/{SUMMARY}"))],
        ..Invocation::new(found, &format!("-c {CONFIG}"))
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
