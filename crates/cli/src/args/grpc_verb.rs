//! `truetail grpc`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

const EXAMPLE: &str = "\
Examples:
  truetail grpc list 127.0.0.1:50051
  truetail grpc describe 127.0.0.1:50051 helloworld.Greeter/SayHello
  truetail grpc list grpcs://api.example.com --proto shop.proto";

/// Show the services of a gRPC server, their methods, and samples of their messages
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub(crate) struct GrpcVerbArgs {
    #[command(subcommand)]
    pub verb: GrpcVerb,
}

/// Verbs of `truetail grpc`.
#[derive(Subcommand, Debug)]
pub(crate) enum GrpcVerb {
    /// List services and methods
    List(GrpcPlaceArgs),
    /// Describe a service, a method or a message, with a sample of the message in JSON
    Describe(GrpcNameArgs),
}

/// A server or its schema.
#[derive(Args, Clone, Debug)]
pub(crate) struct GrpcPlaceArgs {
    /// Server: HOST:PORT, or grpcs://HOST[:PORT] over TLS. With --proto or --protoset it is not asked
    #[arg(value_name = "HOST:PORT")]
    pub place: String,
    /// .proto file, in place of asking the server (reflection); repeatable
    #[arg(long, value_name = "FILE")]
    pub proto: Vec<PathBuf>,
    /// Folder of the files of --proto and of what they import; repeatable [default: the folder of each file]
    #[arg(long, value_name = "DIR")]
    pub import_path: Vec<PathBuf>,
    /// Output of protoc --descriptor_set_out --include_imports, in place of asking the server
    #[arg(long, value_name = "FILE", conflicts_with = "proto")]
    pub protoset: Option<PathBuf>,
    /// Metadata 'name: value' for the server; repeatable
    #[arg(short = 'H', long)]
    pub header: Vec<String>,
    /// Accept any certificate
    #[arg(short = 'k', long)]
    pub insecure: bool,
    /// PEM file of certificates to trust in place of the system's
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

/// A name in the schema of a server.
#[derive(Args, Clone, Debug)]
pub(crate) struct GrpcNameArgs {
    #[command(flatten)]
    pub place: GrpcPlaceArgs,
    /// Full name of a service, method or message; all services without it
    pub name: Option<String>,
}

impl GrpcPlaceArgs {
    /// Returns the options as `truetail run` has them.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let file = |option: &str, file: &PathBuf| [OsString::from(format!("--{option}")), file.clone().into()];
        let mut words: Vec<OsString> = Vec::new();
        self.proto.iter().for_each(|path| words.extend(file("proto", path)));
        self.import_path.iter().for_each(|path| words.extend(file("import-path", path)));
        self.protoset.iter().for_each(|path| words.extend(file("protoset", path)));
        self.ca.iter().for_each(|path| words.extend(file("ca", path)));
        self.header.iter().for_each(|header| words.extend(["--header".into(), header.into()]));
        words.extend(self.insecure.then(|| OsString::from("--insecure")));
        words
    }
}
