//! A scenario: how the service behaves × what is offered.

use crate::service::Service;
use crate::workload::Workload;

/// One thing to measure, and what is known of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    /// Its name, such as `02-single-hiccup`.
    pub name: String,
    /// What it shows, in a sentence.
    pub about: String,
    /// How the system under test behaves.
    pub service: Service,
    /// What is offered to it.
    pub workload: Workload,
    /// The path that is asked for.
    pub path: String,
}
