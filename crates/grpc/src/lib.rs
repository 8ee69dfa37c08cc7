//! Calls of gRPC as values: schemas, messages between JSON and bytes, and server reflection. No I/O: callers read files
//! and talk to servers.
//!
//! | module | contents |
//! |---|---|
//! | `url` | `grpc://HOST:PORT/package.Service/Method` |
//! | `schema` | services and messages, from `.proto` files, descriptor sets or reflection |
//! | `method` | one method: its requests from JSON, its answers as JSON |
//! | `json_fields` | names in a JSON text that its message does not have |
//! | `sketch` | services, methods and messages as texts, with samples in JSON |
//! | `reflection` | the questions to a server about its schema, and its answers |
//! | `decoded` | an observer that shows answers as JSON to another one |
//! | `collected` | an observer that keeps one answer |

#![warn(unreachable_pub)]

mod collected;
mod decoded;
mod json_fields;
mod method;
mod reflection;
mod schema;
mod sketch;
mod url;

pub use collected::{CollectedAnswer, answer_collector, message_in};
pub use decoded::{answer_as_json, decoding, says_gzip};
pub use method::{CallMethod, framed};
pub use reflection::{Reflection, ReflectionError, ReflectionVersion};
pub use schema::{Schema, SchemaError, SourceReader};
pub use sketch::Sketch;
pub use url::{GrpcUrl, GrpcUrlError};
