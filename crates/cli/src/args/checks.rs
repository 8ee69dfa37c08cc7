//! Checks on answers.

use clap::Args;
use truetail_checks::Check;

/// Checks of answers.
#[derive(Args, Clone, Debug)]
pub(crate) struct CheckArgs {
    /// Check every answer, repeatable: 'status == 200', 'header content-type contains json', 'body contains "ok"',
    /// 'body matches /id: [0-9]+/', 'jsonpath $.items[0].id == 7', of gRPC 'grpc-status == OK' and 'message.name
    /// == "a"'. Answers that fail are counted, the first few are
    /// saved, and the exit code is 3
    #[arg(long = "check", value_name = "CHECK", help_heading = "Result")]
    pub checks: Vec<Check>,
}
