//! Paths with their own work and faults.

use super::fault::Fault;
use crate::time::Nanos;

/// Path with its own work and faults. The queue, the seed and the faults of the service apply to all paths.
#[derive(Clone, PartialEq, Debug)]
pub struct Route {
    /// The whole path, without a query; or its beginning, followed by a `*`.
    pub path: String,
    /// Time to process one request of this path when nothing is wrong.
    pub baseline: Nanos,
    /// Faults of this path, which come before the faults of the service. They count only requests of this path.
    pub faults: Vec<Fault>,
}

/// Route of a request; the default means no route.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RouteId(pub(super) usize);

impl Route {
    /// Returns true if the route serves requests for `path`.
    pub fn meets(&self, path: &str) -> bool {
        match self.path.strip_suffix('*') {
            Some(beginning) => path.starts_with(beginning),
            None => self.path == path,
        }
    }

    /// Returns [`Route::meets`] for any path that begins with `known`; `None` if the rest decides.
    pub(super) fn meets_beginning(&self, known: &str) -> Option<bool> {
        let own = self.path.strip_suffix('*').unwrap_or(&self.path);
        match (known.starts_with(own), own.starts_with(known)) {
            (true, _) if own.len() < self.path.len() => Some(true),
            (true, _) => (known.len() > own.len()).then_some(false),
            (false, can_be) => (!can_be).then_some(false),
        }
    }
}
