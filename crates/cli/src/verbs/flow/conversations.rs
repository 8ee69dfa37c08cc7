//! `truetail flow from-conversations`.

use truetail_import::ways::{ConversationOptions, load_of_conversations};

use super::deliver::deliver_files;
use crate::args::flow_verb::FromConversationsArgs;
use crate::error::{ExitCode, Result, runtime_error, usage_error};
use crate::resolve::input;

/// Writes conversations as a flow with its rows and a truetail.toml.
///
/// # Errors
/// If the think time is not valid, no conversation can be read, or a file cannot be written.
pub(super) fn from_conversations(args: &FromConversationsArgs) -> Result<ExitCode> {
    if let Some(problem) = args.delay.as_deref().and_then(truetail_flow::problem_of_delay) {
        return Err(usage_error(format!("--delay: {problem}")));
    }
    let text = input::recording(&args.file)?;
    let name = args.file.file_name().unwrap_or_default().to_string_lossy();
    let options = ConversationOptions { turns: args.turns.into(), think: args.delay.as_deref() };
    let load = load_of_conversations(text.as_bytes(), &name, options)
        .map_err(|error| runtime_error(format!("cannot make a load of '{}': {error}", args.file.display())))?;
    deliver_files(&load, &args.out)
}
