//! Messages of `truetail run` on bidirectional gRPC calls that stay open.

use truetail_engine::{CallRequest, Forms, Framing, Matching, MessageOptions, Opening, Request, Target};
use truetail_grpc::{CallMethod, GrpcUrl};
use truetail_requests::{BodyEncoder, Location, MessageContent, MessageSpec, TargetSpec};
use truetail_run::GrpcKind;

use super::grpc_schema::Schemas;
use super::{grpc, messages, request};
use crate::args::run::RunArgs;
use crate::error::{Result, usage_error};

/// Returns the target of messages on calls of one method, and the method. May ask the server for its schema.
///
/// # Errors
/// If the URL, the options, the schema, the message or the rows are not valid, the method is not bidirectional, or the
/// server does not tell its schema.
pub(crate) fn target(args: &RunArgs) -> Result<(Target, Vec<CallMethod>)> {
    messages::refuse_http(args)?;
    refuse_others(args)?;
    let matching = messages::matching(args)?;
    let text = args.url.as_deref().unwrap_or_default();
    let url = GrpcUrl::parse(text).map_err(usage_error)?;
    let method = Schemas::new(args).of(&url)?.method(&url.service, &url.method).map_err(usage_error)?.on_channels();
    refuse_other_kinds(&method)?;
    let head = grpc::request_of(args, TargetSpec::new(Location::named("-H"), text), &url, method.clone());
    let head = Request::new(head.method, &head.url, &head.headers, Vec::new()).map_err(request::refused)?;
    let of_message = method.clone();
    let encoder = BodyEncoder::new("http", "grpc", move |text| of_message.message_bytes(text));
    let mut options = MessageOptions::new(Framing::Grpc, matching);
    options.hello = messages::exchange(args.messages.hello.as_deref(), &options.framing, Some(&encoder))?;
    options.subscription = messages::exchange(args.messages.subscribe.as_deref(), &options.framing, Some(&encoder))?;
    options.opening = Opening::Call(CallRequest::new(&head).map_err(request::refused)?);
    options.forms = Some(Forms::new(method.clone()));
    let content = MessageContent::Bytes(request::body(args)?);
    let spec =
        MessageSpec { location: Location::named("--data"), url: text.to_owned(), content, encoder: Some(encoder) };
    messages::prepared(args, &spec, options, head.origin()).map(|target| (target, vec![method]))
}

fn refuse_other_kinds(method: &CallMethod) -> Result<()> {
    let takes = match method.kind() {
        GrpcKind::Bidirectional => return Ok(()),
        GrpcKind::Unary => "takes one message and answers with one",
        GrpcKind::ServerStreaming => "takes one message",
        GrpcKind::ClientStreaming => "answers with one message",
    };
    let name = method.full_name();
    Err(usage_error(format!(
        "--channel needs a method with a stream each way, and {name} {takes}; leave --channel out"
    )))
}

/// Refuses options of other channels.
fn refuse_others(args: &RunArgs) -> Result<()> {
    let of_messages = &args.messages;
    let others = [
        ("--framing", of_messages.framing.is_some(), "gRPC has a framing of its own"),
        ("--command", of_messages.redis_command.is_some(), "it is for redis:// URLs; give the message with --data"),
        ("--permessage-deflate", of_messages.permessage_deflate, "it compresses messages of WebSocket"),
        ("--data-hex", of_messages.data_hex.is_some(), "a message of gRPC is written in JSON; give it with --data"),
    ];
    if let Some((option, _, why)) = others.iter().find(|(_, given, _)| *given) {
        return Err(usage_error(format!("{option}: {why}")));
    }
    if let Some(Matching::Fix(_)) = of_messages.matching {
        return Err(usage_error("--match fix:TAG compares fields of FIX; for gRPC use order, json:/id or none"));
    }
    let name = |line: &String| line.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
    if args.header.iter().any(|line| name(line) == "grpc-accept-encoding") {
        return Err(usage_error("-H grpc-accept-encoding: replies on a channel are not decompressed; leave it out"));
    }
    messages::refuse_pushes_by_order(args)
}
