//! Behaviour of a system under test: in real time for the server, in virtual time for the simulator. Both use the same
//! [`ServiceState`] to decide about each request, and the same [`BatchState`] for streams that share a batch.

mod batch;
mod concurrency;
mod description;
mod effect;
mod fault;
mod route;
mod routing;
mod selector;
mod state;
mod stream;
mod virtual_service;

pub use batch::{BatchEvent, BatchState};
pub use description::{ABOUT_MODEL_PATHS, CONTROL_PATHS, ReplyOrder, SGLANG_PATH, Service, Variation};
pub use effect::{Action, AnswerChange, FaultEffect, Gate, StallSchedule};
pub use fault::{Fault, FaultKind, FaultSet};
pub use route::{Route, RouteId};
pub use selector::Selector;
pub use state::{ResponsePlan, ServiceState};
pub use stream::{
    Batch, MAX_EVENTS, StreamContent, StreamDescription, StreamEnd, StreamFormat, StreamOutline, StreamPace,
    StreamRequest, StreamTiming, StreamWrite, UsageReport,
};
pub use virtual_service::{VirtualAnswer, VirtualService};
