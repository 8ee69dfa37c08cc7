//! Parser for queries and filters.

use super::cursor::shortened;
use super::{Parser, Result};
use crate::evaluate::query::{CookiePart, Query};
use crate::syntax::QueryChain;
use crate::template::{Filter, JsonPathPattern, Pattern, RegexPattern, Template};

/// Words that end a query, because a predicate starts with them.
const PREDICATES: [&str; 24] = [
    "not",
    "startsWith",
    "endsWith",
    "contains",
    "matches",
    "exists",
    "isEmpty",
    "isBoolean",
    "isCollection",
    "isDate",
    "isFloat",
    "isInteger",
    "isIpv4",
    "isIpv6",
    "isIsoDate",
    "isList",
    "isNumber",
    "isObject",
    "isString",
    "isUuid",
    "includes",
    "equals",
    "notEquals",
    "redact",
];

/// Names of comparisons in older files.
const OLD_COMPARISONS: [&str; 4] = ["greaterThan", "greaterThanOrEquals", "lessThan", "lessThanOrEquals"];

impl Parser<'_> {
    /// Reads a query, its filters, and the spaces after them.
    pub(super) fn look(&mut self) -> Result<QueryChain> {
        let query = self.query()?;
        let mut filters = Vec::new();
        self.at.skip_spaces();
        while self.is_at_filter() {
            filters.push(self.filter()?);
            self.at.skip_spaces();
        }
        Ok(QueryChain { query, filters })
    }

    fn is_at_filter(&self) -> bool {
        let mut ahead = self.at;
        let word = ahead.word();
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && !PREDICATES.contains(&word)
            && !OLD_COMPARISONS.contains(&word)
    }

    fn query(&mut self) -> Result<Query> {
        let start = self.at;
        let word = self.at.word();
        self.at.skip_spaces();
        Ok(match word {
            "status" => Query::Status,
            "version" => Query::Version,
            "body" => Query::Body,
            "bytes" => Query::Bytes,
            "deltas" => Query::Deltas,
            "duration" => Query::Duration,
            "header" => Query::Header(self.quoted()?),
            "variable" => {
                let name = self.constant("the name of a variable")?;
                Query::Variable(self.variable(&name))
            }
            "jsonpath" => Query::JsonPath(self.json_path()?),
            "regex" => Query::Regex(self.regex()?),
            "cookie" => self.cookie()?,
            "url" | "redirects" | "xpath" | "certificate" | "sha256" | "md5" | "ip" | "rawbytes" => {
                return Err(start.error(format!("the query {word} is not supported")));
            }
            _ => {
                let rest = shortened(start.rest().lines().next().unwrap_or_default());
                return Err(start.error(format!("'{rest}' is no query; there are status, header, cookie, body, jsonpath, regex, variable, duration, bytes, deltas and version")));
            }
        })
    }

    fn cookie(&mut self) -> Result<Query> {
        let start = self.at;
        let text = self.constant("the name of a cookie")?;
        let (name, part) = match text.split_once('[') {
            None => (text.as_str(), CookiePart::Value),
            Some((name, rest)) => {
                let part = rest.strip_suffix(']').map(str::trim).unwrap_or_default();
                let known = CookiePart::named(part);
                (
                    name,
                    known.ok_or_else(|| {
                        start.error(format!("a cookie has no '{}' that is supported", shortened(part)))
                    })?,
                )
            }
        };
        Ok(Query::Cookie(name.to_owned(), part))
    }

    pub(super) fn json_path(&mut self) -> Result<JsonPathPattern> {
        let start = self.at;
        let template = self.quoted()?;
        Pattern::new(template).map_err(|problem| start.error(format!("the JSONPath is not understood: {problem}")))
    }

    /// Reads a regular expression, between slashes or in quotes.
    pub(super) fn regex(&mut self) -> Result<RegexPattern> {
        let start = self.at;
        let template = if self.at.eat("/") { Template::text(self.between_slashes()?) } else { self.quoted()? };
        Pattern::new(template)
            .map_err(|problem| start.error(format!("the regular expression is not understood: {problem}")))
    }

    fn between_slashes(&mut self) -> Result<String> {
        let start = self.at;
        let mut text = String::new();
        loop {
            match self.at.next() {
                Some('/') => return Ok(text),
                Some('\\') if self.at.eat("/") => text.push('/'),
                Some('\\') => {
                    text.push('\\');
                    text.extend(self.at.next());
                }
                None | Some('\n') => return Err(start.error("the regular expression has no '/' at its end")),
                Some(c) => text.push(c),
            }
        }
    }

    pub(super) fn filter(&mut self) -> Result<Filter> {
        let start = self.at;
        let word = self.at.word();
        self.at.skip_spaces();
        Ok(match word {
            "count" => Filter::Count,
            "first" => Filter::First,
            "last" => Filter::Last,
            "randomItem" => Filter::RandomItem,
            "nth" => Filter::Nth(self.index()?),
            "regex" => Filter::Regex(self.regex()?),
            "jsonpath" => Filter::JsonPath(self.json_path()?),
            "replace" => {
                let old = self.quoted()?;
                self.at.skip_spaces();
                Filter::Replace(old, self.quoted()?)
            }
            "replaceRegex" => {
                let old = self.regex()?;
                self.at.skip_spaces();
                Filter::ReplaceRegex(old, self.quoted()?)
            }
            "split" => Filter::Split(self.quoted()?),
            "toInt" => Filter::ToInt,
            "toFloat" => Filter::ToFloat,
            "toString" => Filter::ToString,
            "toHex" => Filter::ToHex,
            "urlEncode" => Filter::UrlEncode,
            "urlDecode" => Filter::UrlDecode,
            "urlQueryParam" => Filter::UrlQueryParam(self.quoted()?),
            "htmlEscape" => Filter::HtmlEscape,
            "base64Encode" => Filter::Base64Encode,
            "base64Decode" => Filter::Base64Decode,
            "base64UrlSafeEncode" => Filter::Base64UrlSafeEncode,
            "base64UrlSafeDecode" => Filter::Base64UrlSafeDecode,
            "utf8Encode" => Filter::Utf8Encode,
            "utf8Decode" => Filter::Utf8Decode,
            "" => {
                let rest = shortened(start.rest().lines().next().unwrap_or_default());
                return Err(start.error(format!("'{rest}' is no filter")));
            }
            _ => return Err(start.error(format!("the filter {} is not supported", shortened(word)))),
        })
    }

    fn index(&mut self) -> Result<i64> {
        let start = self.at;
        let digits = self.at.take_while(|c| c.is_ascii_digit() || c == '-');
        digits.parse().map_err(|_| start.error("a number belongs behind nth"))
    }
}
