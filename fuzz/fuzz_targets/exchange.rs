//! What users write about messages: files of exchanges, commands of Redis, messages with values, framings, rules and
//! URLs. Refused in one line, or a message is found again as the reply to itself.
#![no_main]

use libfuzzer_sys::fuzz_target;
use truetail_engine::{ChannelUrl, Framing, Matching, MessageOptions, TestChannel};
use truetail_fuzz::split;
use truetail_grpc::GrpcUrl;
use truetail_model::record::Outcome;
use truetail_requests::{Location, MessageContent, MessageSpec, parse_exchange, prepare_message, split_into_bytes};

const MESSAGES: u32 = 3;

fuzz_target!(|input: &[u8]| {
    let mut parts = split(input).map(|part| std::str::from_utf8(part).unwrap_or_default());
    let mut next = || parts.next().unwrap_or_default();
    let [framing, matching, message, file, url] = std::array::from_fn(|_| next());
    one_line(ChannelUrl::parse(url).map(drop));
    one_line(GrpcUrl::parse(url).map(drop));
    let Some(framing) = framing_of(framing) else { return };
    one_line(parse_exchange(file, "file", &framing, None).map(drop));
    let Some(matching) = one_line(matching.parse::<Matching>()) else { return };
    // Rules that the command line refuses with this framing.
    let is_of_fields = matches!(matching, Matching::Fix(_));
    let is_refused = match &framing {
        Framing::Fix => matches!(matching, Matching::Json(_) | Matching::Bytes { .. }),
        Framing::Redis => matching != Matching::Order,
        _ => is_of_fields,
    };
    let Some(content) = content(message, &framing).filter(|_| !is_refused) else { return };
    let options = MessageOptions::new(framing, matching);
    let spec =
        MessageSpec { location: Location::named("message"), url: "tcp://a:1".to_owned(), content, encoder: None };
    let Some(messages) = one_line(prepare_message(&spec, &options, None, 1)) else { return };
    let mut channel = TestChannel::new(&messages, options.clone());
    channel.begin(MESSAGES);
    let sent = std::mem::take(&mut channel.sent);
    if options.matching == Matching::None {
        assert_eq!(channel.in_flight(), 0, "without replies, a message ends when it is sent");
        return;
    }
    // A message of the peer has no keys, and what a client masks is no frame of a server.
    if matches!(options.framing, Framing::WebSocket { .. }) {
        return;
    }
    assert_eq!(channel.receive(&sent), Ok(()), "{:?}", String::from_utf8_lossy(&sent));
    let good = Outcome::ANSWERED;
    assert!(channel.ended.iter().all(|(_, outcome)| *outcome == good), "{:?}", channel.ended);
    assert_eq!(channel.ended.len(), MESSAGES as usize, "{:?}", String::from_utf8_lossy(&sent));
});

fn framing_of(text: &str) -> Option<Framing> {
    match text {
        "redis" => Some(Framing::Redis),
        "websocket" => Some(Framing::WebSocket { is_text: true }),
        _ => one_line(text.parse()),
    }
}

fn content(message: &str, framing: &Framing) -> Option<MessageContent> {
    if *framing != Framing::Redis {
        return Some(MessageContent::Bytes(message.as_bytes().to_vec()));
    }
    let words = one_line(split_into_bytes(message))?;
    (!words.is_empty()).then_some(MessageContent::Command(words))
}

/// Returns the value, if there is one. An error has one line.
fn one_line<T>(read: Result<T, impl std::fmt::Display>) -> Option<T> {
    read.map_err(|error| assert!(!error.to_string().contains('\n'), "{error}")).ok()
}
