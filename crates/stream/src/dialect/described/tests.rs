use allocation_counter::measure;
use proptest::prelude::*;

use super::DescribedDialect;
use super::description::MAX_TEXTS;
use super::file::MAX_FILE_BYTES;
use crate::chunk::{Choices, Chunk, Usage};

const SMALL: &str = "text = 'a[*].t'\nreasoning = 'a[*].r'\nchoice = 'a[*].i'\nfinish = 'a[*].f'\nend = ['over', 'state == 3']\n\
                     error = 'oops'\nonly-known = 'a[*]'\n[usage]\noutput = ['u.out + u.more', 'n']\ninput = 'u.in'\n";

fn small() -> DescribedDialect {
    DescribedDialect::parse("small.toml", SMALL).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_mistake_has_its_file_line_and_key() {
    let fine = "text = 'a'\nend = 'b'\n";
    for (text, place, part) in [
        ("", "1:1", "'text' is missing"),
        ("text = 'a'", "1:1", "nothing says how an answer ends"),
        ("text = 'a'\nend = 'b'\ntxet = 'c'", "3:1", "unknown key 'txet'; did you mean 'text'?"),
        ("text = 3\nend = 'b'", "1:8", "'text': write a path"),
        ("text = ['a', 'b..c']\nend = 'b'", "1:14", "'text': 'b..c' is no path"),
        ("text = { when = 'x == y' }\nend = 'b'", "1:8", "'text': it has no 'path'"),
        ("text = { path = 'a', wenn = 'x' }\nend = 'b'", "1:22", "unknown key 'wenn' in 'text'"),
        ("events = 'ws'", "1:10", "'events': write \"sse\" or \"lines\""),
        ("choice = '[*]'", "1:10", "'choice': write the path of the number of a choice"),
        ("end-mark = ' '", "1:12", "'end-mark': write the data"),
        ("[usage]\noutptu = 'a'", "2:1", "unknown key 'outptu' in [usage]; did you mean 'output'?"),
        ("usage = 'a'", "1:9", "'usage': write a table"),
        ("[request]\nat = 2026-01-01", "2:6", "'at': JSON has no dates"),
        ("[request]\nat = 99999999999999999999", "2:6", "'at': the number is too large"),
        ("text = 'a'\nend = 'b'\ntext-repeats = 'yes'", "3:16", "'text-repeats': write true or false"),
        ("text = 'a'\nend = 'b'\ntext-repeats = true", "1:1", "'text-repeats': only a count"),
        ("text = ['a', 'a.b']\nend = 'b'", "1:1", "is read as a whole, and another path leads into it"),
        ("text = ['a[*]', 'a[0]']\nend = 'b'", "1:1", "has [*] in one path and a number in another"),
        ("text = ['a[*]', 'a.c']\nend = 'b'", "1:1", "is a list in one path and an object in another"),
        ("text = 'a", "1:10", ""),
    ] {
        let error = DescribedDialect::parse("d.toml", text).expect_err(text).to_string();
        assert!(error.starts_with(&format!("d.toml:{place}: ")) && error.contains(part), "{text}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
    let many = format!("text = [{}]\nend = 'b'", "'x',".repeat(MAX_TEXTS + 1));
    assert!(DescribedDialect::parse("d.toml", &many).is_err_and(|error| error.message.contains("at most 16 paths")));
    let large = format!("{fine}# {}", "x".repeat(MAX_FILE_BYTES));
    assert!(DescribedDialect::parse("d.toml", &large).is_err_and(|error| error.message.contains("65536 are read")));
}

#[test]
fn an_event_is_read_by_its_paths() {
    let dialect = small();
    let one = |index| Choices::one(index).expect("a choice");
    for (data, expected) in [
        (r#"{"a":[{"t":"x","i":1}]}"#, Chunk { content: one(1), choices: one(1), ..Chunk::default() }),
        (
            r#"{"a":[{"i":2,"r":"x"}]}"#,
            Chunk { content: one(2), choices: one(2), is_reasoning: true, ..Chunk::default() },
        ),
        (
            r#"{"a":[{"t":"x"},{"i":1,"f":"stop"}]}"#,
            Chunk {
                content: one(0),
                choices: one(0).and(one(1)),
                finished: one(1),
                finish: Some(truetail_run::FinishReason::Stop),
                ..Chunk::default()
            },
        ),
        (r#"{"a":[{"t":"","role":"x"}]}"#, Chunk { choices: one(0), is_unknown: true, ..Chunk::default() }),
        (r#"{"a":[{"t":"x","i":64}]}"#, Chunk { is_unknown: true, ..Chunk::default() }),
        (r#"{"over":true}"#, Chunk { finished: Choices::all(), ..Chunk::default() }),
        (r#"{"over":false,"state":2}"#, Chunk::default()),
        (r#"{"state":3}"#, Chunk { finished: Choices::all(), ..Chunk::default() }),
        (r#"{"oops":{"code":1}}"#, Chunk { is_error: true, ..Chunk::default() }),
        (r#"{"oops":null,"other":[1]}"#, Chunk::default()),
        (
            r#"{"u":{"out":3,"more":4,"in":5}}"#,
            Chunk { usage: Some(Usage { output: 7, input: Some(5), ..Usage::default() }), ..Chunk::default() },
        ),
        (
            r#"{"u":{"more":4},"n":9.0}"#,
            Chunk { usage: Some(Usage { output: 9, ..Usage::default() }), ..Chunk::default() },
        ),
        (
            r#"{"u":{"in":5}}"#,
            Chunk {
                usage: Some(Usage { input: Some(5), ..Usage::default() }),
                has_no_output_count: true,
                ..Chunk::default()
            },
        ),
    ] {
        assert_eq!(dialect.read(data), Some(expected), "{data}");
    }
    assert_eq!(dialect.read("{\"a\":[}"), None);
    assert_eq!(dialect.read("{} {}"), None);
}

#[test]
fn a_text_may_depend_on_another_member() {
    let text = "text = { path = 'd', when = ['k == a', 'k == \"b c\"'] }\nreasoning = { path = 'd', when = 'k == r' }\nend = 'over'";
    let dialect = DescribedDialect::parse("d.toml", text).unwrap_or_else(|error| panic!("{error}"));
    let read = |data: &str| {
        let chunk = dialect.read(data).expect("JSON");
        (!chunk.content.is_empty(), chunk.is_reasoning, chunk.is_unknown)
    };
    assert_eq!(read(r#"{"k":"a","d":"x"}"#), (true, false, false));
    assert_eq!(read(r#"{"d":"x","k":"b c"}"#), (true, false, false));
    assert_eq!(read(r#"{"k":"r","d":"x"}"#), (true, true, false));
    assert_eq!(read(r#"{"k":"z","d":"x"}"#), (false, false, true), "a text that no rule takes");
    assert_eq!(read(r#"{"k":"z","d":""}"#), (false, false, false));
}

#[test]
fn a_condition_holds_for_the_item_that_it_shares_with_the_text() {
    let of = |text: &str| {
        DescribedDialect::parse("d.toml", &format!("{text}\nend = 'over'")).unwrap_or_else(|error| panic!("{error}"))
    };
    let read = |dialect: &DescribedDialect, data: &str| {
        let chunk = dialect.read(data).expect("JSON");
        (!chunk.content.is_empty(), chunk.is_reasoning, chunk.is_unknown)
    };
    let items = "text = { path = 'c[*].x', when = 'c[*].k == text' }\n\
                 reasoning = { path = 'c[*].x', when = ['c[*].k == think', 'all == think'] }";
    let one = of(items);
    let chosen = of(&format!("{items}\nchoice = 'c[*].i'"));
    for (data, expected) in [
        (r#"{"c":[{"k":"think","x":"a"},{"k":"text","x":""}]}"#, (true, true, false)),
        (r#"{"c":[{"k":"think","x":""},{"x":"a","k":"text"}]}"#, (true, false, false)),
        (r#"{"c":[{"k":"text","x":""},{"x":"a","k":"think"}]}"#, (true, true, false)),
        (r#"{"c":[{"x":"a","k":"text"},{"k":"think","x":"b"}]}"#, (true, false, false)),
        (r#"{"c":[{"k":"text","x":"a"},{"k":"tool","x":"b"}]}"#, (true, false, true)),
        (r#"{"c":[{"k":"text","x":""},{"x":"b"}]}"#, (false, false, true)),
        (r#"{"c":[{"x":"b"}],"all":"think"}"#, (true, true, false)),
        (r#"{"c":[]}"#, (false, false, false)),
    ] {
        assert_eq!(read(&one, data), expected, "{data}");
        assert_eq!(read(&chosen, data), expected, "{data} with choices");
    }
    let chunk = chosen.read(r#"{"c":[{"k":"tool","x":"a","i":1},{"k":"text","x":"b","i":2}]}"#).expect("JSON");
    assert_eq!(chunk.content, Choices::one(2).expect("a choice"));
    let nested = of("text = { path = 'a[*].b[*].t', when = 'a[*].k == x' }");
    assert_eq!(read(&nested, r#"{"a":[{"k":"x","b":[{"t":""}]},{"k":"y","b":[{"t":"a"}]}]}"#), (false, false, true));
    assert_eq!(read(&nested, r#"{"a":[{"b":[{"t":"a"},{"t":""}],"k":"x"},{"k":"y"}]}"#), (true, false, false));
}

#[test]
fn any_number_and_null_can_be_a_condition() {
    let ends = |wanted: &str, value: &str| {
        let dialect = DescribedDialect::parse("d.toml", &format!("text = 't'\nend = \"x == {wanted}\""));
        let chunk = dialect.unwrap_or_else(|error| panic!("{error}")).read(&format!("{{\"x\":{value}}}"));
        chunk.expect("JSON").finished == Choices::all()
    };
    for (wanted, value, is) in [
        ("-1", "-1", true),
        ("-1", "1", false),
        ("1.5", "1.5", true),
        ("1.5", "-1.5", false),
        ("null", "null", true),
        ("null", "0", false),
        ("''", "\"\"", true),
        ("", "-1", false),
        ("''", "-1", false),
        ("''", "1.5", false),
        ("''", "null", false),
    ] {
        assert_eq!(ends(wanted, value), is, "{wanted} {value}");
    }
    let dialect = DescribedDialect::parse("d.toml", "text = 't'\nfinish = 'f'\nfinish-errors = '-1'").expect("a file");
    assert!(dialect.read(r#"{"f":-1}"#).is_some_and(|chunk| chunk.is_error));
    let only = Chunk { choices: Choices::one(0).expect("the first choice"), ..Chunk::default() };
    assert_eq!(dialect.read(r#"{"f":null}"#), Some(only), "no finish, and nothing that is unknown");
}

#[test]
fn the_members_of_a_request_are_json() {
    let of = |text: &str| {
        let text = format!("text = 'a'\nend = 'b'\n{text}");
        let dialect = DescribedDialect::parse("d.toml", &text).unwrap_or_else(|error| panic!("{error}"));
        dialect.request_members().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
    };
    assert_eq!(of(""), ["stream=true"]);
    assert_eq!(of("[request]"), Vec::<String>::new());
    let all = "[request]\nmode = 'live'\nopts = { n = 0x10, f = 1.5, l = [1, true] }";
    assert_eq!(of(all), ["mode=\"live\"", r#"opts={"f":1.5,"l":[1,true],"n":16}"#]);
}

#[test]
fn an_event_without_escapes_needs_no_memory() {
    let dialect = small();
    let event = r#"{"id":"x","a":[{"t":"word","r":"","i":0,"f":null},{"t":"","i":1}],"u":{"out":7,"in":5},"state":4}"#;
    let mut chunk = None;
    let counted = measure(|| chunk = dialect.read(event));
    assert_eq!(counted.count_total, 0);
    assert!(chunk.is_some_and(|chunk| !chunk.content.is_empty()));
}

proptest! {
    #[test]
    fn no_event_is_too_odd(text in "[\\[\\]{}\":,atrifuonesv0-9. ]{0,60}") {
        let _ = small().read(&text);
        if let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) {
            prop_assert!(small().read(&text).is_some() || !value.is_object(), "{}", text);
        }
    }

    #[test]
    fn no_file_is_too_odd(text in "(text|end|usage|choice|=|'|\"|\\[|\\]|\\{|\\}|a|\\.|\\*|\n| ){0,40}") {
        let _ = DescribedDialect::parse("d.toml", &text);
    }
}
