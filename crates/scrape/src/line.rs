//! Parser of a line of metrics: `name{label="value"} 1.5`, and what may follow.

use std::fmt;

/// Limit on the labels of a series.
const MAX_LABELS: usize = 64;

/// Name and labels of a series.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SeriesId {
    /// Name of the metric.
    pub name: String,
    /// Labels in the order of the page.
    pub labels: Vec<(String, String)>,
}

impl SeriesId {
    /// Returns the value of a label.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(label, _)| label == name).map(|(_, value)| value.as_str())
    }
}

impl fmt::Display for SeriesId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        let labels: Vec<String> = self.labels.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
        if labels.is_empty() { Ok(()) } else { write!(f, "{{{}}}", labels.join(",")) }
    }
}

/// Value of a series on a page.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    /// Its name and labels.
    pub id: SeriesId,
    /// Its value; may be infinite, or no number.
    pub value: f64,
}

/// Parses a sample. A time stamp and an exemplar after the value are left out. Fails with the reason.
pub(crate) fn sample(line: &str) -> Result<Sample, String> {
    let mut rest = Rest(line.trim_start());
    let name = rest.name();
    let labels = if rest.take('{') { rest.labels()? } else { Vec::new() };
    let id = named(name, labels)?;
    let after = rest.0.trim_start();
    let word = after.split_ascii_whitespace().next().ok_or("it has no value")?;
    let value = word.parse().map_err(|_| format!("'{word}' is no number"))?;
    Ok(Sample { id, value })
}

/// Returns the series. Without a name before the labels, the name is a label without a value: `{"a.b",label="x"}`.
fn named(name: &str, labels: Vec<(String, Option<String>)>) -> Result<SeriesId, String> {
    let mut name = Some(name.to_owned()).filter(|name| !name.is_empty());
    let mut with_values = Vec::with_capacity(labels.len());
    for (label, value) in labels {
        match value {
            Some(value) => with_values.push((label, value)),
            None if name.is_none() => name = Some(label),
            None => return Err(format!("the label '{label}' has no value")),
        }
    }
    Ok(SeriesId { name: name.ok_or("it begins with no name of a metric")?, labels: with_values })
}

/// The rest of a line.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn take(&mut self, expected: char) -> bool {
        let after = self.0.trim_start().strip_prefix(expected);
        self.0 = after.unwrap_or(self.0);
        after.is_some()
    }

    /// Takes the letters of a name; possibly none.
    fn name(&mut self) -> &'a str {
        self.0 = self.0.trim_start();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '.');
        let end = self.0.find(|c| !is_part(c)).unwrap_or(self.0.len());
        let (name, rest) = self.0.split_at(end);
        self.0 = rest;
        name
    }

    /// Takes labels up to their closing bracket. The value of a quoted name is `None`.
    fn labels(&mut self) -> Result<Vec<(String, Option<String>)>, String> {
        let mut labels = Vec::new();
        while !self.take('}') {
            if labels.len() == MAX_LABELS {
                return Err(format!("it has more than {MAX_LABELS} labels"));
            }
            let name = if self.take('"') { self.quoted()? } else { self.name().to_owned() };
            if name.is_empty() {
                return Err("a label has no name".to_owned());
            }
            let value = if self.take('=') { Some(self.value_of(&name)?) } else { None };
            labels.push((name, value));
            let has_more = self.take(',');
            if !has_more && !self.0.trim_start().starts_with('}') {
                return Err("the labels do not end".to_owned());
            }
        }
        Ok(labels)
    }

    fn value_of(&mut self, label: &str) -> Result<String, String> {
        if self.take('"') { self.quoted() } else { Err(format!("the value of '{label}' is not in quotes")) }
    }

    /// Takes text up to the closing quote.
    fn quoted(&mut self) -> Result<String, String> {
        let mut text = String::new();
        let mut letters = self.0.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.0 = &self.0[at + 1..];
                    return Ok(text);
                }
                '\\' => match letters.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, escaped @ ('\\' | '"'))) => text.push(escaped),
                    Some((_, other)) => text.extend(['\\', other]),
                    None => break,
                },
                letter => text.push(letter),
            }
        }
        Err("a quote does not end".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        sample(line).map_or_else(|why| why, |sample| format!("{} {}", sample.id, sample.value))
    }

    #[test]
    fn lines_of_both_formats_are_read() {
        for (line, says) in [
            ("up 1", "up 1"),
            ("  a_total{b=\"c\"}  3.5 1700000000000", "a_total{b=\"c\"} 3.5"),
            ("a{b=\"1\", le=\"+Inf\",} 7 # {trace_id=\"x\"} 0.3", "a{b=\"1\",le=\"+Inf\"} 7"),
            ("vllm:num_requests_running{model_name=\"m\"} 2.0", "vllm:num_requests_running{model_name=\"m\"} 2"),
            (r#"a{p="x\\y\"z\nq"} 1e3"#, r#"a{p="x\\y\"z\nq"} 1000"#),
            (r#"{"a.b-c",d="e"} NaN"#, r#"a.b-c{d="e"} NaN"#),
            ("a +Inf", "a inf"),
            ("a{} 0", "a 0"),
        ] {
            assert_eq!(shown(line), says, "{line}");
        }
    }

    #[test]
    fn other_lines_are_refused() {
        for (line, says) in [
            ("<html>", "it begins with no name"),
            ("a", "it has no value"),
            ("a b", "'b' is no number"),
            ("a{b=c} 1", "not in quotes"),
            ("a{b=\"c} 1", "a quote does not end"),
            ("a{b=\"c\"", "the labels do not end"),
            ("a{=\"c\"} 1", "a label has no name"),
            ("a{b} 1", "the label 'b' has no value"),
            ("{b=\"c\"} 1", "it begins with no name"),
        ] {
            assert!(shown(line).contains(says), "{line}: {}", shown(line));
        }
        let many: String = (0..65).map(|i| format!("l{i}=\"\",")).collect();
        assert!(shown(&format!("a{{{many}}} 1")).contains("more than 64 labels"));
    }
}
