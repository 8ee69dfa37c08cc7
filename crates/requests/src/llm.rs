use crate::json_text::{members_of, with_json_members, with_prompt_prefix};
use crate::spec::TargetSpec;

/// Makes a request ask a language model for a stream: adds these members to its body, unless it has them. The default
/// content type becomes JSON. A body that [refuses a stream](refuses_stream) is left as it is.
///
/// # Errors
/// The body is not a JSON object.
pub fn asking_for_stream(spec: TargetSpec, members: &[(&str, &str)]) -> Result<TargetSpec, String> {
    let spec = spec.with_defaults(&["Content-Type: application/json".to_owned()]);
    let members = if refuses_stream(&spec.body) { &[][..] } else { members };
    let body = with_json_members(&spec.body, members)?;
    Ok(TargetSpec { body, ..spec })
}

/// Returns true if a body asks for an answer that comes whole: `"stream": false`.
pub fn refuses_stream(body: &[u8]) -> bool {
    members_of(body).into_iter().any(|(name, value)| name == b"stream" && value.starts_with(b"false"))
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
    use crate::Location;

    #[test]
    fn a_body_that_refuses_a_stream_is_not_asked_for_one() {
        for (body, refuses, asked) in [
            (r#"{"stream": false }"#, true, r#"{"stream": false }"#),
            (r#"{"prompt":"{{p}}","stream":false}"#, true, r#"{"prompt":"{{p}}","stream":false}"#),
            (r#"{"stream":true}"#, false, r#"{"n":1,"stream":true}"#),
            (r#"{"stream":{{stream}}}"#, false, r#"{"n":1,"stream":{{stream}}}"#),
            // Neither is a member of the body.
            (r#"{"a":"\"stream\":false"}"#, false, r#"{"stream":true,"n":1,"a":"\"stream\":false"}"#),
            (r#"{"a":{"stream":false}}"#, false, r#"{"stream":true,"n":1,"a":{"stream":false}}"#),
        ] {
            assert_eq!(refuses_stream(body.as_bytes()), refuses, "{body}");
            let spec = TargetSpec { body: body.into(), ..TargetSpec::new(Location::named(""), "http://127.0.0.1:1") };
            let spec = asking_for_stream(spec, &[("stream", "true"), ("n", "1")]).expect("an object");
            assert_eq!(String::from_utf8_lossy(&spec.body), asked);
        }
        assert!(!refuses_stream(b""));
    }

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
