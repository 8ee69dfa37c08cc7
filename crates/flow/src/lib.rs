//! Flows: what a user does, step by step (`--flow FILE.hurl`).
//!
//! A [`Flow`] is read from a Hurl file: requests in sequence, with captures, asserts and templates. Reading and judging are
//! pure. A [`FlowRun`] makes the sessions of a run from it: behind [`truetail_engine::SessionScript`] each session has its own
//! variables and cookies, makes one request after the other, and is written down when it ends.
//!
//! | file | what is in it |
//! |---|---|
//! | `parse/` | from the text of a Hurl file to what it says |
//! | `syntax` | what it says |
//! | `error` | why a flow cannot be run |
//! | `make`, `step`, `flow` | from that to steps that can be run, checked |
//! | `version` | the version of HTTP that it is run over |
//! | `template`, `scope`, `value` | texts with `{{…}}` and their filters, and what stands for it |
//! | `origins` | where requests go |
//! | `request` | the request of a step, written for a session |
//! | `redirect` | where a redirect leads, and the request that follows it |
//! | `rows` | rows of data, one for each session |
//! | `evaluate/`, `judge` | what is asked of an answer, and whether it is what was expected |
//! | `cookies` | the cookies of a session |
//! | `pass` | one way through a step, which may be several requests |
//! | `course` | how far a session has come |
//! | `session` | one session under way, with its variables and cookies |
//! | `reading` | answers that are being read |
//! | `script` | the sessions of one worker of the engine |
//! | `itinerary` | what the books know of a flow |
//! | `how_far`, `books`, `measured` | how sessions ended, and how far they came |
//! | `flows` | the flows of a run, and which one a session follows |
//! | `flow_run` | the sessions of a run, over all workers |
//! | `simulated` | the same flow in virtual time |
//! | `guided/` | sessions of which somebody else says what comes next, such as a function in Python |

mod books;
mod cookies;
mod course;
mod error;
mod evaluate;
mod flow;
mod flow_run;
mod flows;
mod guided;
mod how_far;
mod itinerary;
mod judge;
mod make;
mod measured;
mod origins;
mod parse;
mod pass;
mod reading;
mod redirect;
mod request;
mod rows;
mod scope;
mod script;
mod session;
mod simulated;
mod step;
mod syntax;
mod template;
mod value;
mod version;

pub use error::FlowError;
pub use flow::Flow;
pub use flow_run::FlowRun;
pub use flows::{Flows, FlowsError};
pub use guided::{Guide, GuidedAnswer, GuidedPlan, GuidedRequest, GuidedRun, MakeGuide, NextMove, PlanError};
pub use itinerary::{Itinerary, Place};
pub use make::ReadFile;
pub use parse::{MAX_FLOW_BYTES, files_of, variables_of};
pub use reading::MAX_BODY_BYTES;
pub use rows::SessionRows;
pub use simulated::{SimulateError, simulate};
