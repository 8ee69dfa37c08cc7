//! Spans that services report about the requests of a run (`--otlp-receive`, `report --spans`): parsers with limits,
//! the tree of each trace, and the part of each span in the time of its request. No I/O and no clock.
//!
//! Only durations of spans are used, and instants of one process compared with each other; never the clocks of two
//! machines.
//!
//! | module | content |
//! |---|---|
//! | `span` | a span as the formats have it |
//! | `protobuf` | OTLP in protobuf encoding |
//! | `json` | OTLP in JSON, and traces of Jaeger |
//! | `pieces` | a limit on the bytes of a file between two spans |
//! | `error` | the reason why a message could not be read |
//! | `names` | names of spans, and numbers of services |
//! | `store` | the spans of a run, in bounded memory |
//! | `tree` | the tree of a trace, and the parts of its spans |
//! | `reported` | the times of the run's requests |

#![warn(unreachable_pub)]

mod error;
mod json;
mod names;
mod pieces;
mod protobuf;
mod reported;
mod span;
mod store;
mod tree;

pub use error::SpanError;
pub use store::SpanStore;
