//! Filters, as pure functions of values.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use regex::Regex;
use serde_json::Value as Json;
use truetail_checks::BoundedPath;

use crate::value::Value;

/// Slashes are not encoded, as in Hurl.
const URL_ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Limit on the bytes of a replacement, which could otherwise grow to the product of two lengths.
const MAX_MADE_BYTES: usize = 8 << 20;

type Converted = Result<Value, String>;
type Optional = Result<Option<Value>, String>;

fn wrong(value: &Value, wanted: &str) -> String {
    format!("{} is found where {wanted} is needed", value.kind())
}

pub(crate) fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| wrong(value, "a text"))
}

fn bytes(value: &Value) -> Result<&[u8], String> {
    match value {
        Value::Bytes(bytes) => Ok(bytes),
        Value::Json(_) => Err(wrong(value, "bytes")),
    }
}

fn list(value: &Value) -> Result<&[Json], String> {
    value.as_list().ok_or_else(|| wrong(value, "a list"))
}

pub(crate) fn count(value: &Value) -> Converted {
    let count = if let Value::Bytes(bytes) = value { bytes.len() } else { list(value)?.len() };
    Ok(Value::integer(count as i64))
}

/// Returns an item of a list. A negative `nth` counts from the end.
pub(crate) fn nth(value: &Value, nth: i64) -> Optional {
    let list = list(value)?;
    let from = |nth: u64| usize::try_from(nth).unwrap_or(usize::MAX);
    let index = if nth < 0 { list.len().checked_sub(from(nth.unsigned_abs())) } else { Some(from(nth as u64)) };
    Ok(index.and_then(|index| list.get(index)).cloned().map(Value::Json))
}

/// Returns the item of a list that these random bits choose; nothing of an empty list.
pub(crate) fn any(value: &Value, bits: u64) -> Optional {
    let list = list(value)?;
    let index = (list.len() as u128 * u128::from(bits)) >> 64;
    Ok(list.get(index as usize).cloned().map(Value::Json))
}

pub(crate) fn to_int(value: &Value) -> Converted {
    let number = match value {
        Value::Json(Json::Number(number)) => number.as_i64().or(number.as_f64().map(|number| number as i64)),
        Value::Json(Json::String(text)) => text.trim().parse().ok(),
        _ => None,
    };
    number.map(Value::integer).ok_or_else(|| wrong(value, "a number"))
}

pub(crate) fn to_float(value: &Value) -> Converted {
    let number = match value {
        Value::Json(Json::Number(number)) => number.as_f64(),
        Value::Json(Json::String(text)) => text.trim().parse().ok(),
        _ => None,
    };
    number.map(|number: f64| Value::Json(Json::from(number))).ok_or_else(|| wrong(value, "a number"))
}

pub(crate) fn to_string(value: &Value) -> Converted {
    value.rendered().map(Value::text).ok_or_else(|| wrong(value, "something with a text"))
}

pub(crate) fn to_hex(value: &Value) -> Converted {
    Ok(Value::text(bytes(value)?.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
}

pub(crate) fn base64_encode(value: &Value) -> Converted {
    Ok(Value::text(STANDARD.encode(bytes(value)?)))
}

pub(crate) fn base64_url_safe_encode(value: &Value) -> Converted {
    Ok(Value::text(URL_SAFE_NO_PAD.encode(bytes(value)?)))
}

pub(crate) fn utf8_decode(value: &Value) -> Converted {
    let text = std::str::from_utf8(bytes(value)?).map_err(|_| "the bytes are not UTF-8".to_owned())?;
    Ok(Value::text(text))
}

/// Escapes a text for use between the quotes of a JSON string.
pub(crate) fn json_escape(value: &Value) -> Converted {
    let text = value.rendered().ok_or_else(|| wrong(value, "a text"))?;
    let quoted = Json::from(text.as_ref()).to_string();
    Ok(Value::text(&quoted[1..quoted.len() - 1]))
}

pub(crate) fn url_encode(text: &str) -> Converted {
    Ok(Value::text(utf8_percent_encode(text, URL_ENCODED).to_string()))
}

pub(crate) fn url_decode(text: &str) -> Converted {
    let decoded = percent_decode_str(text).decode_utf8().map_err(|_| "what is encoded is not UTF-8".to_owned())?;
    Ok(Value::text(decoded))
}

pub(crate) fn base64_decode(text: &str) -> Converted {
    STANDARD.decode(text).map(Value::Bytes).map_err(|_| "the text is no base64".to_owned())
}

pub(crate) fn base64_url_safe_decode(text: &str) -> Converted {
    let decoded = URL_SAFE_NO_PAD.decode(text.trim_end_matches('='));
    decoded.map(Value::Bytes).map_err(|_| "the text is no base64".to_owned())
}

pub(crate) fn html_escape(text: &str) -> Converted {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#x27;"),
            c => escaped.push(c),
        }
    }
    Ok(Value::text(escaped))
}

pub(crate) fn replace(text: &str, old: &str, new: &str) -> Converted {
    if old.is_empty() {
        return Ok(Value::text(text));
    }
    bounded(text.len().saturating_add(text.matches(old).count().saturating_mul(new.len())))?;
    Ok(Value::text(text.replace(old, new)))
}

pub(crate) fn replace_regex(text: &str, regex: &Regex, new: &str) -> Converted {
    // Each group in `new` may be as long as the text.
    let longest = new.len().saturating_add(new.matches('$').count().saturating_mul(text.len()));
    bounded(text.len().saturating_add(regex.find_iter(text).count().saturating_mul(longest)))?;
    Ok(Value::text(regex.replace_all(text, new)))
}

/// Refuses absurdly long texts.
fn bounded(bytes: usize) -> Result<(), String> {
    if bytes <= MAX_MADE_BYTES { Ok(()) } else { Err("what would be made is too long".to_owned()) }
}

pub(crate) fn split(text: &str, by: &str) -> Converted {
    if by.is_empty() {
        return Err("there is nothing to split by".to_owned());
    }
    Ok(Value::Json(Json::from(text.split(by).collect::<Vec<_>>())))
}

pub(crate) fn url_query_param(text: &str, name: &str) -> Optional {
    let url = url::Url::parse(text).map_err(|_| "the text is no URL".to_owned())?;
    let found = url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| Value::text(value));
    Ok(found)
}

pub(crate) fn find_in_text(path: &BoundedPath, text: &str) -> Optional {
    let json: Json = serde_json::from_str(text).map_err(|_| "the text is not JSON".to_owned())?;
    find(path, &json)
}

/// Returns the result of a JSONPath as in Hurl: nothing, one value, or a list of several.
pub(crate) fn find(path: &BoundedPath, json: &Json) -> Optional {
    let mut found = path.copied(json).map_err(|error| error.to_string())?;
    Ok(match found.len() {
        0 | 1 => found.pop().map(Value::Json),
        _ => Some(Value::Json(Json::Array(found))),
    })
}

/// Returns the first group of the first match, or the whole match if the pattern has no group.
pub(crate) fn first_group(regex: &Regex, text: &str) -> Option<Value> {
    let captures = regex.captures(text)?;
    captures.get(1).or_else(|| captures.get(0)).map(|found| Value::text(found.as_str()))
}
