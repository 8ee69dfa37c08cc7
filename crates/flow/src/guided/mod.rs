//! Sessions whose steps are chosen during the run: a [`Guide`], such as a user's function, returns each next request.
//! The engine sends the requests. Times, cookies and books are the same as in other sessions.
//!
//! A guide decides right after an answer, before the think time. The time that it takes delays its own next request,
//! and no other session. The steps are declared before the run, because each is a target with separate books. A session
//! may skip steps (`not_asked`) and repeat them (`repeats`). For each step, reached + not reached = planned sessions,
//! and reached + repeats is the number of its requests.

mod guide;
mod plan;
mod request;
mod run;
mod script;
mod session;

pub use guide::{Guide, GuidedAnswer, GuidedRequest, MakeGuide, NextMove};
pub use plan::{GuidedPlan, PlanError};
pub use run::GuidedRun;
