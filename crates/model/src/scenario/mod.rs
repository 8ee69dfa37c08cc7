//! A scenario is a service × a workload. `docs/scenarios.md` describes its TOML format key by key.
//!
//! | file | content |
//! |---|---|
//! | `parse` | TOML text → [`Scenario`] |
//! | `workload`, `service`, `stream`, `faults`, `routes` | the sections; the last three also write theirs |
//! | `fields` | keys and values with their place in the text |
//! | `keys` | keys and values as a tree, to write and for serde |
//! | `bounds` | the end and the size of a workload, outside which a fault can never happen |
//! | `write` | [`Scenario`] → TOML, and the same keys for serde |
//! | `scale` | scales a scenario to a shorter or longer run |
//! | [`builtin`] | the scenarios that come with truetail |
//!
//! ```toml
//! name = "02-single-hiccup"            # default: the file's name
//! about = "One stall of a second"
//! path = "/api"                        # the default
//!
//! [workload]
//! model = "open"                       # open (default), closed, partly-open
//! rate = 1000                          # or "60/m"; or profile = "ramp:100..2000/60s"; not for the closed model
//! spacing = "even"                     # or "poisson", or "gamma:0.5"
//! duration = "60s"                     # and, or instead: requests = 60000
//!
//! [service]
//! baseline = "10ms"
//!
//! [[service.fault]]
//! kind = "stall"
//! at = "30s"
//! for = "1s"
//! ```

mod bounds;
pub mod builtin;
mod faults;
mod fields;
mod keys;
mod parse;
mod routes;
mod scale;
mod service;
mod stream;
mod workload;
mod write;

pub use scale::ScaleError;

use crate::service::Service;
use crate::workload::Workload;

/// A load, and a server to measure.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    /// Name, such as `02-single-hiccup`: letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// Purpose of the scenario, in a sentence.
    pub about: String,
    /// Behaviour of the server.
    pub service: Service,
    /// Load on the server.
    pub workload: Workload,
    /// Path of the requests; starts with `/`.
    pub path: String,
}
