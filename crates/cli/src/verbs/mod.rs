//! What each verb does.

mod certify;
mod compare;
mod completions;
mod demo;
mod explore;
mod lab;
mod man;
mod merge;
mod report;
mod run;
mod serve;
mod simulate;

use crate::args::{CliAction, Command};
use crate::error::{ExitCode, Result};
use crate::output;

/// Carries out a command line.
///
/// # Errors
/// Why it could not be done.
pub fn execute(action: CliAction) -> Result<ExitCode> {
    match action {
        CliAction::Show(text) => output::print(&text).map(|()| ExitCode::Success),
        CliAction::Execute(Command::Demo(args)) => demo::demo(args),
        CliAction::Execute(Command::Explore(args)) => explore::explore(args),
        CliAction::Execute(Command::Run(args)) => run::run(*args),
        CliAction::Execute(Command::Serve(args)) => serve::serve(args),
        CliAction::Execute(Command::Simulate(args)) => simulate::simulate(args),
        CliAction::Execute(Command::Certify(args)) => certify::certify(args),
        CliAction::Execute(Command::Lab(args)) => lab::lab(args),
        CliAction::Execute(Command::Report(args)) => report::report(args),
        CliAction::Execute(Command::Merge(args)) => merge::merge(args),
        CliAction::Execute(Command::Compare(args)) => compare::compare(args),
        CliAction::Execute(Command::Completions(args)) => completions::completions(&args),
        CliAction::Execute(Command::Man(args)) => man::man(&args),
    }
}
