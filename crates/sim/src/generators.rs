//! The generators of a simulation: one, or several machines that share a load.

use truetail_model::arrival::ScheduleHash;
use truetail_model::driver::{Directive, Driver};
use truetail_model::time::Timestamp;

/// Drivers of all machines, which act in the order of the undivided load.
#[derive(Clone, Debug)]
pub(crate) struct Generators(Vec<Driver>);

impl Generators {
    /// Takes at least one driver.
    pub(crate) fn new(drivers: Vec<Driver>) -> Generators {
        Generators(drivers)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(crate) fn driver_mut(&mut self, number: u32) -> &mut Driver {
        &mut self.0[number as usize]
    }

    /// Returns the next directive, and its machine.
    #[inline]
    pub(crate) fn poll(&mut self, now: Timestamp) -> (u32, Directive) {
        match &mut self.0[..] {
            [only] => (0, only.poll(now)),
            several => poll_in_order(several, now),
        }
    }

    #[inline]
    pub(crate) fn can_start(&self, now: Timestamp) -> bool {
        self.0.iter().any(|driver| driver.can_start(now))
    }

    #[inline]
    pub(crate) fn deadline(&self) -> Timestamp {
        self.0.iter().map(Driver::deadline).max().unwrap_or(Timestamp::ZERO)
    }

    pub(crate) fn hashes(&self) -> impl Iterator<Item = ScheduleHash> {
        self.0.iter().map(Driver::schedule_hash)
    }
}

/// Starts the first due request, in the order of the undivided load, whose driver may start it. Otherwise all wait.
fn poll_in_order(drivers: &mut [Driver], now: Timestamp) -> (u32, Directive) {
    let due = |driver: &Driver| driver.next_in_load_order().filter(|place| place.at <= now);
    let mut in_order: Vec<_> = drivers.iter().map(due).zip(0u32..).filter(|(place, _)| place.is_some()).collect();
    in_order.sort_unstable();
    for (_, number) in in_order {
        let directive = drivers[number as usize].poll(now);
        if matches!(directive, Directive::Start(_)) {
            return (number, directive);
        }
    }
    let together = drivers.iter_mut().map(|driver| driver.poll(now)).reduce(later);
    (0, together.unwrap_or(Directive::Finished))
}

/// Combines the directives of two drivers that start nothing: they continue as long as one of them does.
fn later(a: Directive, b: Directive) -> Directive {
    match (a, b) {
        (Directive::Wait { until: a }, Directive::Wait { until: b }) => Directive::Wait { until: a.min(b) },
        (wait @ Directive::Wait { .. }, _) | (_, wait @ Directive::Wait { .. }) => wait,
        (Directive::Expired, _) | (_, Directive::Expired) => Directive::Expired,
        (other, _) => other,
    }
}
