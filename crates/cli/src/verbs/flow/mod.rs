//! `truetail flow`: converts recordings and API descriptions to loads.
//!
//! | module | content |
//! |---|---|
//! | `access_log` | from an access log to arrivals with their requests |
//! | `har` | from a browser's recording to a Hurl file |
//! | `postman` | from a collection of Postman to a Hurl file |
//! | `script` | from scripts of k6 and plans of JMeter to Hurl files with a truetail.toml |
//! | `conversations` | from conversations with a language model to a Hurl file with its rows |
//! | `openapi` | from an OpenAPI description to targets |
//! | `deliver` | output of the result |

mod access_log;
mod conversations;
mod deliver;
mod har;
mod openapi;
mod postman;
mod script;

use crate::args::flow_verb::{FlowVerb, FlowVerbArgs};
use crate::error::{ExitCode, Result};

pub(super) fn flow(args: FlowVerbArgs) -> Result<ExitCode> {
    match args.verb {
        FlowVerb::AccessLog(args) => access_log::from_access_log(&args),
        FlowVerb::Har(args) => har::from_har(&args),
        FlowVerb::Postman(args) => postman::from_postman(&args),
        FlowVerb::K6(args) => script::from_k6(&args.script),
        FlowVerb::Jmx(args) => script::from_jmx(&args.script),
        FlowVerb::OpenApi(args) => openapi::from_openapi(&args),
        FlowVerb::Conversations(args) => conversations::from_conversations(&args),
    }
}
