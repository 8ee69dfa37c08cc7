//! `bench_serving` of sglang: requests to a language model with exponential gaps.

use serde_json::json;
use truetail_model::workload::LoadModelKind;

use super::parse;
use crate::known_tool::KnownTool;
use crate::locate::locate_python;
use crate::model::{MODEL, PROMPT, TOKENIZER, tokenizer};
use crate::output_reader::OutputReader;
use crate::{InstallHint, InstalledTool, Invocation, LoadSpec, ToolInfo};

const NAME: &str = "sglang";
const TESTED: &str = "0.5.9";
const RESULTS: &str = "results.jsonl";
const FILE: OutputReader = OutputReader::stdout(NAME, TESTED).file(RESULTS);

/// Program that the installation creates: `python -m sglang.bench_serving`.
const PROGRAM: &str = "sglang-bench-serving";
const PROMPTS: &str = "prompts.jsonl";

/// sglang's `bench_serving` with a request rate.
pub(crate) static SGLANG: KnownTool = KnownTool::new(
    ToolInfo {
        name: NAME,
        label_model: LoadModelKind::Open,
        clock: "from the moment at which its task gets to send the request, behind --max-concurrency where that is given; its gaps are \
                exponential, each slept after the request before it, so that it falls behind its rate",
        install: InstallHint::anywhere("PyPI", "tools/install.sh sglang"),
        tested_version: TESTED,
    },
    |search_path| locate_python(search_path, PROGRAM, "sglang"),
    |found, load, _| Ok(command(found, load)),
    |output, _| parse::parse(output, FILE, RESULTS),
)
.measuring_streams();

fn command(found: &InstalledTool, load: &LoadSpec) -> Invocation {
    let rate = load.rate.as_per_second();
    // The tool ends after a number of requests, not after a time.
    let planned = (rate * load.duration.as_secs_f64()).ceil() as u64;
    let tokens = load.answer_tokens.unwrap_or(super::ANSWER_TOKENS);
    let invocation = Invocation::new(found, "--backend vllm --base-url").arg(load.origin()).words(&format!(
        "--model {MODEL} --tokenizer {TOKENIZER} --dataset-name custom --dataset-path {PROMPTS} \
         --sharegpt-output-len {tokens} --num-prompts {planned} --request-rate {rate} --warmup-requests 0 \
         --output-file {RESULTS} --output-details --disable-tqdm"
    ));
    // The tool sends the first turn of a conversation, but requires a second one.
    let row = json!({ "conversations": [{ "content": PROMPT }, { "content": PROMPT }] });
    let prompts = format!("{row}\n").repeat(planned as usize);
    Invocation {
        inputs: [(PROMPTS.to_owned(), prompts)].into_iter().chain(tokenizer()).collect(),
        outputs: vec![(RESULTS, RESULTS.to_owned())],
        ..invocation
    }
}
