//! The rules of verdicts, as docs/honesty.md lists them.

use serde::Serialize;

const PAGE: &str = include_str!("../../../../docs/honesty.md");

/// A rule: when a reason is given, and why its limit is what it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(super) struct Rule {
    pub when: String,
    /// State that the verdict gets.
    pub state: String,
    pub why: String,
}

/// Returns the rules of a reason with this code, in the order of the page.
pub(super) fn rules(code: &str) -> Vec<Rule> {
    rows().into_iter().filter(|(of, _)| *of == code).map(|(_, rule)| rule).collect()
}

/// Returns the rows of the tables of rules, each with its code. A row without a code belongs to the one before.
fn rows() -> Vec<(&'static str, Rule)> {
    let mut found = Vec::new();
    let mut code = None;
    for line in PAGE.lines().filter(|line| !line.starts_with("|---")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let &[first, when, state, why] = cells.as_slice() else {
            code = None;
            continue;
        };
        if first == "code" {
            code = Some("");
        } else if let Some(before) = code {
            let named = first.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
            let of = named.unwrap_or(before);
            code = Some(of);
            found.push((of, Rule { when: plain(when), state: state.to_owned(), why: plain(why) }));
        }
    }
    found.retain(|(of, _)| !of.is_empty());
    found
}

/// Returns text without the marks of Markdown.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        let Some((name, after)) = link.split_once("](").and_then(|(name, to)| Some((name, to.split_once(')')?.1)))
        else {
            break;
        };
        plain.push_str(before);
        plain.push_str(name);
        rest = after;
    }
    plain.push_str(rest);
    plain.replace(['`', '*'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_of_the_page_has_its_rules_without_markdown() {
        let paused = rules("generator_paused");
        assert_eq!(paused.len(), 5, "{paused:?}");
        assert_eq!(paused[1].when, "a single pause of 1 s or more");
        assert_eq!(paused[2].state, "INVALID");
        let incomplete = &rules("incomplete")[0].when;
        assert!(incomplete.contains("its last checkpoint") && !incomplete.contains(['[', '`']), "{incomplete}");
        assert_eq!(rules("saturated").len(), 1);
        let codes: std::collections::BTreeSet<_> = rows().into_iter().map(|(code, _)| code).collect();
        assert!(codes.len() >= 18, "{codes:?}");
        assert!(rules("at_least").is_empty() && rules("code").is_empty() && rules("").is_empty());
    }
}
