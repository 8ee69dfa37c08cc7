//! Reading of the distributions of targets.

use std::collections::BTreeMap;

use truetail_model::record::{CompactHistogram, TargetTimes};
use truetail_model::time::Nanos;

use super::target_tag::TargetTag;
use super::validate;
use crate::TargetBooks;
use crate::wire::v1::Exact;

/// Returns the distributions of each target; empty if they were not saved. Fails if they contradict `run.json`.
pub(super) fn target_times(
    mut found: BTreeMap<TargetTag, CompactHistogram>,
    exact: &BTreeMap<String, Exact>,
    books: &[TargetBooks],
) -> Result<Vec<TargetTimes>, String> {
    let is_missing = |tag: &&String| tag.parse().is_ok_and(|tag: TargetTag| !found.contains_key(&tag));
    if let Some(tag) = exact.keys().find(is_missing) {
        return Err(format!("its tag {tag} is missing, and run.json has it, under recorded.exact"));
    }
    let were_saved = !found.is_empty() || books.iter().all(|books| books.tally.planned == 0);
    let mut all = vec![TargetTimes::default(); if were_saved { books.len() } else { 0 }];
    for (tag, histogram) in &mut found {
        let said = exact.get(&tag.to_string());
        if let Some(Exact { sum_ns, min_ns, max_ns, .. }) = said {
            histogram.restore_exact(*sum_ns, Nanos(*min_ns), Nanos(*max_ns));
        }
        let held = Exact::from_compact(histogram);
        if held.as_ref() != said {
            return Err(format!("its tag {tag} holds {held:?}, but run.json says, under recorded.exact, {said:?}"));
        }
        let target =
            all.get_mut(tag.target).ok_or_else(|| format!("its tag {tag} is of a target that run.json lacks"))?;
        if let Some(place) = target.metric_mut(tag.metric) {
            *place = std::mem::take(histogram);
        }
    }
    all.iter().zip(books).enumerate().try_for_each(|(number, (times, books))| check(number, times, books))?;
    Ok(all)
}

/// Checks that the distributions of a target hold as many arrivals as its books, or fewer if some have no value.
fn check(number: usize, times: &TargetTimes, books: &TargetBooks) -> Result<(), String> {
    for metric in TargetTimes::METRICS {
        let (_, said) = validate::population(metric, &books.tally);
        let held = times.metric(metric).map_or(0, CompactHistogram::count);
        if held > said || (validate::has_each(metric) && held < said) {
            let tag = TargetTag { target: number, metric };
            return Err(format!("its tag {tag} holds {held} arrivals, and by_target in run.json says {said}"));
        }
    }
    Ok(())
}
