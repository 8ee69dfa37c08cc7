//! Messages and gRPC calls for a program that links this crate: the Python package.
//!
//! The options are the options of `truetail run`, so both have the same books and refuse the same. Nothing is printed.

use std::ffi::OsString;
use std::fmt;

use clap::FromArgMatches;
use truetail_analysis::gates::ReadingMode;
use truetail_checks::CheckRun;
use truetail_engine::{ChannelUrl, Plan, PreflightError, Target};
use truetail_grpc::{CallMethod, GrpcUrl};
use truetail_model::time::Nanos;
use truetail_stream::StreamRun;

use crate::args::clap_error;
use crate::args::run::RunArgs;
use crate::args::run_options::definition;
use crate::args::stream::StreamName;
use crate::error::{CliError, ExitCode, usage_error};
use crate::resolve::load_target::LoadTarget;
use crate::resolve::{checks, grpc, messages, stream, tls};
use crate::unanswered;

/// A load that cannot be prepared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadError {
    /// True if an option is wrong, and false if a file or the server is.
    pub is_usage: bool,
    /// One line, which names options as the command line does.
    pub message: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for LoadError {}

impl From<CliError> for LoadError {
    fn from(error: CliError) -> LoadError {
        LoadError { is_usage: error.exit_code == ExitCode::Usage, message: error.message }
    }
}

/// Returns true for the URL of a channel or of a gRPC method.
pub fn is_of_messages_or_calls(url: &str) -> bool {
    ChannelUrl::is_meant(url) || GrpcUrl::is_meant(url)
}

/// The options of a load whose target is known, for what reads its answers.
#[derive(Debug)]
pub struct LoadOptions {
    args: RunArgs,
    called: Vec<CallMethod>,
}

/// Returns the target of a load, and its options. `words` are a URL and options of `truetail run`. May ask a gRPC
/// server for its schema.
///
/// # Errors
/// If an option, a file or the URL is not valid, or the server does not tell its schema.
pub fn resolve(words: Vec<OsString>) -> Result<(Target, LoadOptions), LoadError> {
    let matches = definition().try_get_matches_from(words);
    let mut args = matches
        .and_then(|matches| RunArgs::from_arg_matches(&matches))
        .map_err(|error| usage_error(clap_error::in_one_line(&error)))?;
    messages::refuse_elsewhere(&args)?;
    grpc::refuse_elsewhere(&args)?;
    let LoadTarget { mut target, called } = LoadTarget::of(&args)?;
    if target.protocol().calls().is_some_and(|calls| calls.kind.server_streams()) {
        args.streams.stream = Some(StreamName::Messages);
    }
    messages::read_pushes(&mut args);
    tls::secure(&mut target, &args)?;
    Ok((target, LoadOptions { args, called }))
}

impl LoadOptions {
    /// Returns the time limit that the server learns, if there is one. It replaces the time limit of requests.
    pub fn deadline(&self) -> Option<Nanos> {
        self.args.grpc.deadline
    }

    /// Returns how answers are read, for gates.
    pub fn reading(&self) -> ReadingMode {
        stream::reading(&self.args.streams)
    }

    /// Returns notes for the run.
    pub fn notes(&self) -> Vec<String> {
        messages::notes(&self.args).into_iter().collect()
    }

    /// Adds the checks and the reader of streams to the plan.
    ///
    /// # Errors
    /// If options about streams do not fit.
    pub fn observe(self, plan: &mut Plan) -> Result<(Option<CheckRun>, Option<StreamRun>), LoadError> {
        let LoadOptions { args, called } = self;
        let stamps = messages::stamps(&args);
        let checks = checks::checks(args.checks, plan, called, false);
        let streams = stream::streams(args.streams, stamps, Vec::new(), plan, None, None, false)?;
        Ok((checks, streams))
    }
}

/// Returns why the server did not answer before the load, and what helps, with options as the command line names them.
pub fn why_unanswered(target: &Target, error: &PreflightError) -> String {
    unanswered::preflight_error(target, error).message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_target_is_that_of_the_command_line() {
        let (target, options) = resolve(words("tcp://127.0.0.1:9 --framing=line --data={{seq}} --match=none")).unwrap();
        assert_eq!(target.origin_names(), "tcp://127.0.0.1:9");
        assert_eq!((options.reading(), options.deadline()), (ReadingMode::Whole, None));
        assert_eq!(options.notes().len(), 1);
    }

    #[test]
    fn an_error_says_whether_an_option_is_wrong() {
        for (text, is_usage, message) in [
            ("tcp://127.0.0.1:9 --framing=lines", true, "--framing: "),
            ("tcp://127.0.0.1:9 --framing=fix --match=bytes:0:2", true, "--match: a message of FIX gets fields"),
            ("tcp://127.0.0.1:9 --data=x", true, "a message on a TCP channel needs an end"),
            ("ws://127.0.0.1:9 --data=x --hello=/no/such/file", false, "cannot read /no/such/file"),
            ("http://127.0.0.1:9 --framing=line", true, "--framing is for messages on a channel"),
            ("ws://127.0.0.1:9 --data=x --deadline=1s", true, "--deadline is for gRPC"),
            ("grpc://127.0.0.1:9/p.S/M --proto=/no/such/file", false, "--proto: there is no file /no/such/file"),
        ] {
            let error = resolve(words(text)).expect_err(text);
            assert_eq!(error.is_usage, is_usage, "{error}");
            assert!(error.message.starts_with(message) && !error.message.contains('\n'), "{error}");
        }
    }

    #[test]
    fn a_load_is_told_from_one_over_http() {
        for url in ["ws://a", "tls://a:1", "rediss://a", "grpc://a:1/p.S/M", "unix:///a"] {
            assert_eq!(is_of_messages_or_calls(url), !url.starts_with("unix"), "{url}");
        }
        assert!(!is_of_messages_or_calls("http://a") && !is_of_messages_or_calls("a"));
    }
}
