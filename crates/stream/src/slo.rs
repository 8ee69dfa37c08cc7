use std::fmt;
use std::str::FromStr;

use truetail_model::time::Nanos;

/// The time of a request that an objective limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SloTime {
    /// From the intended start to the first content.
    FirstContent,
    /// Time per output token, without the first token.
    PerOutputToken,
    /// From the intended start to the last event.
    EndToEnd,
}

impl SloTime {
    fn named(name: &str) -> Option<SloTime> {
        match name.trim() {
            "ttft" => Some(SloTime::FirstContent),
            "tpot" => Some(SloTime::PerOutputToken),
            "e2e" => Some(SloTime::EndToEnd),
            _ => None,
        }
    }
}

/// An objective for each request, such as `ttft < 200ms`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Objective {
    text: String,
    pub(crate) time: SloTime,
    or_equal: bool,
    limit: Nanos,
}

impl Objective {
    /// Returns true if a condition is about each request, as `ttft < 200ms` is and `ttft p99 < 200ms` is not.
    pub fn is_in(condition: &str) -> bool {
        condition.split(['<', '>']).next().and_then(SloTime::named).is_some()
    }

    /// Returns true if the objective limits a time that answers have also if they come whole.
    pub(crate) fn is_of_whole_answers(&self) -> bool {
        self.time == SloTime::EndToEnd
    }

    /// Returns true if a request that took `time` meets the objective.
    pub(crate) fn is_met_by(&self, time: Nanos) -> bool {
        if self.or_equal { time <= self.limit } else { time < self.limit }
    }
}

impl fmt::Display for Objective {
    /// Writes the objective as the user wrote it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Objective {
    type Err = String;

    /// Reads `TIME < LIMIT` or `TIME <= LIMIT`. TIME is ttft, tpot or e2e.
    fn from_str(text: &str) -> Result<Objective, String> {
        let quoted = text.trim();
        let malformed =
            || format!("'{quoted}' is no objective; write ttft, tpot or e2e < TIME, such as 'ttft < 200ms'");
        let (name, limit) = quoted.split_once('<').ok_or_else(malformed)?;
        let time = SloTime::named(name).ok_or_else(malformed)?;
        let (limit, or_equal) = limit.strip_prefix('=').map_or((limit, false), |limit| (limit, true));
        let limit = limit.trim().parse::<Nanos>().map_err(|error| format!("'{quoted}': {error}"))?;
        Ok(Objective { text: quoted.to_owned(), time, or_equal, limit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objectives_are_read_and_met() {
        let objective = |text: &str| text.parse::<Objective>().unwrap_or_else(|error| panic!("{error}"));
        let below = objective(" ttft<200ms ");
        assert_eq!((below.to_string().as_str(), below.time), ("ttft<200ms", SloTime::FirstContent));
        assert!(below.is_met_by(Nanos(199_999_999)) && !below.is_met_by(Nanos::from_millis(200)));
        assert!(objective("tpot <= 50ms").is_met_by(Nanos::from_millis(50)));
        assert_eq!(objective("e2e < 1m30s").time, SloTime::EndToEnd);
    }

    #[test]
    fn what_is_no_objective_says_so_in_one_line() {
        for text in
            ["", "ttft", "ttft < ", "ttft < 5", "ttft > 5ms", "p99 < 5ms", "itl < 5ms", "ttft p99 < 1s", "ttft << 1s"]
        {
            let error = text.parse::<Objective>().expect_err(text);
            assert!(error.contains(&format!("'{text}'")) || error.contains(text.trim()), "{error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }
}
