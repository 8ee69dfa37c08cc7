//! What the script of a page reads: the JSON in its element `#data`, and in the updates of a live page.

use serde::Serialize;
use truetail_analysis::series::RunSeries;

/// The version of the data, for the script.
pub const SCHEMA: &str = "truetail.page/1";

/// The runs that a page shows.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageData<'a> {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The run is going on, and updates follow.
    pub live: bool,
    /// The run that the page is about, and then others that are laid over its percentile curve.
    pub runs: Vec<PageRun<'a>>,
}

/// A run on a page.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageRun<'a> {
    /// What the legend calls it.
    pub name: String,
    /// What is drawn of it.
    pub series: &'a RunSeries,
}
