//! The tools of the server, a file for each.

mod audit;
mod capacity;
mod compare;
mod explain;
mod reasons;
mod request;
mod run;
mod tool;

use serde_json::Value;

use crate::limits::Limits;
pub(crate) use tool::{Plan, Tool};

const ALL: [&Tool; 5] = [&run::TOOL, &compare::TOOL, &capacity::TOOL, &audit::TOOL, &explain::TOOL];

/// Returns the tool of this name.
pub(crate) fn find(name: &str) -> Option<&'static Tool> {
    ALL.into_iter().find(|tool| tool.name == name)
}

/// Returns the definitions of the tools that these limits allow.
pub(crate) fn listed(limits: &Limits) -> Vec<Value> {
    ALL.into_iter().filter(|tool| !tool.saves || limits.out.is_some()).map(|tool| tool.definition(limits)).collect()
}
