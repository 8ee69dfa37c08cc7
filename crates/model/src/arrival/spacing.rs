//! The gaps between arrivals at a given rate.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::toml_file::closest;

/// The gaps between arrivals: positions of arrival k on the axis L(t). Written as `even`, `poisson`, or `gamma:0.5`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Spacing {
    /// At L(t) = k: even gaps at the profile's rate.
    #[default]
    Even,
    /// At the k-th point of a unit Poisson process: random (exponential) gaps, like those of many independent users.
    Poisson,
    /// At the k-th point of a renewal process whose gaps follow a gamma distribution with mean 1 and this shape.
    Gamma(GammaShape),
}

impl Spacing {
    /// Version of the random gaps: the same seed gives other gaps in another version. Version 1 drew them in order.
    pub const RANDOM_VERSION: u64 = 2;

    const NAMES: [(&str, Spacing); 2] = [("even", Spacing::Even), ("poisson", Spacing::Poisson)];
    const GAMMA: &str = "gamma:";
}

/// Shape of a gamma distribution: the mean of the gaps squared, divided by their variance. Below 1, arrivals come in
/// bursts; 1 is a Poisson process; above 1, they are more even. From 0.05 to 100, in thousandths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GammaShape(u32);

impl GammaShape {
    const RANGE: (u32, u32) = (50, 100_000);

    /// Creates a shape, rounded to thousandths; `None` if it is out of range.
    pub fn new(shape: f64) -> Option<GammaShape> {
        let thousandths = (shape * 1e3).round();
        let (least, most) = GammaShape::RANGE;
        (f64::from(least)..=f64::from(most)).contains(&thousandths).then_some(GammaShape(thousandths as u32))
    }

    /// Returns the shape, a number from 0.05 to 100.
    pub fn value(self) -> f64 {
        f64::from(self.0) / 1e3
    }
}

/// A text that names no spacing.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("\"{given}\" is unknown; {help}")]
pub struct SpacingError {
    given: String,
    help: String,
}

impl SpacingError {
    fn new(given: &str) -> SpacingError {
        let names = Spacing::NAMES.map(|(name, _)| name);
        let help = match closest(given, &names) {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None => {
                "use even, poisson, or gamma:SHAPE with a shape from 0.05 to 100, such as gamma:0.5 for bursts".into()
            }
        };
        SpacingError { given: given.to_owned(), help }
    }
}

impl FromStr for Spacing {
    type Err = SpacingError;

    fn from_str(text: &str) -> Result<Spacing, SpacingError> {
        let named = Spacing::NAMES.into_iter().find(|(name, _)| *name == text).map(|(_, spacing)| spacing);
        let gamma = || GammaShape::new(text.strip_prefix(Spacing::GAMMA)?.parse().ok()?).map(Spacing::Gamma);
        named.or_else(gamma).ok_or_else(|| SpacingError::new(text))
    }
}

impl fmt::Display for Spacing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spacing::Even => f.write_str("even"),
            Spacing::Poisson => f.write_str("poisson"),
            Spacing::Gamma(shape) => write!(f, "{}{}", Spacing::GAMMA, shape.value()),
        }
    }
}

impl TryFrom<String> for Spacing {
    type Error = SpacingError;

    fn try_from(text: String) -> Result<Spacing, SpacingError> {
        text.parse()
    }
}

impl From<Spacing> for String {
    fn from(spacing: Spacing) -> String {
        spacing.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spacing_is_written_as_it_is_read() {
        for text in ["even", "poisson", "gamma:0.05", "gamma:0.5", "gamma:1", "gamma:2.125", "gamma:100"] {
            assert_eq!(text.parse::<Spacing>().map(|spacing| spacing.to_string()), Ok(text.to_owned()));
        }
        assert!("evn".parse::<Spacing>().is_err_and(|error| error.to_string().ends_with("did you mean \"even\"?")));
        for text in
            ["", "random", "gamma", "gamma:", "gamma:0.049", "gamma:100.1", "gamma:-1", "gamma:NaN", "gamma:inf"]
        {
            assert!(text.parse::<Spacing>().is_err_and(|error| error.to_string().contains("gamma:SHAPE")), "{text}");
        }
    }
}
