//! Flows: the requests of a user, step by step (`--flow FILE.hurl`).
//!
//! A [`Flow`] is read from a Hurl file: requests in sequence, with captures, asserts and templates. Reading and judging
//! are pure functions. A [`FlowRun`] makes the sessions of a run from flows, as a [`truetail_engine::SessionScript`].
//! Each session has separate variables and cookies, makes one request after the other, and is recorded when it ends.
//!
//! | file | what is in it |
//! |---|---|
//! | `parse/` | parser from the text of a Hurl file to its syntax |
//! | `syntax` | the syntax of a flow |
//! | `error` | reasons why a flow cannot be run |
//! | `make`, `step`, `flow` | from the syntax to checked steps that can be run |
//! | `call`, `methods` | steps that are gRPC calls, and their methods and messages |
//! | `version` | the version of HTTP of a flow |
//! | `template`, `scope`, `value` | texts with `{{…}}` and their filters, and the values of variables |
//! | `origins` | origins of requests |
//! | `request` | the request of a step, written for a session |
//! | `redirect` | the target of a redirect, and the request that follows it |
//! | `rows` | rows of data, one for each session |
//! | `evaluate/`, `judge` | queries and predicates on answers, and the verdict on an answer |
//! | `cookies` | the cookies of a session |
//! | `pass` | one pass through a step, which may take several requests |
//! | `course` | the progress of a session |
//! | `session` | one session, with its variables and cookies |
//! | `reading` | answers that are being read |
//! | `script` | the sessions of one worker of the engine |
//! | `itinerary` | a flow as the books see it |
//! | `how_far`, `books`, `measured` | outcomes of sessions, and the steps that they reached |
//! | `flows` | the flows of a run, and the choice among them |
//! | `flow_run` | the sessions of a run, over all workers |
//! | `simulated` | flows in virtual time |
//! | `agents/` | sessions that are graphs of calls of a language model (`--agents`) |
//! | `guided/` | sessions whose next request is chosen during the run, for example by a Python function |

#![warn(unreachable_pub)]

mod agents;
mod books;
mod call;
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
mod methods;
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
mod trace;
mod value;
mod version;

pub use agents::{AgentForm, AgentGraphs, AgentRun, PromptMember, simulate_agents};
pub use error::FlowError;
pub use flow::Flow;
pub use flow_run::FlowRun;
pub use flows::{Flows, FlowsError};
pub use guided::{Guide, GuidedAnswer, GuidedPlan, GuidedRequest, GuidedRun, MakeGuide, NextMove, PlanError};
pub use itinerary::{Itinerary, ItineraryStep};
pub use make::ReadFile;
pub use parse::{MAX_FLOW_BYTES, files_of, problem_of_delay, variables_of};
pub use reading::MAX_BODY_BYTES;
pub use rows::SessionRows;
pub use simulated::{SimulateError, simulate};
