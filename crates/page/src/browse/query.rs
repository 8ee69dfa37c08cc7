//! Conditions and page of the list, as the address of a page has them.

use percent_encoding::percent_decode_str;

use super::links::encoded;

/// Limit on the fields of a query that are read.
const MAX_FIELDS: usize = 64;

/// Conditions on runs, their order, and a page of the list, as texts that a user gave. An empty text is no condition.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct RunQuery {
    /// Text in the name or URL.
    pub target: String,
    /// Earliest start.
    pub since: String,
    /// First start that is too late.
    pub before: String,
    /// Verdict.
    pub verdict: String,
    /// Label: `KEY=VALUE` or `KEY`.
    pub tag: String,
    /// Order.
    pub sort: String,
    /// Page, counted from 0.
    pub page: usize,
}

impl RunQuery {
    /// Parses the query of an address. Unknown fields are ignored; of several with one name, the last counts.
    pub fn parse(query: &str) -> RunQuery {
        let mut parsed = RunQuery::default();
        for (name, value) in pairs(query) {
            match name.as_str() {
                "page" => parsed.page = value.parse::<usize>().map_or(0, |page| page.saturating_sub(1)),
                name => {
                    if let Some(field) = parsed.field(name) {
                        value.trim().clone_into(field);
                    }
                }
            }
        }
        parsed
    }

    fn field(&mut self, name: &str) -> Option<&mut String> {
        Some(match name {
            "target" => &mut self.target,
            "since" => &mut self.since,
            "before" => &mut self.before,
            "verdict" => &mut self.verdict,
            "tag" => &mut self.tag,
            "sort" => &mut self.sort,
            _ => return None,
        })
    }

    /// Returns the query of an address with these conditions; empty without any.
    pub fn to_query(&self) -> String {
        let page = if self.page == 0 { String::new() } else { (self.page + 1).to_string() };
        let fields = [
            ("target", &self.target),
            ("since", &self.since),
            ("before", &self.before),
            ("verdict", &self.verdict),
            ("tag", &self.tag),
            ("sort", &self.sort),
            ("page", &page),
        ];
        let given = fields.into_iter().filter(|(_, value)| !value.is_empty());
        given.map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&")
    }

    /// Returns true if a condition is given.
    pub fn has_conditions(&self) -> bool {
        [&self.target, &self.since, &self.before, &self.verdict, &self.tag].into_iter().any(|text| !text.is_empty())
    }
}

/// Returns the fields of a query as a form sends them, at most 64. Bytes that are not UTF-8 are replaced.
pub fn pairs(query: &str) -> Vec<(String, String)> {
    let decoded = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    let fields = query.split('&').filter(|field| !field.is_empty()).take(MAX_FIELDS);
    fields
        .map(|field| field.split_once('=').unwrap_or((field, "")))
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_form_is_read_as_a_browser_sends_it() {
        let query = RunQuery::parse("target=a+b%2Bc&verdict=&tag=build%3D1&page=3&unknown=1&sort=p99");
        let expected = RunQuery {
            target: "a b+c".to_owned(),
            tag: "build=1".to_owned(),
            sort: "p99".to_owned(),
            page: 2,
            ..RunQuery::default()
        };
        assert_eq!(query, expected);
        assert_eq!(query.to_query(), "target=a%20b%2Bc&tag=build%3D1&sort=p99&page=3");
        for odd in ["", "&&", "=", "page=0", "page=-1", "page=99999999999999999999999", "%", "target=%ff"] {
            assert_eq!(RunQuery::parse(odd).page, 0, "{odd}");
        }
        assert_eq!(pairs(&"a=1&".repeat(100)).len(), MAX_FIELDS);
    }

    proptest! {
        #[test]
        fn any_condition_comes_back(target in "\\PC*", tag in "\\PC*", page in 0usize..1_000) {
            let query = RunQuery {
                target: target.trim().to_owned(),
                tag: tag.trim().to_owned(),
                page,
                ..RunQuery::default()
            };
            prop_assert_eq!(RunQuery::parse(&query.to_query()), query);
        }
    }
}
