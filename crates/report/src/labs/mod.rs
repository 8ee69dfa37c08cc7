//! Reports of labs (`truetail simulate`): a table with figures below it, JSON, and pictures.
//!
//! | module | content |
//! |---|---|
//! | `lab_report` | [`LabReport`]: the common parts of all labs, as text and pictures |
//! | `freeze`, `every_nth`, `order_router` | title, columns, figures and pictures of each lab |
//! | `json` | a lab for programs |

mod every_nth;
mod freeze;
mod json;
mod lab_report;
mod order_router;

pub use every_nth::{MeasuredLoops, measured_report};
pub use json::scenario_json;
pub use lab_report::{LabReport, SeriesReport, SlowRequests};

use truetail_sim::labs::LabResult;

/// Returns the report of a lab that was run in virtual time.
pub fn lab_report(result: &LabResult) -> LabReport<'_> {
    match result {
        LabResult::Freeze(result) => freeze::report(result),
        LabResult::EveryNth(result) => every_nth::report(result),
        LabResult::OrderRouter(result) => order_router::report(result),
    }
}
