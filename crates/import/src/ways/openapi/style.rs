//! Notation of parameter values: `style` and `explode` (OpenAPI 3.1, section 4.8.12.3).

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::schema::Schema;
use super::value::{in_json, in_text};

/// Characters that are encoded in a part of a path or query.
const IN_PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b',');
/// Characters that are encoded in an item of a list, including the delimiter of items.
const IN_ITEM: &AsciiSet = &IN_PART.add(b',');
/// Characters that are encoded in a query with `allowReserved`, because they would end it or begin another parameter.
const NOT_RESERVED: &AsciiSet = &IN_PART
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b';')
    .remove(b'=');

pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, IN_PART).to_string()
}

/// Returns the text of a parameter in path, query or header. Returns `None` for an empty list, and for a value that the
/// style cannot express.
pub(super) fn written(parameter: &Value, schema: &Schema<'_>, name: &str, value: &Value) -> Option<String> {
    let place = parameter["in"].as_str()?;
    if parameter.get("content").is_some() {
        let json = in_json(value, schema);
        return Some(match place {
            "query" => format!("{}={}", encoded(name), encoded(&json)),
            "path" => encoded(&json),
            _ => json,
        });
    }
    let style = parameter["style"].as_str().unwrap_or(if place == "query" { "form" } else { "simple" });
    let explodes = parameter["explode"].as_bool().unwrap_or(style == "form");
    let set = match place {
        "query" if parameter["allowReserved"] == true => Some(NOT_RESERVED),
        "query" | "path" => Some(if value.is_array() || value.is_object() { IN_ITEM } else { IN_PART }),
        _ => None,
    };
    let text = |text: &str| set.map_or(text.to_owned(), |set| utf8_percent_encode(text, set).to_string());
    let pair = |(key, value): (&String, &Value)| in_text(value).map(|value| (text(key), text(&value)));
    let key = encoded(name);
    let pieces: Pieces = match value {
        Value::Array(list) => {
            Pieces::List(list.iter().map(|item| in_text(item).map(|item| text(&item))).collect::<Option<_>>()?)
        }
        Value::Object(members) => Pieces::Pairs(members.iter().map(pair).collect::<Option<_>>()?),
        one => Pieces::List(vec![text(&in_text(one)?)]),
    };
    if pieces.is_empty() {
        return None;
    }
    Some(match (style, pieces) {
        ("deepObject", Pieces::Pairs(pairs)) => joined(pairs, "&", |(k, v)| format!("{key}%5B{k}%5D={v}")),
        ("form", Pieces::Pairs(pairs)) if explodes => joined(pairs, "&", |(k, v)| format!("{k}={v}")),
        (style, Pieces::List(list)) if explodes && place == "query" && style != "deepObject" => {
            joined(list, "&", |item| format!("{key}={item}"))
        }
        ("spaceDelimited", pieces) => format!("{key}={}", pieces.flat("%20")),
        ("pipeDelimited", pieces) => format!("{key}={}", pieces.flat("%7C")),
        ("form" | "deepObject", pieces) => format!("{key}={}", pieces.flat(",")),
        ("label", Pieces::Pairs(pairs)) if explodes => format!(".{}", joined(pairs, ".", |(k, v)| format!("{k}={v}"))),
        ("label", pieces) => format!(".{}", pieces.flat(if explodes { "." } else { "," })),
        ("matrix", Pieces::Pairs(pairs)) if explodes => joined(pairs, "", |(k, v)| format!(";{k}={v}")),
        ("matrix", Pieces::List(list)) if explodes => joined(list, "", |item| format!(";{key}={item}")),
        ("matrix", pieces) => format!(";{key}={}", pieces.flat(",")),
        (_, Pieces::Pairs(pairs)) if explodes => joined(pairs, ",", |(k, v)| format!("{k}={v}")),
        (_, pieces) if place == "query" => format!("{key}={}", pieces.flat(",")),
        (_, pieces) => pieces.flat(","),
    })
}

enum Pieces {
    List(Vec<String>),
    Pairs(Vec<(String, String)>),
}

impl Pieces {
    fn is_empty(&self) -> bool {
        matches!(self, Pieces::List(list) if list.is_empty())
            || matches!(self, Pieces::Pairs(pairs) if pairs.is_empty())
    }

    /// Joins all pieces into one list: `a,b`, or `key,value,key,value`.
    fn flat(self, between: &str) -> String {
        match self {
            Pieces::List(list) => list.join(between),
            Pieces::Pairs(pairs) => joined(pairs, between, |(key, value)| format!("{key}{between}{value}")),
        }
    }
}

fn joined<T>(pieces: Vec<T>, between: &str, text: impl Fn(T) -> String) -> String {
    pieces.into_iter().map(text).collect::<Vec<_>>().join(between)
}
