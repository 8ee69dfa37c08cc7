use std::io::Read;
use std::mem;
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use truetail_engine::{AnswerHead, AnswerReader, EndedRequest, FieldList, ObserverFactory, Trailers};
use truetail_model::arrival::Arrival;
use truetail_model::time::Timestamp;

use crate::method::CallMethod;

/// Limit on the bytes of an answer that are decoded, compressed or not. The body of a larger one is given to the reader
/// as it came.
const MAX_DECODED: usize = 4 * 1024 * 1024;
/// Room of a body that is kept from one answer to the next.
const ROOM_KEPT: usize = 4 * 1024;
const PREFIX: usize = 5;

/// Returns observers that see bodies of calls as JSON: the message of a unary method or of a channel, or a list of the
/// messages of a stream. A body that cannot be decoded is seen as it came. `methods` has the method of each target.
pub fn decoding(methods: Arc<[CallMethod]>, reader: ObserverFactory) -> ObserverFactory {
    ObserverFactory::new(move || {
        Box::new(DecodedAnswers {
            methods: methods.clone(),
            reader: reader.observer(),
            open: Vec::new(),
            fields: FieldList::default(),
        })
    })
}

/// One answer that is being read.
#[derive(Default)]
struct OpenAnswer {
    target: u32,
    /// Messages are compressed with gzip where they say that they are compressed.
    is_gzip: bool,
    /// The head came, and the body was not given to the reader yet.
    is_awaited: bool,
    body: Vec<u8>,
    /// The body is too large, and what came goes on at once.
    is_passed_on: bool,
}

struct DecodedAnswers {
    methods: Arc<[CallMethod]>,
    reader: Box<dyn AnswerReader>,
    open: Vec<OpenAnswer>,
    fields: FieldList,
}

impl DecodedAnswers {
    fn open(&mut self, request: u32) -> &mut OpenAnswer {
        let at = request as usize;
        if self.open.len() <= at {
            self.open.resize_with(at + 1, OpenAnswer::default);
        }
        &mut self.open[at]
    }

    /// Gives the body to the reader.
    fn pass_body(&mut self, request: u32) {
        let mut open = mem::take(self.open(request));
        if mem::take(&mut open.is_awaited) && !open.is_passed_on {
            let method = self.methods.get(open.target as usize);
            match method.and_then(|method| answer_as_json(method, &open.body, open.is_gzip)) {
                Some(text) => self.reader.body(request, text.as_bytes()),
                None if open.body.is_empty() => {}
                None => self.reader.body(request, &open.body),
            }
        }
        open.body.clear();
        open.body.shrink_to(ROOM_KEPT);
        open.is_passed_on = false;
        *self.open(request) = open;
    }
}

impl AnswerReader for DecodedAnswers {
    fn begin(&mut self, request: u32, target: u32, arrival: Arrival) {
        self.open(request).target = target;
        self.reader.begin(request, target, arrival);
    }

    fn head(&mut self, request: u32, head: AnswerHead<'_>) {
        head.copy_fields(&mut self.fields);
        let is_gzip = says_gzip(&self.fields);
        let target = self.open(request).target;
        *self.open(request) = OpenAnswer { target, is_gzip, is_awaited: true, ..OpenAnswer::default() };
        self.reader.head(request, head);
    }

    fn body(&mut self, request: u32, part: &[u8]) {
        let open = self.open(request);
        if !open.is_passed_on && open.body.len() + part.len() <= MAX_DECODED {
            return open.body.extend_from_slice(part);
        }
        open.is_passed_on = true;
        let held = mem::take(&mut open.body);
        self.reader.body(request, &held);
        self.reader.body(request, part);
    }

    fn trailers(&mut self, request: u32, trailers: Trailers<'_>) {
        self.pass_body(request);
        self.reader.trailers(request, trailers);
    }

    fn end(&mut self, request: u32, ended: EndedRequest) {
        self.pass_body(request);
        self.reader.end(request, ended);
    }

    fn finish(&mut self, now: Timestamp) {
        self.reader.finish(now);
    }
}

/// Returns true if these fields of a head say that compressed messages are compressed with gzip.
pub fn says_gzip(fields: &FieldList) -> bool {
    fields.all("grpc-encoding").any(|coding| coding.eq_ignore_ascii_case(b"gzip"))
}

/// Returns the JSON of the body of an answer: the message of a unary method, or a list of the messages of a stream.
/// `None` if it is no whole message of the schema, or larger than 4 MiB. Messages that say that they are compressed are
/// compressed with gzip, if `is_gzip`.
pub fn answer_as_json(method: &CallMethod, body: &[u8], is_gzip: bool) -> Option<String> {
    let mut messages: Vec<String> = Vec::new();
    let mut total = 0;
    let mut rest = body;
    while !rest.is_empty() {
        let (prefix, after) = rest.split_at_checked(PREFIX)?;
        let length = u32::from_be_bytes(prefix[1..].try_into().ok()?) as usize;
        let (message, after) = after.split_at_checked(length)?;
        messages.push(match prefix[0] {
            0 => method.answer_as_json(message).ok()?,
            _ if is_gzip => method.answer_as_json(&inflated(message)?).ok()?,
            _ => return None,
        });
        total += messages.last().map_or(0, String::len);
        if total > MAX_DECODED {
            return None;
        }
        rest = after;
    }
    match (method.answers_with_list(), &messages[..]) {
        (true, all) => Some(format!("[{}]", all.join(","))),
        (false, [only]) => Some(only.clone()),
        (false, _) => None,
    }
}

/// Returns the bytes of a message that is compressed with gzip; `None` if it is broken, or larger than what is decoded.
pub(crate) fn inflated(message: &[u8]) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    let most = MAX_DECODED as u64;
    let length = MultiGzDecoder::new(message).take(most + 1).read_to_end(&mut all).ok()?;
    (length as u64 <= most).then_some(all)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use truetail_engine::RequestId;
    use truetail_model::record::Outcome;

    use super::*;
    use crate::Schema;
    use crate::method::framed;

    const SOURCE: &str = "syntax = \"proto3\"; message M { string a = 1; } \
        service S { rpc One(M) returns (M); rpc Many(M) returns (stream M); }";

    fn method(name: &str) -> CallMethod {
        let read = |_: &str| Ok(Some(SOURCE.to_owned()));
        Schema::compile(&["s.proto".to_owned()], Arc::new(read)).unwrap().method("S", name).unwrap()
    }

    struct Seen(Arc<Mutex<Vec<u8>>>);

    impl AnswerReader for Seen {
        fn head(&mut self, _: u32, _: AnswerHead<'_>) {}

        fn body(&mut self, _: u32, part: &[u8]) {
            self.0.lock().unwrap().extend_from_slice(part);
        }

        fn end(&mut self, _: u32, _: EndedRequest) {}
    }

    /// Returns what a reader sees of an answer with this coding and this body, which comes in two parts.
    fn seen(name: &str, coding: &str, body: &[u8]) -> Vec<u8> {
        let all = Arc::new(Mutex::new(Vec::new()));
        let kept = all.clone();
        let seen = ObserverFactory::new(move || Box::new(Seen(kept.clone())));
        let mut reader = decoding([method(name)].into(), seen).observer();
        let mut fields = FieldList::default();
        fields.push(b"grpc-encoding", coding.as_bytes());
        reader.head(0, AnswerHead::with_fields(200, &fields));
        let (first, second) = body.split_at(body.len() / 2);
        [first, second].into_iter().filter(|part| !part.is_empty()).for_each(|part| reader.body(0, part));
        reader.trailers(0, Trailers::with_fields(&fields));
        let at = Timestamp::ZERO;
        let arrival = Arrival { index: 0, intended_start: at };
        let outcome = Outcome::response(200);
        reader.end(0, EndedRequest { arrival, id: RequestId { target: 0, row: 0 }, outcome, start: at, end: at });
        drop(reader);
        Arc::into_inner(all).unwrap().into_inner().unwrap()
    }

    fn message(text: &str) -> Vec<u8> {
        let length = text.len();
        assert!(length < 128);
        [&[0x0a, length as u8], text.as_bytes()].concat()
    }

    fn compressed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        let mut message = framed(&encoder.finish().unwrap());
        message[0] = 1;
        message
    }

    #[test]
    fn whole_messages_are_seen_as_json() {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        assert_eq!(text(seen("One", "identity", &framed(&message("x")))), "{\"a\":\"x\"}");
        assert_eq!(text(seen("One", "gzip", &compressed(&message("x")))), "{\"a\":\"x\"}");
        let two = [framed(&message("x")), compressed(&message("y"))].concat();
        assert_eq!(text(seen("Many", "gzip", &two)), "[{\"a\":\"x\"},{\"a\":\"y\"}]");
        assert_eq!(text(seen("Many", "gzip", b"")), "[]");
    }

    #[test]
    fn what_cannot_be_decoded_is_seen_as_it_came() {
        let half = &framed(&message("x"))[..7];
        let two = framed(&message("x")).repeat(2);
        let unknown = compressed(&message("x"));
        for (coding, body) in [("identity", half), ("identity", &two), ("br", &unknown), ("gzip", &framed(b"\xff"))] {
            assert_eq!(seen("One", coding, body), body, "{coding}");
        }
        assert_eq!(seen("One", "identity", b""), b"");
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        let zeros = compressed(&vec![0; MAX_DECODED + 1]);
        assert!(zeros.len() < 64 * 1024);
        assert_eq!(seen("One", "gzip", &zeros), zeros);
        // Each is small enough, and all together are not.
        let text = [&[0x0a, 0x80, 0x80, 0xc0, 0x00][..], &vec![b'x'; 1 << 20]].concat();
        let many = compressed(&text).repeat(6);
        assert_eq!(seen("Many", "gzip", &many), many);
        let large = framed(&vec![0; MAX_DECODED]);
        assert_eq!(seen("One", "identity", &large).len(), large.len());
    }
}
