//! `--vllm-json`: measurements in the format of vLLM's benchmark.

use std::path::Path;

use truetail_report::vllm_json;
use truetail_run::{Findings, Run};

use crate::args::stream::VllmArgs;
use crate::error::{Result, runtime_error, usage_error};
use crate::gating::check_place;
use crate::output;

/// Checks, before anything is done, that the file can be written, and that the run will have data for it.
///
/// # Errors
/// If the folder is missing, or answers are not read as a language model's.
pub(crate) fn check(args: &VllmArgs, has_llm: bool) -> Result<()> {
    let Some(file) = &args.vllm_json else { return Ok(()) };
    if !has_llm {
        return Err(usage_error("--vllm-json is about answers of language models; add --llm openai-chat"));
    }
    check_place("--vllm-json", file)
}

/// Writes a run to `file`, if given.
///
/// # Errors
/// If it is no run of a language model, or the file cannot be written.
pub(crate) fn write(file: Option<&Path>, run: &Run, findings: &Findings) -> Result<()> {
    let Some(file) = file else { return Ok(()) };
    let text = vllm_json(run, findings)
        .ok_or_else(|| runtime_error("--vllm-json: this run has no answers of language models; run with --llm"))?;
    output::write_file(file, text)
}
