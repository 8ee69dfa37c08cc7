//! Every tool there is.

use crate::{Tool, ab, autocannon, h2load, hey, oha, wrk, wrk2};

/// Every tool, in the order in which the documents name them.
pub fn all() -> &'static [&'static dyn Tool] {
    &[&ab::Ab, &hey::Hey, &wrk::Wrk, &wrk2::Wrk2, &oha::Oha, &h2load::H2load, &autocannon::Autocannon]
}

/// Their names.
pub fn names() -> Vec<&'static str> {
    all().iter().map(|tool| tool.name()).collect()
}

/// The tool of that name.
pub fn by_name(name: &str) -> Option<&'static dyn Tool> {
    all().iter().copied().find(|tool| tool.name() == name)
}
