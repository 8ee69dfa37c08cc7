//! Figures in a tool's output, found by the places that an adapter names.

use serde::Deserialize;
use serde_json::Value;
use truetail_run::{ClaimedQuantile, Claims, LatencyFrom};
use truetail_tools::{ParseError, ToolOutput, ToolReport};

/// Key of the file with the figures in [`ToolOutput::files`].
pub(super) const FILE: &str = "figures";
const NAME: &str = "adapter";

/// The places of a tool's figures. A place that begins with a slash is a JSON pointer. Any other is a text with `{}`
/// for the number, which is looked for in each line.
#[derive(Clone, PartialEq, Eq, Deserialize, Default, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Figures {
    /// File in the tool's folder; standard output unless given.
    pub file: Option<String>,
    /// Unit of times.
    #[serde(default)]
    pub unit: Unit,
    /// Start of the latency.
    #[serde(default)]
    pub from: From,
    p50: Option<String>,
    p99: Option<String>,
    max: Option<String>,
    /// Number of requests.
    requests: Option<String>,
    /// Number of failed requests.
    failed: Option<String>,
    /// Number of answers with an error status, if they are not among the failed requests.
    error_answers: Option<String>,
    /// Number of requests that were not sent.
    dropped: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Default, Debug)]
pub(super) enum Unit {
    #[serde(rename = "s")]
    Seconds,
    #[default]
    #[serde(rename = "ms")]
    Millis,
    #[serde(rename = "us")]
    Micros,
    #[serde(rename = "ns")]
    Nanos,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Default, Debug)]
#[serde(rename_all = "lowercase")]
pub(super) enum From {
    #[default]
    Send,
    Intended,
}

impl Unit {
    const fn as_ns(self) -> f64 {
        match self {
            Unit::Seconds => 1e9,
            Unit::Millis => 1e6,
            Unit::Micros => 1e3,
            Unit::Nanos => 1.0,
        }
    }
}

impl Figures {
    /// Returns the problem of a place, if any: neither a pointer nor a text with one `{}`.
    pub(super) fn problem(&self) -> Option<String> {
        let places =
            [&self.p50, &self.p99, &self.max, &self.requests, &self.failed, &self.error_answers, &self.dropped];
        let is_place = |place: &str| place.starts_with('/') || place.matches("{}").count() == 1;
        let wrong = places.into_iter().flatten().find(|place| !is_place(place))?;
        Some(format!(
            "'{wrong}' is no place; write a JSON pointer such as /latency/p99, or a text with {{}} for the number"
        ))
    }

    /// Reads the figures.
    ///
    /// # Errors
    /// If the file is missing, is no JSON although a place is a JSON pointer, or if no figure is found.
    pub(super) fn read(&self, output: &ToolOutput) -> Result<ToolReport, ParseError> {
        let wrong = |what: String| ParseError { tool: NAME, tested: "any version", file: FILE, line: None, what };
        let bytes = match &self.file {
            Some(file) => output.file(FILE).ok_or_else(|| wrong(format!("there is no file {file}")))?,
            None => &output.stdout,
        };
        let text = String::from_utf8_lossy(bytes);
        let json = serde_json::from_slice::<Value>(bytes).ok();
        let number = |place: &Option<String>| number_at(place.as_deref()?, &text, json.as_ref());
        let time = |place| number(place).map(|number| (number * self.unit.as_ns()).round() as u64);
        let count = |place| number(place).map(|number| number.round() as u64);
        let quantile = |q, place| time(place).map(|value_ns| ClaimedQuantile { q, value_ns, printed: true });
        let latency_from = match self.from {
            From::Send => LatencyFrom::Send,
            From::Intended => LatencyFrom::Intended,
        };
        let claims = Claims {
            quantiles: [quantile(0.5, &self.p50), quantile(0.99, &self.p99)].into_iter().flatten().collect(),
            max_ns: time(&self.max),
            requests: count(&self.requests),
            failed: count(&self.failed),
            error_answers: count(&self.error_answers),
            dropped: count(&self.dropped),
            ..Claims::silent(latency_from)
        };
        if claims == Claims::silent(latency_from) {
            return Err(wrong("none of the places of the adapter has a number".to_owned()));
        }
        Ok(ToolReport::from_claims(claims))
    }
}

/// Returns the number at a place; `None` if there is none, or one below zero.
fn number_at(place: &str, text: &str, json: Option<&Value>) -> Option<f64> {
    let number = if place.starts_with('/') {
        match json?.pointer(place)? {
            Value::String(text) => text.trim().parse().ok()?,
            value => value.as_f64()?,
        }
    } else {
        let place = with_single_blanks(place);
        let (before, after) = place.split_once("{}")?;
        text.lines().find_map(|line| in_line(line, before, after))?
    };
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// Makes each run of blanks one blank.
fn with_single_blanks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_whitespace() {
            true if out.ends_with(' ') => {}
            true => out.push(' '),
            false => out.push(c),
        }
    }
    out
}

/// Returns the number between `before` and `after`. Any run of blanks in the line counts as one.
fn in_line(line: &str, before: &str, after: &str) -> Option<f64> {
    let line = with_single_blanks(line);
    let rest = &line[line.find(before)? + before.len()..];
    let end = if after.is_empty() { rest.len() } else { rest.find(after)? };
    rest[..end].trim().replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(text: &str) -> Figures {
        toml::from_str(text).unwrap_or_else(|error| panic!("{error}"))
    }

    fn read(adapter: &str, stdout: &str) -> Result<ToolReport, ParseError> {
        figures(adapter).read(&ToolOutput { stdout: stdout.into(), ..ToolOutput::default() })
    }

    #[test]
    fn figures_are_found_in_json_and_in_text() {
        let json = read(
            "unit = 's'\np99 = '/latency/p99'\nfailed = '/errors/0'",
            r#"{"latency":{"p99":0.41},"errors":["3"]}"#,
        );
        let claims = json.unwrap().claims;
        assert_eq!((claims.quantile(0.99).unwrap().value_ns, claims.failed), (410_000_000, Some(3)));
        let adapter = "p50 = '50% in {} ms'\nrequests = 'Requests: {}'\nfrom = 'intended'\ndropped = 'dropped {}'";
        let claims = read(adapter, "50%   in 1.5 ms\nRequests:  1,234\n").unwrap().claims;
        assert_eq!((claims.quantile(0.5).unwrap().value_ns, claims.requests), (1_500_000, Some(1234)));
        assert_eq!((claims.latency_from, claims.dropped), (LatencyFrom::Intended, None));
        for place in ["p99   {}  ms", "    p99 {} ms", "p99 {} "] {
            let claims = read(&format!("p99 = '{place}'"), "  p99   12    ms\n");
            assert_eq!(claims.map(|report| report.claims.quantile(0.99).unwrap().value_ns), Ok(12_000_000), "{place}");
        }
    }

    #[test]
    fn what_is_not_there_is_no_figure() {
        let deep = "[".repeat(100_000);
        for (adapter, stdout) in [
            ("p99 = '/a'", "p99 is 3"),
            ("p99 = '/a'", "{\"a\":-1}"),
            ("p99 = '/a'", "{\"a\":\"NaN\"}"),
            ("p99 = '/a'", deep.as_str()),
            ("p99 = 'p99 {}s'", "p99 12"),
            ("p99 = 'p99 {}'", "p99 soon"),
            ("file = 'x.json'\np99 = '/a'", "{\"a\":1}"),
        ] {
            assert!(read(adapter, stdout).is_err(), "{adapter}");
        }
        assert!(figures("p99 = 'p99'").problem().is_some_and(|problem| problem.contains("'p99'")));
        assert!(figures("p99 = '{} {}'").problem().is_some() && figures("p99 = '/p99'").problem().is_none());
    }
}
