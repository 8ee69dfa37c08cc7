//! Response times by the value of a response header: `MISS: p99 310 ms, HIT: 4 ms`.

use std::cmp::Reverse;
use std::collections::HashMap;

use truetail_model::record::{Outcome, RequestRecord};
use truetail_run::{HeaderGroup, HeaderGroupKind, HeaderPlace, KeptHeader, KeptHeaders, Run};

use crate::bracket::WithoutGenerator;
use crate::distribution::distribution;
use crate::population::Population;

/// Returns the groups of each kept header, the most frequent value first. Answers with further values, and then
/// answers without the header, come last.
pub(crate) fn header_groups(run: &Run) -> Vec<Vec<HeaderGroup>> {
    let Some(kept) = &run.facts.kept_headers else { return Vec::new() };
    kept.headers.iter().enumerate().map(|(nth, header)| groups(run, kept, nth, header)).collect()
}

fn groups(run: &Run, kept: &KeptHeaders, nth: usize, header: &KeptHeader) -> Vec<HeaderGroup> {
    let mut by_place: HashMap<HeaderPlace, Vec<RequestRecord>> = HashMap::new();
    let even = run.snapshot.samples.even().iter();
    for record in even.filter(|record| matches!(record.outcome, Outcome::Response { .. })) {
        if let Some(row) = kept.of(record.index) {
            by_place.entry(row.get(nth)).or_default().push(*record);
        }
    }
    let mut places: Vec<HeaderPlace> = (0..header.values.len()).map(HeaderPlace::Value).collect();
    places.sort_by_key(|place| Reverse(header.answers(*place)));
    let places = places.into_iter().chain([HeaderPlace::Further, HeaderPlace::Without]);
    let answered = places.filter(|place| header.answers(*place) > 0);
    answered.map(|place| group(header, place, &by_place.remove(&place).unwrap_or_default())).collect()
}

fn group(header: &KeptHeader, place: HeaderPlace, answers: &[RequestRecord]) -> HeaderGroup {
    let mut response_time = distribution(&Population::unordered(answers));
    let without = WithoutGenerator::from_records(answers);
    response_time.quantiles.iter_mut().for_each(|quantile| without.set_lower_partner(quantile));
    let (kind, value) = match place {
        HeaderPlace::Without => (HeaderGroupKind::Without, None),
        HeaderPlace::Further => (HeaderGroupKind::Further, None),
        HeaderPlace::Value(place) => (HeaderGroupKind::Value, Some(header.values[place].value.clone())),
    };
    HeaderGroup { kind, value, answers: header.answers(place), response_time }
}
