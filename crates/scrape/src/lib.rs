//! The numbers that a service publishes about itself in the text format of Prometheus or OpenMetrics: a parser with
//! limits, and the increase of histograms and counters over a run. No I/O and no clock.
//!
//! | module | content |
//! |---|---|
//! | `exposition` | parser of a page of metrics |
//! | `line` | parser of a line |
//! | `names` | names of metrics: times of requests with their unit, and lanes |
//! | `times` | histograms and summaries of request times in a page |
//! | `increase` | increase of one of them from page to page |
//! | `choice` | the label of the requests that the run sent |
//! | `tracks` | counters and gauges over time |
//! | `watch` | all of it, over the pages of a run |

#![warn(unreachable_pub)]

mod choice;
mod exposition;
mod increase;
mod line;
mod names;
mod times;
mod tracks;
mod watch;

pub use exposition::{Exposition, ExpositionError, Kind, MAX_BYTES};
pub use line::{Sample, SeriesId};
pub use names::{Pattern, PatternError, request_time_unit};
pub use watch::Watch;
