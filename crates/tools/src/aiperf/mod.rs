//! AIPerf, by NVIDIA: requests to a language model at a constant rate.

mod parse;

use std::path::Path;

use serde_json::json;
use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, SUMMARY, TESTED};
use crate::known_tool::KnownTool;
use crate::locate::locate_program;
use crate::model::{MODEL, PROMPT, TOKENIZER, prompts, tokenizer};
use crate::{InstallHint, InstalledTool, Invocation, LoadSpec, ToolInfo};

const PROMPTS: &str = "prompts.jsonl";
const ARTIFACTS: &str = "artifacts";

/// AIPerf with the arrival pattern `constant`.
pub(crate) static TOOL: KnownTool = KnownTool::new(
    ToolInfo {
        name: NAME,
        label_model: LoadModelKind::Open,
        clock: "from the moment at which a worker sends the request; when it is further behind than it will catch up, its schedule starts again from now; its ITL \
                is the mean gap of each answer, so the table has its inter chunk latency, in which events that were read together \
                have gaps of 0",
        install: InstallHint::anywhere("PyPI", "tools/install.sh aiperf"),
        tested_version: TESTED,
    },
    |search_path| locate_program(search_path, NAME, &["--version"]),
    |found, load, folder| Ok(command(found, load, folder)),
    |output, _| parse::parse(output),
)
.measuring_streams();

fn command(found: &InstalledTool, load: &LoadSpec, folder: &Path) -> Invocation {
    let rate = load.rate.as_per_second();
    let seconds = load.duration.as_secs_f64();
    let invocation = Invocation::new(found, "profile --url").arg(load.origin()).words(&format!(
        "-m {MODEL} --endpoint-type completions --streaming --use-server-token-count --request-rate {rate} \
         --arrival-pattern constant --benchmark-duration {seconds} --input-file {PROMPTS} --custom-dataset-type single_turn \
         --no-server-metrics --no-gpu-telemetry --ui none --artifact-dir {ARTIFACTS} --tokenizer"
    ));
    let mut invocation = invocation.arg(folder.join(TOKENIZER).display().to_string());
    if let Some(tokens) = load.answer_tokens {
        invocation = invocation.words(&format!("--extra-inputs max_tokens:{tokens}"));
    }
    if let Some(timeout) = load.timeout {
        invocation = invocation.words(&format!("--request-timeout-seconds {}", timeout.as_secs_f64()));
    }
    let prompts = format!("{}\n", json!({ "text": PROMPT })).repeat(prompts(load) as usize);
    Invocation {
        inputs: [(PROMPTS.to_owned(), prompts)].into_iter().chain(tokenizer()).collect(),
        outputs: vec![(SUMMARY, format!("{ARTIFACTS}/{SUMMARY}"))],
        ..invocation
    }
}
