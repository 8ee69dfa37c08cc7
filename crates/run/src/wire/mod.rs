//! The wire types of `run.json`, a module for each version. A version never changes its meaning. Fields may be added to it,
//! and further forms of a value, which an older program refuses.

mod session;
mod stream;
pub mod v1;

pub use session::SessionFile;

use serde::Deserialize;

/// The prefix of every version of the schema.
const FAMILY: &str = "truetail.run/";

/// Why a text is no `run.json` that can be read.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// Not JSON, or a field that is missing or of the wrong kind.
    #[error("{0}")]
    Json(serde_json::Error),
    /// JSON without a `schema` of ours.
    #[error("its schema is {}, not {:?}, so it is not a truetail run", quoted(.found), v1::SCHEMA)]
    NotARun {
        /// The schema found.
        found: Option<String>,
    },
    /// A version that this program does not know.
    #[error(
        "its schema is {found:?}, but this truetail reads {:?}; use the version that wrote it, or a newer one",
        v1::SCHEMA
    )]
    UnknownVersion {
        /// What stands there.
        found: String,
    },
}

fn quoted(found: &Option<String>) -> String {
    found.as_ref().map_or("missing".to_owned(), |found| format!("{found:?}"))
}

/// Reads a `run.json` of any version that is known.
///
/// # Errors
/// [`WireError`] when it is not JSON, not a run, of an unknown version, or lacks a field.
pub fn parse(text: &str) -> Result<v1::RunFile, WireError> {
    match schema_of(text)? {
        Some(schema) if schema == v1::SCHEMA => serde_json::from_str(text).map_err(WireError::Json),
        Some(found) if found.starts_with(FAMILY) => Err(WireError::UnknownVersion { found }),
        found => Err(WireError::NotARun { found }),
    }
}

/// The `schema` of a JSON object, where it has one that is a text.
fn schema_of(text: &str) -> Result<Option<String>, WireError> {
    #[derive(Deserialize)]
    struct Head {
        schema: Option<String>,
    }
    serde_json::from_str::<Head>(text).map(|head| head.schema).map_err(WireError::Json)
}

/// Is this a `run.json` of any version, known or not?
pub(crate) fn is_a_run(text: &str) -> bool {
    matches!(schema_of(text), Ok(Some(schema)) if schema.starts_with(FAMILY))
}
