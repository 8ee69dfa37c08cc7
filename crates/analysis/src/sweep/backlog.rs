//! Tells a service that falls behind from one whose answers merely take long.

use truetail_model::record::RequestRecord;
use truetail_run::Run;

use crate::load_timeline::LoadTimeline;
use crate::metric_distributions::every_arrival;
use crate::verdict::thresholds::{SATURATED_GROWTH_SHARE, SATURATED_SLOWER};

/// Standard deviations of the number of arrivals beyond which a backlog has grown. Fewer than in the verdict of a run,
/// because the times of late requests are known here, and they must have grown too.
const GROWN: f64 = 2.0;
/// Standard deviations beyond which the last requests were slower than the first ones.
const SLOWER: f64 = 3.0;

/// Returns true if more requests were outstanding at the end of each third of the schedule than at the end of the one
/// before, beyond noise, while answers kept coming.
///
/// The requests of a healthy service with long answers pile up too, until the first ones are answered. So a backlog
/// counts only where [`later_are_slower`].
pub(super) fn keeps_rising(run: &Run) -> bool {
    let every = every_arrival(&run.snapshot);
    let Some(timeline) = LoadTimeline::new(&run.snapshot, every.as_deref()) else { return false };
    let stretches = &timeline.stretches;
    let number = stretches.len();
    if number < 3 {
        return false;
    }
    let ends = [number / 3, number * 2 / 3, number];
    let outstanding = timeline.outstanding();
    let [first, second, last] = ends.map(|end| outstanding[end - 1]);
    let later = &stretches[ends[0]..];
    let planned = later.iter().map(|stretch| stretch.planned).sum::<u64>() as f64;
    let answers = |from: usize, to: usize| stretches[from..to].iter().any(|stretch| stretch.completed > 0);
    let keeps_answering = answers(0, ends[0]) && answers(ends[0], ends[1]) && answers(ends[1], ends[2]);
    let grown = last - first;
    let is_noise = grown <= planned * SATURATED_GROWTH_SHARE || grown <= GROWN * planned.sqrt();
    first < second && second < last && !is_noise && keeps_answering
}

/// Returns true if the requests of the last third took longer than in the first third, beyond chance by the
/// rank-sum test (Mann & Whitney 1947), however long after the schedule they were answered. Requests wait the longer in
/// a growing backlog, the later they are due. How much the times of a service differ does not matter.
pub(super) fn later_are_slower(run: &Run) -> bool {
    let mut records: Vec<&RequestRecord> = run.snapshot.samples.even().iter().collect();
    records.sort_unstable_by_key(|record| (record.intended_start, record.index));
    let third = records.len() / 3;
    let times = |records: &[&RequestRecord]| {
        let time = |record: &&RequestRecord| match record.outcome.is_response() {
            true => record.response_time().0,
            false => u64::MAX,
        };
        let mut times: Vec<u64> = records.iter().map(time).collect();
        times.sort_unstable();
        times
    };
    let early = times(&records[..third]);
    let late = times(&records[records.len() - third..]);
    let middle = |times: &[u64]| times.get(times.len() / 2).map_or(0.0, |time| *time as f64);
    middle(&late) > middle(&early) * SATURATED_SLOWER && rank_sum(&early, &late) > SLOWER
}

/// Returns by how many standard deviations `late` exceeds `early`. Both are in ascending order and of equal length.
fn rank_sum(early: &[u64], late: &[u64]) -> f64 {
    let below = |time: u64| {
        let smaller = early.partition_point(|of| *of < time);
        let up_to = early.partition_point(|of| *of <= time);
        (smaller + up_to) as f64 / 2.0
    };
    let above: f64 = late.iter().map(|time| below(*time)).sum();
    let pairs = early.len() as f64 * late.len() as f64;
    let deviation = (pairs * (early.len() + late.len() + 1) as f64 / 12.0).sqrt();
    if deviation > 0.0 { (above - pairs / 2.0) / deviation } else { 0.0 }
}
