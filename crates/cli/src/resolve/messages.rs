//! Messages of `truetail run`, and the channels that they are sent on.

use std::path::Path;

use truetail_engine::{
    ChannelUrl, Exchange, Framing, Matching, MessageOptions, Opening, Origin, Target, WebSocketRequest,
};
use truetail_requests::{
    BodyEncoder, Feed, Location, MessageContent, MessageSpec, parse_exchange, prepare_message, split_into_bytes,
};

use truetail_run::{StampBooks, StampUnit};

use super::load::DEFAULT_SEED;
use super::{grpc, input, request};
use crate::args::messages::UnitName;
use crate::args::run::RunArgs;
use crate::args::stream::StreamName;
use crate::error::{Result, usage_error};

const RESP2_PUSHES: &str =
    "--subscribe: in RESP2, a push would be taken for a reply; let --hello FILE begin with 'send HELLO 3'";

/// Returns true if the URL is that of a channel, other than a call of gRPC.
pub(crate) fn are_meant(args: &RunArgs) -> bool {
    args.url.as_deref().is_some_and(ChannelUrl::is_meant)
}

/// Refuses options of messages without the URL of a channel.
///
/// # Errors
/// If there is one.
pub(crate) fn refuse_elsewhere(args: &RunArgs) -> Result<()> {
    let is_meant = are_meant(args) || grpc::are_on_channels(args);
    match args.messages.given().next().filter(|_| !is_meant) {
        Some(option) if grpc::are_meant(args) => Err(usage_error(format!(
            "{option} is for messages on a channel; add --channel to send each arrival as a message on a call that stays open"
        ))),
        Some(option) => Err(usage_error(format!(
            "{option} is for messages on a channel; write a URL such as tcp://HOST:PORT, ws://HOST/PATH or redis://HOST:PORT"
        ))),
        None => Ok(()),
    }
}

/// Returns a note for a run whose messages have no replies.
pub(crate) fn notes(args: &RunArgs) -> Option<String> {
    let note = "times end when the message was handed to the system: no reply is waited for (--match none)";
    (args.messages.matching == Some(Matching::None)).then(|| note.to_owned())
}

/// Returns the target of messages.
///
/// # Errors
/// If the URL, the options or the rows are not valid, or the host does not resolve.
pub(crate) fn target(args: &RunArgs) -> Result<Target> {
    let channel = channel(args)?;
    let (framing, content) = match (channel.is_redis(), channel.is_websocket()) {
        (true, _) => command(args)?,
        (_, true) => (websocket_framing(args)?, content(args)?),
        _ => (framing(args)?, content(args)?),
    };
    let options = options(args, &channel, framing)?;
    refuse_checks_without_replies(args, &options.matching)?;
    refuse_unclear_pushes(args, &channel, &[&options.hello, &options.subscription])?;
    let source = if channel.is_redis() { "--command" } else { "--data" };
    let url = channel.origin.to_string();
    let spec = MessageSpec { location: Location::named(source), url, content, encoder: None };
    prepared(args, &spec, options, channel.origin)
}

/// Returns the rule by which replies find their messages.
///
/// # Errors
/// If there are no replies, and checks of them.
pub(super) fn matching(args: &RunArgs) -> Result<Matching> {
    let matching = args.messages.matching.clone().unwrap_or(Matching::Order);
    refuse_checks_without_replies(args, &matching)?;
    Ok(matching)
}

fn refuse_checks_without_replies(args: &RunArgs, matching: &Matching) -> Result<()> {
    if *matching == Matching::None && !args.checks.checks.is_empty() {
        return Err(usage_error("--check looks into replies, and with --match none there are none"));
    }
    Ok(())
}

/// Returns the target of prepared messages.
///
/// # Errors
/// If the rows or a message are not valid, or the host does not resolve.
pub(super) fn prepared(args: &RunArgs, spec: &MessageSpec, options: MessageOptions, origin: Origin) -> Result<Target> {
    let data = request::data(args)?;
    let feed = data.as_ref().map(|data| Feed { rows: data.rows(), order: request::order(args) });
    let messages = prepare_message(spec, &options, feed, args.seed.unwrap_or(DEFAULT_SEED)).map_err(request::wrong)?;
    let mut target = Target::for_origin(messages, origin, &request::way(args)?).map_err(request::refused)?;
    target.use_messages(options);
    refuse_unknown_delays(args, &target)?;
    Ok(target)
}

/// Returns the channel of sessions whose messages a script makes, and its options.
///
/// # Errors
/// If the URL or the options are not valid, or an option says what is sent or asks for pushes.
#[cfg(feature = "script")]
pub(crate) fn of_sessions(args: &RunArgs) -> Result<(ChannelUrl, MessageOptions)> {
    let pushes = "a session waits for replies, and reads no pushes";
    let sent = "session(s) says what is sent; write it there";
    let messages = &args.messages;
    let others = [
        ("--data-hex", messages.data_hex.is_some(), sent),
        ("--command", messages.redis_command.is_some(), sent),
        ("--subscribe", messages.subscribe.is_some(), pushes),
        ("--stamp", messages.stamp.is_some(), pushes),
        ("--stamp-unit", messages.stamp_unit.is_some(), pushes),
        ("--clock-bound", messages.clock_bound.is_some(), pushes),
    ];
    crate::error::refuse_beside("--script with session(s)", &others)?;
    let channel = channel(args)?;
    let framing = match (channel.is_redis(), channel.is_websocket()) {
        (true, _) => redis_framing(args)?,
        (_, true) => websocket_framing(args)?,
        _ => framing(args)?,
    };
    let options = options(args, &channel, framing)?;
    Ok((channel, options))
}

/// Returns the channel of the URL.
fn channel(args: &RunArgs) -> Result<ChannelUrl> {
    refuse_http(args)?;
    let channel = ChannelUrl::parse(args.url.as_deref().unwrap_or_default()).map_err(request::refused)?;
    if channel.is_websocket() {
        return Ok(channel);
    }
    if !args.header.is_empty() {
        return Err(usage_error("--header is for HTTP and ws:// URLs, and this channel has no headers"));
    }
    if args.messages.permessage_deflate {
        return Err(usage_error(
            "--permessage-deflate is for ws:// and wss:// URLs: it compresses messages of WebSocket",
        ));
    }
    if args.http2 {
        return Err(usage_error("--http2 is for HTTP and ws:// URLs, and this channel is a connection of its own"));
    }
    Ok(channel)
}

/// Returns the opening of a channel, its framing, and the rule by which replies find their messages.
fn options(args: &RunArgs, channel: &ChannelUrl, framing: Framing) -> Result<MessageOptions> {
    let matching = args.messages.matching.clone().unwrap_or(Matching::Order);
    if matches!(matching, Matching::Fix(_)) && framing != Framing::Fix {
        return Err(usage_error("--match fix:TAG compares fields of FIX; add --framing fix"));
    }
    if framing == Framing::Fix && matches!(matching, Matching::Json(_) | Matching::Bytes { .. }) {
        return Err(usage_error(
            "--match: a message of FIX gets fields when it is sent, so only its fields can be compared; use --match fix:TAG",
        ));
    }
    let hello = exchange(args.messages.hello.as_deref(), &framing, None)?;
    let subscription = exchange(args.messages.subscribe.as_deref(), &framing, None)?;
    let opening = opening(args, channel)?;
    Ok(MessageOptions { opening, hello, subscription, ..MessageOptions::new(framing, matching) })
}

/// Refuses options that are about HTTP.
pub(super) fn refuse_http(args: &RunArgs) -> Result<()> {
    let http = [
        ("--method", args.method.is_some()),
        ("--body-type", args.body_type.is_some()),
        ("--user", args.user.is_some()),
        ("--max-streams", args.max_streams.is_some()),
        ("--no-keepalive", args.no_keepalive),
        ("--stream", args.streams.stream.is_some()),
        ("--llm", args.streams.reads_llm()),
        ("--targets", args.targets.is_some()),
        ("--curl", args.curl.is_some()),
        ("--replay", args.replay.replay.is_some()),
        ("--trace", args.traces.trace),
        ("--keep-header", !args.kept_headers.keep_header.is_empty()),
    ];
    match http.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(usage_error(format!("{option} is for HTTP, and messages are sent on a channel"))),
        None => Ok(()),
    }
}

fn command(args: &RunArgs) -> Result<(Framing, MessageContent)> {
    let framing = redis_framing(args)?;
    let text = args.messages.redis_command.as_deref().unwrap_or_default();
    let words = split_into_bytes(text).map_err(|error| usage_error(format!("--command: {error}")))?;
    if words.is_empty() {
        return Err(usage_error("a redis URL needs a command; add --command 'GET key'"));
    }
    Ok((framing, MessageContent::Command(words)))
}

/// Returns the framing of Redis, after refusing what Redis sets.
fn redis_framing(args: &RunArgs) -> Result<Framing> {
    let others = [
        ("--framing", args.messages.framing.is_some()),
        ("--data", args.data.is_some()),
        ("--data-file", args.data_file.is_some()),
        ("--data-hex", args.messages.data_hex.is_some()),
    ];
    if let Some((option, _)) = others.iter().find(|(_, given)| *given) {
        return Err(usage_error(format!(
            "{option} is not for redis, which has its own framing; use --command 'GET key'"
        )));
    }
    if args.messages.matching.as_ref().is_some_and(|matching| *matching != Matching::Order) {
        return Err(usage_error("--match is not for redis, whose replies come in order"));
    }
    Ok(Framing::Redis)
}

/// Lets pushes be read as streams, if there is a subscription.
pub(crate) fn read_pushes(args: &mut RunArgs) {
    if args.messages.subscribe.is_some() {
        args.streams.stream = Some(StreamName::Pushes);
    }
}

/// Returns empty books of the sender's times in pushes, if they are read.
pub(crate) fn stamps(args: &RunArgs) -> Option<StampBooks> {
    let bound = args.messages.clock_bound.unwrap_or_default();
    let unit = args.messages.stamp_unit.map_or(StampUnit::Ms, UnitName::unit);
    args.messages.stamp.as_ref().map(|place| StampBooks::new(place.0.clone(), unit, bound.0))
}

/// Refuses a sender's time without pushes, or from a clock about which nothing is known.
fn refuse_unknown_delays(args: &RunArgs, target: &Target) -> Result<()> {
    let messages = &args.messages;
    if messages.stamp.is_none() {
        let options =
            [("--stamp-unit", messages.stamp_unit.is_some()), ("--clock-bound", messages.clock_bound.is_some())];
        return match options.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(usage_error(format!("{option} is about the sender's time; add --stamp json:/ts"))),
            None => Ok(()),
        };
    }
    if messages.subscribe.is_none() {
        return Err(usage_error("--stamp is read in pushes; ask for them with --subscribe FILE"));
    }
    match target.endpoints().iter().find(|endpoint| !endpoint.is_local()) {
        Some(endpoint) if messages.clock_bound.is_none() => Err(usage_error(format!(
            "--stamp: the sender at {endpoint} may have another clock, so the delay from its time is unknown; add --clock-bound \
             with the most that the clocks differ, such as 2ms, or 0s for the same clock"
        ))),
        _ => Ok(()),
    }
}

/// Refuses a subscription whose pushes cannot be told from replies, or in a load without messages.
fn refuse_unclear_pushes(args: &RunArgs, channel: &ChannelUrl, exchanges: &[&Exchange]) -> Result<()> {
    if args.messages.subscribe.is_none() {
        return Ok(());
    }
    if channel.is_redis() {
        let is_marked = exchanges.iter().flat_map(|exchange| exchange.messages()).any(chooses_resp3);
        return if is_marked { Ok(()) } else { Err(usage_error(RESP2_PUSHES)) };
    }
    if args.data.is_none() && args.data_file.is_none() && args.messages.data_hex.is_none() {
        return Err(usage_error(
            "--subscribe needs messages, since they are the load and pushes come beside them; add some, such as --data ping",
        ));
    }
    refuse_pushes_by_order(args)
}

/// Refuses a subscription whose pushes would be taken for replies.
pub(super) fn refuse_pushes_by_order(args: &RunArgs) -> Result<()> {
    match &args.messages.matching {
        None | Some(Matching::Order) if args.messages.subscribe.is_some() => Err(usage_error(
            "--subscribe: by order, a push would be taken for a reply; add --match json:/id, --match bytes:OFFSET:LENGTH, or \
             --match none if messages have no replies",
        )),
        _ => Ok(()),
    }
}

/// Returns true for the command after which Redis marks its pushes.
fn chooses_resp3(command: &[u8]) -> bool {
    let hello = b"\r\n$5\r\nHELLO\r\n$1\r\n3\r\n";
    command.to_ascii_uppercase().windows(hello.len()).any(|part| part == hello)
}

/// Reads the file of an exchange, if there is one. What it sends is encoded by `encoder`.
pub(super) fn exchange(file: Option<&Path>, framing: &Framing, encoder: Option<&BodyEncoder>) -> Result<Exchange> {
    let Some(file) = file else { return Ok(Exchange::default()) };
    parse_exchange(&input::text(file)?, &file.display().to_string(), framing, encoder).map_err(request::wrong)
}

/// Returns the exchange that opens each channel.
fn opening(args: &RunArgs, channel: &ChannelUrl) -> Result<Opening> {
    if channel.is_websocket() {
        let refused = |line: String, why: &str| {
            let name = line.split(':').next().unwrap_or_default();
            usage_error(format!("the header '{name}' cannot be sent: {why}"))
        };
        let mut request = WebSocketRequest::new(&channel.path, &channel.host_field(), &args.header)
            .map_err(|line| refused(line, "it is malformed, or WebSocket sets it itself"))?;
        if args.http2 {
            let is_secure = channel.origin.scheme == "wss";
            request = request.over_http2(is_secure).map_err(|line| refused(line, "HTTP/2 does not allow it"))?;
        }
        if args.messages.permessage_deflate {
            request = request.offering_deflate();
        }
        return Ok(Opening::WebSocket(request));
    }
    let login = channel.redis_login();
    Ok(if login.is_empty() { Opening::Nothing } else { Opening::Redis(login) })
}

fn websocket_framing(args: &RunArgs) -> Result<Framing> {
    match args.messages.framing {
        Some(_) => Err(usage_error("--framing is for tcp:// and tls:// URLs: a WebSocket has frames of its own")),
        None => Ok(Framing::WebSocket { is_text: args.messages.data_hex.is_none() }),
    }
}

fn framing(args: &RunArgs) -> Result<Framing> {
    let help = "--framing line, crlf, nul, length:4be, fixed:64, delimiter:HEX or fix";
    let missing = || usage_error(format!("a message on a TCP channel needs an end; add {help}"));
    args.messages.framing.clone().ok_or_else(missing)
}

fn content(args: &RunArgs) -> Result<MessageContent> {
    if args.messages.redis_command.is_some() {
        return Err(usage_error("--command is for redis:// URLs; give the message with --data"));
    }
    let content = match &args.messages.data_hex {
        None => request::body(args)?,
        Some(_) if args.data.is_some() || args.data_file.is_some() => {
            return Err(usage_error("--data-hex and --data contradict each other; a message has one content"));
        }
        Some(digits) => truetail_engine::bytes_of_hex(digits).ok_or_else(|| {
            usage_error(format!("--data-hex: '{digits}' is not an even number of hexadecimal digits"))
        })?,
    };
    Ok(MessageContent::Bytes(content))
}
