//! The site of saved runs. Its pages are made of values; reading runs and answering requests is left to the caller.
//!
//! | module | content |
//! |---|---|
//! | `query` | conditions and page of the list, as the address of a page has them |
//! | `links` | addresses of pages, on a server or among exported files |
//! | `list` | the list of runs |
//! | `series` | a series of runs with its changes |
//! | `removal` | asks whether to remove runs |
//! | `message` | a page with a sentence |

mod links;
mod list;
mod message;
mod query;
mod removal;
mod series;

pub use links::{ExportedPages, Links};
pub use list::{ListPage, ListedRow, ListedSeries, list_page, list_update};
pub use message::message_page;
pub use query::{RunQuery, pairs};
pub use removal::removal_page;
pub use series::{SeriesPage, SeriesRun, series_page};
