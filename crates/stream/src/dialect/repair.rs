//! JSON that cannot be read as it is: with half characters, or cut off.

/// Limit on nesting. Serde's own limit is lower.
const MAX_DEPTH: usize = 256;

/// Replaces half characters by U+FFFD, as browsers do: bytes that are not UTF-8, and escapes of one half of a surrogate
/// pair. If `is_whole` is false, the end of the JSON is missing, and it is closed after the last value that is there.
/// Returns `None` if this changes nothing that could help.
pub(crate) fn repaired(data: &[u8], is_whole: bool) -> Option<Vec<u8>> {
    let is_text = std::str::from_utf8(data).is_ok();
    let mut text = if is_text { data.to_vec() } else { String::from_utf8_lossy(data).into_owned().into_bytes() };
    let mut is_changed = !is_text;
    is_changed |= replace_lone_surrogates(&mut text);
    if !is_whole {
        close(&mut text)?;
        is_changed = true;
    }
    is_changed.then_some(text)
}

/// Returns the code unit of a `\uXXXX` at the start of `text`.
fn unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok().filter(|_| is_hex)
}

/// Returns true if an escape was replaced.
fn replace_lone_surrogates(text: &mut [u8]) -> bool {
    let mut is_changed = false;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &text[at..]) {
        at += found;
        at += match (unit(&text[at..]), text.get(at + 6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                text[at..at + 6].copy_from_slice(b"\\uFFFD");
                is_changed = true;
                6
            }
            _ => 2,
        };
        if at >= text.len() {
            break;
        }
    }
    is_changed
}

/// Cuts JSON off after its last value or within a text that is a value, and closes all that is open. Returns `None` if
/// it is nested too deep.
fn close(text: &mut Vec<u8>) -> Option<()> {
    let mut open = Vec::new();
    let mut complete = 0;
    let mut before = b' ';
    let mut at = 0;
    while let Some(byte) = text.get(at).copied() {
        at += 1;
        match byte {
            b'"' => {
                let end = end_of_text(text, at);
                if !end.is_closed {
                    let is_value = before == b':' || open.last() == Some(&b']');
                    text.truncate(if is_value { end.at } else { complete });
                    text.extend(is_value.then_some(b'"'));
                    complete = text.len();
                    break;
                }
                at = end.at;
            }
            b'{' | b'[' => {
                open.push(if byte == b'{' { b'}' } else { b']' });
                complete = at;
            }
            b'}' | b']' => {
                open.pop();
                complete = at;
            }
            b',' => complete = at - 1,
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
    }
    text.truncate(complete);
    text.extend(open.iter().rev());
    (open.len() <= MAX_DEPTH).then_some(())
}

struct TextEnd {
    /// Position after the last whole character, or after the closing quote.
    at: usize,
    is_closed: bool,
}

/// Returns the end of the text whose first character is at `from`.
fn end_of_text(text: &[u8], from: usize) -> TextEnd {
    let mut at = from;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &text[at..]) {
        at += found;
        if text[at] == b'"' {
            return TextEnd { at: at + 1, is_closed: true };
        }
        let length = if text.get(at + 1) == Some(&b'u') { 6 } else { 2 };
        if at + length > text.len() {
            return TextEnd { at, is_closed: false };
        }
        at += length;
    }
    TextEnd { at: text.len(), is_closed: false }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn repaired_text(data: &[u8], is_whole: bool) -> Option<String> {
        repaired(data, is_whole).map(|text| String::from_utf8(text).expect("text"))
    }

    #[test]
    fn half_characters_are_replaced() {
        for (data, expected) in [
            (&br#""a\ud83e""#[..], Some(r#""a\uFFFD""#)),
            (br#""\uDD8Ab\ud83e\udd8a""#, Some(r#""\uFFFDb\ud83e\udd8a""#)),
            (br#""\ud83e\ud83e\udd8a""#, Some(r#""\uFFFD\ud83e\udd8a""#)),
            (br#""\ud83e\n""#, Some(r#""\uFFFD\n""#)),
            (b"\"\xf0\x9f\"", Some("\"\u{fffd}\"")),
            (b"\"\xff\\ud83e\"", Some("\"\u{fffd}\\uFFFD\"")),
            (br#""\\ud83e""#, None),
            (br#""\ud83e\udd8a""#, None),
            (br#""\u+83e \u12""#, None),
            (b"\\", None),
            (b"", None),
        ] {
            assert_eq!(repaired_text(data, true).as_deref(), expected, "{}", data.escape_ascii());
        }
    }

    #[test]
    fn what_is_cut_off_is_closed() {
        for (data, expected) in [
            (r#"{"a":"b"#, r#"{"a":"b"}"#),
            (r#"{"a":"b\"#, r#"{"a":"b"}"#),
            (r#"{"a":"b\u12"#, r#"{"a":"b"}"#),
            (r#"{"a":"b\ud83e\udd"#, r#"{"a":"b\uFFFD"}"#),
            (r#"{"a":["b", "c"#, r#"{"a":["b", "c"]}"#),
            (r#"{"a":1,"b"#, r#"{"a":1}"#),
            (r#"{"a":1,"b":"#, r#"{"a":1}"#),
            (r#"{"a":1,"b":tr"#, r#"{"a":1}"#),
            (r#"{"a":[{"b":2}"#, r#"{"a":[{"b":2}]}"#),
            (r#"{"a":12"#, "{}"),
            ("{", "{}"),
            ("", ""),
        ] {
            assert_eq!(repaired_text(data.as_bytes(), false).as_deref(), Some(expected), "{data}");
        }
        assert_eq!(repaired(&b"[".repeat(MAX_DEPTH + 1), false), None);
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a\"\\\\é\n🦊:,{}]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a\"\\\\é]{0,3}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_beginning_of_json_can_be_read(value in json(), cut in any::<prop::sample::Index>(), is_ascii in any::<bool>()) {
            let mut text = serde_json::json!({"a": value}).to_string();
            if is_ascii {
                let escaped = |unit: u16| if unit < 128 { char::from(unit as u8).to_string() } else { format!("\\u{unit:04x}") };
                text = text.encode_utf16().map(escaped).collect();
            }
            let beginning = &text.as_bytes()[..=cut.index(text.len())];
            let closed = repaired(beginning, false).expect("not deep");
            prop_assert!(serde_json::from_slice::<Value>(&closed).is_ok(), "{}", closed.escape_ascii());
        }

        #[test]
        fn no_bytes_are_too_odd(data in prop::collection::vec(any::<u8>(), 0..60), text in "[\\[\\]{}\":,ud8DcC\\\\]{0,60}") {
            for bytes in [&data[..], text.as_bytes()] {
                let _ = (repaired(bytes, true), repaired(bytes, false));
            }
        }
    }
}
