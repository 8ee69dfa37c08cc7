//! What is wrong with a file.

use truetail_run::FilePlace;

/// A file of which nothing can be used.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// It is not what its format says.
    #[error("{}: {what}", place_text(.place))]
    Content {
        /// Where.
        place: FilePlace,
        /// What is wrong there.
        what: String,
    },
    /// What the user says of its columns is wrong.
    #[error("{0}")]
    Options(String),
    /// Its format was not recognised.
    #[error(transparent)]
    Unrecognised(#[from] Unrecognised),
}

/// A file that is of no known format.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{looks_like}{}", near_text(.near))]
pub struct Unrecognised {
    /// What it looks like: `a CSV table with the columns a, b and c`.
    pub looks_like: String,
    /// The names of the formats that come near, with the reason why it is none of them.
    pub near: Vec<(&'static str, String)>,
}

fn near_text(near: &[(&'static str, String)]) -> String {
    near.iter().map(|(format, why)| format!("; it is not {format}, because {why}")).collect()
}

impl ImportError {
    pub(crate) fn content(place: FilePlace, what: String) -> ImportError {
        ImportError::Content { place, what }
    }
}

/// A binary file has no lines.
fn place_text(place: &FilePlace) -> String {
    if place.line == 0 { format!("byte {}", place.byte) } else { format!("line {}", place.line) }
}
