//! Tags of a target's distributions in `histograms.hlog`: `response_time@1` belongs to the first target.

use std::fmt;
use std::str::FromStr;

use truetail_model::record::{Metric, TargetTimes};

/// A metric of a target.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct TargetTag {
    /// Index of the target, from 0.
    pub(crate) target: usize,
    /// One of [`TargetTimes::METRICS`].
    pub(crate) metric: Metric,
}

impl fmt::Display for TargetTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.metric.name(), self.target + 1)
    }
}

/// Error: not the tag of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ParseTargetTagError;

impl FromStr for TargetTag {
    type Err = ParseTargetTagError;

    /// Accepts only text that `Display` writes.
    fn from_str(text: &str) -> Result<TargetTag, ParseTargetTagError> {
        let (name, number) = text.split_once('@').ok_or(ParseTargetTagError)?;
        let metric = Metric::from_name(name).filter(|metric| TargetTimes::METRICS.contains(metric));
        let target = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let tag = metric.zip(target).map(|(metric, target)| TargetTag { target, metric });
        tag.filter(|tag| tag.to_string() == text).ok_or(ParseTargetTagError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_read_back() {
        for metric in TargetTimes::METRICS {
            let tag = TargetTag { target: 41, metric };
            assert_eq!(tag.to_string().parse(), Ok(tag));
        }
        for text in ["response_time", "response_time@0", "response_time@01", "response_time@+1", "read_lag@1", "x@1"] {
            assert_eq!(text.parse::<TargetTag>(), Err(ParseTargetTagError), "{text}");
        }
    }
}
