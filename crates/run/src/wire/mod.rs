//! Wire types of `run.json`, one module per version. A version never changes its meaning. It may gain fields, and
//! further forms of a value, which older programs refuse.

mod kept_header;
mod mark;
mod scrape;
mod session;
mod stream;
pub mod v1;

pub use kept_header::KeptHeaderFile;
pub(crate) use kept_header::kept_headers;
pub use mark::MarkFile;
pub use scrape::{HistogramFile, ScrapeFile};
pub use session::SessionFile;

use serde::Deserialize;

/// Prefix of every version of the schema.
const FAMILY: &str = "truetail.run/";

/// Reason why a text is not a readable `run.json`.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// Not JSON, or a field is missing or of the wrong kind.
    #[error("{0}")]
    Json(serde_json::Error),
    /// JSON without a `schema` of truetail.
    #[error("its schema is {}, not {:?}, so it is not a truetail run", quoted(.found), v1::SCHEMA)]
    NotARun {
        /// The schema that was found.
        found: Option<String>,
    },
    /// A version that this program does not know.
    #[error(
        "its schema is {found:?}, but this truetail reads {:?}; use the version that wrote it, or a newer one",
        v1::SCHEMA
    )]
    UnknownVersion {
        /// The schema that was found.
        found: String,
    },
}

fn quoted(found: &Option<String>) -> String {
    found.as_ref().map_or("missing".to_owned(), |found| format!("{found:?}"))
}

/// Reads a `run.json` of any known version.
///
/// # Errors
/// [`WireError`] if it is not JSON, not a run, of an unknown version, or lacks a field.
pub fn parse(text: &str) -> Result<v1::RunFile, WireError> {
    match schema_of(text)? {
        Some(schema) if schema == v1::SCHEMA => serde_json::from_str(text).map_err(WireError::Json),
        Some(found) if found.starts_with(FAMILY) => Err(WireError::UnknownVersion { found }),
        found => Err(WireError::NotARun { found }),
    }
}

/// Returns the `schema` of a JSON object, if it is a string.
fn schema_of(text: &str) -> Result<Option<String>, WireError> {
    #[derive(Deserialize)]
    struct Head {
        schema: Option<String>,
    }
    serde_json::from_str::<Head>(text).map(|head| head.schema).map_err(WireError::Json)
}

/// Returns true if the text is a `run.json` of any version, known or not.
pub(crate) fn is_a_run(text: &str) -> bool {
    matches!(schema_of(text), Ok(Some(schema)) if schema.starts_with(FAMILY))
}
