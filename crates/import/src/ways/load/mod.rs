//! Loads that are made of other tools' scripts: flows with a truetail.toml.
//!
//! | file | content |
//! |---|---|
//! | `step` | a request in Hurl's notation |
//! | `text` | texts with placeholders, and parts of answers |
//! | `session` | the requests of a session |
//! | `entry` | a load as an entry of truetail.toml |
//! | `files` | all of it as files |

pub(in crate::ways) mod entry;
mod files;
pub(in crate::ways) mod session;
pub(in crate::ways) mod step;
pub(in crate::ways) mod text;

pub(in crate::ways) use files::Converted;
pub use files::LoadFiles;
pub(in crate::ways) use session::Session;
