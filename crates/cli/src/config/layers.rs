//! What becomes of options that are given in several places.

use crate::args::run_options::Given;

/// The key and the argument that say where requests go.
pub(super) const URL: &str = "url";

/// Options of which a run has only one: where a place gives one of them, it takes the place of the others too.
const RIVALS: [&[&str]; 6] = [
    &["rate", "profile", "replay"],
    &["url", "targets", "curl", "flow"],
    &["data", "data-file"],
    &["timeout", "max-time"],
    &["out", "no-save"],
    &["quiet", "watch"],
];

/// What means nothing without a flow.
const FLOW: &str = "flow";
const OF_FLOWS: [&str; 3] = ["variable", "setup", "file-root"];

/// `lower` with `upper` over it: what both have is that of `upper`, lists included.
pub(super) fn over(mut lower: Given, upper: Given) -> Given {
    let is_given = |name: &str| upper.get(name).is_some_and(|words| !words.is_empty());
    let given = RIVALS.iter().filter(|rivals| rivals.iter().any(|name| is_given(name)));
    let had_flow = lower.contains_key(FLOW);
    given.flat_map(|rivals| rivals.iter()).for_each(|name| drop(lower.remove(*name)));
    if had_flow && !lower.contains_key(FLOW) && !is_given(FLOW) {
        OF_FLOWS.iter().for_each(|name| drop(lower.remove(*name)));
    }
    lower.extend(upper);
    lower
}
