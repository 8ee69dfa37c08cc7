//! The page to play with: sliders for a service and a load, and at once what a closed loop, its correction and an open
//! loop say about it, beside the truth.
//!
//! | module | content |
//! |---|---|
//! | [`settings`] | what the sliders say, with ranges; the text of a link; the scenario that it means |
//! | [`backend`] | what the page needs of simulator, server and engine, none of which it knows |
//! | `answer` | what a change of a slider is answered with |
//! | `measured` | what is shown of a run on real sockets |
//! | `document` | the HTML of the page |
//! | `handler` | the addresses of the page |

mod answer;
pub mod backend;
mod document;
mod handler;
mod measured;
pub mod settings;

pub use backend::{Backend, MeasuredLoop, MeasuredRun, Preset, RealProgress, RealState};
pub use handler::ExplorePage;
pub use settings::{RealPlan, Settings, SettingsError, SimulationPlan};
