//! HTML pages: the page of a run, the page that moves while a run goes on, and the page to play with. A page is one text
//! that loads nothing from elsewhere, and can be read without its script.
//!
//! | module | content |
//! |---|---|
//! | [`run_page`], [`live_update`] | the page of a run, and what changes on it while the run goes on |
//! | [`comparison_page`] | several runs beside each other |
//! | [`data`] | what the script of a page reads |
//! | [`text`] | text from outside, made visible |
//! | `document` | what every page has: head, style, script, footer |
//! | `figure`, `table` | a picture with its table; a table that screen readers understand |
//! | `run` | the sections of the page of a run, a file each |
//! | [`explore`] | the page to play with |
//! | [`web`] | the local web server |
//!
//! Markup is written with `maud`: what is put into it is escaped, and every element is closed, or it does not compile.

mod comparison;
pub mod data;
mod document;
pub mod explore;
mod figure;
mod pictures;
mod run;
mod script;
mod table;
pub mod text;
pub mod web;

pub use comparison::{ComparedRun, ComparisonPage, comparison_page};
pub use run::{Overlay, RunPage, live_update, run_page};
