//! The interactive page: sliders for a service and a load. It shows at once the results of a closed loop, of its
//! correction and of an open loop, next to the truth.
//!
//! | module | content |
//! |---|---|
//! | [`settings`] | values of the sliders, with ranges; text of a link; the resulting scenario |
//! | [`backend`] | interface to the simulator, the server and the engine |
//! | `answer` | answer to a change of a slider |
//! | `measured` | runs on real sockets on the page |
//! | `document` | HTML of the page |
//! | `handler` | addresses of the page |

mod answer;
pub mod backend;
mod document;
mod handler;
mod measured;
pub mod settings;

pub use backend::{Backend, MeasuredLoop, MeasuredRun, Preset, RealProgress, RealState};
pub use handler::ExplorePage;
pub use settings::{RealPlan, Settings, SettingsError, SimulationPlan};
