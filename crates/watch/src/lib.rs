//! The full-screen view of a run that is going on, for a terminal.
//!
//! This crate draws cells and knows no terminal: it opens none, reads no key and no clock. The caller gives it what was
//! measured ([`View`]), gets the cells of a screen, and sends to its terminal what [`paint`] says.
//!
//! | module | what is at home there |
//! |---|---|
//! | `view` | the whole screen: its parts, its pages, and where they stand |
//! | `rows` | who gets how many rows |
//! | `headline`, `decisions`, `load`, `quantiles`, `answers`, `help` | the parts that are text |
//! | `frame`, `time`, `heat_map`, `lanes` | the parts that are pictures over time |
//! | `history` | what was seen of the run's counters |
//! | `look`, `text` | what the terminal can show; lines with a label |
//! | `choice`, `keys` | the pages, and what keys do |
//! | `paint` | cells as escape sequences |

mod answers;
mod choice;
mod decisions;
mod frame;
mod headline;
mod heat_map;
mod help;
mod history;
mod keys;
mod lanes;
mod load;
mod look;
mod paint;
mod quantiles;
mod rows;
mod text;
mod time;
mod view;

pub use choice::{Choice, Page};
pub use history::History;
pub use keys::{Key, KeyParser};
pub use look::{Look, Palette};
pub use paint::paint;
pub use ratatui_core::buffer::Buffer;
pub use ratatui_core::layout::Rect;
pub use view::View;
