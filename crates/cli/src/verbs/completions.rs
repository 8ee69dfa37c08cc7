//! `truetail completions`: prints the completion script of a shell.

use crate::args::completions::CompletionsArgs;
use crate::args::definition;
use crate::error::{ExitCode, Result, runtime_error};
use crate::output;

pub(super) fn completions(args: &CompletionsArgs) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut definition(), "truetail", &mut script);
    let script = String::from_utf8(script).map_err(runtime_error)?;
    output::print(&script).map(|()| ExitCode::Success)
}
