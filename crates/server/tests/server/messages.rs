//! Messages on channels: in WebSocket and on TCP.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use truetail_model::service::{Fault, ReplyOrder, Route, Selector, Service};
use truetail_model::time::Nanos;
use truetail_server::{Ending, Server, ServerOptions};
use tungstenite::{Bytes, Message, WebSocket};

use crate::support::{Client, End, endings, faulty, options, stall, start, stop_and_check, wait_for_admitted};

fn framed(framing: &str, service: &Service) -> Server {
    let framing = Some(framing.parse().unwrap());
    Server::start(ServerOptions { framing, ..options(service.clone()) }).unwrap()
}

/// Opens a channel with tungstenite, which shares no code with truetail.
fn websocket(server: &Server) -> WebSocket<TcpStream> {
    websocket_at(server, "/any/path")
}

fn websocket_at(server: &Server, path: &str) -> WebSocket<TcpStream> {
    let stream = TcpStream::connect(server.addr()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    tungstenite::client(format!("ws://{}{path}", server.addr()), stream).unwrap().0
}

#[test]
fn each_message_on_tcp_is_answered_by_itself() {
    let service = faulty(vec![]);
    for (framing, messages) in [
        ("line", [&b"a\n"[..], b"\n", b"long\n"]),
        ("crlf", [b"a\r\n", b"\r\n", b"a\nb\r\n"]),
        ("nul", [b"a\0", b"\0", b"\n\0"]),
        ("fixed:3", [b"abc", b"\0\0\0", b"xyz"]),
        ("length:2be", [b"\0\x01a", b"\0\0", b"\0\x03\0\0\0"]),
        ("length:4le", [b"\x01\0\0\0a", b"\0\0\0\0", b"\x02\0\0\0\n\n"]),
    ] {
        let server = framed(framing, &service);
        let mut client = Client::connect(&server);
        // All at once, in single bytes, and again at once.
        let all = messages.concat();
        client.send(&all);
        for byte in &all {
            client.send([*byte]);
            std::thread::sleep(Duration::from_micros(200));
        }
        client.send(&all);
        wait_for_admitted(&server, 9);
        while client.some_bytes() < 3 * all.len() {}
        let truth = stop_and_check(server, &service);
        assert_eq!(endings(&truth), [Ending::Answered; 9], "{framing}");
        assert_eq!(client.until_end().0, [&all[..]; 3].concat(), "{framing}");
    }
}

#[test]
fn messages_in_websocket_come_back_as_they_are() {
    let service = faulty(vec![]);
    let server = start(service.clone());
    let mut channel = websocket(&server);
    let large = vec![0x55; 300_000];
    let messages =
        [Message::text("é"), Message::text(""), Message::binary(b"\0\xff".as_slice()), Message::binary(large)];
    for message in &messages {
        channel.send(message.clone()).unwrap();
        assert_eq!(&channel.read().unwrap(), message);
    }
    // A ping is answered, and is no message of the service.
    channel.send(Message::Ping(Bytes::from_static(b"p"))).unwrap();
    assert_eq!(channel.read().unwrap(), Message::Pong(Bytes::from_static(b"p")));
    channel.close(None).unwrap();
    assert!(channel.read().unwrap().is_close());
    let truth = stop_and_check(server, &service);
    assert_eq!(endings(&truth), [Ending::Answered; 4]);
}

#[test]
fn pings_are_answered_in_order_before_messages_that_wait() {
    let service = faulty(vec![stall(Nanos::from_millis(300))]);
    let server = start(service.clone());
    let mut channel = websocket(&server);
    channel.write(Message::text("held")).unwrap();
    for ping in ["a", "b", "c"] {
        channel.write(Message::Ping(Bytes::from_static(ping.as_bytes()))).unwrap();
    }
    channel.flush().unwrap();
    for pong in ["a", "b", "c"] {
        assert_eq!(channel.read().unwrap(), Message::Pong(Bytes::from_static(pong.as_bytes())));
    }
    assert_eq!(channel.read().unwrap(), Message::text("held"));
    let truth = stop_and_check(server, &service);
    assert!(truth.rows[0].answered_ns >= Some(300_000_000), "{:?}", truth.rows);
}

/// Of four messages, every third is late by 300 ms.
#[test]
fn a_reply_passes_a_late_one_if_the_service_says_so() {
    let fault = Fault::EveryNth { every: 3, pause: Nanos::from_millis(300) };
    let messages = ["a\n", "b\n", "late\n", "c\n"];
    for (replies, expected) in [(ReplyOrder::InOrder, "a\nb\nlate\nc\n"), (ReplyOrder::AsReady, "a\nb\nc\nlate\n")] {
        let service = Service { replies, ..faulty(vec![fault.clone()]) };
        let server = framed("line", &service);
        let mut client = Client::connect(&server);
        client.send(messages.concat());
        wait_for_admitted(&server, 4);
        while client.some_bytes() < expected.len() {}
        let truth = stop_and_check(server, &service);
        assert_eq!(endings(&truth), [Ending::Answered; 4]);
        assert_eq!(client.until_end().0, expected.as_bytes(), "{replies:?}");
    }
}

/// A message that is never answered holds those behind it only if replies keep their order, and no ping.
#[test]
fn a_missing_reply_holds_others_only_in_order() {
    let select = Selector { every: Some(2), ..Selector::default() };
    for (replies, answered) in [(ReplyOrder::InOrder, &["one"][..]), (ReplyOrder::AsReady, &["one", "two", "three"])] {
        let server = start(Service { replies, ..faulty(vec![Fault::BlackHole { select }]) });
        let mut channel = websocket(&server);
        for text in ["one", "never", "two", "never", "three"] {
            channel.send(Message::text(text)).unwrap();
        }
        wait_for_admitted(&server, 5);
        channel.send(Message::Ping(Bytes::from_static(b"p"))).unwrap();
        let seen: Vec<Message> = (0..=answered.len()).map(|_| channel.read().unwrap()).collect();
        assert!(seen.contains(&Message::Pong(Bytes::from_static(b"p"))), "{seen:?}");
        let texts = seen.iter().filter(|message| message.is_text());
        assert_eq!(texts.map(|message| message.to_text().unwrap()).collect::<Vec<_>>(), answered);
        drop(channel);
        server.stop();
    }
}

#[test]
fn a_channel_has_the_route_of_its_path() {
    let route = Route { path: "/slow".to_owned(), baseline: Nanos::from_millis(3), faults: vec![] };
    let service = Service { routes: vec![route], ..Service::healthy(Nanos::from_millis(1)) };
    let server = start(service);
    for path in ["/", "/slow?a", "/slower"] {
        let mut channel = websocket_at(&server, path);
        channel.send(Message::text("x")).unwrap();
        assert_eq!(channel.read().unwrap(), Message::text("x"));
    }
    let works = server.stop().rows.iter().map(|row| row.due_ns.unwrap() - row.arrived_ns).collect::<Vec<_>>();
    assert_eq!(works, [1, 3, 1].map(|ms| ms * 1_000_000));
}

#[test]
fn errors_and_broken_answers_are_those_of_the_service() {
    let select = Selector { every: Some(2), ..Selector::default() };
    let closed = Some(End::Closed);
    for (fault, sent, end, ending) in [
        (Fault::ErrorStatus { status: 503, immediately: true, select }, &b"error 503\n"[..], None, Ending::Answered),
        (Fault::SlowBody { over: Nanos::from_millis(50), select }, b"second\n", None, Ending::Answered),
        (Fault::ShortBody { select }, b"sec", closed, Ending::ShortBody),
        (Fault::Reset { select }, b"", Some(End::Reset), Ending::Reset),
    ] {
        let service = faulty(vec![fault]);
        let server = framed("line", &service);
        let mut client = Client::connect(&server);
        client.send("first\n");
        while client.some_bytes() < 6 {}
        client.send("second\n");
        let text = match end {
            None => {
                while client.some_bytes() < 6 + sent.len() {}
                let truth = stop_and_check(server, &service);
                assert_eq!(endings(&truth), [Ending::Answered, ending], "{:?}", service.faults);
                client.until_end().0
            }
            Some(end) => {
                let (text, found) = client.until_end();
                assert_eq!(found, end, "{:?}", service.faults);
                let truth = stop_and_check(server, &service);
                assert_eq!(endings(&truth), [Ending::Answered, ending], "{:?}", service.faults);
                text
            }
        };
        assert_eq!(String::from_utf8_lossy(&text), String::from_utf8_lossy(&[b"first\n", sent].concat()));
    }
}

#[test]
fn a_black_hole_holds_the_messages_behind_it() {
    let service = faulty(vec![Fault::BlackHole { select: Selector { every: Some(2), ..Selector::default() } }]);
    let server = framed("line", &service);
    let mut client = Client::connect(&server);
    client.send("1\n2\n3\n");
    wait_for_admitted(&server, 3);
    assert_eq!(client.some_bytes(), 2);
    let truth = stop_and_check(server, &service);
    assert_eq!(endings(&truth), [Ending::Answered, Ending::BlackHole, Ending::Held]);
}

#[test]
fn bytes_that_are_no_websocket_end_the_channel() {
    let service = faulty(vec![]);
    let server = start(service.clone());
    let mut channel = websocket(&server);
    // A frame without a mask.
    channel.get_mut().write_all(b"\x81\x01a").unwrap();
    assert!(channel.read().is_err());
    // Without a key, the request is one of HTTP.
    let upgrade = "GET /api HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    assert_eq!(Client::connect(&server).ask(upgrade).status, 200);
    let truth = stop_and_check(server, &service);
    assert_eq!((truth.rows.len(), truth.totals.refused), (1, 1));
}

#[test]
fn a_message_that_is_too_long_ends_the_channel() {
    let service = faulty(vec![]);
    let server = framed("length:4be", &service);
    let mut client = Client::connect(&server);
    client.send(b"\xff\xff\xff\xff");
    assert_eq!(client.until_end(), (Vec::new(), End::Closed));
    assert_eq!(stop_and_check(server, &service).totals.refused, 1);
}
