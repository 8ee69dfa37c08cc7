//! What each verb does.

mod certify;
mod demo;
mod lab;
mod merge;
mod report;
mod run;
mod serve;
mod simulate;

use crate::args::{Command, Invocation};
use crate::error::{ExitCode, Result};
use crate::output;

/// Carries out what the command line asks for.
///
/// # Errors
/// Why it could not be done.
pub fn execute(invocation: Invocation) -> Result<ExitCode> {
    match invocation {
        Invocation::Show(text) => output::print(&text).map(|()| ExitCode::Success),
        Invocation::Execute(Command::Demo(args)) => demo::demo(args),
        Invocation::Execute(Command::Run(args)) => run::run(*args),
        Invocation::Execute(Command::Serve(args)) => serve::serve(args),
        Invocation::Execute(Command::Simulate(args)) => simulate::simulate(args),
        Invocation::Execute(Command::Certify(args)) => certify::certify(args),
        Invocation::Execute(Command::Lab(args)) => lab::lab(args),
        Invocation::Execute(Command::Report(args)) => report::report(args),
        Invocation::Execute(Command::Merge(args)) => merge::merge(args),
    }
}
