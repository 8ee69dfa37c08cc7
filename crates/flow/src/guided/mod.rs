//! Sessions whose steps nobody knows before the run: a [`Guide`], such as a function of its user's, says what each asks for
//! next. The engine sends the requests and takes the times, cookies and books are those of any session.
//!
//! A guide says so at once after an answer, before the think time: what it takes makes its own next request late, and that of
//! no other session longer. The steps are declared before the run, because each is a target with books of its own. A session
//! may leave steps out (`not_asked`) and do one again (`repeats`), so that for each step reached + not reached = planned
//! sessions, and reached + repeats is the number of its requests.

mod guide;
mod plan;
mod request;
mod run;
mod script;
mod session;

pub use guide::{Guide, GuidedAnswer, GuidedRequest, MakeGuide, NextMove};
pub use plan::{GuidedPlan, PlanError};
pub use run::GuidedRun;
