//! Findings as text and pictures for people. Nothing here prints, runs or asks the environment: the caller says in a
//! [`Style`] what the terminal can show, and gets a `String` that ends in a newline.
//!
//! | module | what is at home there |
//! |---|---|
//! | [`number`] | times, counts, rates and shares in fitting units |
//! | [`style`] | colour, width, and what to write where there is no Unicode |
//! | `table`, `spark` | aligned columns, small plots of one line |
//! | `summary` | the one screen of a run |
//! | `comparison` | closed loop, open loop and truth side by side |
//! | [`league`] | load tools beside each other |
//! | `markup` | text inside pages and pictures |
//! | [`plot`] | pictures as SVG and PNG |
//! | `progress` | the line while a run goes on |

mod comparison;
pub mod league;
mod markup;
pub mod number;
pub mod plot;
mod progress;
mod spark;
pub mod style;
mod summary;
mod table;

pub use comparison::{comparison_explanation, comparison_table};
pub use progress::{RunProgress, progress_line, progress_text};
pub use style::Style;
pub use summary::summary;
