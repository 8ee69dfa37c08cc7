//! TOML text → [`Scenario`].

use super::bounds::WorkloadBounds;
use super::fields::Section;
use super::workload::ReadFile;
use super::{Scenario, service, workload};
use crate::service::Service;
use crate::toml_file::{TomlError, TomlFile};

impl Scenario {
    /// Reads a scenario from `text`. Errors show `file_name`, which also names a scenario without a name. A profile of
    /// the form `trace:FILE` is refused: see [`Scenario::parse_with`].
    ///
    /// # Errors
    /// The first problem, with line and key: unknown keys, invalid values, contradictions, and faults that never
    /// happen.
    pub fn parse(text: &str, file_name: &str) -> Result<Scenario, TomlError> {
        let refuse = |_: &str| Err("trace files cannot be read here".to_owned());
        Scenario::parse_with(text, file_name, &refuse)
    }

    /// Reads a scenario like [`Scenario::parse`], and fails like it, but resolves a profile `trace:FILE`: `read` gets
    /// FILE as written and returns the text of the recording, or the problem.
    pub fn parse_with(text: &str, file_name: &str, read: &ReadFile<'_>) -> Result<Scenario, TomlError> {
        let source = TomlFile { name: file_name, text };
        let document = source.parse()?;
        let top = Section::new(source, "", 0, document.get_ref());
        let name = name_of(&top, file_name)?;
        let about = top.get("about").map_or(Ok(""), |about| about.string())?.to_owned();
        let path = path_of(&top)?;
        let workload = top.require("workload", "describe the load, for example rate = 1000 and duration = \"60s\"")?;
        let service = top.require("service", "describe the server, for example baseline = \"10ms\"")?;
        top.no_more_keys()?;
        let workload = workload::read(&workload.section()?, read)?;
        let service = service::read(&service.section()?, &WorkloadBounds::new(&workload))?;
        check_path(&top, &service)?;
        Ok(Scenario { name, about, service, workload, path })
    }
}

fn name_of(top: &Section<'_>, file_name: &str) -> Result<String, TomlError> {
    let Some(field) = top.get("name") else { return Ok(name_from(file_name)) };
    let name = field.string()?;
    if !name.is_empty() && name.chars().all(is_of_name) {
        return Ok(name.to_owned());
    }
    Err(field.error("a name must consist of letters, digits, '-', '_' and '.', and must not be empty"))
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || "-_.".contains(c)
}

/// Returns the name of the file, or for `NAME/scenario.toml` of its folder.
fn name_from(file_name: &str) -> String {
    let mut parts = file_name.rsplit(['/', '\\']);
    let file = parts.next().unwrap_or_default();
    let stem = file.strip_suffix(".toml").unwrap_or(file);
    let chosen = if stem == "scenario" { parts.next().unwrap_or(stem) } else { stem };
    let name: String = chosen.chars().map(|c| if is_of_name(c) { c } else { '-' }).collect();
    if name.is_empty() { "scenario".to_owned() } else { name }
}

fn path_of(top: &Section<'_>) -> Result<String, TomlError> {
    let Some(field) = top.get("path") else { return Ok("/api".to_owned()) };
    let path = field.string()?;
    if path.starts_with('/') && path.chars().all(|c| c.is_ascii_graphic()) {
        return Ok(path.to_owned());
    }
    Err(field.error("a path must start with '/' and contain only visible ASCII characters; for example \"/api\""))
}

/// Refuses a path that the server answers itself: it would meet no fault and be in no log.
fn check_path(top: &Section<'_>, service: &Service) -> Result<(), TomlError> {
    let Some(field) = top.get("path") else { return Ok(()) };
    let path = field.string()?;
    if !service.is_answered_by_server(path) {
        return Ok(());
    }
    let kind = if service.stream.is_some() { "a server of streams" } else { "the server" };
    Err(field.error(format!("{kind} answers \"{path}\" by itself, so no request would be counted; use another path")))
}
