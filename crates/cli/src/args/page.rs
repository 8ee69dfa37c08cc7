//! Options of the page of a run.

use std::path::PathBuf;

use clap::Args;

use super::values::run_folder;

/// The page of `truetail run`.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct RunPageArgs {
    /// Write the page of the run to this file: one HTML file that loads nothing. A saved run has its page as
    /// report.html
    #[arg(long, value_name = "FILE", help_heading = "Result")]
    pub html: Option<PathBuf>,
}

/// The page of `truetail report`.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct ReportPageArgs {
    /// Write the page of the run to this file: one HTML file that loads nothing
    #[arg(short, long, value_name = "FILE", help_heading = "Page")]
    pub output: Option<PathBuf>,
    /// On the page, draw the percentiles of this run beside those of the first; repeatable
    #[arg(long, value_name = "RUN", value_parser = run_folder, requires = "output", help_heading = "Page")]
    pub overlay: Vec<PathBuf>,
}

/// The words of the command line, as they were typed, without the program's name.
#[derive(Args, Clone, Default)]
pub(crate) struct TypedArgs {
    /// The words.
    #[arg(skip)]
    pub words: Vec<String>,
}

impl std::fmt::Debug for TypedArgs {
    /// Omits the words, which may hold secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TypedArgs({} words)", self.words.len())
    }
}
