//! `truetail k8s`: offers one load from the pods of a Job.

mod attend;
mod carried;
mod client;
mod job;
mod render;
mod run;
mod shelf;
mod telling;

use crate::args::k8s::{K8sArgs, K8sVerb};
use crate::error::{ExitCode, Result};

pub(super) fn k8s(args: K8sArgs) -> Result<ExitCode> {
    match args.verb {
        K8sVerb::Render(args) => render::render(&args),
        K8sVerb::Run(args) => run::run(*args),
        K8sVerb::Attend(args) => attend::attend(&args),
    }
}
