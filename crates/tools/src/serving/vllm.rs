//! `vllm bench serve`: requests to a language model at a rate.

use serde_json::json;
use truetail_model::workload::LoadModelKind;

use crate::known_tool::KnownTool;
use crate::locate::locate_python;
use crate::model::{MODEL, PROMPT, TOKENIZER, half_rate_users, tokenizer};
use crate::output_reader::OutputReader;
use crate::{
    InstallHint, InstalledTool, Invocation, LoadSpec, ParseError, SearchPath, ToolInfo, ToolNotFound, ToolOutput,
    ToolReport,
};

const NAME: &str = "vllm";
const LIMITED_NAME: &str = "vllm-max-concurrency";
const TESTED: &str = "0.32.0";
const RESULTS: &str = "results.json";
const PROMPTS: &str = "prompts.jsonl";
const INSTALL: InstallHint = InstallHint::anywhere("PyPI", "tools/install.sh vllm");

/// `vllm bench serve` with a request rate, without a limit on requests in flight, which is the default.
pub(crate) static UNLIMITED: KnownTool = KnownTool::new(
    ToolInfo {
        name: NAME,
        label_model: LoadModelKind::Open,
        clock: "from the moment at which its task gets to send the request; its gaps are equal with --burstiness inf only, and \
                otherwise exponential",
        install: INSTALL,
        tested_version: TESTED,
    },
    locate,
    |found, load, _| Ok(command(found, load, None)),
    |output, _| parse(NAME, output),
)
.measuring_streams();

/// `vllm bench serve` with a limit of [`half_rate_users`] requests in flight. The limit matters only during a stall.
pub(crate) static LIMITED: KnownTool = KnownTool::new(
    ToolInfo {
        name: LIMITED_NAME,
        label_model: LoadModelKind::Open,
        clock: "from the moment at which the request has got through --max-concurrency: the wait for a place is in no latency, but in \
                queue_times of its file",
        install: INSTALL,
        tested_version: TESTED,
    },
    locate,
    |found, load, _| Ok(command(found, load, Some(half_rate_users(load)))),
    |output, _| parse(LIMITED_NAME, output),
)
.measuring_streams();

fn locate(search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
    locate_python(search_path, "vllm", "vllm")
}

fn command(found: &InstalledTool, load: &LoadSpec, limit: Option<u32>) -> Invocation {
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
    let invocation = invocation.words_if(limit.map(|most| format!("--max-concurrency {most}")));
    let row = json!({ "prompt": PROMPT });
    let prompts = format!("{row}\n").repeat(planned as usize);
    Invocation {
        inputs: [(PROMPTS.to_owned(), prompts)].into_iter().chain(tokenizer()).collect(),
        outputs: vec![(RESULTS, RESULTS.to_owned())],
        ..invocation
    }
}

fn parse(name: &'static str, output: &ToolOutput) -> Result<ToolReport, ParseError> {
    super::parse::parse(output, OutputReader::stdout(name, TESTED).file(RESULTS), RESULTS)
}
