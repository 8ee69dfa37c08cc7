//! Counters and gauges over time.

use std::collections::HashMap;

use truetail_model::time::Nanos;
use truetail_run::{MAX_SERVICE_POINTS, MAX_SERVICE_SERIES, ServiceSeries};

use crate::exposition::{Exposition, Kind};
use crate::line::SeriesId;
use crate::names::{Pattern, is_usual_lane};

/// Room for series that are drawn. The others have the rest of [`MAX_SERVICE_SERIES`].
const MAX_LANES: usize = 64;

/// Counters and gauges over the pages of a run, in bounded memory. When there are too many points, every other point is
/// dropped, and from then on every other page is skipped.
#[derive(Debug)]
pub(crate) struct Tracks {
    shown: Vec<Pattern>,
    tracks: HashMap<SeriesId, Track>,
    lanes: usize,
    pages: u64,
    kept: usize,
    every: u64,
}

#[derive(Debug)]
struct Track {
    is_counter: bool,
    is_lane: bool,
    points: Vec<(u64, f64)>,
}

impl Tracks {
    pub(crate) fn new(shown: Vec<Pattern>) -> Tracks {
        Tracks { shown, tracks: HashMap::new(), lanes: 0, pages: 0, kept: 0, every: 1 }
    }

    /// Adds a page, read at this time since the origin.
    pub(crate) fn add(&mut self, at: Nanos, exposition: &Exposition) {
        let is_kept = self.pages.is_multiple_of(self.every);
        self.pages += 1;
        if !is_kept {
            return;
        }
        if self.kept == MAX_SERVICE_POINTS {
            self.thin_out();
        }
        self.kept += 1;
        for sample in exposition.samples().iter().filter(|sample| sample.value.is_finite()) {
            let track = match self.tracks.get_mut(&sample.id) {
                Some(track) => Some(track),
                None => self.begin(&sample.id, exposition),
            };
            if let Some(track) = track.filter(|track| track.points.last().is_none_or(|(last, _)| *last < at.0)) {
                track.points.push((at.0, sample.value));
            }
        }
    }

    fn thin_out(&mut self) {
        for track in self.tracks.values_mut() {
            let mut place = 0;
            track.points.retain(|_| {
                place += 1;
                place % 2 == 1
            });
        }
        self.kept = self.kept.div_ceil(2);
        self.every *= 2;
    }

    /// Begins to track a series; `None` if it is neither a counter nor a gauge, or if there is no room.
    fn begin(&mut self, id: &SeriesId, exposition: &Exposition) -> Option<&mut Track> {
        let is_lane = is_usual_lane(&id.name) || self.shown.iter().any(|pattern| pattern.matches(&id.name));
        let is_counter = is_counter(&id.name, exposition, is_lane)?;
        let others = self.tracks.len() - self.lanes;
        let has_room = if is_lane { self.lanes < MAX_LANES } else { others < MAX_SERVICE_SERIES - MAX_LANES };
        if !has_room {
            return None;
        }
        self.lanes += usize::from(is_lane);
        Some(self.tracks.entry(id.clone()).or_insert(Track { is_counter, is_lane, points: Vec::new() }))
    }

    /// Returns the series that changed, by name.
    pub(crate) fn changed(self) -> Vec<ServiceSeries> {
        let is_changing = |track: &Track| track.points.windows(2).any(|pair| pair[0].1 != pair[1].1);
        let changing = self.tracks.into_iter().filter(|(_, track)| is_changing(track));
        let series = |(id, track): (SeriesId, Track)| ServiceSeries {
            name: id.to_string(),
            is_counter: track.is_counter,
            is_lane: track.is_lane,
            points: track.points,
        };
        let mut all: Vec<ServiceSeries> = changing.map(series).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }
}

/// Returns true for a counter and false for a gauge; `None` for other series. Sums and counts of histograms and
/// summaries are counters if they are to be drawn.
fn is_counter(name: &str, exposition: &Exposition, is_lane: bool) -> Option<bool> {
    let looks_like_a_sum = ["_total", "_count", "_sum"].iter().any(|suffix| name.ends_with(suffix));
    match exposition.kind(name) {
        Some(Kind::Counter) => Some(true),
        Some(Kind::Gauge) => Some(false),
        Some(Kind::Histogram | Kind::Summary) => None,
        None if name.ends_with("_bucket") => None,
        None if looks_like_a_sum && !name.ends_with("_total") && !is_lane => None,
        None => Some(looks_like_a_sum),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Exposition {
        Exposition::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn series_that_changed_are_kept() {
        let mut tracks = Tracks::new(vec!["jobs*".parse().unwrap()]);
        let kinds = "# TYPE a gauge\n# TYPE gc summary\n# TYPE up gauge\n";
        for second in 0..3u64 {
            let text = format!(
                "{kinds}a{{b=\"c\"}} {second}\nup 1\njobs_total {second}\ngc_count {second}\na_bucket{{le=\"1\"}} {second}"
            );
            tracks.add(Nanos(second), &page(&text));
        }
        let all = tracks.changed();
        let shown: Vec<_> = all.iter().map(|one| (one.name.as_str(), one.is_counter, one.is_lane)).collect();
        assert_eq!(shown, [("a{b=\"c\"}", false, false), ("jobs_total", true, true)]);
        assert_eq!(all[0].points, [(0, 0.0), (1, 1.0), (2, 2.0)]);
    }

    #[test]
    fn memory_is_bounded_in_series_and_points() {
        let mut tracks = Tracks::new(Vec::new());
        let many: String = (0..1_000).map(|i| format!("a{i} 1\n")).collect();
        tracks.add(Nanos(0), &page(&many));
        assert_eq!(tracks.tracks.len(), MAX_SERVICE_SERIES - MAX_LANES);
        let mut tracks = Tracks::new(Vec::new());
        let pages = 5 * MAX_SERVICE_POINTS as u64;
        (0..pages).for_each(|at| tracks.add(Nanos(at), &page(&format!("a {at}"))));
        let points = &tracks.changed()[0].points;
        assert!(points.len() <= MAX_SERVICE_POINTS && points.len() > MAX_SERVICE_POINTS / 4, "{}", points.len());
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(points.last().unwrap().0 > pages - 16);
    }
}
