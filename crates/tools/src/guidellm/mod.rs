//! GuideLLM: requests to a language model at a constant rate.

mod metrics;
mod parse;

use serde_json::json;
use truetail_model::workload::LoadModelKind;

pub use self::metrics::GuideLlmMetrics;
use self::parse::{BENCHMARKS, NAME, TESTED};
use crate::known_tool::KnownTool;
use crate::locate::locate_program;
use crate::model::{MODEL, PROMPT, prompts};
use crate::{InstallHint, InstalledTool, Invocation, LoadSpec, ToolInfo};

const PROMPTS: &str = "prompts.jsonl";

/// GuideLLM with its profile `constant`.
pub(crate) static TOOL: KnownTool = KnownTool::new(
    ToolInfo {
        name: NAME,
        label_model: LoadModelKind::Open,
        clock: "from the moment at which a worker sends the request, not from when it was due; TTFT, ITL and TPOT are over \
                successful requests alone, and its ITL is the mean gap of each answer; requests in flight when its time is over are \
                cancelled and left out",
        install: InstallHint::anywhere("PyPI", "tools/install.sh guidellm"),
        tested_version: TESTED,
    },
    |search_path| locate_program(search_path, NAME, &["--version"]),
    |found, load, _| Ok(command(found, load)),
    |output, _| parse::parse(output),
)
.measuring_streams();

/// Prompts come from a file, because generating them would need a tokenizer from the Internet. The server counts
/// tokens.
fn command(found: &InstalledTool, load: &LoadSpec) -> Invocation {
    let backend = format!("kind=openai_http,target={},model={MODEL},request_format=/v1/completions", load.origin());
    let profile = format!("kind=constant,rate={}", load.rate.as_per_second());
    let limit = format!("kind=max_duration,seconds={}", load.duration.as_secs_f64());
    let invocation = Invocation::new(found, "run --backend").arg(backend).words("--profile").arg(profile);
    let invocation = invocation.words("--constraint").arg(limit).words("--data");
    let invocation = invocation.arg(format!("kind=json_file,path={PROMPTS}")).words("--output");
    Invocation {
        env: vec![("HF_HUB_OFFLINE".to_owned(), "1".to_owned())],
        inputs: vec![(PROMPTS.to_owned(), rows(load))],
        outputs: vec![(BENCHMARKS, BENCHMARKS.to_owned())],
        ..invocation.arg(format!("kind=json,path={BENCHMARKS}")).words("--disable-progress")
    }
}

/// Returns one prompt per line.
fn rows(load: &LoadSpec) -> String {
    let mut row = json!({ "prompt": PROMPT });
    if let Some(tokens) = load.answer_tokens {
        row["output_tokens_count"] = json!(tokens);
    }
    format!("{row}\n").repeat(prompts(load) as usize)
}
