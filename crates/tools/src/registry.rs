//! Every tool there is.

use crate::{Tool, hey};

/// Every tool, in the order in which the documents name them.
pub fn all() -> &'static [&'static dyn Tool] {
    &[&hey::Hey]
}

/// Their names.
pub fn names() -> Vec<&'static str> {
    all().iter().map(|tool| tool.name()).collect()
}

/// The tool of that name.
pub fn by_name(name: &str) -> Option<&'static dyn Tool> {
    all().iter().copied().find(|tool| tool.name() == name)
}
