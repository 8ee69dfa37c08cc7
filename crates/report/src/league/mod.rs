//! Load tools beside each other.
//!
//! | module | what is at home there |
//! |---|---|
//! | `table` | what stands in the tables, whatever they are written as |
//! | `grid` | a table in cells |
//! | `streams` | the tables of answers that come in pieces |
//! | `text`, `html`, `markdown` | the tables for a terminal, as a page with pictures, for a repository |
//! | `csv`, `json` | a row a tool, for programs |
//! | `pictures` | percentiles and single requests |
//! | `files` | all of these as files |
//! | `certificate` | what kind of generator a command is |
//! | `tool_listing` | which tools are installed |

mod certificate;
mod csv;
mod files;
mod grid;
mod html;
mod json;
mod markdown;
mod pictures;
mod streams;
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
pub use table::LeagueTable;
pub use text::text;
pub use tool_listing::{ToolListing, tools_table};
