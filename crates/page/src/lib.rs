//! HTML pages: the page of a run, its live version, and the interactive page. A page is one text that loads nothing
//! from elsewhere, and that is readable without its script.
//!
//! | module | content |
//! |---|---|
//! | [`run_page`], [`live_update`] | the page of a run, and its updates during the run |
//! | [`comparison_page`] | several runs side by side |
//! | [`browse`] | the site of saved runs: list, series, messages |
//! | [`audit_page`] | the audit of files of other tools |
//! | [`sweep_page`] | a sweep over rates |
//! | [`suite_page`] | a load tool in the suite of situations |
//! | [`text`] | text from outside, made visible |
//! | `document` | the frame of every page: head, style, script, footer |
//! | `site` | the place of a page in a site |
//! | `figure`, `table` | a picture with its table; an accessible table |
//! | `run` | the sections of the page of a run, a file each |
//! | [`explore`] | the interactive page |
//! | [`web`] | the local web server |
//!
//! Markup is written with `maud`, which escapes inserted text and checks at compile time that every element is closed.

#![warn(unreachable_pub)]

mod audit;
pub mod browse;
mod comparison;
mod document;
pub mod explore;
mod figure;
mod run;
mod script;
mod site;
mod suite;
mod sweep;
mod table;
pub mod text;
pub mod web;

pub use audit::{AuditPage, audit_page};
pub use comparison::{ComparedRun, ComparisonPage, FurtherTable, comparison_page};
pub use run::{Overlay, RunPage, live_update, run_page};
pub use site::SitePlace;
pub use suite::suite_page;
pub use sweep::{SweepPage, sweep_page};
