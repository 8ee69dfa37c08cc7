//! Spans of services: received beside a run (`--otlp-receive`), or from files (`report --spans`).
//!
//! | module | content |
//! |---|---|
//! | `listener` | the receiver, from before the run to after its end |
//! | `receiver` | answers to the messages |
//! | `files` | spans of a saved run, from files |

mod files;
mod listener;
mod receiver;

pub(crate) use files::add_spans;
pub(crate) use listener::SpanListener;
