//! Small fragments that several sections share.

use maud::{Markup, html};
use truetail_analysis::series::SampleReason;
use truetail_report::words::LabelledText;

/// Returns labels with their texts, as a list of terms; empty without texts.
pub(super) fn labelled(texts: impl IntoIterator<Item = LabelledText>) -> Markup {
    let texts: Vec<LabelledText> = texts.into_iter().collect();
    html! {
        @if !texts.is_empty() {
            dl.facts {
                @for (label, text) in &texts { dt { (label) } dd { (text) } }
            }
        }
    }
}

/// Returns a sentence that replaces a picture or a table.
pub(super) fn none(why: &str) -> Markup {
    html! { p.none { (why) } }
}

/// Formats a number with at most three decimals and without trailing zeros, such as a time in seconds.
pub(super) fn seconds(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns the reason that a stream or a session is shown.
pub(super) const fn because(because: SampleReason) -> &'static str {
    match because {
        SampleReason::Slowest => "one of the slowest",
        SampleReason::Median => "the median of a sample",
        SampleReason::Chance => "by chance",
    }
}
