//! Options that are given in several places.

use crate::args::run_options::Given;

/// Key and argument for the URL of the requests.
pub(super) const URL: &str = "url";

/// Options that exclude each other: if a place gives one of a group, it replaces the whole group.
const RIVALS: [&[&str]; 7] = [
    &["rate", "profile", "replay"],
    &["url", "targets", "curl", "flow"],
    &["data", "data-file"],
    &["timeout", "max-time", "deadline"],
    &["proto", "protoset"],
    &["out", "no-save"],
    &["quiet", "watch"],
];

/// Option without which [`OF_FLOWS`] have no meaning.
const FLOW: &str = "flow";
const OF_FLOWS: [&str; 3] = ["variable", "setup", "file-root"];

/// Combines options. If both places give an option, the value in `upper` replaces the one in `lower`. Lists are
/// replaced as a whole.
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
