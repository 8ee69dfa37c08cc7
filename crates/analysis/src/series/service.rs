//! Counters and gauges that services published, by column.

use truetail_run::{Scrape, ServiceSeries};

use super::data::ServiceLane;
use super::time_axis::TimeAxis;

/// A gauge is not known in gaps between reads that are longer than the usual gap by more than this factor.
const LONG_GAP: u64 = 3;

/// Returns the lanes of the series that are drawn.
pub(super) fn lanes(scrapes: &[Scrape], time: &TimeAxis) -> Vec<ServiceLane> {
    let all = scrapes.iter().flat_map(|scrape| scrape.series.iter().map(move |series| (scrape, series)));
    let lane = |(scrape, series): (&Scrape, &ServiceSeries)| ServiceLane {
        name: if scrapes.len() > 1 { format!("{}: {}", scrape.name, series.name) } else { series.name.clone() },
        per_second: series.is_counter,
        values: values(series, time),
    };
    let drawn = all.filter(|(_, series)| series.is_lane).map(lane);
    drawn.filter(|lane| lane.values.iter().any(Option::is_some)).take(ServiceLane::MOST).collect()
}

fn values(series: &ServiceSeries, time: &TimeAxis) -> Vec<Option<f64>> {
    let gaps = series.points.windows(2).map(|pair| pair[1].0 - pair[0].0);
    let usual_gap = gaps.min().unwrap_or(0);
    let value_at = |at_ns: u64| {
        let next = series.points.partition_point(|(at, _)| *at <= at_ns);
        let (from, before) = *series.points.get(next.checked_sub(1)?)?;
        let (to, after) = *series.points.get(next)?;
        match series.is_counter {
            // After a restart a counter begins from 0.
            true => Some((if after < before { after } else { after - before }) / ((to - from) as f64 / 1e9)),
            false => Some(before).filter(|_| to - from <= LONG_GAP * usual_gap),
        }
    };
    let middle = |i| ((time.begin_s(i) + time.end_s(i)) / 2.0 * 1e9).max(0.0) as u64;
    (0..time.columns).map(|i| value_at(middle(i))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn series(is_counter: bool, points: &[(u64, f64)]) -> ServiceSeries {
        let points = points.iter().map(|(second, value)| (second * S, *value)).collect();
        ServiceSeries { name: "a".to_owned(), is_counter, is_lane: true, points }
    }

    fn axis(columns: usize) -> TimeAxis {
        TimeAxis { columns, column_s: 1.0, to_s: columns as f64, ..TimeAxis::default() }
    }

    #[test]
    fn a_counter_is_its_increase_per_second() {
        let counter = series(true, &[(0, 5.0), (1, 7.0), (3, 13.0), (4, 1.0), (5, 1.0)]);
        assert_eq!(values(&counter, &axis(6)), [Some(2.0), Some(3.0), Some(3.0), Some(1.0), Some(0.0), None]);
    }

    #[test]
    fn a_gauge_is_unknown_where_it_was_not_read() {
        let gauge = series(false, &[(1, 5.0), (2, 7.0), (3, 8.0), (7, 9.0), (8, 1.0)]);
        let known = [None, Some(5.0), Some(7.0), None, None, None, None, Some(9.0), None];
        assert_eq!(values(&gauge, &axis(9)), known);
        let one = Scrape { series: vec![gauge], ..Scrape::default() };
        let two = [Scrape { name: "app".to_owned(), ..one.clone() }, Scrape::default()];
        assert_eq!(lanes(&[one], &axis(9))[0].name, "a");
        assert_eq!(lanes(&two, &axis(9))[0].name, "app: a");
    }
}
