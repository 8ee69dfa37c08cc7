//! `docs/scenarios.md`: every example parses, and every key and kind of fault is explained.

use truetail_model::scenario::Scenario;
use truetail_model::service::FaultKind;

use super::parse;

const PAGE: &str = include_str!("../../../../docs/scenarios.md");

/// Returns the examples of the page, each completed with the sections that it leaves out.
fn examples() -> Vec<Scenario> {
    let blocks = PAGE.split("```toml\n").skip(1).map(|rest| rest.split_once("```").expect("the end of a block").0);
    blocks
        .map(|block| {
            let mut text = block.to_owned();
            if !block.contains("[workload]") {
                text += "\n[workload]\nrate = 1000\nduration = \"60s\"\n";
            }
            if !block.contains("[service]") {
                text += "\n[service]\nbaseline = \"10ms\"\n";
            }
            parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
        })
        .collect()
}

#[test]
fn each_key_of_the_examples_is_explained() {
    let examples = examples();
    assert!(examples.len() > 10, "{}", examples.len());
    for scenario in examples {
        let text = scenario.to_toml();
        for key in text.lines().filter_map(|line| line.split_once(" = ")).map(|(key, _)| key) {
            assert!(PAGE.contains(&format!("`{key}`")), "docs/scenarios.md does not explain {key}");
        }
    }
}

#[test]
fn each_kind_of_fault_has_an_example() {
    let shown: Vec<FaultKind> =
        examples().iter().flat_map(|scenario| &scenario.service.faults).map(|fault| fault.kind()).collect();
    for kind in FaultKind::ALL.into_iter().filter(|kind| *kind != FaultKind::Queue) {
        assert!(shown.contains(&kind), "docs/scenarios.md shows no {}", kind.name());
    }
}
