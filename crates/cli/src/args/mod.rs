//! Command line as the user typed it, one file per verb. Only the form of each value is checked here.

// Comments on options are help texts, with `[…]` for what is optional.
#![allow(rustdoc::broken_intra_doc_links, rustdoc::bare_urls)]

pub(crate) mod ab;
pub(crate) mod audit;
pub(crate) mod baseline;
pub(crate) mod browse;
pub(crate) mod capacity;
pub(crate) mod certify;
pub(crate) mod checks;
pub(crate) mod clap_error;
pub(crate) mod compare;
pub(crate) mod comparison;
pub(crate) mod completions;
pub(crate) mod correct;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod event;
pub(crate) mod explore;
pub(crate) mod export;
pub(crate) mod flow;
pub(crate) mod flow_verb;
pub(crate) mod foreign;
pub(crate) mod gates;
pub(crate) mod grpc;
pub(crate) mod grpc_verb;
pub(crate) mod history;
pub(crate) mod k8s;
pub(crate) mod kept_headers;
pub(crate) mod lab;
pub(crate) mod labels;
pub(crate) mod live;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod merge;
pub(crate) mod messages;
pub(crate) mod page;
pub(crate) mod prompts;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod run_options;
pub(crate) mod runs;
pub(crate) mod scrape;
pub(crate) mod screen;
pub(crate) mod script;
pub(crate) mod serve;
pub(crate) mod server_timing;
pub(crate) mod several;
pub(crate) mod simulate;
pub(crate) mod slo;
pub(crate) mod spans;
pub(crate) mod stream;
pub(crate) mod stripe;
pub(crate) mod trace;
mod values;
mod version;
pub(crate) mod watch;

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use crate::error::{Result, usage_error};
use crate::output;

/// HTTP load tester that reports the true tail of response times
///
/// truetail sends requests on a schedule that does not wait for the server, accounts for every request it planned, and
/// prints only percentiles that the data supports.
#[derive(Parser, Debug)]
#[command(name = "truetail", version, before_help = EXAMPLE, subcommand_required = true, arg_required_else_help = true)]
#[command(after_help = EXIT_CODES, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLE: &str = "\
Examples:
  truetail demo
  truetail run http://127.0.0.1:8080/api -r 1000 -d 30s
  truetail help run";

const EXIT_CODES: &str = "\
Exit codes:
  0    done, and every gate passed
  1    it could not be done; the message says why
  2    wrong usage
  3    a gate or a check failed
  4    undecided: a gate that the run cannot decide, or an INVALID measurement without a gate
  130  stopped by Ctrl-C, 143 by SIGTERM; the run is reported and saved";

/// The verbs. Clap finds the description of each at its arguments.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Demo(demo::DemoArgs),
    Explore(explore::ExploreArgs),
    Run(Box<run::RunArgs>),
    Serve(serve::ServeArgs),
    Simulate(simulate::SimulateArgs),
    Lab(lab::LabArgs),
    Certify(certify::CertifyArgs),
    Report(report::ReportArgs),
    Runs(runs::RunsArgs),
    History(history::HistoryArgs),
    Browse(browse::BrowseArgs),
    Merge(merge::MergeArgs),
    K8s(k8s::K8sArgs),
    Flow(flow_verb::FlowVerbArgs),
    Grpc(grpc_verb::GrpcVerbArgs),
    Compare(compare::CompareArgs),
    Ab(Box<ab::AbArgs>),
    Capacity(Box<capacity::CapacityArgs>),
    Audit(audit::AuditArgs),
    Correct(correct::CorrectArgs),
    Completions(completions::CompletionsArgs),
    Doctor(doctor::DoctorArgs),
    Man(man::ManArgs),
    Mcp(mcp::McpArgs),
}

impl Command {
    /// Stores the typed words in the arguments of verbs that save them in a run.
    fn remember(&mut self, words: Vec<String>) {
        match self {
            Command::Demo(args) => args.typed.words = words,
            Command::Run(args) => args.typed.words = words,
            Command::Compare(args) => args.typed.words = words,
            Command::Audit(args) => args.typed.words = words,
            Command::Ab(args) => args.typed.words = words,
            Command::Simulate(args) => args.typed.words = words,
            Command::Capacity(args) => args.typed.words = words,
            Command::K8s(args) => args.remember(words),
            Command::Explore(_)
            | Command::Browse(_)
            | Command::Flow(_)
            | Command::Doctor(_)
            | Command::Mcp(_)
            | Command::Grpc(_)
            | Command::Serve(_)
            | Command::Lab(_)
            | Command::Certify(_)
            | Command::Report(_)
            | Command::Runs(_)
            | Command::History(_)
            | Command::Merge(_)
            | Command::Correct(_)
            | Command::Completions(_)
            | Command::Man(_) => {}
        }
    }
}

/// Meaning of a command line.
#[derive(Debug)]
pub(crate) enum CliAction {
    Execute(Box<Command>),
    /// Show a text: help or version.
    Show(String),
}

/// Parses a command line, with the program's name first.
pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<CliAction> {
    let arguments: Vec<OsString> = arguments.collect();
    if version::is_asked_as_json(&arguments) {
        return Ok(CliAction::Show(version::as_json()));
    }
    match Cli::try_parse_from(server_timing::completed(&arguments)) {
        Ok(mut cli) => {
            let words = arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
            cli.command.remember(words.collect());
            Ok(CliAction::Execute(Box::new(cli.command)))
        }
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(CliAction::Show(shown(&error.render()))),
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Err(usage_error(
                "no verb given; truetail --help lists the verbs, and truetail demo shows what truetail is for",
            )),
            _ => Err(usage_error(clap_error::in_one_line(&error))),
        },
    }
}

/// Returns the definition of the whole command line.
pub(crate) fn definition() -> clap::Command {
    Cli::command()
}

fn shown(text: &StyledStr) -> String {
    if output::stdout_style().color { text.ansi().to_string() } else { text.to_string() }
}

#[cfg(test)]
mod tests {
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
