//! `truetail doctor` on the machine of the test, as users see it.

use super::support::{TestDir, feed};

const STATES: [&str; 4] = ["fine", "unknown", "limits", "disturbs"];

#[test]
fn each_finding_has_a_state_and_what_is_wrong_has_a_remedy() {
    let dir = TestDir::new();
    let output = dir.truetail(&["doctor", "--json"]);
    let all = output.json();
    assert_eq!((output.code, output.stderr.as_str(), &all["schema"]), (Some(0), "", &"truetail.doctor/1".into()));
    let findings = all["findings"].as_array().expect("findings");
    let place = |state: &serde_json::Value| STATES.iter().position(|known| state == known).expect("a known state");
    for finding in findings {
        let needs_remedy = place(&finding["state"]) > 1;
        assert!(!needs_remedy || (finding["effect"].is_string() && finding["remedy"].is_string()), "{finding}");
        assert!(finding["found"].as_str().is_some_and(|found| !found.is_empty()), "{finding}");
    }
    let worst = findings.iter().map(|finding| place(&finding["state"])).max();
    assert_eq!(Some(place(&all["state"])), worst, "{all}");
    assert!(findings.len() > 10 && all["host"]["cpus"].as_u64() > Some(0), "{all}");
    // What every Linux tells.
    let names: Vec<&str> = findings.iter().filter_map(|finding| finding["name"].as_str()).collect();
    let text = dir.truetail(&["doctor"]).stdout;
    names.iter().for_each(|name| assert!(text.contains(name), "{name} is missing in {text}"));
    let timer = findings.iter().find(|finding| finding["name"] == "timer").expect("a timer");
    assert!(timer["found"].as_str().is_some_and(|found| found.starts_with("wakes ")), "{timer}");
}

#[test]
fn a_low_limit_on_files_is_found() {
    let dir = TestDir::new();
    let output = feed(dir.command_after("ulimit -n 300", &["doctor", "--json"]), "");
    let all = output.json();
    let files = all["findings"].as_array().and_then(|all| all.iter().find(|finding| finding["name"] == "open files"));
    let files = files.expect("a finding").clone();
    assert_eq!((&files["state"], &files["found"]), (&"disturbs".into(), &"at most 300".into()), "{files}");
}
