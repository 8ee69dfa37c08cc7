//! Load tools compared.
//!
//! | module | content |
//! |---|---|
//! | `table` | contents of the tables, independent of the format |
//! | `grid` | a table in cells |
//! | `streams` | the tables of streams |
//! | `text`, `html`, `markdown` | the tables for a terminal, as a page with pictures, for a repository |
//! | `csv`, `json` | one row per tool, for programs |
//! | `pictures` | percentiles and single requests |
//! | `files` | all of these as files |
//! | `certificate` | the kind of load generator that a command is |
//! | `suite` | the result of the suite of situations, its JSON and its badge |
//! | `tool_listing` | the installed tools |

mod certificate;
mod csv;
mod files;
mod grid;
mod html;
mod json;
mod markdown;
mod pictures;
mod streams;
mod suite;
mod table;
mod text;
mod tool_listing;

pub use certificate::certificate;
pub use csv::csv;
pub use files::files;
pub use html::html;
pub use json::json;
pub use markdown::markdown;
pub use pictures::{ToolData, pictures};
pub use suite::{suite, suite_badge, suite_json, suite_summary};
pub use table::LeagueTable;
pub use text::text;
pub use tool_listing::{ToolListing, tools_table};
