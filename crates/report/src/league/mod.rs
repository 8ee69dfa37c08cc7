//! Load tools beside each other.
//!
//! | module | what is at home there |
//! |---|---|
//! | `text` | the tables for a terminal |
//! | `cells` | what stands in their cells, and in those of the page |
//! | `csv` | a row a tool, for other programs |
//! | `html` | one page with tables and pictures |
//! | `markdown` | a page of a repository |
//! | `pictures` | percentiles and single requests |
//! | `certificate` | what kind of generator a command is |
//! | `tools` | which tools are here |

mod cells;
mod certificate;
mod csv;
mod html;
mod markdown;
mod pictures;
mod text;
mod tools;

pub use certificate::certificate;
pub use csv::csv;
pub use html::html;
pub use markdown::markdown;
pub use pictures::{ToolData, pictures};
pub use text::text;
pub use tools::{ToolListing, tools_table};

use truetail_analysis::league::{Row, Stretch};
use truetail_analysis::truth::Truth;
use truetail_model::scenario::Scenario;
use truetail_model::time::Nanos;

/// The tools in a scenario, best first.
#[derive(Clone, Copy, Debug)]
pub struct LeagueTable<'a> {
    /// The scenario, as it was offered.
    pub scenario: &'a Scenario,
    /// How long it was offered.
    pub duration: Nanos,
    /// What an ideal open-loop client measures.
    pub truth: &'a Truth,
    /// When the service could not answer, or was slow.
    pub window: &'a [Stretch],
    /// The tools.
    pub rows: &'a [Row],
}
