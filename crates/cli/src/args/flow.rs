//! Sessions that follow a flow.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

/// Steps of each session.
#[derive(Args, Clone, Debug)]
pub(crate) struct FlowArgs {
    /// Let sessions arrive on the schedule, and let each do what this Hurl file says: requests in sequence, with
    /// captures, asserts and templates. In place of a URL; the rate is that of the sessions. Repeatable: then each
    /// session follows one of the flows, drawn by their weights ('# truetail: weight 3' before the first request; 1 if
    /// not given)
    #[arg(long, value_name = "FILE.hurl", help_heading = "Flows")]
    pub flow: Vec<PathBuf>,
    /// Do what this Hurl file says once before the load, such as a login; what it captures is set for every session. It
    /// is not part of the load, and none of its requests is in the books
    #[arg(long, value_name = "FILE.hurl", help_heading = "Flows")]
    pub setup: Option<PathBuf>,
    /// The variables that the setup sets have placeholder values.
    #[arg(skip)]
    pub stands_in: bool,
    #[command(flatten)]
    pub given: FlowInputs,
}

/// Inputs of flows, over sockets and in the simulator.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct FlowInputs {
    /// Set a variable of the flows for every session; repeatable
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Flows")]
    pub variable: Vec<Variable>,
    /// Take the files that flows send from this folder and below it, in place of the folder of the flow; no flow reads
    /// files elsewhere
    #[arg(long, value_name = "DIR", help_heading = "Flows")]
    pub file_root: Option<PathBuf>,
}

/// Value of `--variable`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Variable {
    /// Letters, digits, hyphens and underscores.
    pub name: String,
    pub value: String,
}

impl FromStr for Variable {
    type Err = String;

    fn from_str(text: &str) -> Result<Variable, String> {
        let wrong = || "write NAME=VALUE, with letters, digits, - and _ in the name".to_owned();
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')) {
            return Err(wrong());
        }
        Ok(Variable { name: name.to_owned(), value: value.to_owned() })
    }
}
