//! The command line as the user typed it, one file a verb. Only the form of each value is checked here.

pub mod certify;
pub mod checks;
pub mod demo;
pub mod gates;
pub mod lab;
pub mod merge;
pub mod report;
pub mod run;
pub mod serve;
pub mod simulate;
mod values;

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ErrorKind};
use clap::{Parser, Subcommand};

use crate::error::{Result, usage_error};
use crate::output;

/// A load tester whose tail latency is true.
///
/// It offers load on a schedule that never waits for the server, accounts for every arrival it planned, and prints only
/// the tail it can prove.
#[derive(Parser, Debug)]
#[command(name = "truetail", version, before_help = EXAMPLE, subcommand_required = true, arg_required_else_help = true)]
#[command(disable_help_subcommand = true, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLE: &str = "\
Examples:
  truetail demo
  truetail run http://127.0.0.1:8080/api -r 1000 -d 30s";

/// The verbs.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// The whole point in one command: the same fault through a closed and an open loop, beside the truth
    Demo(demo::DemoArgs),
    /// Offer load, measure, judge, report
    Run(Box<run::RunArgs>),
    /// A server that misbehaves as a scenario says, and keeps the truth
    Serve(serve::ServeArgs),
    /// The same scenario in virtual time: what an ideal client would have measured
    Simulate(simulate::SimulateArgs),
    /// Other people's load tools in front of that server: which of them tells its truth?
    Lab(lab::LabArgs),
    /// Does this load tool lie? What kind of generator a command is
    Certify(certify::CertifyArgs),
    /// Print the result of a saved run again
    Report(report::ReportArgs),
    /// Make one run of several of the same workload, without loss
    Merge(merge::MergeArgs),
}

/// What a command line asks for.
#[derive(Debug)]
pub enum CliAction {
    /// Carry out a command.
    Execute(Command),
    /// Show a text: help or version.
    Show(String),
}

/// Reads a command line, the program's name first.
///
/// # Errors
/// What is wrong with it, in one line.
pub fn parse(arguments: impl Iterator<Item = OsString>) -> Result<CliAction> {
    match Cli::try_parse_from(arguments) {
        Ok(cli) => Ok(CliAction::Execute(cli.command)),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(CliAction::Show(shown(&error.render()))),
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                Err(usage_error("no verb given; truetail --help lists them, and truetail demo shows what it is about"))
            }
            _ => Err(usage_error(in_one_line(&error))),
        },
    }
}

fn shown(text: &StyledStr) -> String {
    if output::stdout_style().color { text.ansi().to_string() } else { text.to_string() }
}

/// An error of clap in one line.
fn in_one_line(error: &clap::Error) -> String {
    if let (ErrorKind::ValueValidation, Some(flag), Some(problem)) =
        (error.kind(), error.get(ContextKind::InvalidArg), std::error::Error::source(error))
    {
        return format!("{}: {problem}", name_of(&flag.to_string()));
    }
    let text = error.render().to_string();
    let told = text.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"));
    // clap suggests that an unknown flag might be meant as a value, which is never so here.
    let helps = |line: &&str| !line.contains("as a value, use");
    let words = told.filter(helps).map(|line| line.trim().trim_start_matches("error: ").replacen("tip: ", "; ", 1));
    let line = words.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ").replace(" ;", ";");
    format!("{line}; see --help")
}

/// `--rate` of `--rate <RATE>`.
fn name_of(argument: &str) -> &str {
    argument.split_once(' ').map_or(argument, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_verb_begins_its_help_with_an_example() {
        for mut verb in Cli::command().get_subcommands().cloned() {
            let help = verb.render_long_help().to_string();
            let second = help.lines().nth(1).unwrap_or_default();
            assert!(help.starts_with("Example"), "{}: {help}", verb.get_name());
            assert!(second.trim_start().starts_with(&format!("truetail {}", verb.get_name())), "{second}");
        }
    }
}
