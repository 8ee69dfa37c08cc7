//! Written YAML is read as the same value by an independent parser.

use proptest::prelude::*;
use saphyr::{LoadableYamlNode, Yaml};
use serde_json::{Value, json};
use truetail_cluster::to_yaml;

fn texts() -> impl Strategy<Value = String> {
    let tricky = prop::sample::select(vec![
        "",
        "no",
        "Y",
        "1",
        "1e3",
        "-",
        "- a",
        "a: b",
        "#",
        "null",
        "~",
        "$(X)",
        "a\nb",
        "\u{85}",
        "\u{2028}x",
        "'",
    ]);
    prop_oneof![".{0,12}", tricky.prop_map(str::to_owned)]
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        texts().prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(texts(), inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn read(yaml: &Yaml<'_>) -> Value {
    match yaml {
        Yaml::Sequence(items) => Value::Array(items.iter().map(read).collect()),
        Yaml::Mapping(map) => Value::Object(
            map.iter().map(|(key, value)| (key.as_str().expect("a text").to_owned(), read(value))).collect(),
        ),
        other => match (other.as_bool(), other.as_integer(), other.as_str()) {
            (Some(bool), ..) => json!(bool),
            (_, Some(number), _) => json!(number),
            (.., Some(text)) => json!(text),
            _ => panic!("{other:?}"),
        },
    }
}

proptest! {
    #[test]
    fn yaml_says_what_json_said(value in values()) {
        let text = to_yaml(&value);
        let documents = Yaml::load_from_str(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(read(&documents[0]), value, "{}", text);
    }
}
