//! `NAME|FILE` → a scenario.

use std::path::Path;

use truetail_model::scenario::{Scenario, builtin};

use super::input;
use crate::outcome::{Result, usage};

/// The scenario of that name or beginning of a name, or in that file.
///
/// # Errors
/// When there is none, or the file is none.
pub fn scenario(given: &str) -> Result<Scenario> {
    let path = Path::new(given);
    if !given.ends_with(".toml") && !path.is_file() {
        return builtin::find(given).map_err(usage);
    }
    let beside = path.parent().unwrap_or(Path::new(""));
    let read = |trace: &str| input::text(&beside.join(trace)).map_err(|failure| failure.message().to_owned());
    Scenario::parse_with(&input::text(path)?, given, &read).map_err(usage)
}
