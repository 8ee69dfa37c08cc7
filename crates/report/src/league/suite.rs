//! The result of the suite, for a terminal, as JSON and as a badge.

use serde::Serialize;
use truetail_analysis::league::{SuiteResult, SuiteState};

use crate::markup::escaped;
use crate::pretty_json;
use crate::style::{Emphasis, Style};
use crate::text::visible;

/// Version of the JSON.
const SCHEMA: &str = "truetail.suite/1";

/// Formats the result as lines: for each situation its state, and below it what was found.
pub fn suite(result: &SuiteResult, style: Style) -> String {
    let head = format!("{} {}: {}", visible(&result.tool), visible(&result.version), suite_summary(result));
    let mut lines = vec![style.emphasize(Emphasis::Bold, &head), String::new()];
    for row in &result.situations {
        let state = row.judgement.state;
        let by = row.judgement.error_pct.map_or(String::new(), |error| format!("{error:+.1}%"));
        let state_words = style.emphasize(emphasis(state), &format!("{:<12}", state.words()));
        lines.push(format!("  {:<12} {state_words}{by}", row.situation));
        let wrapped = style.wrap(&visible(&row.judgement.found), style.columns() - 15);
        lines.extend(wrapped.into_iter().map(|line| format!("               {line}")));
    }
    lines.join("\n") + "\n"
}

const fn emphasis(state: SuiteState) -> Emphasis {
    match state {
        SuiteState::Pass => Emphasis::Good,
        SuiteState::Fail => Emphasis::Bad,
        SuiteState::CannotTell | SuiteState::NotTested => Emphasis::Faint,
    }
}

/// Returns "9 of 11 situations passed", and the number of those without a result.
pub fn suite_summary(result: &SuiteResult) -> String {
    let passed = result.count(SuiteState::Pass);
    let decided = passed + result.count(SuiteState::Fail);
    let more = [(SuiteState::CannotTell, "undecided"), (SuiteState::NotTested, "not tested")];
    let more = more.map(|(state, words)| (result.count(state), words)).into_iter().filter(|(count, _)| *count > 0);
    let more: String = more.map(|(count, words)| format!(", {count} {words}")).collect();
    format!("{passed} of {decided} situations passed{more}")
}

#[derive(Serialize)]
struct SuiteJson<'a> {
    schema: &'static str,
    truetail: &'static str,
    passed: usize,
    failed: usize,
    cannot_tell: usize,
    not_tested: usize,
    #[serde(flatten)]
    result: &'a SuiteResult,
}

/// Returns the result as JSON.
pub fn suite_json(result: &SuiteResult) -> String {
    pretty_json(&SuiteJson {
        schema: SCHEMA,
        truetail: env!("CARGO_PKG_VERSION"),
        passed: result.count(SuiteState::Pass),
        failed: result.count(SuiteState::Fail),
        cannot_tell: result.count(SuiteState::CannotTell),
        not_tested: result.count(SuiteState::NotTested),
        result,
    })
}

/// Returns a badge: an SVG picture with the numbers of situations passed and decided.
pub fn suite_badge(result: &SuiteResult) -> String {
    let passed = result.count(SuiteState::Pass);
    let decided = passed + result.count(SuiteState::Fail);
    let tool: String = result.tool.chars().take(30).collect();
    let left = escaped(&visible(&format!("{tool}: true tail")));
    let right = format!("{passed}/{decided}");
    let color = if decided > 0 && passed == decided { "#2f7d32" } else { "#9a6700" };
    let left_width = 12 + 7 * (tool.chars().count() + 11);
    let right_width = 12 + 8 * right.len();
    let width = left_width + right_width;
    let middle_left = left_width / 2;
    let middle_right = left_width + right_width / 2;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"20\" role=\"img\" aria-label=\"{left} {right}\">\
         <title>{left} {right}</title>\
         <rect width=\"{left_width}\" height=\"20\" fill=\"#444\"/>\
         <rect x=\"{left_width}\" width=\"{right_width}\" height=\"20\" fill=\"{color}\"/>\
         <g fill=\"#fff\" text-anchor=\"middle\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\">\
         <text x=\"{middle_left}\" y=\"14\">{left}</text><text x=\"{middle_right}\" y=\"14\">{right}</text></g></svg>\n"
    )
}
