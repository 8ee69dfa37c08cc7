//! Recordings as loads.

mod access_log;
mod dates;
mod har;
mod jmx;
mod k6;
mod k6_values;
mod openapi;

use truetail_import::ways::LoadFiles;

/// Returns the text of a file of a load.
fn file<'l>(load: &'l LoadFiles, name: &str) -> &'l str {
    let found = load.files.iter().find(|(known, _)| known == name);
    let (_, text) = found.unwrap_or_else(|| panic!("{name} is missing: {:?}", load.files));
    text
}
