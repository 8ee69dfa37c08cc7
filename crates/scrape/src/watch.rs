//! The metrics of a service over a run.

use std::collections::BTreeMap;

use truetail_model::record::Tally;
use truetail_model::time::Nanos;
use truetail_run::{ServiceHistogram, ServiceSeries};

use crate::choice;
use crate::exposition::Exposition;
use crate::increase::Increase;
use crate::line::SeriesId;
use crate::names::{Pattern, request_time_unit};
use crate::times::times;
use crate::tracks::Tracks;

/// Limit on the series of histograms and summaries of request times.
const MAX_SERIES: usize = 512;
/// Limit on the metrics of request times in a result.
const MAX_METRICS: usize = 32;

/// Metrics of a service, from a page before the run to one after it.
#[derive(Debug)]
pub struct Watch {
    increases: BTreeMap<SeriesId, Increase>,
    tracks: Tracks,
    pages: u64,
    left_out: u64,
}

impl Watch {
    /// Begins with a page from before the run. Series that fit one of the patterns are drawn.
    pub fn new(before: &Exposition, shown: Vec<Pattern>) -> Watch {
        let mut watch = Watch { increases: BTreeMap::new(), tracks: Tracks::new(shown), pages: 1, left_out: 0 };
        let mut all = times(before).into_iter();
        watch.increases = all.by_ref().take(MAX_SERIES).map(|(id, times)| (id, Increase::from(&times))).collect();
        watch.left_out = all.count() as u64;
        watch
    }

    /// Adds a page that was read at this time since the origin of the run.
    pub fn add(&mut self, at: Nanos, page: &Exposition) {
        self.pages += 1;
        self.tracks.add(at, page);
        let mut left_out = 0;
        for (id, times) in times(page) {
            let has_room = self.increases.len() < MAX_SERIES;
            match self.increases.get_mut(&id) {
                Some(increase) => increase.add(&times),
                None if has_room => {
                    self.increases.insert(id, Increase::from_nothing(&times));
                }
                None => left_out += 1,
            }
        }
        self.left_out = left_out;
    }

    /// Forgets the requests that were counted until the last page, because they were the warm-up.
    pub fn begin_measuring(&mut self) {
        self.increases.values_mut().for_each(|increase| *increase = increase.begun_again());
    }

    /// Returns the number of series of request times that there was no room for.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns the request times that the service counted since the first page, or since the end of the warm-up.
    pub fn histograms(&self, tally: &Tally) -> Vec<ServiceHistogram> {
        let mut metrics: BTreeMap<&str, Vec<(&SeriesId, &Increase)>> = BTreeMap::new();
        for (id, increase) in &self.increases {
            if increase.count > 0.0 {
                metrics.entry(&id.name).or_default().push((id, increase));
            }
        }
        let of_metric = |(metric, series): (&str, Vec<(&SeriesId, &Increase)>)| {
            choice::chosen(metric, request_time_unit(metric)?, &series, tally, self.pages)
        };
        metrics.into_iter().filter_map(of_metric).take(MAX_METRICS).collect()
    }

    /// Returns the counters and gauges that changed.
    pub fn series(self) -> Vec<ServiceSeries> {
        self.tracks.changed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(fast: u64, all: u64) -> Exposition {
        let name = "http_request_duration_seconds";
        let text = format!(
            "# TYPE {name} histogram\n{name}_bucket{{le=\"0.1\"}} {fast}\n{name}_bucket{{le=\"+Inf\"}} {all}\n\
             {name}_count {all}\n{name}_sum 1\nprocess_cpu_seconds_total {all}"
        );
        Exposition::parse(text.as_bytes()).unwrap()
    }

    fn tally(requests: u64) -> Tally {
        Tally { planned: requests, issued: requests, responses: requests, ..Tally::default() }
    }

    #[test]
    fn the_warm_up_and_what_came_before_are_left_out() {
        let mut watch = Watch::new(&page(5, 10), Vec::new());
        watch.add(Nanos(1), &page(105, 110));
        watch.begin_measuring();
        watch.add(Nanos(2), &page(195, 210));
        let histograms = watch.histograms(&tally(100));
        let counts: Vec<u64> = histograms[0].buckets.iter().map(|bucket| bucket.count).collect();
        assert_eq!((histograms.len(), histograms[0].count, counts), (1, 100, vec![90, 10]));
        assert_eq!(histograms[0].earlier, 110);
        let series = watch.series();
        assert_eq!((series.len(), series[0].points.len(), series[0].is_lane), (1, 2, true));
    }

    #[test]
    fn a_metric_that_appears_with_the_first_request_counts_from_0() {
        let before = Exposition::parse(b"up 1").unwrap();
        let mut watch = Watch::new(&before, Vec::new());
        assert!(watch.histograms(&tally(10)).is_empty());
        watch.add(Nanos(1), &page(9, 10));
        assert_eq!(watch.histograms(&tally(10))[0].count, 10);
    }
}
