//! Text from outside stays text.

use proptest::prelude::*;
use truetail_analysis::series::series;
use truetail_page::text::visible;
use truetail_page::{Overlay, RunPage, run_page};
use truetail_run::{CheckCounts, GateFinding, GateState, Reason, VerdictState};

use crate::dom::{drawn, parsed, reading, skeleton, texts, visible_text};
use crate::fixtures::Fixture;
use crate::odd_runs;

/// Returns the page of a run with `text` in place of everything that comes from outside.
fn page_with(text: &str) -> String {
    let fixtures = odd_runs::all();
    let [told, targets] =
        ["failed answers", "targets"].map(|name| *fixtures.iter().find(|one| one.name == name).unwrap());
    let Fixture { run, findings, .. } = told;
    let mut run = run.clone();
    let mut findings = findings.clone();
    let facts = &mut run.facts;
    let text = text.to_owned();
    facts.version = text.clone();
    facts.command = Some(format!("truetail run {text}"));
    facts.offered.name = Some(text.clone());
    facts.offered.url = Some(text.clone());
    facts.offered.method = Some(text.clone());
    facts.offered.profile = Some(text.clone());
    facts.notes = vec![text.clone(), text.clone()];
    facts.checks = vec![CheckCounts { text: text.clone(), passed: 1, failed: 2 }];
    facts.by_target = targets.run.facts.by_target.clone();
    for answer in &mut facts.failed_answers {
        answer.target = text.clone();
        answer.body = text.clone();
        answer.headers = vec![text.clone(), text.clone()];
        answer.failed[0].check = text.clone();
        answer.failed[0].why = text.clone();
    }
    if let Some(host) = &mut facts.host {
        host.os = text.clone();
        host.kernel = Some(text.clone());
        host.cpu_model = Some(text.clone());
    }
    findings.targets = targets.findings.targets.clone();
    findings.targets.iter_mut().for_each(|target| target.name = text.clone());
    let numbers = serde_json::Map::new();
    findings.verdict.reasons.push(Reason {
        code: text.clone(),
        state: VerdictState::Suspect,
        message: text.clone(),
        numbers,
    });
    findings.gates = vec![GateFinding {
        text: text.clone(),
        state: GateState::Open,
        value_ns: None,
        limit_ns: None,
        value: None,
        limit: None,
        message: text.clone(),
    }];
    let series = series(&run, &findings);
    let overlays = [Overlay { name: &text, series: &series }];
    run_page(&RunPage::new(&run, &findings, &series).with(&overlays))
}

/// Checks that the page has the same elements and attributes as with a harmless text, and shows this text.
fn is_shown_as_text(text: &str) {
    let html = page_with(text);
    assert!(!html.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')), "{text:?}");
    let page = parsed(&html);
    let harmless = parsed(&page_with("harmless"));
    assert_eq!(skeleton(&page), skeleton(&harmless), "{text:?}");
    assert!(drawn(&page).is_subset(&drawn(&harmless)), "{text:?}");
    let shown = visible(text);
    assert_eq!(texts(&page, "#verdict .notes li"), [shown.clone(), shown.clone()]);
    let first_answer = texts(&page, "details.answer pre code");
    // HTML parsers drop a line break at the start of a pre element, but these pre elements begin with a code element.
    assert_eq!(first_answer[1], shown);
    assert!(visible_text(&page).contains(&shown));
    let reading = reading(&page, "percentiles").expect("a curve");
    let layers = reading["panels"][0]["layers"].as_array().expect("a list");
    assert!(layers.iter().any(|layer| layer["name"] == text), "{text:?}: {layers:?}");
}

#[test]
fn well_known_tricks_are_shown_as_text() {
    for text in [
        "<script>alert(1)</script>",
        "</script><script>alert(1)</script>",
        "</style></title></textarea><img src=x onerror=alert(1)>",
        "<!--",
        "--><script>",
        "<![CDATA[",
        "\" onmouseover=\"alert(1)",
        "' onmouseover='alert(1)",
        "&lt;script&gt;&#60;&amp;",
        "]]>",
        "javascript:alert(1)",
        "a\u{2028}b\u{2029}c",
        "a\u{202e}b\u{2066}c",
        "\u{1b}[2J\u{7}\u{0}\u{7f}\u{9b}31m\r\n\u{ffff}",
        "${alert(1)}`",
        "\\u003cscript\\u003e",
    ] {
        is_shown_as_text(text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_shown_as_text(text in "(<|>|\"|'|&|/|!|-|=|script|svg|style|on|[ -~]|\\PC|[\\x00-\\x1f\\u{7f}-\\u{9f}\\u{2028}\\u{202e}]){1,40}") {
        is_shown_as_text(&text);
    }
}
