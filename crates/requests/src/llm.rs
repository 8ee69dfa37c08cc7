use crate::json_text::{with_json_members, with_prompt_prefix};
use crate::spec::TargetSpec;

/// Makes a request ask a language model for a stream: adds these members to its body, unless it has them. The default
/// content type becomes JSON.
///
/// # Errors
/// The body is not a JSON object.
pub fn asking_for_stream(spec: TargetSpec, members: &[(&str, &str)]) -> Result<TargetSpec, String> {
    let spec = spec.with_defaults(&["Content-Type: application/json".to_owned()]);
    let body = with_json_members(&spec.body, members)?;
    Ok(TargetSpec { body, ..spec })
}

/// Text in front of each prompt with which no server has the prompt in its cache: the number of the arrival, and a
/// number that also follows from the seed.
const CACHE_BUST: &str = "[{{seq}}-{{randomInt 0 999999999}}] ";

/// Puts a different text in front of the prompt of each request. The same seed gives the same texts.
///
/// # Errors
/// There is no prompt in the body.
pub fn with_distinct_prompts(spec: TargetSpec) -> Result<TargetSpec, String> {
    let body = with_prompt_prefix(&spec.body, CACHE_BUST)?;
    Ok(TargetSpec { body, ..spec })
}
