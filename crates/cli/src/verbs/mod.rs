//! What each verb does.

mod certify;
mod demo;
mod lab;
mod merge;
mod report;
mod run;
mod serve;
mod simulate;

use crate::args::{Asked, Command};
use crate::outcome::{Exit, Result};
use crate::output;

/// Does what was asked.
///
/// # Errors
/// Why it could not be done.
pub fn execute(asked: Asked) -> Result<Exit> {
    match asked {
        Asked::Show(text) => output::print(&text).map(|()| Exit::Done),
        Asked::Do(Command::Demo(args)) => demo::demo(args),
        Asked::Do(Command::Run(args)) => run::run(*args),
        Asked::Do(Command::Serve(args)) => serve::serve(args),
        Asked::Do(Command::Simulate(args)) => simulate::simulate(args),
        Asked::Do(Command::Certify(args)) => certify::certify(args),
        Asked::Do(Command::Lab(args)) => lab::lab(args),
        Asked::Do(Command::Report(args)) => report::report(args),
        Asked::Do(Command::Merge(args)) => merge::merge(args),
    }
}
