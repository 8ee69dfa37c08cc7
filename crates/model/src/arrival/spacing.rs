//! How arrivals lie between each other, given the rate.

use serde::{Deserialize, Serialize};

/// Where arrival k lies on the axis L(t).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// At L(t) = k: a metronome at the profile's rate.
    #[default]
    Even,
    /// At the k-th point of a unit Poisson process: gaps that are exponential, as many independent users make them.
    Poisson,
}
