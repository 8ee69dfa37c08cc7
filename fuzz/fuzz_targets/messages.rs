//! The bytes of a peer on a channel, valid or not, in pieces that the input chooses: WebSocket, each framing, RESP, FIX.
//! What becomes of the messages does not depend on where the bytes are cut, and each message ends at most once.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use truetail_engine::{MessageOptions, Opening, RequestSet, TestChannel, WebSocketRequest};
use truetail_fuzz::{CHANNELS, Channel, Cut};
use truetail_model::record::{Cause, Outcome};
use truetail_requests::{Location, MessageContent, MessageSpec, parse_exchange, prepare_message, split_into_bytes};
use truetail_run::MessageBooks;

const MESSAGES: u32 = 5;
/// Pongs that wait to be sent: a megabyte, and what one reading adds.
const MAX_OUTPUT: usize = 4 << 20;

/// What the channels of [`CHANNELS`] send.
static LOADS: LazyLock<Vec<(MessageOptions, RequestSet)>> = LazyLock::new(|| CHANNELS.iter().map(load).collect());

type Heard = (bool, Vec<(u32, Outcome)>, Result<(), Cause>, Vec<u8>, MessageBooks);

fuzz_target!(|input: &[u8]| {
    let Some((kind, rest)) = input.split_first() else { return };
    let place = usize::from(*kind) % CHANNELS.len();
    let (options, messages) = &LOADS[place];
    let Cut { flag, pieces } = Cut::read(rest);
    let whole = pieces.concat();
    // With the flag, the opening is the input's own, handshake and all.
    // Over HTTP/2, a server must not answer before it was asked, which depends on the cuts.
    let begun = || begun(messages, options, !flag || CHANNELS[place].framing == "websocket-http2");
    assert_eq!(heard(&[&whole], begun()), heard(&pieces, begun()), "{}", CHANNELS[place].framing);
});

fn load(channel: &Channel) -> (MessageOptions, RequestSet) {
    let is_redis = channel.framing == "redis";
    let framing = match channel.framing {
        "redis" => truetail_engine::Framing::Redis,
        "websocket" | "websocket-deflate" | "websocket-http2" => truetail_engine::Framing::WebSocket { is_text: true },
        name => name.parse().expect("a framing"),
    };
    let exchange = |text: &str| parse_exchange(text, "file", &framing, None).unwrap_or_default();
    let request = WebSocketRequest::new("/", "a.test", &[]).expect("a request");
    let opening = match channel.framing {
        "websocket" => Opening::WebSocket(request),
        "websocket-deflate" => Opening::WebSocket(request.offering_deflate()),
        "websocket-http2" => Opening::WebSocket(request.over_http2(false).expect("no headers").offering_deflate()),
        _ => Opening::Nothing,
    };
    let [hello, subscription] = [channel.hello, channel.subscribe].map(exchange);
    let matching = channel.matching.parse().expect("a rule");
    let options = MessageOptions { opening, hello, subscription, ..MessageOptions::new(framing.clone(), matching) };
    let content = match is_redis {
        true => MessageContent::Command(split_into_bytes(channel.message).expect("words")),
        false => MessageContent::Bytes(channel.message.as_bytes().to_vec()),
    };
    let spec =
        MessageSpec { location: Location::named("message"), url: "tcp://a:1".to_owned(), content, encoder: None };
    let messages = prepare_message(&spec, &options, None, 1).expect("messages");
    (options, messages)
}

fn begun(messages: &RequestSet, options: &MessageOptions, is_greeted: bool) -> TestChannel {
    let mut channel = TestChannel::new(messages, options.clone());
    if is_greeted {
        channel.greet();
    }
    channel.begin(MESSAGES);
    channel
}

fn heard(pieces: &[&[u8]], mut channel: TestChannel) -> Heard {
    let mut came_to = Ok(());
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        came_to = channel.receive(piece);
        assert!(channel.to_send().len() <= MAX_OUTPUT, "{} bytes wait", channel.to_send().len());
        if came_to.is_err() {
            assert_eq!(channel.in_flight(), 0, "what is given up has ended");
            break;
        }
    }
    let mut tags: Vec<u32> = channel.ended.iter().map(|(tag, _)| *tag).collect();
    tags.sort_unstable();
    assert!(tags.windows(2).all(|two| two[0] < two[1]), "one end for a message: {tags:?}");
    assert_eq!(tags.len() + channel.in_flight(), MESSAGES as usize);
    (channel.is_open(), channel.ended.clone(), came_to, channel.to_send().to_vec(), channel.books().clone())
}
