//! Scenarios written and read back, and texts that are not scenarios.

use proptest::prelude::*;
use truetail_model::scenario::Scenario;

use super::any_scenario::scenario;
use super::{file, parse};

proptest! {
    #[test]
    fn toml_and_json_read_back_as_they_were_written(scenario in scenario()) {
        let text = scenario.to_toml();
        let read = parse(&text);
        prop_assert_eq!(read.as_ref(), Ok(&scenario), "{}", text);
        let json = serde_json::to_string(&scenario).unwrap();
        let read: Result<Scenario, _> = serde_json::from_str(&json);
        prop_assert_eq!(read.ok(), Some(scenario), "{}", json);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in ".*", key in "[a-z-]{1,8}", value in "[0-9a-z'\\[\\]\"=.-]{0,12}") {
        let _ = parse(&text);
        let _ = parse(&file(&format!("{key} = {value}"), &format!("[[service.fault]]\n{key} = {value}\n{text}")));
    }
}
