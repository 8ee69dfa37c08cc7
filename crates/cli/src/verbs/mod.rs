//! Implementation of each verb.

mod ab;
mod browse;
mod capacity;
mod certify;
mod compare;
mod comparison;
mod completions;
mod demo;
mod doctor;
mod explore;
mod flow;
mod foreign;
mod grpc;
mod history;
mod k8s;
mod lab;
mod local_page;
mod man;
mod mcp;
mod merge;
mod named_run;
mod report;
mod run;
mod runs;
mod serve;
mod several;
mod simulate;

use crate::args::{CliAction, Command};
use crate::error::{ExitCode, Result};
use crate::output;

/// Executes a parsed command line.
pub(crate) fn execute(action: CliAction) -> Result<ExitCode> {
    match action {
        CliAction::Show(text) => output::print(&text).map(|()| ExitCode::Success),
        CliAction::Execute(command) => carry_out(*command),
    }
}

fn carry_out(command: Command) -> Result<ExitCode> {
    match command {
        Command::Demo(args) => demo::demo(args),
        Command::Explore(args) => explore::explore(args),
        Command::Run(args) if args.several.is_given() => several::several(&args),
        Command::Run(args) => run::run(*args),
        Command::Serve(args) => serve::serve(args),
        Command::Simulate(args) => simulate::simulate(args),
        Command::Certify(args) => certify::certify(args),
        Command::Lab(args) => lab::lab(args),
        Command::Report(args) => report::report(args),
        Command::Runs(args) => runs::runs(args),
        Command::History(args) => history::history(&args),
        Command::Browse(args) => browse::browse(args),
        Command::Merge(args) => merge::merge(args),
        Command::K8s(args) => k8s::k8s(args),
        Command::Flow(args) => flow::flow(args),
        Command::Grpc(args) => grpc::grpc(args),
        Command::Ab(args) => ab::ab(*args),
        Command::Capacity(args) => capacity::capacity(*args),
        Command::Compare(args) => compare::compare(args),
        Command::Audit(args) => foreign::audit(args),
        Command::Correct(args) => foreign::correct(args),
        Command::Completions(args) => completions::completions(&args),
        Command::Doctor(args) => doctor::doctor(args),
        Command::Man(args) => man::man(&args),
        Command::Mcp(args) => mcp::mcp(args),
    }
}
