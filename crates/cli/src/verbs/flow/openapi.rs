//! `truetail flow from-openapi`.

use truetail_import::ways::{OpenApiOptions, targets_of_openapi};

use super::deliver::{check_out, deliver};
use crate::args::flow_verb::FromOpenApiArgs;
use crate::error::{ExitCode, Result, runtime_error};
use crate::resolve::input;

/// Writes the operations of a description as targets.
///
/// # Errors
/// If the description cannot be read or has no operation that can be sent, or the result cannot be written.
pub(super) fn from_openapi(args: &FromOpenApiArgs) -> Result<ExitCode> {
    check_out(args.out.as_deref(), &args.file)?;
    let bytes = input::bytes(&args.file)?;
    let name = args.file.file_name().unwrap_or_default().to_string_lossy();
    let options = OpenApiOptions { base: args.base.clone(), safe: args.safe };
    let made = targets_of_openapi(&bytes, &name, &options)
        .map_err(|error| runtime_error(format!("cannot make targets of '{}': {error}", args.file.display())))?;
    deliver(&made.targets, args.out.as_deref(), &made.notes)
}
