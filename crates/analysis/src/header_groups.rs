//! Response times by the value of a response header: `MISS: p99 310 ms, HIT: 4 ms`.

use std::cmp::Reverse;

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
    let mut places: Vec<HeaderPlace> = (0..header.values.len()).map(HeaderPlace::Value).collect();
    places.sort_by_key(|place| Reverse(header.answers(*place)));
    let places = places.into_iter().chain([HeaderPlace::Further, HeaderPlace::Without]);
    places.filter(|place| header.answers(*place) > 0).map(|place| group(run, kept, nth, place)).collect()
}

fn group(run: &Run, kept: &KeptHeaders, nth: usize, place: HeaderPlace) -> HeaderGroup {
    let header = &kept.headers[nth];
    let has_value = |index: u64| kept.of(index).is_some_and(|row| row.get(nth) == place);
    let even = run.snapshot.samples.even().iter();
    let answers = even.filter(|record| matches!(record.outcome, Outcome::Response { .. }) && has_value(record.index));
    let answers: Vec<RequestRecord> = answers.copied().collect();
    let mut response_time = distribution(&Population::unordered(&answers));
    let without = WithoutGenerator::from_records(&answers);
    response_time.quantiles.iter_mut().for_each(|quantile| without.set_lower_partner(quantile));
    let (kind, value) = match place {
        HeaderPlace::Without => (HeaderGroupKind::Without, None),
        HeaderPlace::Further => (HeaderGroupKind::Further, None),
        HeaderPlace::Value(place) => (HeaderGroupKind::Value, Some(header.values[place].value.clone())),
    };
    HeaderGroup { kind, value, answers: header.answers(place), response_time }
}
