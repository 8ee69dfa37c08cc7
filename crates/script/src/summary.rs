//! The arguments of `done`: the counts of the run, and two distributions. Times are in microseconds, as in wrk2.

use mlua::{Lua, MetaMethod, Table, UserData, UserDataFields, UserDataMethods};
use truetail_model::record::{Histogram, Metric, Snapshot};

const NS_PER_US: f64 = 1_000.0;
const ERROR_STATUS: u16 = 400;

/// A distribution, as wrk's `latency` and `requests`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Distribution {
    /// Values with their counts, in ascending order.
    values: Vec<(f64, u64)>,
    mean: f64,
    min: f64,
    max: f64,
}

impl Distribution {
    fn of_values(mut values: Vec<(f64, u64)>) -> Distribution {
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let count: u64 = values.iter().map(|(_, n)| n).sum();
        let sum: f64 = values.iter().map(|(value, n)| value * *n as f64).sum();
        let end = |at: Option<&(f64, u64)>| at.map_or(0.0, |(value, _)| *value);
        let mean = if count == 0 { 0.0 } else { sum / count as f64 };
        Distribution { mean, min: end(values.first()), max: end(values.last()), values }
    }

    fn of_times(times: &Histogram) -> Distribution {
        let max = times.max().map_or(0.0, |max| max.0 as f64 / NS_PER_US);
        let values = times.buckets().map(|(_, high, n)| ((high.0 as f64 / NS_PER_US).min(max), n)).collect();
        Distribution {
            mean: times.mean_ns().unwrap_or(0.0) / NS_PER_US,
            min: times.min().map_or(0.0, |min| min.0 as f64 / NS_PER_US),
            max,
            ..Distribution::of_values(values)
        }
    }

    fn count(&self) -> u64 {
        self.values.iter().map(|(_, n)| n).sum()
    }

    fn stdev(&self) -> f64 {
        let count = self.count();
        let squares: f64 = self.values.iter().map(|(value, n)| (value - self.mean).powi(2) * *n as f64).sum();
        if count == 0 { 0.0 } else { (squares / count as f64).sqrt() }
    }

    /// Returns the value of the nearest rank, for a percentage.
    fn percentile(&self, percent: f64) -> f64 {
        let count = self.count();
        let rank = ((percent / 100.0 * count as f64).ceil() as u64).clamp(1, count.max(1));
        let mut seen = 0;
        let reached = self.values.iter().find(|(_, n)| {
            seen += n;
            seen >= rank
        });
        reached.map_or(0.0, |(value, _)| *value)
    }
}

impl UserData for Distribution {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("min", |_, this| Ok(this.min));
        fields.add_field_method_get("max", |_, this| Ok(this.max));
        fields.add_field_method_get("mean", |_, this| Ok(this.mean));
        fields.add_field_method_get("stdev", |_, this| Ok(this.stdev()));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("percentile", |_, this, percent: f64| Ok(this.percentile(percent)));
        methods.add_meta_method(MetaMethod::Len, |_, this, ()| Ok(this.values.len()));
        methods.add_meta_method(MetaMethod::Call, |_, this, nth: usize| {
            let value = nth.checked_sub(1).and_then(|nth| this.values.get(nth));
            Ok(value.map_or((None, None), |(value, n)| (Some(*value), Some(*n))))
        });
    }
}

/// Returns `summary`.
pub(crate) fn counts(lua: &Lua, snapshot: &Snapshot) -> mlua::Result<Table> {
    let tally = &snapshot.tally;
    let errors = lua.create_table()?;
    errors.set("connect", tally.connect_failed)?;
    errors.set("read", tally.reset + tally.malformed)?;
    errors.set("write", 0)?;
    errors.set("timeout", tally.timed_out)?;
    errors.set("status", snapshot.statuses.range(ERROR_STATUS..).map(|(_, n)| n).sum::<u64>())?;
    let summary = lua.create_table()?;
    summary.set("duration", snapshot.last_end.since(snapshot.measure_from).0 / 1_000)?;
    summary.set("requests", tally.responses)?;
    summary.set("bytes", snapshot.bytes_in)?;
    summary.set("errors", errors)?;
    Ok(summary)
}

/// Returns `latency`: response times from the intended start.
pub(crate) fn latency(snapshot: &Snapshot) -> Distribution {
    Distribution::of_times(snapshot.metric(Metric::ResponseTime))
}

/// Returns `requests`: answers of each second, for each of the threads.
pub(crate) fn requests(snapshot: &Snapshot, threads: usize) -> Distribution {
    let per_thread = |completed: u64| completed as f64 / threads.max(1) as f64;
    Distribution::of_values(snapshot.seconds.iter().map(|second| (per_thread(second.completed), 1)).collect())
}

#[cfg(test)]
mod tests {
    use truetail_model::time::Nanos;

    use super::*;

    #[test]
    fn distributions_for_a_script_have_exact_ends_and_means() {
        let mut times = Histogram::new();
        for micros in [100, 200, 300, 400] {
            times.record(Nanos::from_micros(micros));
        }
        let found = Distribution::of_times(&times);
        assert_eq!((found.min, found.max, found.mean, found.count()), (100.0, 400.0, 250.0, 4));
        assert!((found.percentile(50.0) - 200.0).abs() < 2.0 && found.percentile(100.0) == 400.0, "{found:?}");
        assert!((found.stdev() - 111.8).abs() < 1.0, "{}", found.stdev());
    }

    #[test]
    fn a_script_gets_zeros_if_nothing_was_measured() {
        let found = Distribution::of_times(&Histogram::new());
        assert_eq!((found.min, found.max, found.stdev(), found.percentile(99.0)), (0.0, 0.0, 0.0, 0.0));
    }
}
