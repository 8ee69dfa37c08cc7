//! Routes of requests, and the faults on each route.

use super::description::Service;
use super::fault::Fault;
use super::route::RouteId;
use crate::time::Nanos;

impl Service {
    /// Returns the route of a request for `path`, with or without a query: the first one in the list that serves it.
    pub fn route_of(&self, path: &str) -> RouteId {
        let path = path.split(['?', '#']).next().unwrap_or_default();
        RouteId(self.routes.iter().position(|route| route.meets(path)).map_or(0, |nth| nth + 1))
    }

    /// Returns the route of all requests whose path begins with `known`; `None` if the rest of the path decides.
    pub fn route_of_beginning(&self, known: &str) -> Option<RouteId> {
        for (nth, route) in self.routes.iter().enumerate() {
            if route.meets_beginning(known)? {
                return Some(RouteId(nth + 1));
            }
        }
        Some(RouteId::default())
    }

    /// Returns the ids of all routes, beginning with the one for no route.
    pub(super) fn route_ids(&self) -> impl Iterator<Item = RouteId> + use<> {
        (0..=self.routes.len()).map(RouteId)
    }

    /// Returns the faults of requests of `route`: its own, then the faults of the service.
    pub fn faults_at(&self, route: RouteId) -> impl Iterator<Item = &Fault> {
        self.own_faults(route).iter().chain(&self.faults)
    }

    pub(super) fn own_faults(&self, route: RouteId) -> &[Fault] {
        route.0.checked_sub(1).map_or(&[], |nth| &self.routes[nth].faults)
    }

    pub(super) fn baseline_at(&self, route: RouteId) -> Nanos {
        route.0.checked_sub(1).map_or(self.baseline, |nth| self.routes[nth].baseline)
    }

    /// Returns the faults of the service and of all its routes.
    pub fn all_faults(&self) -> impl Iterator<Item = &Fault> {
        self.faults.iter().chain(self.routes.iter().flat_map(|route| &route.faults))
    }

    pub(crate) fn all_faults_mut(&mut self) -> impl Iterator<Item = &mut Fault> {
        self.faults.iter_mut().chain(self.routes.iter_mut().flat_map(|route| &mut route.faults))
    }
}

#[cfg(test)]
mod tests {
    use super::super::route::Route;
    use super::*;

    fn service() -> Service {
        let route = |path: &str| Route { path: path.to_owned(), baseline: Nanos(1), faults: Vec::new() };
        Service { routes: vec![route("/login"), route("/items/*")], ..Service::healthy(Nanos(2)) }
    }

    #[test]
    fn the_first_route_that_meets_a_path_is_its_own() {
        let service = service();
        for (path, nth) in [
            ("/login", 1),
            ("/login?next=/items/", 1),
            ("/login/", 0),
            ("/items/7", 2),
            ("/items/", 2),
            ("/items", 0),
            ("/", 0),
        ] {
            assert_eq!(service.route_of(path), RouteId(nth), "{path}");
        }
    }

    #[test]
    fn a_beginning_is_enough_where_it_decides() {
        let service = service();
        for (known, route) in [
            ("/items/", Some(2)),
            ("/items/a/", Some(2)),
            ("/item", None),
            ("/", None),
            ("/log", None),
            ("/login", None),
            ("/login/", Some(0)),
            ("/users/", Some(0)),
        ] {
            assert_eq!(service.route_of_beginning(known), route.map(RouteId), "{known}");
        }
    }
}
