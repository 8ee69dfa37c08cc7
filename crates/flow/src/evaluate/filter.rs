//! What is made of a value.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value as Json;

use super::pattern::{self, JsonPathPattern, RegexPattern};
use crate::template::{Scope, Template, VariableId};
use crate::value::Value;

/// What is made of a value.
#[derive(Clone, Debug)]
pub(crate) enum Filter {
    Count,
    First,
    Last,
    Nth(i64),
    Regex(RegexPattern),
    JsonPath(JsonPathPattern),
    Replace(Template, Template),
    ReplaceRegex(RegexPattern, Template),
    Split(Template),
    ToInt,
    ToFloat,
    ToString,
    ToHex,
    UrlEncode,
    UrlDecode,
    UrlQueryParam(Template),
    HtmlEscape,
    Base64Encode,
    Base64Decode,
    Base64UrlSafeEncode,
    Base64UrlSafeDecode,
    Utf8Encode,
    Utf8Decode,
    /// What a text between the quotes of JSON needs; nobody writes it.
    JsonEscape,
}

/// As Hurl has it: slashes stay.
const URL_ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// What a filter gives: a value, nothing, or that it cannot be applied.
type Filtered = Result<Option<Value>, String>;

impl Filter {
    pub(crate) fn apply(&self, value: Value, scope: &mut Scope) -> Filtered {
        match self {
            Filter::Count | Filter::First | Filter::Last | Filter::Nth(_) => self.of_list(&value),
            Filter::Base64Encode | Filter::Base64UrlSafeEncode | Filter::ToHex | Filter::Utf8Decode => {
                of_bytes(self, value)
            }
            Filter::ToInt | Filter::ToFloat | Filter::ToString => self.convert(&value),
            _ => self.of_text(&value, scope),
        }
    }

    fn of_list(&self, value: &Value) -> Filtered {
        if let (Filter::Count, Value::Bytes(bytes)) = (self, value) {
            return Ok(Some(Value::integer(bytes.len() as i64)));
        }
        let list = value.as_list().ok_or_else(|| wrong(value, "a list"))?;
        let at = match self {
            Filter::Count => return Ok(Some(Value::integer(list.len() as i64))),
            Filter::First => 0,
            Filter::Last => -1,
            Filter::Nth(nth) => *nth,
            _ => return Err("this is no filter of lists".into()),
        };
        let index = if at < 0 { list.len().checked_sub(at.unsigned_abs() as usize) } else { Some(at as usize) };
        Ok(index.and_then(|index| list.get(index)).cloned().map(Value::Json))
    }

    fn convert(&self, value: &Value) -> Filtered {
        let Value::Json(json) = value else { return Err(wrong(value, "a text or a number")) };
        let number = match json {
            Json::Number(number) => number.as_f64(),
            Json::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        let whole = match json {
            Json::Number(number) => number.as_i64(),
            Json::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        let none = || wrong(value, "a number");
        Ok(Some(match self {
            Filter::ToInt => match (whole, json, number) {
                (Some(whole), ..) => Value::integer(whole),
                (None, Json::Number(_), Some(number)) => Value::integer(number as i64),
                _ => return Err(none()),
            },
            Filter::ToFloat => Value::Json(Json::from(number.ok_or_else(none)?)),
            _ => Value::text(value.rendered().ok_or_else(|| wrong(value, "something with a text"))?),
        }))
    }

    fn of_text(&self, value: &Value, scope: &mut Scope) -> Filtered {
        let rendered;
        let text = match (self, value.as_str()) {
            (_, Some(text)) => text,
            (Filter::JsonEscape, None) => {
                rendered = value.rendered().ok_or_else(|| wrong(value, "a text"))?;
                &rendered
            }
            (_, None) => return Err(wrong(value, "a text")),
        };
        let with = |template: &Template, scope: &mut Scope| {
            template.render(scope).map_err(|_| "a variable has no text".to_owned())
        };
        Ok(match self {
            Filter::Regex(regex) => pattern::first_group(&*regex.get(scope)?, text),
            Filter::JsonPath(path) => {
                let json: Json = serde_json::from_str(text).map_err(|_| "the text is not JSON".to_owned())?;
                pattern::find(&*path.get(scope)?, &json)
            }
            Filter::Replace(old, new) => {
                let (old, new) = (with(old, scope)?, with(new, scope)?);
                Some(Value::text(if old.is_empty() { text.to_owned() } else { text.replace(&old, &new) }))
            }
            Filter::ReplaceRegex(regex, new) => {
                let new = with(new, scope)?;
                Some(Value::text(regex.get(scope)?.replace_all(text, new.as_str())))
            }
            Filter::Split(by) => {
                let by = with(by, scope)?;
                if by.is_empty() {
                    return Err("there is nothing to split by".into());
                }
                Some(Value::Json(Json::from(text.split(by.as_str()).collect::<Vec<_>>())))
            }
            Filter::UrlQueryParam(name) => {
                let name = with(name, scope)?;
                let url = url::Url::parse(text).map_err(|_| "the text is no URL".to_owned())?;
                let found = url.query_pairs().find(|(key, _)| *key == name).map(|(_, value)| Value::text(value));
                found
            }
            plain => Some(plain.of_plain_text(text)?),
        })
    }

    fn of_plain_text(&self, text: &str) -> Result<Value, String> {
        let no_base64 = |_| "the text is no base64".to_owned();
        Ok(match self {
            Filter::UrlEncode => Value::text(utf8_percent_encode(text, URL_ENCODED).to_string()),
            Filter::UrlDecode => {
                let decoded = percent_decode_str(text).decode_utf8();
                Value::text(decoded.map_err(|_| "what is encoded is not UTF-8".to_owned())?)
            }
            Filter::HtmlEscape => Value::text(html_escaped(text)),
            Filter::Base64Decode => Value::Bytes(STANDARD.decode(text).map_err(no_base64)?),
            Filter::Base64UrlSafeDecode => {
                Value::Bytes(URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).map_err(no_base64)?)
            }
            Filter::Utf8Encode => Value::Bytes(text.as_bytes().to_vec()),
            Filter::JsonEscape => {
                let quoted = Json::from(text).to_string();
                Value::text(&quoted[1..quoted.len() - 1])
            }
            _ => return Err("this is no filter of texts".into()),
        })
    }

    /// Variables that it needs.
    pub(crate) fn variables(&self) -> Vec<VariableId> {
        match self {
            Filter::Regex(regex) => regex.variables(),
            Filter::JsonPath(path) => path.variables(),
            Filter::Replace(old, new) => old.variables().chain(new.variables()).collect(),
            Filter::ReplaceRegex(old, new) => old.variables().into_iter().chain(new.variables()).collect(),
            Filter::Split(text) | Filter::UrlQueryParam(text) => text.variables().collect(),
            _ => Vec::new(),
        }
    }
}

fn of_bytes(filter: &Filter, value: Value) -> Filtered {
    let bytes = match value {
        Value::Bytes(bytes) => bytes,
        other => return Err(wrong(&other, "bytes")),
    };
    Ok(Some(match filter {
        Filter::Base64Encode => Value::text(STANDARD.encode(bytes)),
        Filter::Base64UrlSafeEncode => Value::text(URL_SAFE_NO_PAD.encode(bytes)),
        Filter::ToHex => Value::text(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
        _ => Value::text(String::from_utf8(bytes).map_err(|_| "the bytes are not UTF-8".to_owned())?),
    }))
}

fn wrong(value: &Value, wanted: &str) -> String {
    format!("{} is found where {wanted} is needed", value.kind())
}

fn html_escaped(text: &str) -> String {
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
    escaped
}
