//! Properties of a group of requests.

use truetail_model::record::RequestRecord;

/// From this share on, a property is one of the group.
pub(super) const NEARLY_ALL: f64 = 0.9;

/// Returns true if nearly all requests of the group have a property that less than half as many of the answers have.
pub(super) fn is_of_group(
    answers: &[&RequestRecord],
    group: &[&RequestRecord],
    has: impl Fn(&RequestRecord) -> bool,
) -> bool {
    let share =
        |records: &[&RequestRecord]| records.iter().filter(|record| has(record)).count() as f64 / records.len() as f64;
    share(group) >= NEARLY_ALL && share(answers) < NEARLY_ALL / 2.0
}
