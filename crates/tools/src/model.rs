//! Shared parts of tools for language models: their requests, and lists of times.

use serde_json::{Value, json};
use truetail_model::record::rank_of;
use truetail_model::time::Nanos;
use truetail_run::ClaimedQuantile;

use crate::{LoadSpec, units};

/// Name of the model. The server returns it and ignores it otherwise.
pub(crate) const MODEL: &str = "model";
pub(crate) const PROMPT: &str = "one two three four five six seven eight";
/// A tokenizer for tools that load one although the server counts the tokens. Tokenizers that the tools know by name
/// would come from the Internet. This one knows eight words.
const TOKENIZER_JSON: &str = r#"{"version":"1.0","truncation":null,"padding":null,"added_tokens":[],
"normalizer":null,"pre_tokenizer":{"type":"Whitespace"},"post_processor":null,"decoder":null,
"model":{"type":"WordLevel","unk_token":"[UNK]","vocab":
{"[UNK]":0,"one":1,"two":2,"three":3,"four":4,"five":5,"six":6,"seven":7,"eight":8}}}
"#;
const TOKENIZER_CONFIG: &str = "{\"tokenizer_class\":\"PreTrainedTokenizerFast\",\"unk_token\":\"[UNK]\"}\n";
/// Requests per second of a user.
pub(crate) const HALF_RATE: f64 = 0.5;
/// Folder of the tokenizer, below the working directory of a tool.
pub(crate) const TOKENIZER: &str = "tokenizer";
/// Quantiles that are computed from single values.
const COMPUTED: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];

/// Returns the files of the tokenizer.
pub(crate) fn tokenizer() -> [(String, String); 2] {
    let files = [("tokenizer.json", TOKENIZER_JSON), ("tokenizer_config.json", TOKENIZER_CONFIG)];
    files.map(|(name, text)| (format!("{TOKENIZER}/{name}"), text.to_owned()))
}

/// Returns the body of a request for a stream of completions.
pub(crate) fn body(load: &LoadSpec) -> Value {
    let mut body = json!({ "model": MODEL, "prompt": PROMPT, "stream": true });
    if let Some(tokens) = load.answer_tokens {
        body["max_tokens"] = json!(tokens);
    }
    body
}

/// Returns the number of planned requests plus a reserve, so that no tool runs out of prompts.
pub(crate) fn prompts(load: &LoadSpec) -> u64 {
    (load.rate.as_per_second() * load.duration.as_secs_f64()).ceil() as u64 + 100
}

/// Returns the number of users with [`HALF_RATE`] that make the rate, if an answer takes less than two seconds.
pub(crate) fn half_rate_users(load: &LoadSpec) -> u32 {
    (load.rate.as_per_second() / HALF_RATE).ceil() as u32
}

/// Computes quantiles and the maximum of single values.
pub(crate) fn computed(mut values_ns: Vec<u64>) -> (Vec<ClaimedQuantile>, Option<u64>) {
    values_ns.sort_unstable();
    let at = |q| values_ns.get((rank_of(q, values_ns.len() as u64) as usize).checked_sub(1)?).copied();
    let of = |q| Some(ClaimedQuantile { q, value_ns: at(q)?, printed: false });
    (COMPUTED.into_iter().filter_map(of).collect(), values_ns.last().copied())
}

/// Returns a quantile that a tool printed in units of `unit_ns` nanoseconds; `None` if it is not a valid number.
pub(crate) fn printed(q: f64, value: Option<f64>, unit_ns: f64) -> Option<ClaimedQuantile> {
    Some(ClaimedQuantile { q, value_ns: units::nanos(value?, unit_ns)?.0, printed: true })
}

/// Converts milliseconds to nanoseconds.
pub(crate) fn millis(value: Option<f64>) -> Option<u64> {
    units::nanos(value?, 1e6).map(|Nanos(ns)| ns)
}

#[cfg(test)]
mod tests {
    use truetail_model::time::Rate;

    use super::*;

    fn load(url: &str) -> LoadSpec {
        LoadSpec {
            url: url.to_owned(),
            rate: Rate::per_second(20.0).expect("a rate"),
            duration: Nanos::from_secs(3),
            users: 1,
            connections: 1,
            timeout: None,
            answer_tokens: Some(50),
        }
    }

    #[test]
    fn an_address_loses_its_path_and_a_run_has_its_prompts() {
        assert_eq!(load("http://127.0.0.1:1/v1/completions").origin(), "http://127.0.0.1:1");
        assert_eq!(load("http://127.0.0.1:1").origin(), "http://127.0.0.1:1");
        assert_eq!(prompts(&load("http://127.0.0.1:1")), 160);
    }

    #[test]
    fn quantiles_are_values() {
        let (quantiles, max) = computed((1..=100).rev().collect());
        assert_eq!(quantiles.iter().map(|one| one.value_ns).collect::<Vec<_>>(), [50, 90, 99, 100, 100]);
        assert_eq!((max, computed(Vec::new()).1), (Some(100), None));
    }
}
