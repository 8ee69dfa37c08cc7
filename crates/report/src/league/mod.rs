//! Load tools beside each other.
//!
//! | module | what is at home there |
//! |---|---|
//! | `text` | the table for a terminal |
//! | `tools` | which tools are here |

mod text;
mod tools;

pub use text::text;
pub use tools::{ToolLine, tools_table};

use truetail_analysis::league::Row;
use truetail_analysis::truth::Truth;
use truetail_model::scenario::Scenario;

/// The tools in a scenario, best first.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    /// The scenario, as it was offered.
    pub scenario: &'a Scenario,
    /// What an ideal open-loop client measures.
    pub truth: &'a Truth,
    /// The tools.
    pub rows: &'a [Row],
}
