//! The target of a load: messages, gRPC calls, or requests of HTTP.

use truetail_engine::Target;
use truetail_grpc::CallMethod;

use super::{grpc, grpc_channel, messages, request};
use crate::args::run::RunArgs;
use crate::error::Result;

/// A target, and the method of each of its calls.
pub(crate) struct LoadTarget {
    pub target: Target,
    /// Empty if there are no calls.
    pub called: Vec<CallMethod>,
}

impl From<Target> for LoadTarget {
    fn from(target: Target) -> LoadTarget {
        LoadTarget { target, called: Vec::new() }
    }
}

impl From<(Target, Vec<CallMethod>)> for LoadTarget {
    fn from((target, called): (Target, Vec<CallMethod>)) -> LoadTarget {
        LoadTarget { target, called }
    }
}

impl LoadTarget {
    /// Returns the target that a URL, a file of targets or a curl command describes. May ask a server for its schema.
    ///
    /// # Errors
    /// If the arguments or files are not valid, a host does not resolve, or a server does not tell its schema.
    pub(crate) fn of(args: &RunArgs) -> Result<LoadTarget> {
        if messages::are_meant(args) {
            return messages::target(args).map(LoadTarget::from);
        }
        if grpc::are_on_channels(args) {
            return grpc_channel::target(args).map(LoadTarget::from);
        }
        if grpc::are_meant(args) {
            return grpc::target(args).map(LoadTarget::from);
        }
        let specs = request::specs(args)?;
        if specs.iter().any(grpc::is_call) {
            return grpc::of_targets(args, specs).map(LoadTarget::from);
        }
        grpc::refuse_in_http(args)?;
        request::of_specs(args, specs).map(LoadTarget::from)
    }
}
