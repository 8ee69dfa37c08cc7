//! Result files of other people's runs: recognised by content, and read row by row in bounded memory.
//!
//! A [`Format`] reads one kind of file. It hands each request to a sink as soon as its row was read, and returns what the
//! file says of the run as a whole ([`ForeignRun`]). What is whole in a damaged file is used, and what is not is counted
//! ([`Damage`](truetail_run::Damage)). Nothing is judged here.

mod error;
mod format;
pub mod habits;
mod whole;

pub use error::{ImportError, Unrecognised};
pub use format::{Format, FormatInfo, ImportOptions, Likeness, RequestSink};

/// Every format, the most specific first.
pub fn all() -> &'static [&'static dyn Format] {
    whole::all()
}

/// The format of that name.
pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    all().iter().copied().find(|format| format.info().name == name)
}
