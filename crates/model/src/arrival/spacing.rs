//! The gaps between arrivals at a given rate.

use serde::{Deserialize, Serialize};

/// The gaps between arrivals: where arrival k lies on the axis L(t).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// At L(t) = k: even gaps at the profile's rate.
    #[default]
    Even,
    /// At the k-th point of a unit Poisson process: random (exponential) gaps, like those of many independent users.
    Poisson,
}

impl Spacing {
    /// The version of the random gaps: another one gives other arrivals for the same seed. In the first, each gap was
    /// drawn after the one before it.
    pub const POISSON_VERSION: u64 = 2;
}
