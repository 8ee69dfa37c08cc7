//! `bench_serving` of sglang: requests to a language model with exponential gaps.

use std::path::Path;

use serde_json::json;
use truetail_model::workload::LoadModelKind;

use super::parse;
use crate::locate::{printed_by, version_in};
use crate::model::{MODEL, PROMPT, TOKENIZER, tokenizer};
use crate::output_reader::OutputReader;
use crate::{
    CommandError, InstallHint, InstalledTool, Invocation, LoadSpec, ParseError, SearchPath, Tool, ToolInfo,
    ToolNotFound, ToolOutput, ToolReport,
};

/// sglang's `bench_serving` with a request rate.
pub struct Sglang;

const NAME: &str = "sglang";
const TESTED: &str = "0.5.9";
const RESULTS: &str = "results.jsonl";
const FILE: OutputReader = OutputReader::stdout(NAME, TESTED).file(RESULTS);

const INFO: ToolInfo = ToolInfo {
    name: NAME,
    label_model: LoadModelKind::Open,
    clock: "from the moment at which its task gets to send the request, behind --max-concurrency where that is given; its gaps are \
            exponential, each slept after the request before it, so that it falls behind its rate",
    install: InstallHint::anywhere("PyPI", "tools/install.sh sglang"),
    tested_version: TESTED,
};

/// Program that the installation creates: `python -m sglang.bench_serving`.
const PROGRAM: &str = "sglang-bench-serving";
const PROMPTS: &str = "prompts.jsonl";

impl Tool for Sglang {
    fn info(&self) -> &ToolInfo {
        &INFO
    }

    fn measures_streams(&self) -> bool {
        true
    }

    /// Asks the Python next to the program for the version, because the program does not print it.
    fn locate(&self, search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
        let path = search_path.program(PROGRAM)?;
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        let ask = "import importlib.metadata as facts; print(facts.version('sglang'))";
        let version = version_in(&printed_by(&real.with_file_name("python"), &["-c", ask]));
        Ok(InstalledTool { path, version })
    }

    fn command(&self, found: &InstalledTool, load: &LoadSpec, _folder: &Path) -> Result<Invocation, CommandError> {
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
        Ok(Invocation {
            inputs: [(PROMPTS.to_owned(), prompts)].into_iter().chain(tokenizer()).collect(),
            outputs: vec![(RESULTS, RESULTS.to_owned())],
            ..invocation
        })
    }

    fn parse(&self, output: &ToolOutput, _load: &LoadSpec) -> Result<ToolReport, ParseError> {
        parse::parse(output, FILE, RESULTS)
    }
}
