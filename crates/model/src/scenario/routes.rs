//! The tables `[[service.route]]`: paths with their own work and faults. A route that never gets a request is an error.

use super::bounds::WorkloadBounds;
use super::faults;
use super::fields::{Field, Section};
use super::keys::Keys;
use crate::service::{Fault, Gate, Route, Service, Variation};
use crate::time::Nanos;
use crate::toml_file::TomlError;

/// Reads the routes of `service`, whose other keys were read before.
pub(super) fn read(routes: &Field<'_>, service: &Service) -> Result<Vec<Route>, TomlError> {
    if service.stream.is_some() {
        return Err(routes.error("a service whose answers are streams has no routes; leave one of the two out"));
    }
    let mut read: Vec<Route> = Vec::new();
    for section in routes.sections("[[service.route]]")? {
        let path = section.require("path", "for example path = \"/login\"")?;
        let route = read_route(&section, service)?;
        if service.is_answered_by_server(&route.path) {
            let problem = "the server answers it by itself";
            return Err(path.error(format!("\"{}\" never gets a request: {problem}", route.path)));
        }
        if let Some(earlier) = read.iter().find(|earlier| earlier.meets(&route.path)) {
            let problem = format!("every request for it belongs to the route {} before it", earlier.path);
            return Err(path.error(format!("\"{}\" never gets a request: {problem}", route.path)));
        }
        read.push(route);
    }
    Ok(read)
}

fn read_route(section: &Section<'_>, service: &Service) -> Result<Route, TomlError> {
    let path = path(&section.require("path", "for example path = \"/login\"")?)?;
    let baseline = match section.get("baseline") {
        None => service.baseline,
        Some(field) => match field.duration()? {
            Nanos::ZERO if service.variation == Variation::Exponential => {
                return Err(field.error("a baseline of zero cannot vary"));
            }
            baseline => baseline,
        },
    };
    let faults = match section.get("fault") {
        None => Vec::new(),
        Some(field) => read_faults(&field, service)?,
    };
    section.no_more_keys()?;
    Ok(Route { path, baseline, faults })
}

/// Reads the faults of a route. With limited concurrency, none may hold arrivals: their slots would stay empty while
/// the requests of other routes wait.
fn read_faults(field: &Field<'_>, service: &Service) -> Result<Vec<Fault>, TomlError> {
    let faults = faults::read(&field.sections("[[service.route.fault]]")?, &WorkloadBounds::NOT_KNOWN)?;
    let holds_arrivals = |fault: &Fault| {
        matches!(fault, Fault::Stall { gate: Gate::Arrivals, .. } | Fault::RecurringStall { gate: Gate::Arrivals, .. })
    };
    if service.concurrency.is_some() && faults.iter().any(holds_arrivals) {
        return Err(field.error(
            "a route of a service with 'concurrency' cannot hold arrivals; use gate = \"answers\", or give the stall to the \
             whole service",
        ));
    }
    Ok(faults)
}

fn path(field: &Field<'_>) -> Result<String, TomlError> {
    let path = field.string()?;
    let whole = path.strip_suffix('*').unwrap_or(path);
    if whole.starts_with('/') && whole.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '?' | '#' | '*')) {
        return Ok(path.to_owned());
    }
    let wanted =
        "a path of visible ASCII characters that starts with '/', without a query; a '*' may be its last character";
    Err(field.error(format!("\"{path}\" is not {wanted}")))
}

/// Returns the keys of `route`, as [`read`] reads them.
pub(super) fn keys(route: &Route) -> Keys {
    let mut keys = Keys::default();
    keys.put("path", route.path.as_str());
    keys.put("baseline", route.baseline);
    keys.put("fault", faults::all_keys(&route.faults));
    keys
}
