//! Answers that come whole: embeddings, documents in the order of their relevance, chats and completions.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use truetail_run::LlmApi;

use super::output;
use super::usage::UsageFields;
use super::value_shape::ValueShape;
use crate::chunk::{Choices, Chunk, Usage};
use crate::json_scanner::{JsonScanner, KeptValue};

/// Limit on the bytes of a member that are kept.
const MAX_VALUE_BYTES: usize = 4 << 10;

/// Members of an answer without output that are read.
const MEMBERS: [&str; 9] =
    ["data", "embeddings", "embedding", "results", "usage", "meta", "prompt_eval_count", "error", "object"];

/// Counts of Cohere.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Meta {
    tokens: Option<UsageFields>,
    billed_units: Option<UsageFields>,
}

/// Creates a scanner of the answers of this API.
pub(crate) fn scanner(api: LlmApi) -> JsonScanner {
    match api {
        LlmApi::Whole => output::scanner(),
        _ => JsonScanner::new(&MEMBERS, MAX_VALUE_BYTES),
    }
}

/// Reads a whole document; `None` if it has neither a result of this API nor an error.
pub(crate) fn read_whole(api: LlmApi, document: &JsonScanner) -> Option<Chunk> {
    if api == LlmApi::Whole {
        return output::read(document);
    }
    let is_filled = |name: &str| document.value(name).is_some_and(is_filled);
    // Older versions of vLLM say {"object": "error"}.
    let is_error = is_filled("error") || parsed::<ValueShape>(document, "object").is_some_and(|kind| kind.is_error);
    if !is_error && !has_result(api, document) {
        return None;
    }
    // TEI answers with a list.
    let has_rows = document.is_list() || result_members(api).iter().any(|name| is_filled(name));
    let one = Choices::first_if(true);
    Some(Chunk {
        content: Choices::first_if(has_rows),
        is_error,
        choices: one,
        finished: one,
        usage: usage(document),
        ..Chunk::default()
    })
}

/// Returns true if an answer, or its beginning, is certainly one of this API.
pub(crate) fn is_certainly(api: LlmApi, document: &JsonScanner) -> bool {
    let data = document.value("data").map_or(&[][..], KeptValue::beginning);
    let data_has = |name: &[u8]| data.windows(name.len()).any(|part| part == name);
    let has = |name: &str| document.value(name).is_some();
    match api {
        LlmApi::Whole => output::is_certainly(document),
        LlmApi::Embeddings => has("embeddings") || has("embedding") || data_has(b"\"embedding\""),
        _ => has("results") || data_has(b"\"relevance_score\""),
    }
}

fn has_result(api: LlmApi, document: &JsonScanner) -> bool {
    document.is_list() || result_members(api).iter().any(|name| document.value(name).is_some())
}

/// Returns the members that may have the result. Voyage has the order of documents in `data`, too.
fn result_members(api: LlmApi) -> &'static [&'static str] {
    match api {
        LlmApi::Embeddings => &["data", "embeddings", "embedding"],
        _ => &["results", "data"],
    }
}

/// Returns the count of input tokens: of OpenAI and most others, of Ollama, of Cohere.
fn usage(document: &JsonScanner) -> Option<Usage> {
    let usage = || parsed::<UsageFields>(document, "usage").and_then(UsageFields::of_input);
    let ollama = || {
        let input = parsed::<ValueShape>(document, "prompt_eval_count")?.number;
        input.map(|input| Usage { input: Some(input), ..Usage::default() })
    };
    let cohere = || {
        let meta = parsed::<Meta>(document, "meta")?;
        let of = |fields: Option<UsageFields>| fields.and_then(UsageFields::of_input);
        of(meta.tokens).or_else(|| of(meta.billed_units))
    };
    usage().or_else(ollama).or_else(cohere)
}

/// Parses the value of a member; `None` if it is missing, too long, or of another form.
fn parsed<T: DeserializeOwned>(document: &JsonScanner, name: &str) -> Option<T> {
    serde_json::from_slice(document.value(name)?.whole()?).ok()
}

/// Returns true if a value is not null, false, or an empty text, list or object. It may also be too long, or contain
/// NaN.
fn is_filled(value: &KeptValue) -> bool {
    value.whole().is_none_or(|whole| serde_json::from_slice::<ValueShape>(whole).map_or(true, |shape| shape.is_filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(api: LlmApi, text: &str) -> Option<Chunk> {
        let mut document = scanner(api);
        document.feed(text.as_bytes());
        read_whole(api, &document)
    }

    fn input(api: LlmApi, text: &str) -> Option<u64> {
        let chunk = read(api, text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!((chunk.is_error, chunk.content.is_empty()), (false, false), "{text}");
        chunk.usage.map(|usage| usage.input.expect("a count"))
    }

    #[test]
    fn each_service_has_its_count_of_input_tokens() {
        for (text, expected) in [
            // OpenAI, vLLM, TEI, Mistral.
            (
                r#"{"object":"list","data":[{"embedding":[0.1]}],"model":"m","usage":{"prompt_tokens":8,"total_tokens":8}}"#,
                Some(8),
            ),
            // vLLM.
            (
                r#"{"data":[1],"usage":{"prompt_tokens":7,"total_tokens":7,"completion_tokens":0,"prompt_tokens_details":null}}"#,
                Some(7),
            ),
            // Voyage.
            (r#"{"data":[{"embedding":"AACA"}],"usage":{"total_tokens":5}}"#, Some(5)),
            // Ollama.
            (r#"{"model":"m","embeddings":[[0.1]],"total_duration":14143917,"prompt_eval_count":9}"#, Some(9)),
            (r#"{"embedding":[0.1]}"#, None),
            // Cohere.
            (r#"{"embeddings":{"float":[[0.1]]},"meta":{"billed_units":{"input_tokens":4}}}"#, Some(4)),
            // TEI.
            ("[[0.1,0.2]]", None),
        ] {
            assert_eq!(input(LlmApi::Embeddings, text), expected, "{text}");
        }
        for (text, expected) in [
            (r#"{"results":[{"index":0,"relevance_score":0.9}],"usage":{"total_tokens":56}}"#, Some(56)),
            (r#"{"results":[1],"meta":{"billed_units":{"search_units":1}}}"#, None),
            (r#"{"results":[1],"meta":{"billed_units":{"search_units":1},"tokens":{"input_tokens":12}}}"#, Some(12)),
            (r#"{"object":"list","data":[{"relevance_score":0.4}],"usage":{"total_tokens":26}}"#, Some(26)),
            (r#"[{"index":0,"score":0.9}]"#, None),
        ] {
            assert_eq!(input(LlmApi::Rerank, text), expected, "{text}");
        }
    }

    #[test]
    fn no_count_is_invented() {
        for usage in ["-3", "1e30", "1.5", "\"7\"", "null", "[7]", "99999999999999999999999", "{\"prompt_tokens\":3}"] {
            let text = format!(r#"{{"data":[1],"usage":{{"prompt_tokens":{usage}}}}}"#);
            assert_eq!(input(LlmApi::Embeddings, &text), None, "{text}");
        }
        for usage in ["{}", "7", "null", "[{\"prompt_tokens\":7}]", "\"prompt_tokens\""] {
            assert_eq!(input(LlmApi::Embeddings, &format!(r#"{{"data":[1],"usage":{usage}}}"#)), None, "{usage}");
        }
        let long = format!(r#"{{"data":[1],"usage":{{"prompt_tokens":7,"x":"{}"}}}}"#, "x".repeat(5_000));
        assert_eq!(input(LlmApi::Embeddings, &long), None);
        let huge = format!(r#"{{"data":[1],"usage":{{"prompt_tokens":{}}}}}"#, u64::MAX);
        assert_eq!(input(LlmApi::Embeddings, &huge), Some(u64::MAX));
        // As in most parsers, the last of two counts.
        let twice = r#"{"usage":{"prompt_tokens":7},"data":[1],"usage":{"prompt_tokens":8}}"#;
        assert_eq!(input(LlmApi::Embeddings, twice), Some(8));
    }

    #[test]
    fn errors_and_unknown_answers_are_no_results() {
        let long = format!(r#"{{"error":"{}"}}"#, "x".repeat(9_000));
        for text in [
            r#"{"error":{"message":"too long","code":400}}"#,
            r#"{"data":[1],"error":"overloaded"}"#,
            r#"{"object":"error","message":"no such model"}"#,
            &long,
        ] {
            assert!(read(LlmApi::Embeddings, text).is_some_and(|chunk| chunk.is_error), "{text}");
        }
        for text in ["{}", r#"{"detail":"Not Found"}"#, r#"{"choices":[]}"#, r#"{"results":[1]}"#, r#"{"error":null}"#]
        {
            assert_eq!(read(LlmApi::Embeddings, text), None, "{text}");
        }
        let empty = read(LlmApi::Rerank, r#"{"results":[],"error":null}"#).expect("an answer");
        assert!(empty.content.is_empty() && !empty.is_error);
    }
}
