//! Channels whose messages are compressed, with a server played by the test.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};
use proptest::prelude::*;
use truetail_model::random::mix64;
use truetail_model::record::{Cause, Outcome};

use super::super::Exchange;
use super::WebSocketRequest;
use super::deflate::{DeflateTerms, Deflater};
use super::frames::FrameReader;
use super::tests::{Client, frame, unmasked};
use crate::protocol::{Conversation, Flow};

const GOOD: Outcome = Outcome::ANSWERED;
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

/// The other side of a channel.
struct Server {
    deflate: Compress,
    inflate: Decompress,
    forgets: bool,
}

impl Server {
    fn new(forgets: bool) -> Server {
        Server { deflate: Compress::new(Compression::default(), false), inflate: Decompress::new(false), forgets }
    }

    fn compress(&mut self, message: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(message.len() * 2 + 100);
        self.deflate.compress_vec(message, &mut out, FlushCompress::Sync).unwrap();
        if self.forgets {
            self.deflate.reset();
        }
        out.strip_suffix(&TAIL).unwrap().to_vec()
    }

    fn decompress(&mut self, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(200_000);
        let whole = [payload, &TAIL].concat();
        let begin = self.inflate.total_in();
        while self.inflate.total_in() - begin < whole.len() as u64 {
            let taken = (self.inflate.total_in() - begin) as usize;
            self.inflate.decompress_vec(&whole[taken..], &mut out, FlushDecompress::Sync).unwrap();
        }
        if self.forgets {
            self.inflate.reset(false);
        }
        out
    }
}

/// Returns a client whose offer was answered with this extension.
fn answered(extension: &str) -> (Client, Flow) {
    let request = WebSocketRequest::new("/", "a.test", &[]).unwrap().offering_deflate();
    let mut client = Client::asking(request, Exchange::default());
    let asked = String::from_utf8(client.channel.output(&client.protocol).to_vec()).unwrap();
    assert!(asked.contains("\r\nSec-WebSocket-Extensions: permessage-deflate\r\n"), "{asked}");
    let line = if extension.is_empty() { String::new() } else { format!("Sec-WebSocket-Extensions: {extension}\r\n") };
    let answer = client.good_answer(&line);
    let flow = client.receive(answer.as_bytes());
    (client, flow)
}

fn open(extension: &str, messages: u32) -> Client {
    let (mut client, flow) = answered(extension);
    assert_eq!(flow, Flow::Continue, "{extension}");
    (0..messages).for_each(|tag| client.begin(tag));
    client
}

/// Returns the content of a message that arrives in pieces.
fn read(reader: &mut FrameReader, bytes: &[u8], size: usize) -> Vec<u8> {
    let mut content = Vec::new();
    for mut piece in bytes.chunks(size) {
        while !piece.is_empty() {
            let (taken, _) = reader.feed(piece, &mut |part| content.extend_from_slice(part)).unwrap();
            piece = &piece[taken..];
        }
    }
    content
}

#[test]
fn a_server_may_agree_decline_or_break_the_rules() {
    for (extension, compressed) in [
        ("", 0),
        ("permessage-deflate", 1),
        ("Permessage-Deflate; server_no_context_takeover ;client_no_context_takeover", 1),
        ("permessage-deflate; server_max_window_bits=10", 1),
        ("permessage-deflate; server_max_window_bits=\"8\"", 1),
    ] {
        let (client, flow) = answered(extension);
        assert_eq!((flow, client.protocol.books.channels_compressed), (Flow::Continue, compressed), "{extension}");
    }
    for extension in [
        "permessage-bzip2",
        "permessage-deflate, permessage-deflate",
        "permessage-deflate; client_max_window_bits=15",
        "permessage-deflate; server_max_window_bits",
        "permessage-deflate; server_max_window_bits=16",
        "permessage-deflate; server_no_context_takeover=1",
        "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
        "permessage-deflate; other",
    ] {
        assert_eq!(answered(extension).1, Flow::Close(Cause::NoWebSocket), "{extension}");
    }
    let mut plain = Client::asking(WebSocketRequest::new("/", "a.test", &[]).unwrap(), Exchange::default());
    let answer = plain.good_answer("Sec-WebSocket-Extensions: permessage-deflate\r\n");
    assert_eq!(plain.receive(answer.as_bytes()), Flow::Close(Cause::NoWebSocket), "it was not offered");
}

#[test]
fn messages_are_compressed_with_and_without_the_context_of_those_before() {
    for (extension, forgets) in
        [("permessage-deflate", false), ("permessage-deflate; client_no_context_takeover", true)]
    {
        let mut client = open(extension, 0);
        client.take_output();
        let mut server = Server::new(forgets);
        for tag in 0..3 {
            client.begin(tag);
            let (first, payload) = unmasked(&client.take_output());
            assert_eq!(first, 0xc1, "{extension}");
            assert_eq!(server.decompress(&payload), format!("é{tag}").as_bytes(), "{extension}");
        }
        let mut deflater = Deflater::new(DeflateTerms::parse(extension).unwrap());
        let message: Vec<u8> = (0..200).collect();
        let [first, second] = [0, 1].map(|_| deflater.compress(&message).len());
        // With the context, a message that resembles the one before is a reference to it.
        assert_eq!(first == second, forgets, "{extension}: {first}, then {second} bytes");
    }
}

/// The examples of RFC 7692, section 7.2.3, which all say "Hello".
#[test]
fn the_examples_of_the_standard_are_read() {
    let hello = b"\xf2\x48\xcd\xc9\xc9\x07\x00";
    let cases: [(&str, Vec<u8>, usize); 7] = [
        ("one message", frame(0xc1, hello), 1),
        ("two fragments", [frame(0x41, &hello[..3]), frame(0x80, &hello[3..])].concat(), 1),
        ("the context of the one before", [frame(0xc1, hello), frame(0xc1, b"\xf2\x00\x11\x00\x00")].concat(), 2),
        ("a block without compression", frame(0xc1, b"\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00"), 1),
        ("a last block", frame(0xc1, b"\xf3\x48\xcd\xc9\xc9\x07\x00\x00"), 1),
        ("two blocks", frame(0xc1, b"\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00"), 1),
        ("one that is not compressed", [frame(0x81, b"Hello"), frame(0xc1, hello)].concat(), 2),
    ];
    for (name, bytes, count) in cases {
        for size in 1..=bytes.len() {
            let mut client = open("permessage-deflate", 2);
            client.take_output();
            assert_eq!(client.receive_pieces(&bytes, size), Flow::Continue, "{name} by {size}");
            let ended: Vec<_> = client.ended.iter().map(|(tag, outcome, _)| (*tag, *outcome)).collect();
            assert_eq!(ended, (0..count as u32).map(|tag| (tag, GOOD)).collect::<Vec<_>>(), "{name} by {size}");
        }
    }
}

#[test]
fn what_the_standard_forbids_closes_a_compressed_channel() {
    let mut server = Server::new(true);
    let large = server.compress(&vec![b'x'; (16 << 20) + 1]);
    let no_text = server.compress(b"\xff");
    let cut_text = server.compress(b"\xc3");
    for (name, bytes, cause) in [
        ("a compressed ping", frame(0xc9, b""), Cause::BadMessage),
        ("a compressed continuation", [frame(0x41, b""), frame(0xc0, b"")].concat(), Cause::BadMessage),
        ("another reserved bit", frame(0xa1, b""), Cause::BadMessage),
        ("no deflate", frame(0xc1, b"\xff\xff\xff\xff"), Cause::BadMessage),
        ("a text that is none", frame(0xc1, &no_text), Cause::BadMessage),
        ("a text that is cut", frame(0xc1, &cut_text), Cause::BadMessage),
        ("last blocks without end", frame(0xc1, &b"\x03\x00".repeat(1025)), Cause::BadMessage),
        ("few bytes that become many", frame(0xc1, &large), Cause::MessageTooLarge),
    ] {
        let mut client = open("permessage-deflate", 2);
        assert_eq!(client.receive(&bytes), Flow::Close(cause), "{name}");
    }
}

proptest! {
    /// Messages that compress well, or not at all, and empty ones.
    #[test]
    fn any_message_can_be_decompressed(
        messages in prop::collection::vec((0..100_000usize, any::<bool>()), 1..5),
        forgets: bool,
    ) {
        let extension = if forgets { "permessage-deflate; client_no_context_takeover" } else { "permessage-deflate" };
        let mut deflater = Deflater::new(DeflateTerms::parse(extension).unwrap());
        let mut server = Server::new(forgets);
        for (length, is_random) in messages.into_iter().chain([(0, false), (0, false), (1, false)]) {
            let byte = |at: usize| if is_random { mix64(at as u64) as u8 } else { (at / 1000) as u8 };
            let message: Vec<u8> = (0..length).map(byte).collect();
            let payload = deflater.compress(&message);
            prop_assert!(!payload.is_empty());
            prop_assert!(server.decompress(payload) == message);
        }
    }

    /// Sizes around the buffers of the decompressor, and cuts within them.
    #[test]
    fn any_message_comes_as_it_was_sent(
        messages in prop::collection::vec((0..40_000usize, any::<u8>(), 1..7usize), 1..5),
        forgets: bool,
        size in 1..9_000usize,
    ) {
        let extension = if forgets { "permessage-deflate; server_no_context_takeover" } else { "permessage-deflate" };
        let mut server = Server::new(forgets);
        let mut reader = FrameReader::default();
        reader.inflate(DeflateTerms::parse(extension).unwrap());
        let mut client = open(extension, messages.len() as u32);
        client.take_output();
        for (length, byte, step) in &messages {
            let content: Vec<u8> = (0..*length).map(|at| byte.wrapping_add((at / step) as u8)).collect();
            let payload = server.compress(&content);
            prop_assert!(read(&mut reader, &frame(0xc2, &payload), size) == content);
            prop_assert_eq!(client.receive_pieces(&frame(0xc2, &payload), size), Flow::Continue);
        }
        prop_assert_eq!(client.ended.len(), messages.len());
        prop_assert!(client.ended.iter().all(|(_, outcome, _)| *outcome == GOOD));
    }
}
