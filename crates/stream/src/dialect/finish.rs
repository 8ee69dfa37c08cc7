use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use truetail_run::FinishReason;

/// Reason for the end of a choice; `None` if it goes on.
#[derive(Clone, Copy, Default)]
pub(super) struct Finish(pub(super) Option<FinishReason>);

impl<'de> Deserialize<'de> for Finish {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Finish, D::Error> {
        deserializer.deserialize_any(FinishVisitor)
    }
}

struct FinishVisitor;

impl<'de> Visitor<'de> for FinishVisitor {
    type Value = Finish;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a reason for the end")
    }

    fn visit_unit<E: Error>(self) -> Result<Finish, E> {
        Ok(Finish::default())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Finish, E> {
        Ok(Finish::default())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Finish, E> {
        Ok(Finish(Some(FinishReason::Other)))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Finish, E> {
        Ok(Finish(Some(FinishReason::Other)))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Finish, E> {
        Ok(Finish(Some(FinishReason::Other)))
    }

    fn visit_str<E: Error>(self, reason: &str) -> Result<Finish, E> {
        Ok(Finish(named(reason)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Finish, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Finish(Some(FinishReason::Other)))
    }

    /// Reads SGLang's `{"type": "length", "length": 20}`.
    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Finish, A::Error> {
        let mut reason = Some(FinishReason::Other);
        while let Some(name) = fields.next_key::<std::borrow::Cow<'de, str>>()? {
            if name == "type" {
                reason = fields.next_value::<Finish>()?.0;
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Finish(reason))
    }
}

/// Returns the reason with this name, in any dialect. Some servers write an empty text or `null` until the end.
fn named(reason: &str) -> Option<FinishReason> {
    let is = |names: &[&str]| names.iter().any(|name| reason.eq_ignore_ascii_case(name));
    let has = |words: &[&str]| {
        words.iter().any(|word| {
            let mut parts = reason.as_bytes().windows(word.len());
            parts.any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
        })
    };
    if is(&["", "null", "FINISH_REASON_UNSPECIFIED"]) {
        return None;
    }
    Some(
        if is(&["stop", "eos", "eos_token", "stop_sequence", "end_turn", "stop_str", "word", "complete", "completed"]) {
            FinishReason::Stop
        } else if is(&[
            "length",
            "max_tokens",
            "model_length",
            "max_output_tokens",
            "limit",
            "model_context_window_exceeded",
        ]) {
            FinishReason::Length
        } else if is(&["tool_calls", "tool_use", "function_call", "tool_call"]) {
            FinishReason::ToolCalls
        } else if is(&[
            "content_filter",
            "refusal",
            "safety",
            "recitation",
            "blocklist",
            "prohibited_content",
            "spii",
            "sensitive",
            "error_toxic",
        ]) {
            FinishReason::ContentFilter
        } else if is(&["insufficient_system_resource", "load_shed", "timed_out"])
            || has(&["error", "abort", "cancel", "fail", "timeout", "overload"])
        {
            FinishReason::Error
        } else {
            FinishReason::Other
        },
    )
}
