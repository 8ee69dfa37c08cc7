//! Parser of a page of metrics in the text format of Prometheus or OpenMetrics.

use std::collections::HashMap;

use thiserror::Error;

use crate::line::{self, Sample};

/// Limit on the bytes of a page.
pub const MAX_BYTES: usize = 8 << 20;
/// Limit on the bytes of a line with a sample.
const MAX_LINE: usize = 16 << 10;
/// Limit on the samples of a page.
const MAX_SAMPLES: usize = 100_000;
/// Limit on the letters of a wrong line in a message.
const EXCERPT: usize = 60;

/// Kind of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A sum that only grows, until its process ends.
    Counter,
    /// A value that goes up and down.
    Gauge,
    /// Counts by size.
    Histogram,
    /// Percentiles that the service computed.
    Summary,
}

impl Kind {
    fn from_name(name: &str) -> Option<Kind> {
        match name {
            "counter" => Some(Kind::Counter),
            "gauge" => Some(Kind::Gauge),
            "histogram" => Some(Kind::Histogram),
            "summary" => Some(Kind::Summary),
            _ => None,
        }
    }
}

/// Why a page is refused.
#[derive(Clone, PartialEq, Eq, Error, Debug)]
pub enum ExpositionError {
    /// The page is too long.
    #[error("it has more than {} MiB", MAX_BYTES >> 20)]
    TooLong,
    /// A line is too long.
    #[error("line {line} has more than {} KiB", MAX_LINE >> 10)]
    LongLine {
        /// The line, from 1.
        line: usize,
    },
    /// The page has too many samples.
    #[error("it has more than {MAX_SAMPLES} samples")]
    TooMany,
    /// A line is no sample.
    #[error("line {line} is no line of metrics, because {why}: {text:?}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// The reason.
        why: String,
        /// Its beginning.
        text: String,
    },
    /// The page has no sample.
    #[error("it has no sample")]
    Empty,
}

/// A page of metrics.
#[derive(Clone, Default, Debug)]
pub struct Exposition {
    samples: Vec<Sample>,
    kinds: HashMap<String, Kind>,
}

impl Exposition {
    /// Parses a page. Fails with the first line that is wrong, or with a limit that the page exceeds.
    pub fn parse(page: &[u8]) -> Result<Exposition, ExpositionError> {
        if page.len() > MAX_BYTES {
            return Err(ExpositionError::TooLong);
        }
        let mut exposition = Exposition::default();
        for (place, line) in page.split(|byte| *byte == b'\n').enumerate() {
            let line = line.trim_ascii();
            if line == b"# EOF" {
                break;
            }
            exposition.add_line(place + 1, line)?;
        }
        if exposition.samples.is_empty() { Err(ExpositionError::Empty) } else { Ok(exposition) }
    }

    fn add_line(&mut self, line: usize, bytes: &[u8]) -> Result<(), ExpositionError> {
        if bytes.is_empty() || (bytes.starts_with(b"#") && !bytes.starts_with(b"# TYPE ")) {
            return Ok(());
        }
        if bytes.len() > MAX_LINE {
            return Err(ExpositionError::LongLine { line });
        }
        let text = String::from_utf8_lossy(bytes);
        if let Some(declared) = text.strip_prefix("# TYPE ") {
            self.add_kind(declared);
            return Ok(());
        }
        if self.samples.len() == MAX_SAMPLES {
            return Err(ExpositionError::TooMany);
        }
        let begin = || text.chars().take(EXCERPT).collect();
        let sample = line::sample(&text).map_err(|why| ExpositionError::Line { line, why, text: begin() })?;
        self.samples.push(sample);
        Ok(())
    }

    fn add_kind(&mut self, declared: &str) {
        let mut words = declared.split_ascii_whitespace();
        if let (Some(name), Some(kind)) = (words.next(), words.next().and_then(Kind::from_name)) {
            self.kinds.insert(name.trim_matches('"').to_owned(), kind);
        }
    }

    /// Returns the samples in the order of the page.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Returns the declared kind of a metric. In OpenMetrics, a counter is declared without its suffix `_total`.
    pub fn kind(&self, name: &str) -> Option<Kind> {
        let declared = self.kinds.get(name).copied();
        declared.or_else(|| self.kinds.get(name.strip_suffix("_total")?).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_samples_are_read_up_to_the_end() {
        let page = "# HELP a_total Some help.\n# TYPE a counter\n# TYPE b gauge\r\na_total 3\r\n\nb{x=\"y\"} 2 17\n# EOF\nwrong";
        let exposition = Exposition::parse(page.as_bytes()).unwrap();
        let names: Vec<String> = exposition.samples().iter().map(|sample| sample.id.to_string()).collect();
        assert_eq!(names, ["a_total", "b{x=\"y\"}"]);
        assert_eq!((exposition.kind("a_total"), exposition.kind("b")), (Some(Kind::Counter), Some(Kind::Gauge)));
        assert_eq!(exposition.kind("c"), None);
    }

    #[test]
    fn hostile_pages_are_refused_in_a_line() {
        let error = |page: &[u8]| Exposition::parse(page).unwrap_err().to_string();
        let long_label = format!("up 1\na{{b=\"{}\"}} 1", "x".repeat(MAX_LINE));
        for (page, says) in [
            (vec![b'a'; MAX_BYTES + 1], "it has more than 8 MiB"),
            (long_label.into_bytes(), "line 2 has more than 16 KiB"),
            ("a 1\n".repeat(MAX_SAMPLES + 1).into_bytes(), "it has more than 100000 samples"),
            (b"a 1\n<html>\x1b[31m".to_vec(), "line 2 is no line of metrics"),
            (b"\xff\xfe 1".to_vec(), "line 1 is no line of metrics"),
            (b"# TYPE a counter\n".to_vec(), "it has no sample"),
        ] {
            let error = error(&page);
            assert!(error.contains(says) && !error.contains('\u{1b}') && error.len() < 300, "{error}");
        }
        // A long comment does not matter.
        let help = format!("# HELP a {}\na 1", "x".repeat(MAX_LINE));
        assert!(Exposition::parse(help.as_bytes()).is_ok());
    }
}
