//! Comparison of load tools, from the truth of the scenario, what the server saw, and what the tool reported.
//!
//! | module | content |
//! |---|---|
//! | `server_view` | what the server saw |
//! | `window` | the part of a scenario that distinguishes open from closed loops |
//! | `observed` | open, closed or partly, by observation |
//! | `arrivals` | the arrivals compared with the schedule |
//! | `reported` | the quantiles that a tool printed, or that follow from its data |
//! | `row` | one tool in the table |
//! | `streams` | one tool in the tables of streams |
//! | `ranking` | the order of the tools |
//! | `certificate` | the kind of a load generator |
//! | `suite` | the judge of the situations that a load tool should report truly |

mod arrivals;
mod certificate;
mod observed;
mod ranking;
mod reported;
mod row;
mod server_view;
mod streams;
mod suite;
mod window;

pub use arrivals::ArrivalAccuracy;
pub use certificate::{BURSTS_FROM, Certificate, GeneratorKind, RATE_TOLERANCE, StreamTrial, Trial, certify};
pub use observed::{CLOSED_UP_TO, OPEN_FROM, Observation, ObservedModel};
pub use ranking::rank;
pub use reported::{QUANTILES, ReportedLatency, ReportedQuantile};
pub use row::{FileAudit, LeagueRow, ReportView, ToolState, ToolUnderTest, row};
pub use server_view::ServerView;
pub use streams::{STREAM_QUANTILES, StreamRow, StreamView, rank_streams, stream_row};
pub use suite::{
    COUNT_TOLERANCE, LEAST_COUNT_TOLERANCE, LEAST_TIME_TOLERANCE, Question, SuiteEvidence, SuiteJudgement, SuiteResult,
    SuiteRow, SuiteState, TIME_TOLERANCE, judge,
};
pub use window::{ObservationWindow, TimeRange, window};
