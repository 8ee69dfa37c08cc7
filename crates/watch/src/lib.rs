//! The full-screen terminal view of a run in progress.
//!
//! This crate draws cells and uses no terminal, keyboard or clock. The caller provides the measured state ([`View`]),
//! gets the cells of a screen, and sends the output of [`paint()`] to its terminal.
//!
//! | module | content |
//! |---|---|
//! | `view` | the whole screen: its parts, its pages, and their places |
//! | `rows` | distribution of the rows |
//! | `headline`, `decisions`, `load`, `quantiles`, `answers`, `help` | parts with text |
//! | `frame`, `time`, `heat_map`, `lanes` | parts with pictures over time |
//! | `history` | the observed counters of the run |
//! | `look`, `text` | capabilities of the terminal; lines with a label |
//! | `choice`, `keys` | the pages, and the keys |
//! | `paint` | cells as escape sequences |

#![warn(unreachable_pub)]

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

pub use choice::{Page, ScreenState};
pub use history::History;
pub use keys::{Key, KeyParser};
pub use look::{Palette, TerminalStyle};
pub use paint::paint;
pub use ratatui_core::buffer::Buffer;
pub use ratatui_core::layout::Rect;
pub use view::View;
