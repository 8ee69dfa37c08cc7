//! The day it got slower: shifts of the response time in a series of runs of the same load.
//!
//! Each run is a point: the logarithm of a percentile, with the uncertainty that is known within the run. What runs
//! differ by beyond that is estimated from the series. A shift is found by its size beside the uncertainty of all runs
//! before and after it. Points far from their neighbours count as far as [`scan`] lets them, so that a spoilt run is no
//! shift.
//!
//! | module | content |
//! |---|---|
//! | `figure` | the figures that are followed |
//! | `point` | a run as a point |
//! | `spread` | how much runs differ |
//! | `scan` | the best place of a shift in a stretch of runs, and its size beside chance |
//! | `levels` | the stretches between shifts |
//! | `series` | which runs belong to the series, and the changes of each figure |
//! | `gate` | conditions: `p99 slower than 5%`, `ttft p99 slower than 5%` |

mod figure;
mod gate;
mod levels;
mod point;
mod scan;
mod series;
mod spread;

pub use figure::{HistoryFigure, HistoryRun};
pub use gate::{HistoryGate, HistoryGateError};
pub use levels::{Level, levels};
pub use point::Point;
pub use scan::FEWEST_RUNS;
pub use series::{Change, History, Member, PercentileHistory, history};
