use proptest::prelude::*;
use serde_json::Value;

use super::*;

const NAMES: [&str; 3] = ["usage", "error", "n"];
const MAX_VALUE_BYTES: usize = 4 << 10;

fn scanned<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> JsonScanner {
    let mut scanner = JsonScanner::new(&NAMES, MAX_VALUE_BYTES);
    pieces.into_iter().for_each(|piece| scanner.feed(piece));
    scanner
}

/// Returns the state, and each member that was kept, or its beginning before `…`.
fn found(scanner: &JsonScanner) -> (DocumentState, Vec<String>) {
    let kept = NAMES.iter().filter_map(|name| scanner.value(name));
    let text = |kept: &KeptValue| {
        let cut = if kept.whole().is_some() { "" } else { "…" };
        format!("{}={}{cut}", kept.name, String::from_utf8_lossy(kept.beginning()))
    };
    (scanner.state(), kept.map(text).collect())
}

fn of(text: &str) -> (DocumentState, Vec<String>) {
    found(&scanned([text.as_bytes()]))
}

#[test]
fn members_at_the_top_are_kept_wherever_they_stand() {
    for (text, kept) in [
        (r#"{"usage": {"a": [1, "}"]}, "data": []}"#, &[r#"usage={"a": [1, "}"]}"#][..]),
        (r#" {"data":[{"usage":1}],"n":-1.5e3 ,"error":"a\"]\\"} "#, &[r#"error="a\"]\\""#, "n=-1.5e3"]),
        (r#"{"n":1,"n":2}"#, &["n=2"]),
        (r#"{"n":null}"#, &["n=null"]),
        ("{}", &[]),
        (r#"[{"usage":1}]"#, &[]),
        (r#"{"u":{"n":1},"nn":3,"":2,"\u006e":4}"#, &[]),
    ] {
        assert_eq!(of(text), (DocumentState::Whole, kept.iter().map(|text| (*text).to_owned()).collect()), "{text}");
    }
}

#[test]
fn other_documents_are_broken() {
    for text in [
        "<html>",
        "12",
        "\"usage\"",
        "null",
        "{]",
        "[}",
        "{\"a\":[}]}",
        "{\"a\":{\"b\":1]}",
        "{\"a\" 1}",
        "{\"a\":1,}",
        "{,}",
        "{a:1}",
        "{\"a\":1 2}",
        "{\"a\":}",
        "{} {}",
        "[] x",
        "{\"a\":[1]]}",
        "{\"a\":\u{1}}",
        "{\"a\"::1}",
        "\u{feff}{}",
    ] {
        assert_eq!(of(text).0, DocumentState::Broken, "{text}");
    }
}

#[test]
fn the_beginning_of_a_document_is_unfinished() {
    let text = r#" {"a":"b\\","n":[1,{"c":"]"}],"usage":12}"#;
    for end in 0..text.len() {
        assert_eq!(of(&text[..end]).0, DocumentState::Unfinished, "{}", &text[..end]);
    }
    assert_eq!(of(text).0, DocumentState::Whole);
}

#[test]
fn large_documents_take_bounded_memory() {
    let floats = "-0.0123456,".repeat(10_000);
    let mut scanner = JsonScanner::new(&NAMES, MAX_VALUE_BYTES);
    scanner.feed(b"{\"data\":[[");
    (0..100).for_each(|_| scanner.feed(floats.as_bytes()));
    scanner.feed(b"0]],\"error\":\"");
    (0..100).for_each(|_| scanner.feed(floats.as_bytes()));
    scanner.feed(b"\",\"usage\":7}");
    assert_eq!(scanner.state(), DocumentState::Whole);
    assert_eq!(scanner.value("usage").and_then(KeptValue::whole), Some(&b"7"[..]));
    let error = scanner.value("error").expect("its beginning");
    assert_eq!((error.whole(), error.beginning().len()), (None, MAX_VALUE_BYTES));
    assert!(scanner.kept.iter().all(|kept| kept.bytes.capacity() <= 2 * MAX_VALUE_BYTES));
    assert!(scanner.name.capacity() <= 2 * MAX_NAME_BYTES);
    scanner.restart();
    scanner.feed(b"{}");
    assert_eq!(found(&scanner), (DocumentState::Whole, Vec::new()));
    let mut scanner = JsonScanner::new(&NAMES, 1 << 20);
    scanner.feed(b"{\"error\":\"");
    (0..100).for_each(|_| scanner.feed(floats.as_bytes()));
    assert_eq!(scanner.value("error").map(|value| value.beginning().len()), Some(1 << 20));
    scanner.give_back_room();
    assert!(scanner.kept.iter().all(|kept| kept.bytes.capacity() <= MAX_ROOM_BYTES));
}

#[test]
fn a_depth_over_the_limit_is_broken() {
    let nested = |depth: usize| format!("{{\"usage\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
    let most = MAX_DEPTH as usize - 1;
    assert_eq!((of(&nested(most)).0, of(&nested(most + 1)).0), (DocumentState::Whole, DocumentState::Broken));
    assert_eq!(of(&"[".repeat(1 << 20)).0, DocumentState::Broken);
}

#[test]
fn marks_are_found_at_every_place() {
    for mark in b"\"[]{}" {
        for at in 0..2 * STEP {
            let mut bytes = vec![b'1'; 2 * STEP + 3];
            bytes[at] = *mark;
            assert_eq!(find_mark(&bytes), Some(at));
        }
    }
    let others: Vec<u8> = (0..=u8::MAX).filter(|byte| !b"\"[]{}".contains(byte)).collect();
    assert_eq!(find_mark(&others), None);
}

/// Any JSON value, with quotes, brackets and backslashes in its texts.
fn json() -> impl Strategy<Value = Value> {
    let text = || "[a\\\\\"\\[\\]{},: ü]{0,6}";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    let name = move || prop_oneof![Just("usage".to_owned()), Just("n".to_owned()), text()];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(name(), inner, 0..4).prop_map(Value::from_iter),
        ]
    })
}

proptest! {
    #[test]
    fn values_are_those_of_a_whole_parser(value in json(), is_pretty: bool) {
        let text = if is_pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let text = text.expect("JSON");
        let scanner = scanned([text.as_bytes()]);
        if !value.is_object() && !value.is_array() {
            prop_assert_eq!(scanner.state(), DocumentState::Broken);
            return Ok(());
        }
        prop_assert_eq!((scanner.state(), scanner.is_list()), (DocumentState::Whole, value.is_array()));
        for name in NAMES {
            let kept = scanner.value(name).and_then(KeptValue::whole);
            let parsed = kept.map(|bytes| serde_json::from_slice::<Value>(bytes).expect("JSON"));
            prop_assert_eq!(parsed.as_ref(), value.get(name));
        }
    }

    #[test]
    fn any_cut_gives_the_same(value in json(), damage in prop::option::of((0usize..200, any::<u8>())), length in 1usize..9) {
        let mut bytes = serde_json::to_vec(&value).expect("JSON");
        if let Some((at, byte)) = damage {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        let whole = scanned([&bytes[..]]);
        prop_assert_eq!(found(&scanned(bytes.chunks(length))), found(&whole));
        for cut in 0..=bytes.len() {
            let (one, other) = bytes.split_at(cut);
            prop_assert_eq!(found(&scanned([one, other])), found(&whole));
        }
    }
}
