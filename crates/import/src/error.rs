use truetail_run::FilePlace;

/// Reason why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Its content does not match its format.
    #[error("{}: {what}", place_text(.place))]
    Content {
        /// Place of the problem.
        place: FilePlace,
        /// The problem.
        what: String,
    },
    /// The user's options for its columns are wrong.
    #[error("{0}")]
    Options(String),
    /// Its format was not recognised.
    #[error(transparent)]
    Unrecognised(#[from] Unrecognised),
}

/// A file of an unknown format.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{looks_like}{}", near_text(.near))]
pub struct Unrecognised {
    /// Description of the file: `a CSV table with the columns a, b and c`.
    pub looks_like: String,
    /// Names of similar formats, with the reason why the file does not match.
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
