use crate::json_text::{members_of, with_json_members, with_prompt_prefix};
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

/// Member with which a server is asked to repeat the prompt in front of its answer.
const ECHO: &str = "echo";
/// Beginnings of its values that do not ask for it.
const NO_ECHO: [&[u8]; 4] = [b"false", b"null", b"0", b"\"\""];

/// Returns true if a body asks a server to repeat the prompt in front of its answer, as `"echo": true` does. It may
/// have placeholders; a value that is one may be true.
pub fn asks_for_echo(body: &[u8]) -> bool {
    // Nearly all bodies are done here.
    let quoted = format!("\"{ECHO}\"");
    if !body.windows(quoted.len()).any(|part| part == quoted.as_bytes()) {
        return false;
    }
    let asks = |value: &[u8]| !NO_ECHO.iter().any(|no| value.starts_with(no));
    members_of(body).into_iter().any(|(name, value)| name == ECHO.as_bytes() && asks(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_asks_for_the_prompt_in_the_answer() {
        for (body, asks) in [
            (r#"{"prompt":"a","echo":true}"#, true),
            (r#"{"prompt":"a", "echo" : 1 }"#, true),
            (r#"{"prompt":"{{p}}","n":{{n}},"echo":{{echo}}}"#, true),
            (r#"{"echo":false,"prompt":"a"}"#, false),
            (r#"{"echo": null}"#, false),
            (r#"{"echo":0}"#, false),
            // Neither is a member of the body.
            (r#"{"prompt":"\"echo\":true"}"#, false),
            (r#"{"prompt":"echo","metadata":{"echo":true}}"#, false),
            (r#"["echo", true]"#, false),
            ("", false),
        ] {
            assert_eq!(asks_for_echo(body.as_bytes()), asks, "{body}");
        }
    }
}
