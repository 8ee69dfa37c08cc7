//! Answers that a server may send, and their outcomes: the whole contract for HTTP/1.1 answers.

use truetail_model::record::{Cause, Outcome};

/// Bytes that a server sends.
#[derive(Clone)]
pub enum Sent {
    /// These bytes.
    Bytes(Vec<u8>),
    /// First these bytes, and then the others repeatedly until the client stops reading.
    Endless(Vec<u8>, Vec<u8>),
}

/// One answer, or what is sent instead of one.
pub struct Row {
    /// True if the request was a HEAD.
    pub is_head_request: bool,
    /// Bytes that the server sends before it closes.
    pub sent: Sent,
    /// The outcome of the request.
    pub outcome: Outcome,
    /// True if the connection may carry another request.
    pub kept: bool,
}

impl Row {
    /// Returns the start of the bytes for messages.
    pub fn shown(&self) -> String {
        let (bytes, more) = match &self.sent {
            Sent::Bytes(bytes) => (bytes.clone(), ""),
            Sent::Endless(first, again) => ([first.as_slice(), again, again].concat(), " and so on"),
        };
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(160)]).into_owned();
        format!("{shown:?} of {} bytes{more}", bytes.len())
    }
}

/// Meaning of the bytes of a row.
#[derive(Clone, Copy)]
enum Is {
    /// An answer of this status, on a connection that may carry another request.
    Kept(u16),
    /// An answer of this status, the last on its connection.
    Last(u16),
    /// No answer, with this cause.
    No(Cause),
    /// Neither complete nor wrong, however long it lasts: it ends with the timeout.
    Late,
}

use Cause::{
    BadChunk, BadHead, BadLength, ClosedBeforeAnswer, HeadTooLarge, LeftoverBytes, TooManyInterim, Truncated,
    UnexpectedUpgrade,
};
use Is::{Kept, Last, Late, No};

impl Is {
    fn row(self, is_head_request: bool, sent: Sent) -> Row {
        let (outcome, kept) = match self {
            Kept(status) => (Outcome::response(status), true),
            Last(status) => (Outcome::response(status), false),
            No(ClosedBeforeAnswer) => (Outcome::Reset(ClosedBeforeAnswer), false),
            No(cause) => (Outcome::Malformed(cause), false),
            Late => (Outcome::TimedOut, false),
        };
        Row { is_head_request, sent, outcome, kept }
    }
}

/// Complete answers, in every form that a client must understand.
const ANSWERS: &[(&str, Is)] = &[
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", Kept(200)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Kept(200)),
    ("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", Kept(200)),
    ("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", Kept(200)),
    ("HTTP/1.1 200 \u{e9}\u{e8}\r\nA: \u{e9}\r\nContent-Length: 0\r\n\r\n", Kept(200)),
    ("HTTP/1.1 599 Odd\r\nContent-Length: 0\r\n\r\n", Kept(599)),
    ("HTTP/1.1 999 Denied\r\nContent-Length: 0\r\n\r\n", Kept(999)),
    // A line may end without its carriage return (RFC 9112, section 2.2), and a field may be folded (section 5.2).
    ("HTTP/1.1 200 OK\nContent-Length: 1\n\nx", Kept(200)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 1\n\r\nx", Kept(200)),
    ("HTTP/1.1 200 OK\r\nA: b\r\n  c\r\nContent-Length:\r\n 2\r\n\r\nhi", Kept(200)),
    ("HTTP/1.1  200 OK\r\nContent-Length: 0\r\n\r\n", Kept(200)),
    // Lines that are not header fields are skipped, with lines folded into them.
    ("HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 1\r\n\r\nx", Kept(200)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n: no name\r\n\r\nx", Kept(200)),
    ("HTTP/1.1 200 OK\r\n A: folded into nothing\r\nContent-Length: 1\r\n\r\nx", Kept(200)),
    ("HTTP/1.1 200 OK\r\nA : b\r\n  c\r\nContent-Length: 1\r\n\r\nx", Kept(200)),
    ("HTTP/1.1 200 OK\nA (b): c\nContent-Length: 1\n\nx", Kept(200)),
    ("HTTP/1.1 200 OK\r\nPHP Warning:  cannot load x.so\r\nContent-Length: 1\r\n\r\nx", Kept(200)),
    ("HTTP/1.1 200 OK\r\nSet-Cookie: a=b\x01; domain=\x7fx\r\nContent-Length: 1\r\n\r\nx", Kept(200)),
    ("HTTP/1.1 200 OK\r\nX-Content-Length : 9\r\nContent-Length: 1\r\n\r\nx", Kept(200)),
    ("HTTP/1.1 200 OK\r\nConnection : close\r\nContent-Length: 1\r\n\r\nx", Kept(200)),
    ("HTTP/1.1 103 Hints\r\nodd\r\n\r\nHTTP/1.1 200 OK\r\nodd\r\nContent-Length: 1\r\n\r\nx", Kept(200)),
    // Answers that keep or close the connection.
    ("HTTP/1.1 503 No\r\ncontent-length: 1\r\nConnection: close\r\n\r\nx", Last(503)),
    ("HTTP/1.1 200 OK\r\nConnection: Foo, CLOSE\r\nContent-Length: 0\r\n\r\n", Last(200)),
    ("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", Last(200)),
    ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", Last(200)),
    ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", Kept(200)),
    ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", Last(200)),
    // Without a body, independent of the fields.
    ("HTTP/1.1 204 No Content\r\n\r\n", Kept(204)),
    ("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", Kept(204)),
    ("HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", Kept(204)),
    ("HTTP/1.1 304 Not Modified\r\n\r\n", Kept(304)),
    ("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", Kept(304)),
    ("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", Kept(204)),
    ("HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: gzip\r\nContent-Length: 9\r\n\r\n", Kept(304)),
    // With a body of stated length.
    ("HTTP/1.1 200 OK\r\nContent-Length:2\t \r\n\r\nhi", Kept(200)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 0002\r\n\r\nhi", Kept(200)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", Kept(200)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\nContent-Length: 1\r\n\r\nx", Kept(200)),
    ("HTTP/1.1 205 Reset\r\nContent-Length: 2\r\n\r\nhi", Kept(205)),
    // With a body that ends with the connection.
    ("HTTP/1.1 200 OK\r\n\r\nuntil the end", Last(200)),
    ("HTTP/1.1 200 OK\r\n\r\n", Last(200)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc", Last(200)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\nabc", Last(200)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", Last(200)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\nabc", Last(200)),
    // With a body in chunks.
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", Kept(200)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\n\r\nA;x=y\r\n0123456789\r\n00\r\nT: v\r\n\r\n", Kept(200)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n1 ;x\r\nx\r\n1\t\r\ny\r\n0;z\r\n\r\n", Kept(200)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", Kept(200)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: , chunked, ,\r\nTransfer-Encoding:\r\n\r\n0\r\n\r\n", Kept(200)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", Kept(200)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 9\r\n\r\n", Kept(200)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0000000000000001\r\nx\r\n0\r\n\r\n", Kept(200)),
    // After interim answers, which never have a body.
    ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Kept(200)),
    ("HTTP/1.1 103 Hints\r\nContent-Length: 9\r\n\r\nHTTP/1.1 404 No\r\nContent-Length: 1\r\n\r\nx", Kept(404)),
    ("HTTP/1.1 199 Odd\r\nConnection: close\r\n\r\nHTTP/1.1 204 None\r\n\r\n", Kept(204)),
];

/// Answers to HEAD.
const TO_HEAD: &[(&str, Is)] = &[
    ("HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n", Kept(200)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", Kept(200)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n", Kept(200)),
    ("HTTP/1.1 200 OK\r\nContent-Length: x\r\nTransfer-Encoding: chunked\r\n\r\n", No(BadLength)),
    ("HTTP/1.1 404 No\r\n\r\n", Kept(404)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", No(LeftoverBytes)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", No(LeftoverBytes)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\n", No(BadLength)),
];

/// Bytes that are not a head of HTTP/1.
const NO_HEADS: &[(&str, Is)] = &[
    ("SSH-2.0-OpenSSH_9.2\r\n", No(BadHead)),
    ("220 mail.example ESMTP\r\n", No(BadHead)),
    ("<html>an answer of HTTP/0.9</html>", No(BadHead)),
    ("\0\0\0\0", No(BadHead)),
    ("\x16\x03\x03\x00\x02\x02\x28", No(BadHead)),
    ("\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", No(BadHead)),
    (" HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", No(BadHead)),
    ("http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", No(BadHead)),
    ("HTTP/0.9 200 OK\r\nContent-Length: 0\r\n\r\n", No(BadHead)),
    ("HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n", No(BadHead)),
    ("HTTP/1.10 200 OK\r\nContent-Length: 0\r\n\r\n", No(BadHead)),
    ("HTTP/2 200\r\n\r\n", No(BadHead)),
    ("HTTP/1.1 2000 OK\r\n\r\n", No(BadHead)),
    ("HTTP/1.1 20\r\nContent-Length: 0\r\n\r\n", No(BadHead)),
    ("HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n", No(BadHead)),
    ("HTTP/1.1 -20 OK\r\nContent-Length: 0\r\n\r\n", No(BadHead)),
    ("HTTP/1.1 000 None\r\nContent-Length: 0\r\n\r\n", No(BadHead)),
    ("HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n", No(BadHead)),
    ("HTTP/1.1\r\nContent-Length: 0\r\n\r\n", No(BadHead)),
    ("HTTP/1.1 200 O\0K\r\nContent-Length: 0\r\n\r\n", No(BadHead)),
    ("HTTP/1.1 200 O\rK\r\nContent-Length: 0\r\n\r\n", No(BadHead)),
    // Lines that are not header fields, but that other readers may take for a length or coding of the body.
    ("HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n", No(BadHead)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 0\x01\r\n\r\n", No(BadHead)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\x7fcontent-length: 5\r\n\r\n", No(BadHead)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nTransfer-Encoding\t: chunked\r\n\r\n", No(BadHead)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n Transfer Encoding: x\r\nodd\r\n\r\n0\r\n\r\n", Last(200)),
    ("HTTP/1.1 200 OK\r\nA\0: b\r\n\r\n", No(BadHead)),
    ("HTTP/1.1 200 OK\r\nA: b\0\r\n\r\n", No(BadHead)),
    ("HTTP/1.1 200 OK\r\nA: b\rB: c\r\n\r\n", No(BadHead)),
    ("HTTP/1.1 103 Hints\r\n\r\nnothing that follows one\r\n\r\n", No(BadHead)),
    ("HTTP/1.1 103 Hints\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\n\r\n", No(BadHead)),
    ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", No(UnexpectedUpgrade)),
];

/// Lengths that are invalid or contradict each other.
const LENGTHS: &[(&str, Is)] = &[
    ("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", No(BadLength)),
    ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", No(BadLength)),
    ("HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx", No(BadLength)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 1 1\r\n\r\nx", No(BadLength)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 1\r\n\r\nx", No(BadLength)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 0x1\r\n\r\nx", No(BadLength)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 1e0\r\n\r\nx", No(BadLength)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 1.0\r\n\r\nx", No(BadLength)),
    ("HTTP/1.1 200 OK\r\nContent-Length: \u{661}\r\n\r\nx", No(BadLength)),
    ("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nx", No(BadLength)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 1,\r\n\r\nx", No(BadLength)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n", No(BadLength)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999999999999\r\n\r\n", No(BadLength)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nx", No(BadLength)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", No(BadLength)),
    ("HTTP/1.1 304 Not Modified\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", No(BadLength)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", No(BadLength)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", No(BadLength)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", No(BadLength)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\nContent-Length: 1\r\n\r\nx", No(BadLength)),
];

/// Chunks that break the coding; [`CHUNKED`] precedes each.
const CHUNKS: &[(&str, Is)] = &[
    ("\r\n", No(BadChunk)),
    ("\n", No(BadChunk)),
    ("-1\r\n", No(BadChunk)),
    ("0x1\r\n", No(BadChunk)),
    ("zz\r\n", No(BadChunk)),
    (" 1\r\nx\r\n0\r\n\r\n", No(BadChunk)),
    ("1 2\r\nx\r\n0\r\n\r\n", No(BadChunk)),
    ("1\0\r\nx\r\n0\r\n\r\n", No(BadChunk)),
    (";x\r\n", No(BadChunk)),
    // Sizes that do not fit into 64 bits, and the largest that does.
    ("10000000000000000\r\n", No(BadChunk)),
    ("fffffffffffffffff\r\n", No(BadChunk)),
    ("FFFFFFFFFFFFFFFF\r\nabc", No(Truncated)),
    // Lines that end without a carriage return, and data that does not end where it should.
    ("1\nx\n", No(BadChunk)),
    ("1;x\nx\r\n0\r\n\r\n", No(BadChunk)),
    ("1;a\rb\r\nx\r\n0\r\n\r\n", No(BadChunk)),
    ("1\r\nab\r\n", No(BadChunk)),
    ("1\r\nx\n0\r\n\r\n", No(BadChunk)),
    ("3\r\nx\r\n0\r\n\r\n", No(BadChunk)),
    ("0\r\nT: v\nU: w\r\n\r\n", No(BadChunk)),
    ("0\r\n\rx", No(BadChunk)),
    ("0\r\n\r\nx", No(LeftoverBytes)),
];

/// Answers that are cut off by the end of the connection.
const CUT_OFF: &[(&str, Is)] = &[
    ("", No(ClosedBeforeAnswer)),
    ("H", No(Truncated)),
    ("HTTP/1.1 200 O", No(Truncated)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", No(Truncated)),
    ("HTTP/1.1 100 Continue\r\n\r\n", No(Truncated)),
    ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 2", No(Truncated)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", No(Truncated)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", No(Truncated)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nabc", No(Truncated)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", No(Truncated)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3", No(Truncated)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x", No(Truncated)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab", No(Truncated)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", No(Truncated)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", No(Truncated)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nT: v\r\n", No(Truncated)),
];

/// Bytes that arrive with an answer after its end.
const LEFT_OVER: &[(&str, Is)] = &[
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi!", No(LeftoverBytes)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi\r\n", No(LeftoverBytes)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", No(LeftoverBytes)),
    ("HTTP/1.1 204 No Content\r\n\r\nbody", No(LeftoverBytes)),
    ("HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody", No(LeftoverBytes)),
    (
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        No(LeftoverBytes),
    ),
    ("HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", No(LeftoverBytes)),
];

const OK: &str = "HTTP/1.1 200 OK\r\n";
const SIZED: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const INTERIM: &str = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";

/// Endless answers: first text, then repeated text.
const ENDLESS: &[(&str, &str, Is)] = &[
    // Heads: one line, many lines, folded lines, blank lines, the status line.
    ("HTTP/1.1 200 OK\r\nA: ", "x", No(HeadTooLarge)),
    (OK, "x", No(HeadTooLarge)),
    (OK, "A: b\r\n", No(HeadTooLarge)),
    ("HTTP/1.1 200 OK\r\nA: b\r\n", " c\r\n", No(HeadTooLarge)),
    ("HTTP/1.1 200 ", "very ", No(HeadTooLarge)),
    ("", "\r\n", No(BadHead)),
    ("HTTP/1.1 ", " ", No(HeadTooLarge)),
    ("", "\0", No(BadHead)),
    ("", "<p>HTTP/0.9</p>\n", No(BadHead)),
    // Interim answers.
    ("", INTERIM, No(TooManyInterim)),
    ("", "HTTP/1.1 100 Continue\r\n\r\n", No(TooManyInterim)),
    // Chunks: sizes, extensions, trailers.
    (CHUNKED, "0", No(BadChunk)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1", " ", No(BadChunk)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "x", No(BadChunk)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nT: ", "x", No(BadChunk)),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "T: v\r\n", No(BadChunk)),
    // Answers after an answer.
    (SIZED, SIZED, No(LeftoverBytes)),
    // Bodies may have any length; only the timeout ends these.
    ("HTTP/1.1 200 OK\r\n\r\n", "x", Late),
    ("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n", "x", Late),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n", "x", Late),
    (CHUNKED, "1\r\nx\r\n", Late),
    (CHUNKED, "1;an=extension\r\nx\r\n", Late),
];

/// Returns heads just within the limits, and just beyond.
fn at_the_limits() -> Vec<(String, Is)> {
    let long = |length: usize| format!("{OK}Content-Length: 0\r\nA: {}\r\n\r\n", "x".repeat(length));
    let around = long(0).len();
    let fields = |count: usize| format!("{OK}Content-Length: 0\r\n{}\r\n", "A: b\r\n".repeat(count - 1));
    let interims = |count| format!("{}{SIZED}", INTERIM.repeat(count));
    let extended = |length| format!("{CHUNKED}1;{}\r\nx\r\n0\r\n\r\n", "x".repeat(length));
    let trailed = |length| format!("{CHUNKED}0\r\n{}\r\n\r\n", "x".repeat(length));
    vec![
        (long(65_536 - around), Kept(200)),
        (long(65_537 - around), No(HeadTooLarge)),
        (fields(1024), Kept(200)),
        (fields(1025), No(HeadTooLarge)),
        (interims(32), Kept(200)),
        (interims(33), No(TooManyInterim)),
        (extended(16_384), Kept(200)),
        (extended(16_385), No(BadChunk)),
        (trailed(16_384), Kept(200)),
        (trailed(16_385), No(BadChunk)),
    ]
}

/// Returns all rows.
pub fn table() -> Vec<Row> {
    let bytes = |text: &str| Sent::Bytes(text.as_bytes().to_vec());
    let asked = [ANSWERS, NO_HEADS, LENGTHS, CUT_OFF, LEFT_OVER].concat();
    let endless = |first: &str, again: &str| Sent::Endless(first.as_bytes().to_vec(), again.as_bytes().to_vec());
    let mut rows: Vec<Row> = asked.iter().map(|(text, is)| is.row(false, bytes(text))).collect();
    rows.extend(TO_HEAD.iter().map(|(text, is)| is.row(true, bytes(text))));
    rows.extend(CHUNKS.iter().map(|(text, is)| is.row(false, bytes(&format!("{CHUNKED}{text}")))));
    rows.extend(at_the_limits().iter().map(|(text, is)| is.row(false, bytes(text))));
    rows.extend(ENDLESS.iter().map(|(first, again, is)| is.row(false, endless(first, again))));
    rows
}
