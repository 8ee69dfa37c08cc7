//! Options of gRPC calls.

use std::path::PathBuf;

use clap::Args;
use truetail_model::time::Nanos;

use super::values::length;

/// Calls to a grpc or grpcs URL.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct GrpcArgs {
    /// File with the service of a grpc:// URL; repeatable. Without it and --protoset, truetail asks the server
    /// (reflection)
    #[arg(long, value_name = "FILE", help_heading = "gRPC")]
    pub proto: Vec<PathBuf>,
    /// Folder of the files of --proto and of what they import; repeatable [default: the folder of each file]
    #[arg(long, value_name = "DIR", help_heading = "gRPC")]
    pub import_path: Vec<PathBuf>,
    /// Compiled service definition: the output of protoc --descriptor_set_out --include_imports
    #[arg(long, value_name = "FILE", conflicts_with = "proto", help_heading = "gRPC")]
    pub protoset: Option<PathBuf>,
    /// Time limit of each call, which the server learns too (grpc-timeout). Takes the place of --timeout
    #[arg(long, value_name = "TIME", value_parser = length, conflicts_with_all = ["timeout", "max_time"])]
    #[arg(allow_hyphen_values = true, help_heading = "gRPC")]
    pub deadline: Option<Nanos>,
    /// Distance of the messages of a call, if the method takes a stream of them; without it they are sent at once
    #[arg(long, value_name = "TIME", value_parser = length, allow_hyphen_values = true, help_heading = "gRPC")]
    pub message_gap: Option<Nanos>,
    /// Send each arrival as a message on a bidirectional call that stays open, as on other channels: -c is the number
    /// of calls, and --match finds the reply to a message
    #[arg(long, conflicts_with_all = ["deadline", "message_gap"], help_heading = "gRPC")]
    pub channel: bool,
}

impl GrpcArgs {
    /// Returns the options that were given, by their names.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> {
        let options = [
            ("--proto", !self.proto.is_empty()),
            ("--import-path", !self.import_path.is_empty()),
            ("--protoset", self.protoset.is_some()),
            ("--deadline", self.deadline.is_some()),
            ("--message-gap", self.message_gap.is_some()),
            ("--channel", self.channel),
        ];
        options.into_iter().filter(|(_, given)| *given).map(|(name, _)| name)
    }
}
