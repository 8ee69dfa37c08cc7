//! Conditions of an address.

use truetail_page::browse::RunQuery;
use truetail_run::catalog::{RunFilter, RunOrder};

use crate::args::runs::{VERDICTS, instant, tag, unix_ns};

/// Conditions, an order, and a sentence about each text that is none of them.
#[derive(Clone, PartialEq, Default, Debug)]
pub(super) struct Conditions {
    pub(super) filter: RunFilter,
    pub(super) order: RunOrder,
    pub(super) problems: Vec<String>,
}

impl Conditions {
    /// Resolves the texts of a query. A time ago is counted from now.
    pub(super) fn of(query: &RunQuery) -> Conditions {
        let mut found = Conditions::default();
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        found.filter.target = given(&query.target);
        found.filter.since_unix_ns = given(&query.since).and_then(|text| found.tried(instant(&text).map(unix_ns)));
        found.filter.before_unix_ns = given(&query.before).and_then(|text| found.tried(instant(&text).map(unix_ns)));
        let verdict = given(&query.verdict).and_then(|text| found.tried(named(&VERDICTS, &text, "verdict")));
        found.filter.verdicts = verdict.into_iter().collect();
        found.filter.tags = given(&query.tag).and_then(|text| found.tried(tag(&text))).into_iter().collect();
        let order = given(&query.sort).and_then(|text| found.tried(named(&RunOrder::NAMED, &text, "order")));
        found.order = order.unwrap_or_default();
        found
    }

    fn tried<T>(&mut self, parsed: Result<T, String>) -> Option<T> {
        parsed.map_err(|problem| self.problems.push(format!("Left out: {problem}."))).ok()
    }
}

fn named<T: Copy>(names: &[(&str, T)], text: &str, what: &str) -> Result<T, String> {
    let found = names.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
    let known = || names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    found.map(|(_, value)| *value).ok_or_else(|| format!("'{text}' is no {what}; the ones there are: {}", known()))
}

#[cfg(test)]
mod tests {
    use truetail_run::VerdictState;

    use super::*;

    #[test]
    fn texts_that_are_no_conditions_are_named_and_left_out() {
        let query = RunQuery {
            target: "a".to_owned(),
            since: "yesterday".to_owned(),
            verdict: "INVALID".to_owned(),
            tag: "=x".to_owned(),
            sort: "size".to_owned(),
            ..RunQuery::default()
        };
        let found = Conditions::of(&query);
        assert_eq!((found.filter.target.as_deref(), found.filter.since_unix_ns), (Some("a"), None));
        assert_eq!((found.filter.verdicts, found.order), (vec![VerdictState::Invalid], RunOrder::Started));
        assert_eq!(found.problems.len(), 3, "{:?}", found.problems);
        assert!(
            found.problems[2].contains("'size' is no order; the ones there are: started, name"),
            "{:?}",
            found.problems
        );
        assert_eq!(Conditions::of(&RunQuery::default()), Conditions::default());
    }
}
