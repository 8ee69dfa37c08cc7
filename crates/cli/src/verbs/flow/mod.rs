//! `truetail flow`: recordings and descriptions as loads.
//!
//! | module | what is at home there |
//! |---|---|
//! | `access_log` | an access log as arrivals with their requests |
//! | `har` | what a browser recorded as a Hurl file |
//! | `openapi` | a description of an interface as targets |
//! | `deliver` | where the result goes |

mod access_log;
mod deliver;
mod har;
mod openapi;

use crate::args::flow_verb::{FlowVerb, FlowVerbArgs};
use crate::error::{ExitCode, Result};

/// Carries out a verb of flows.
///
/// # Errors
/// Those of the verb.
pub fn flow(args: FlowVerbArgs) -> Result<ExitCode> {
    match args.verb {
        FlowVerb::AccessLog(args) => access_log::from_access_log(&args),
        FlowVerb::Har(args) => har::from_har(&args),
        FlowVerb::OpenApi(args) => openapi::from_openapi(&args),
    }
}
