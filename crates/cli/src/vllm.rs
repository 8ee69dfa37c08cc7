//! `--vllm-json`.

use std::fs;
use std::path::Path;

use truetail_report::vllm_json;
use truetail_run::{Findings, Run};

use crate::args::stream::VllmArgs;
use crate::error::{Result, runtime_error, usage_error};
use crate::gating::check_place;

/// Checks, before anything is done, that the file can have a place, and that there will be something to write.
///
/// # Errors
/// If the folder is missing, or answers are not read as those of a language model.
pub fn check(args: &VllmArgs, has_llm: bool) -> Result<()> {
    let Some(file) = &args.vllm_json else { return Ok(()) };
    if !has_llm {
        return Err(usage_error("--vllm-json is about answers of language models; add --llm openai-chat"));
    }
    check_place("--vllm-json", file)
}

/// Writes a run, where a file for it is given.
///
/// # Errors
/// If it is not a run of a language model, or the file cannot be written.
pub fn write(file: Option<&Path>, run: &Run, findings: &Findings) -> Result<()> {
    let Some(file) = file else { return Ok(()) };
    let text = vllm_json(run, findings)
        .ok_or_else(|| runtime_error("--vllm-json: this run has no answers of language models; run with --llm"))?;
    fs::write(file, text).map_err(|error| runtime_error(format!("cannot write {}: {error}", file.display())))
}
