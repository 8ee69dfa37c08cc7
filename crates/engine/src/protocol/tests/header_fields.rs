//! Tests that an observer sees the header fields and trailers of every answer, however it is cut, and with or without
//! cached head.

use std::sync::Mutex;

use super::*;
use crate::protocol::fields::FieldList;
use crate::protocol::observer::{AnswerHead, AnswerReader, EndedRequest, Trailers};

/// The fields of each observed head, and of its trailers after the body.
#[derive(Clone, Default)]
struct Heads(Arc<Mutex<Vec<Vec<String>>>>);

fn texts(list: &FieldList) -> impl Iterator<Item = String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    list.iter().map(move |(name, value)| text(name) + "=" + &text(value))
}

impl AnswerReader for Heads {
    fn head(&mut self, _: u32, head: AnswerHead<'_>) {
        let mut list = FieldList::default();
        head.copy_fields(&mut list);
        self.0.lock().unwrap().push(texts(&list).collect());
    }

    fn body(&mut self, _: u32, part: &[u8]) {
        let mut seen = self.0.lock().unwrap();
        let fields = seen.last_mut().expect("a head before the body");
        match fields.last_mut().filter(|last| last.starts_with("body: ")) {
            Some(body) => *body += &String::from_utf8_lossy(part),
            None => fields.push(format!("body: {}", String::from_utf8_lossy(part))),
        }
    }

    fn trailers(&mut self, _: u32, trailers: Trailers<'_>) {
        let mut list = FieldList::default();
        trailers.copy_fields(&mut list);
        self.0.lock().unwrap().last_mut().expect("a head before the trailers").extend(texts(&list));
    }

    fn end(&mut self, _: u32, _: EndedRequest) {}
}

fn assert_fields<C: Case>(answers: &[Vec<u8>], expected: &[&str]) {
    for size in 1..=answers[0].len() {
        let mut client = Client::<C>::new();
        let heads = Heads::default();
        let mut events = Events::new(Some(Box::new(heads.clone())));
        for (tag, answer) in (0..).zip(answers) {
            client.begin(tag);
            client.send_all();
            for piece in answer.chunks(size) {
                let flow = client.conversation.receive(&mut client.protocol, piece, NOW, &mut events);
                assert_eq!(flow, Flow::Continue, "in pieces of {size}");
            }
            assert_eq!(events.take().iter().filter(|event| matches!(event, Event::Ended(_))).count(), 1);
        }
        let seen = heads.0.lock().unwrap();
        assert_eq!(*seen, vec![expected; answers.len()], "in pieces of {size}");
    }
}

#[test]
fn of_http1() {
    let answer = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: one\r\nx-a:\ttwo\r\n\r\nhello";
    assert_fields::<OfHttp1>(&vec![answer.to_vec(); 3], &["Content-Length=5", "X-A=one", "x-a=two", "body: hello"]);
}

#[test]
fn of_http2() {
    let answer = |nth: usize, fields: &[u8]| {
        let stream = (2 * nth + 1) as u8;
        let head = [0, 0, fields.len() as u8 + 1, 1, 4, 0, 0, 0, stream, 0x88];
        [&head[..], fields, &[0, 0, 5, 0, 1, 0, 0, 0, stream], BODY].concat()
    };
    // Literals that are added to the table, one that is not, and a name of the static table; then only indices.
    let spelled_out = b"\x40\x03x-a\x03one\x40\x03x-a\x03two\x00\x01b\x00\x5f\x04json";
    let indexed = *b"\xc0\xbf\x00\x01b\x00\xbe";
    let answers = [answer(0, spelled_out), answer(1, &indexed), answer(2, &indexed)];
    assert_fields::<OfHttp2>(&answers, &["x-a=one", "x-a=two", "b=", "content-type=json", "body: hello"]);
}

#[test]
fn trailers_of_http1() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n";
    let answer = format!("{head}Grpc-Status: 0\r\nno field\r\ncolonless\r\n: no name\r\n folded\r\nX-Sum:\t\r\n\r\n");
    let seen = ["Transfer-Encoding=chunked", "body: hello", "Grpc-Status=0", "X-Sum="];
    assert_fields::<OfHttp1>(&vec![answer.into_bytes(); 3], &seen);
    // Without trailers nothing is left of those before.
    let answer = format!("{head}\r\n");
    assert_fields::<OfHttp1>(&vec![answer.into_bytes(); 2], &seen[..2]);
}

#[test]
fn trailers_of_http2() {
    let answer = |nth: usize| {
        let stream = (2 * nth + 1) as u8;
        let head = [0, 0, 1, 1, 4, 0, 0, 0, stream, 0x88];
        let data = [0, 0, 5, 0, 0, 0, 0, 0, stream];
        let fields = b"\x00\x0bgrpc-status\x010";
        let trailers = [0, 0, fields.len() as u8, 1, 5, 0, 0, 0, stream];
        [&head[..], &data, BODY, &trailers, fields].concat()
    };
    assert_fields::<OfHttp2>(&[answer(0), answer(1)], &["body: hello", "grpc-status=0"]);
}
