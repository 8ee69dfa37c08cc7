//! The gaps between arrivals at a given rate.

use serde::{Deserialize, Serialize};

/// The gaps between arrivals: positions of arrival k on the axis L(t).
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
    /// Version of the random gaps: the same seed gives other gaps in another version. Version 1 drew them in order.
    pub const POISSON_VERSION: u64 = 2;
}
