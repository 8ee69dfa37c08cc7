//! Scenario that `NAME|FILE` means.

use std::path::Path;

use truetail_model::scenario::{Scenario, builtin};
use truetail_sim::labs::Lab;

use super::input;
use crate::error::{Result, usage_error};

/// Returns the scenario with this name or unique beginning of a name, or in this file.
///
/// # Errors
/// If no scenario has this name, or the file is no scenario.
pub(crate) fn scenario(given: &str) -> Result<Scenario> {
    if is_name(given) {
        return builtin::find(given).map_err(usage_error);
    }
    let path = Path::new(given);
    let beside = path.parent().unwrap_or(Path::new(""));
    let read = |trace: &str| input::recording(&beside.join(trace)).map_err(|error| error.message);
    Scenario::parse_with(&input::text(path)?, given, &read).map_err(usage_error)
}

/// Returns the scenario as [`scenario`] does. For an unknown name, the error also lists the labs.
pub(crate) fn scenario_or_lab(given: &str) -> Result<Scenario> {
    scenario(given).map_err(|error| {
        let labs = Lab::NAMES.join(", ");
        if is_name(given) { usage_error(format!("{}; labs are {labs}", error.message)) } else { error }
    })
}

fn is_name(given: &str) -> bool {
    !given.ends_with(".toml") && !Path::new(given).is_file()
}
