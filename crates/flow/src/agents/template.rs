//! Bodies of calls, with places for what the model said.

use std::ops::Range;

/// A part of a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    /// Text of the file.
    Text(Box<[u8]>),
    /// Text that the model said in this call of the session, with the escapes of JSON.
    Said(u32),
}

/// Limit on the body of a request, after what the model said was inserted: 16 MiB.
pub(super) const MAX_BODY_BYTES: usize = 16 << 20;

const NOT_THERE: &str = "a text that it says again is not there";

/// A place `{{NAME}}` between the quotes of a JSON text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Place<'a> {
    pub(super) name: &'a str,
    pub(super) range: Range<usize>,
}

/// Returns the places for texts in a JSON text. Braces with anything else than a name between them are no place.
pub(super) fn places(json: &str) -> Vec<Place<'_>> {
    let bytes = json.as_bytes();
    let mut found = Vec::new();
    let mut is_in_text = false;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if is_in_text => at += 1,
            b'"' => is_in_text = !is_in_text,
            b'{' if is_in_text && bytes.get(at + 1) == Some(&b'{') => {
                let length = bytes[at + 2..].iter().take_while(|byte| is_in_name(**byte)).count();
                let end = at + 2 + length;
                if length > 0 && bytes[end..].starts_with(b"}}") {
                    found.push(Place { name: &json[at + 2..end], range: at..end + 2 });
                    at = end + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':')
}

/// Divides a body at its places. `call_of` returns the call that a place names.
///
/// # Errors
/// That of the first place without a call.
pub(super) fn pieces<E>(json: &str, mut call_of: impl FnMut(&str) -> Result<u32, E>) -> Result<Vec<Piece>, E> {
    let text = |range: Range<usize>| Piece::Text(json.as_bytes()[range].into());
    let mut pieces = Vec::new();
    let mut from = 0;
    for Place { name, range } in places(json) {
        pieces.push(text(from..range.start));
        pieces.push(Piece::Said(call_of(name)?));
        from = range.end;
    }
    pieces.push(text(from..json.len()));
    Ok(pieces)
}

/// Returns a text with the escapes that it has between the quotes of a JSON text.
pub(super) fn escaped(text: &str) -> Vec<u8> {
    let mut quoted = serde_json::to_vec(text).expect("every text has a JSON form");
    quoted.pop();
    quoted.remove(0);
    quoted
}

/// Returns the reason why a body cannot be made, without making it. `said` has the escaped texts by call.
pub(super) fn check(body: &[Piece], said: &[Option<Vec<u8>>]) -> Result<(), String> {
    let mut length = 0;
    for piece in body {
        length += match piece {
            Piece::Text(text) => text.len(),
            Piece::Said(call) => said[*call as usize].as_ref().ok_or(NOT_THERE)?.len(),
        };
        if length > MAX_BODY_BYTES {
            return Err(too_long());
        }
    }
    Ok(())
}

/// Says that a body is too long.
pub(super) fn too_long() -> String {
    format!("its body has more than {} MiB", MAX_BODY_BYTES >> 20)
}

/// Writes a body to `out`. `said` has the escaped texts by call.
///
/// # Errors
/// The reason why the body cannot be made.
pub(super) fn fill(body: &[Piece], said: &[Option<Vec<u8>>], out: &mut Vec<u8>) -> Result<(), String> {
    out.clear();
    for piece in body {
        let part = match piece {
            Piece::Text(text) => &text[..],
            Piece::Said(call) => said[*call as usize].as_deref().ok_or(NOT_THERE)?,
        };
        if out.len() + part.len() > MAX_BODY_BYTES {
            return Err(too_long());
        }
        out.extend_from_slice(part);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_names_in_texts() {
        for (json, names) in [
            (r#"{"a":"{{b}} and {{c.1:x-y_z}}"}"#, &["b", "c.1:x-y_z"][..]),
            (r#"{"a":"{{ b }} {{}} {{b} {b}} {{{b}}} {{a b}} {{\"}} {{{{b"}"#, &["b"]),
            (r#"{"{{key}}":"\"{{b}}\\"}"#, &["key", "b"]),
            (r#"{"a":{"b":{"c":1}}}"#, &[]),
            (r#""\\{{b}}""#, &["b"]),
            (r#""\u007b{b}}""#, &[]),
        ] {
            let found: Vec<&str> = places(json).into_iter().map(|place| place.name).collect();
            assert_eq!(found, names, "{json}");
        }
    }

    #[test]
    fn a_text_is_inserted_with_its_escapes() {
        let body = pieces(r#"{"a":"say {{b}}!","n":1}"#, |name| (name == "b").then_some(1).ok_or(())).unwrap();
        let text = "\"\\\n\u{1}\u{1f98a}{{b}}";
        let mut out = Vec::new();
        fill(&body, &[None, Some(escaped(text))], &mut out).unwrap();
        let made: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(made["a"], format!("say {text}!"));
        assert_eq!(check(&body, &[None, Some(escaped(text))]), Ok(()));
        let long = Some(vec![b'x'; MAX_BODY_BYTES]);
        for (said, problem) in [([None, None], "not there"), ([None, long], "more than 16 MiB")] {
            let filled = fill(&body, &said, &mut out);
            assert!(filled.as_ref().unwrap_err().contains(problem));
            assert_eq!(check(&body, &said), filled);
        }
    }
}
