//! Schemas of gRPC calls: from files, or from the server.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use truetail_engine::{Method, PreflightError, Request, RequestSet, Target, preflight_observed};
use truetail_grpc::{CollectedAnswer, GrpcUrl, Reflection, ReflectionVersion, Schema, answer_collector};
use truetail_model::record::GrpcStatus;
use truetail_model::time::Nanos;
use truetail_run::{GrpcConfig, GrpcKind};

use super::{input, request, tls};
use crate::args::run::RunArgs;
use crate::error::{CliError, Result, runtime_error, usage_error};
use crate::unanswered::preflight_error;

/// Time for each question to the server about its schema.
const TIMEOUT: Nanos = Nanos::from_secs(10);
/// The questions. The method is bidirectional, and each call asks all of its questions at once.
const CALLS: GrpcConfig = GrpcConfig { kind: GrpcKind::Bidirectional, message_gap_ns: None };
/// Advice if the server does not tell its schema.
const GIVE_FILE: &str = "give the schema with --proto FILE or --protoset FILE";

/// Schemas of several methods. A server is asked once about each of its services.
pub(crate) struct Schemas<'a> {
    args: &'a RunArgs,
    /// Origin, service and schema. A schema from files is that of all.
    known: Vec<(String, String, Schema)>,
}

impl Schemas<'_> {
    pub(crate) fn new(args: &RunArgs) -> Schemas<'_> {
        Schemas { args, known: Vec::new() }
    }

    /// Returns the schema of a method.
    ///
    /// # Errors
    /// As [`schema`].
    pub(crate) fn of(&mut self, url: &GrpcUrl) -> Result<Schema> {
        let is_of_all = self.args.grpc.protoset.is_some() || !self.args.grpc.proto.is_empty();
        let is_known = |origin: &str, service: &str| is_of_all || (origin == url.http_origin && service == url.service);
        if let Some((.., schema)) = self.known.iter().find(|(origin, service, _)| is_known(origin, service)) {
            return Ok(schema.clone());
        }
        let schema = schema(self.args, &url.http_origin, Some(&url.service))?;
        self.known.push((url.http_origin.clone(), url.service.clone(), schema.clone()));
        Ok(schema)
    }
}

/// Returns the schema of a server: from the given files, or from the server itself. The server is only asked for what
/// `name` needs (a service, a method or a message), or for all its services without a name.
///
/// # Errors
/// If a file is not a schema, or the server does not tell its schema.
pub(crate) fn schema(args: &RunArgs, origin: &str, name: Option<&str>) -> Result<Schema> {
    if let Some(file) = &args.grpc.protoset {
        let bytes = input::bytes(file)?;
        return Schema::of_descriptor_set(&bytes).map_err(|error| usage_error(format!("{}: {error}", file.display())));
    }
    if !args.grpc.proto.is_empty() {
        return compiled(args);
    }
    if !args.grpc.import_path.is_empty() {
        return Err(usage_error("--import-path is the folder of --proto; add --proto FILE"));
    }
    reflected(args, origin, name)
}

fn compiled(args: &RunArgs) -> Result<Schema> {
    let files = &args.grpc.proto;
    let folders = match &args.grpc.import_path[..] {
        [] => files.iter().map(|file| file.parent().map_or_else(PathBuf::new, Path::to_owned)).collect(),
        folders => folders.to_vec(),
    };
    let names = files.iter().map(|file| import_name(file, &folders)).collect::<Result<Vec<_>>>()?;
    let read = move |name: &str| {
        let found = folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file());
        found.map(|file| input::text(&file).map_err(|error| error.message)).transpose()
    };
    Schema::compile(&names, Arc::new(read)).map_err(|error| usage_error(format!("--proto: {error}")))
}

/// Returns the name of a file for `import` statements: its path below a folder.
fn import_name(file: &Path, folders: &[PathBuf]) -> Result<String> {
    let below = folders.iter().find_map(|folder| file.strip_prefix(folder).ok());
    let name = below.or_else(|| folders.iter().any(|folder| folder.join(file).is_file()).then_some(file));
    let name = name.filter(|name| folders.iter().any(|folder| folder.join(name).is_file()));
    match name.map(|name| name.to_string_lossy().replace('\\', "/")) {
        Some(name) => Ok(name),
        None if file.is_file() => Err(usage_error(format!(
            "--proto: {} is in no folder of --import-path; add the folder that its imports begin in",
            file.display()
        ))),
        None => Err(runtime_error(format!("--proto: there is no file {}; check its name", file.display()))),
    }
}

fn reflected(args: &RunArgs, origin: &str, name: Option<&str>) -> Result<Schema> {
    let name = name.map(|name| name.split_once('/').map_or(name, |(service, _)| service));
    let mut reflection = name.map_or_else(Reflection::of_all, Reflection::of_name);
    let mut version = ReflectionVersion::V1;
    while let Some(body) = reflection.next_body().map_err(usage_error)? {
        let mut asked = ask(args, origin, version, &body)?;
        if asked.0 == unimplemented() && version == ReflectionVersion::V1 {
            version = ReflectionVersion::V1Alpha;
            asked = ask(args, origin, version, &body)?;
        }
        let (status, answer) = asked;
        match GrpcStatus::of_recorded(status) {
            Some(GrpcStatus::OK) if answer.is_cut => {
                return Err(runtime_error(format!("{}: the schema is larger than 32 MiB; {GIVE_FILE}", origin)));
            }
            Some(GrpcStatus::OK) => reflection
                .take(&answer.body)
                .map_err(|error| runtime_error(format!("{}: {error}; {GIVE_FILE}", origin)))?,
            _ if status == unimplemented() => {
                return Err(runtime_error(format!("{} has no reflection; {GIVE_FILE}", origin)));
            }
            _ => {
                let message = answer.message.map_or_else(String::new, |message| format!(": {message}"));
                let status = truetail_model::record::status_name(status);
                let asked = format!("{}: the server answers {status} to reflection{message}", origin);
                return Err(runtime_error(format!("{asked}; {GIVE_FILE}")));
            }
        }
    }
    reflection.into_schema().map_err(|error| runtime_error(format!("{}: {error}; {GIVE_FILE}", origin)))
}

fn unimplemented() -> u16 {
    GrpcStatus::from_name("UNIMPLEMENTED").map_or(0, GrpcStatus::recorded)
}

/// Sends one body of questions. Returns the recorded status, and the answer.
fn ask(args: &RunArgs, origin: &str, version: ReflectionVersion, body: &[u8]) -> Result<(u16, CollectedAnswer)> {
    let method = Method::Other("POST".to_owned());
    let fixed = ["content-type: application/grpc", "te: trailers"].map(str::to_owned);
    let headers: Vec<String> = args.header.iter().cloned().chain(fixed).collect();
    let path = format!("{}{}", origin, version.path());
    let request = Request::new(method, &path, &headers, body.to_vec()).map_err(request::refused)?;
    let request = request.without_default_headers(&["accept".to_owned(), "content-length".to_owned()]);
    let server = request.origin();
    // Other addresses are for other servers of the load.
    let way = request::way(args)?.only_for(std::slice::from_ref(&server));
    let mut target = Target::for_origin(RequestSet::single(&request), server, &way).map_err(request::refused)?;
    target.use_calls(CALLS).map_err(request::refused)?;
    tls::secure(&mut target, args)?;
    let (observer, answer) = answer_collector();
    let got = preflight_observed(&mut target, TIMEOUT, &observer).map_err(|error| unanswered(&target, &error))?;
    let answer = answer.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok((got.status.unwrap_or_default(), answer))
}

fn unanswered(target: &Target, error: &PreflightError) -> CliError {
    match error.innermost() {
        PreflightError::Connect { .. } | PreflightError::TimedOut { .. } => runtime_error(format!(
            "{}: {error}; is the server running? truetail asks it for its schema, unless you give --proto FILE",
            target.origin()
        )),
        _ => preflight_error(target, error),
    }
}
