//! `truetail simulate`: exact figures.

use serde_json::Value;

use super::support::{Desk, assert_complete};

fn quantile(series: &Value, q: f64) -> Option<u64> {
    let quantiles = series["response_time"]["quantiles"].as_array().expect("quantiles");
    quantiles.iter().find(|quantile| quantile["q"] == q)?["value_ns"].as_u64()
}

#[test]
fn a_scenario_in_virtual_time() {
    let desk = Desk::new();
    let told = desk.truetail(&["simulate", "02", "--json"]);
    assert_eq!((told.code, told.stderr.as_str()), (Some(0), ""));
    let simulated = told.json();
    assert_eq!(simulated["scenario"], "02-single-hiccup");
    let series = &simulated["series"][0];
    assert_eq!((series["name"].as_str(), series["model"].as_str()), (Some("open-loop"), Some("open")));
    assert_eq!(series["tally"]["responses"], 60_000);
    for (q, ms) in [(0.5, 10), (0.99, 410), (0.999, 950), (0.9999, 1004), (1.0, 1010)] {
        assert_eq!(quantile(series, q), Some(ms * 1_000_000), "{q}");
    }
    let out = desk.truetail(&["simulate", "02", "--out", "here"]);
    assert_eq!(out.code, Some(0), "{out:?}");
    assert_eq!(assert_complete(&desk.path().join("here"))["source"]["kind"], "simulator");
}

#[test]
fn the_freeze_matches_its_golden_files() {
    let desk = Desk::new();
    let told = desk.truetail(&["simulate", "freeze", "--json", "--out", "here"]);
    let names: Vec<_> = told.json()["series"].as_array().expect("series").iter().map(|s| s["name"].clone()).collect();
    assert_eq!(names, ["closed-loop-raw", "closed-loop-corrected", "open-loop"]);
    let read = |name: &str| std::fs::read_to_string(desk.path().join("here").join(name)).expect(name);
    assert!(read("summary.csv").contains("closed-loop-corrected,450,460.0\n"), "{}", read("summary.csv"));
    let manifest: Value = serde_json::from_str(&read("manifest.json")).expect("JSON");
    let artifacts = manifest["artifacts"].as_array().expect("artifacts");
    assert_eq!(artifacts.len(), 4);
    assert!(artifacts.iter().all(|artifact| artifact["golden_match"] == true), "{manifest}");
}

#[test]
fn the_other_labs_have_their_tables() {
    let desk = Desk::new();
    for (lab, figure) in [("every-nth", "4 213"), ("order-router", "2.050 ms")] {
        let told = desk.truetail(&["simulate", lab]);
        assert_eq!(told.code, Some(0), "{told:?}");
        assert!(told.stdout.contains(figure), "{}", told.stdout);
    }
}
