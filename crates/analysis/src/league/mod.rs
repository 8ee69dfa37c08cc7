//! Which load tool tells the truth: one row a tool, from the truth of the scenario, what the server saw, and what the tool
//! said.
//!
//! | module | what is at home there |
//! |---|---|
//! | `server_view` | what the server saw |
//! | `window` | where open and closed loops differ, and by how much: what an observation can show |
//! | `observed` | open, closed or partly, by observation |
//! | `arrivals` | how far the arrivals were those of the schedule |
//! | `reported` | the quantiles that a tool printed, or that follow from its data |
//! | `row` | all of that beside each other |
//! | `streams` | the same of answers that come in pieces |
//! | `ranking` | who comes first |
//! | `certificate` | what kind of generator it is |

mod arrivals;
mod certificate;
mod observed;
mod ranking;
mod reported;
mod row;
mod server_view;
mod streams;
mod window;

pub use arrivals::ArrivalAccuracy;
pub use certificate::{BURSTS_FROM, Certificate, GeneratorKind, RATE_TOLERANCE, StreamTrial, Trial, certify};
pub use observed::{CLOSED_UP_TO, OPEN_FROM, Observation, ObservedModel};
pub use ranking::rank;
pub use reported::{QUANTILES, ReportedLatency, ReportedQuantile};
pub use row::{FileAudit, LeagueRow, ReportView, ToolState, ToolUnderTest, row};
pub use server_view::ServerView;
pub use streams::{STREAM_QUANTILES, StreamRow, StreamView, rank_streams, stream_row};
pub use window::{ObservationWindow, TimeRange, window};
