//! Plain data series of a run. Pictures, pages, the live view and the terminal all draw the same series.
//!
//! All series over time share one [`TimeAxis`]. A column holds the arrivals *intended* in it, unless a field says
//! otherwise. Times are in nanoseconds, and positions on the time axis in seconds since the origin of the run. Unknown
//! values are `None`, never 0.
//!
//! | file | content |
//! |---|---|
//! | `data` | the types |
//! | `time_axis` | the columns: their width, number, start and end |
//! | `columns` | the recorded arrivals of each column: single requests if all were kept, else histograms |
//! | `load`, `heat_map`, `quantiles`, `start_delay` | series over time |
//! | `pauses` | pauses of the generator and the server |
//! | `curves` | percentile curves |
//! | `gaps`, `by_rate` | gaps between sends; response time against rate |
//! | `streams` | gaps between the events of streams, objectives, a few streams in full |
//! | `sessions` | early ends of sessions, a few sessions in full |
//! | `service` | counters and gauges that services published |
//! | `shown` | choice of the streams and sessions shown in full |

mod by_rate;
mod columns;
mod curves;
mod data;
mod gaps;
mod heat_map;
mod load;
mod log_bins;
mod pauses;
mod quantiles;
mod service;
mod sessions;
mod shown;
mod start_delay;
mod streams;
mod time_axis;

use truetail_model::record::Metric;
use truetail_run::{Findings, Run};

use crate::metric_distributions::every_arrival;
use columns::Columns;
pub(crate) use curves::curve_places;
use time_axis::Grid;

pub use data::{
    CurveKind, CurvePoint, EarlyEnds, GapSeries, HeatMap, LoadSeries, ObjectiveBooks, PauseSpan, PausedSide,
    PercentileCurve, QuantileSeries, RateBand, RunSeries, SampleReason, ServiceLane, SessionSeries, ShownSession,
    ShownStream, StartDelaySeries, StreamSeries,
};
pub use time_axis::TimeAxis;

/// Quantiles of the response time over time.
const RESPONSE_TIME: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 1.0];
/// Quantiles of the generator lag over time.
const GENERATOR_LAG: [f64; 3] = [0.5, 0.99, 1.0];

/// Returns the counters and gauges of services that changed and are drawn, at most [`ServiceLane::MOST`], by the
/// columns of the other series.
pub fn service_lanes(run: &Run, time: &TimeAxis) -> Vec<ServiceLane> {
    service::lanes(&run.facts.scrapes, time)
}

/// Computes the series of a run. `findings` must belong to the same run: the curves take their table quantiles from it.
pub fn series(run: &Run, findings: &Findings) -> RunSeries {
    let every = every_arrival(&run.snapshot);
    let every = every.as_deref();
    let curves = curves::curves(run, findings, every);
    let streams = streams::streams(run);
    let sessions = sessions::sessions(run);
    let whole = RunSeries { curves, streams, sessions, ..RunSeries::default() };
    let Some(grid) = Grid::for_run(run, every) else { return whole };
    let columns = Columns::new(grid, &run.snapshot, every);
    let response_times = columns.values(Metric::ResponseTime);
    let unanswered = columns.unanswered();
    RunSeries {
        time: grid.axis(),
        heat_map: heat_map::heat_map(&response_times, &unanswered),
        load: load::load(run, every, &grid),
        response_time: quantiles::quantiles(&RESPONSE_TIME, &response_times, &unanswered),
        generator_lag: quantiles::quantiles(&GENERATOR_LAG, &columns.values(Metric::GeneratorLag), &[]),
        start_delay: start_delay::start_delay(&columns),
        pauses: pauses::pauses(run, every, &grid),
        gaps: every.and_then(gaps::gaps),
        by_rate: by_rate::by_rate(run, every, &grid, &response_times, &unanswered),
        ..whole
    }
}
