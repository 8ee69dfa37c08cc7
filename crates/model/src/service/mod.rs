//! How a system under test behaves. The server follows the description in real time and the simulator in virtual time.
//! Both use the same [`ServiceState`] to decide what happens to each request.

mod concurrency;
mod description;
mod effect;
mod fault;
mod selector;
mod state;

pub use description::{Service, Variation};
pub use effect::{Action, AnswerChange, FaultEffect, Gate, StallSchedule};
pub use fault::{Fault, FaultKind, FaultSet};
pub use selector::Selector;
pub use state::{ResponsePlan, ServiceState};
