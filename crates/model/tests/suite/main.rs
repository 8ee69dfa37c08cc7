//! Arrivals, services, records and intervals: properties and exact figures.

mod any;
mod arrivals;
mod gamma;
mod intervals;
mod poisson;
mod record;
mod routes;
mod service;
mod streams;
mod unissued;
mod users;
