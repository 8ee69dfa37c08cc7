//! Spans in each form, and spans that no service should send.

mod forms;
mod hostile;
mod protobuf;
mod support;
