//! Access logs as lines of text: nginx's with a request time, and Envoy's default format, also as Istio writes it.

use truetail_model::time::Nanos;
use truetail_run::ForeignRequest;
use truetail_tools::FailureClassifier;

use super::ServerSeen;
use super::words::{Kind, Words};
use crate::rows::instant::instant;
use crate::rows::json_lines::each_row;
use crate::rows::number::{Measured, NotUsable, Unit, time, whole};
use crate::rows::{RowFormat, RowInput, Rows, RunFacts, Wrong};
use crate::tables::outcome;
use crate::{Excerpt, FormatInfo, ImportError, Likeness};

/// Prefixes of a word with the request time. Without them, it is the first word with three decimals.
const TIME_NAMES: [&[u8]; 4] = [b"rt=", b"request_time=", b"req_time=", b"reqtime="];

/// A log of lines of text.
pub(crate) struct TextLog {
    info: &'static FormatInfo,
    layout: Layout,
}

/// Order of the fields in a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// `… [20/Nov/2026:06:55:45 +0000] "GET / HTTP/1.1" 200 3 … 0.010`: the time is that of the end.
    Nginx,
    /// `[2026-11-20T06:55:45.123Z] "GET / HTTP/1.1" 200 - 0 3 10 …`: the time is that of the start.
    Envoy,
}

/// nginx: `$time_local`, `$request`, `$status`, `$body_bytes_sent`, and later in the line `$request_time`.
pub(crate) static NGINX: Rows<TextLog> = Rows(TextLog {
    info: &FormatInfo { name: "nginx-log", about: "nginx's access log with a request time", tool: None },
    layout: Layout::Nginx,
});

pub(crate) static ENVOY: Rows<TextLog> = Rows(TextLog {
    info: &FormatInfo { name: "envoy-log", about: "Envoy's access log in its default format", tool: None },
    layout: Layout::Envoy,
});

impl RowFormat for TextLog {
    fn info(&self) -> &'static FormatInfo {
        self.info
    }

    fn likeness(&self, excerpt: &Excerpt<'_>) -> Likeness {
        let line = excerpt.first_line();
        let mut words = Words::default();
        words.split(line);
        match (self.layout.fields(line, &words), self.layout) {
            (Ok(_), _) => Likeness::Yes,
            (Err(Wrong::Missing(what)), Layout::Nginx) => {
                Likeness::Near(format!("a line has no {what}; add $request_time to its log_format"))
            }
            (Err(_), _) => Likeness::No,
        }
    }

    fn in_order(&self) -> bool {
        false
    }

    fn read(&self, RowInput { lines, books, .. }: RowInput<'_, '_, '_>) -> Result<RunFacts, ImportError> {
        let mut words = Words::default();
        let mut seen = ServerSeen::default();
        let mut failures = FailureClassifier::default();
        each_row(lines, books, |line, span| {
            if !span.whole {
                // Part of a number would be read as a number.
                return Err(Wrong::CutOff);
            }
            words.split(line);
            let fields = self.layout.fields(line, &words)?;
            let request = ForeignRequest {
                bytes_in: whole(fields.bytes).ok(),
                ..ForeignRequest::new(
                    Some(fields.start_ns()?),
                    Nanos(fields.duration.ns),
                    outcome(&mut failures, fields.status, b""),
                )
            };
            Ok(seen.take(request, fields.time, fields.duration))
        })?;
        let mut facts = RunFacts { notes: failures.notes(), ..RunFacts::default() };
        seen.close(&mut facts);
        Ok(facts)
    }
}

/// The used fields of a line.
struct LogFields<'l> {
    time: Measured,
    time_is_end: bool,
    duration: Measured,
    status: &'l [u8],
    bytes: &'l [u8],
}

impl LogFields<'_> {
    fn start_ns(&self) -> Result<u64, Wrong> {
        if !self.time_is_end {
            return Ok(self.time.ns);
        }
        self.time.ns.checked_sub(self.duration.ns).ok_or(Wrong::Number("request time", NotUsable::TooLarge))
    }
}

impl Layout {
    fn fields<'l>(self, line: &'l [u8], words: &Words) -> Result<LogFields<'l>, Wrong> {
        let Head { at, time, request, status } = Head::from_line(line, words)?;
        match self {
            Layout::Nginx => {
                let duration = request_time(line, words, request + 3)?;
                Ok(LogFields { time, time_is_end: true, duration, status, bytes: words.get(line, request + 2) })
            }
            Layout::Envoy => {
                let received = received(line, words, request);
                let duration = words.get(line, received + 2);
                whole(words.get(line, received)).map_err(|_| NO_SUCH_LINE)?;
                let duration = time_in_millis(duration)?;
                Ok(LogFields { time, time_is_end: at > 0, duration, status, bytes: words.get(line, received + 1) })
            }
        }
    }
}

const NO_SUCH_LINE: Wrong = Wrong::Shape("a line of such a log");

/// Fields that all layouts share.
struct Head<'l> {
    /// The index of the word with the time.
    at: usize,
    time: Measured,
    /// The index of the word with the request.
    request: usize,
    status: &'l [u8],
}

impl<'l> Head<'l> {
    fn from_line(line: &'l [u8], words: &Words) -> Result<Head<'l>, Wrong> {
        let first = words.first(Kind::Bracketed, 0).ok_or(NO_SUCH_LINE)?;
        let request = words.first(Kind::Quoted, first).ok_or(NO_SUCH_LINE)?;
        let read = |at: usize| instant(innermost(words.get(line, at)));
        // Takes the last one: a user name, which clients choose, and a server's address may come before the time.
        let at = words.between(Kind::Bracketed, first, request).rev().find(|at| read(*at).is_ok()).unwrap_or(first);
        let time = read(at).map_err(|why| Wrong::Number("time", why))?;
        let status = words.get(line, request + 1);
        if whole(status).is_err() {
            return Err(Wrong::Number("status", NotUsable::NoNumber));
        }
        Ok(Head { at, time, request, status })
    }
}

/// Returns the text after the last opening bracket, as in `[a [22/Nov/2026:11:00:06 +0000]`, where `[a` is the user.
fn innermost(word: &[u8]) -> &[u8] {
    memchr::memrchr(b'[', word).map_or(word, |at| &word[at + 1..])
}

/// Returns the index of Envoy's word with the bytes received. Istio writes three more words before it.
fn received(line: &[u8], words: &Words, request: usize) -> usize {
    if whole(words.get(line, request + 3)).is_ok() { request + 3 } else { request + 6 }
}

/// A request in a line of any layout. Lines of Apache, and of nginx without a request time, state no duration.
pub(crate) struct LoggedRequest<'l> {
    /// Time of its end if the line states a duration; otherwise time of its arrival.
    pub time: Measured,
    pub took: Option<Measured>,
    /// The time is known to be that of the start.
    pub is_start: bool,
    /// The logged request: `GET / HTTP/1.1`.
    pub request: &'l [u8],
    /// Empty if the line has no host.
    pub host: &'l [u8],
}

/// Reads the request in a line. A time at the start of a line is Envoy's start. A later time is nginx's end or Apache's
/// start.
pub(crate) fn logged_request<'l>(line: &'l [u8], words: &Words) -> Result<LoggedRequest<'l>, Wrong> {
    let Head { at, time, request, .. } = Head::from_line(line, words)?;
    let (took, host) = if at == 0 {
        // The host comes after the client, its program and the request number.
        (None, words.get(line, received(line, words, request) + 7))
    } else {
        (request_time(line, words, request + 3).ok(), host_in_front(line))
    };
    Ok(LoggedRequest { time, took, is_start: at == 0, request: words.get(line, request), host })
}

/// Returns the text before the client's address, or nothing if the line starts with the address.
fn host_in_front(line: &[u8]) -> &[u8] {
    let mut words = line.split(|byte| *byte == b' ');
    let host = words.next().unwrap_or_default();
    let client = words.next().unwrap_or_default();
    if is_address(client) { host } else { &[] }
}

fn is_address(word: &[u8]) -> bool {
    std::str::from_utf8(word).is_ok_and(|word| word.parse::<std::net::IpAddr>().is_ok())
}

fn time_in_millis(text: &[u8]) -> Result<Measured, Wrong> {
    time(text, Unit::Millis).map_err(|why| Wrong::Number("duration", why))
}

/// Finds the request time after status and bytes. Quoted words are skipped, because clients can choose their text.
fn request_time(line: &[u8], words: &Words, from: usize) -> Result<Measured, Wrong> {
    let named = |word: &'_ [u8]| TIME_NAMES.iter().find_map(|name| word.strip_prefix(*name)).map(<[u8]>::len);
    let named = words.plain(line, from).find_map(|word| named(word).map(|length| &word[word.len() - length..]));
    let found = named.or_else(|| words.plain(line, from).find(|word| has_three_decimals(word)));
    let text = found.ok_or(Wrong::Missing("request time"))?.trim_ascii();
    time(text, Unit::Seconds).map_err(|why| Wrong::Number("request time", why))
}

fn has_three_decimals(word: &[u8]) -> bool {
    let number = word.split_last_chunk::<4>();
    number.is_some_and(|(whole, rest)| {
        !whole.is_empty()
            && whole.iter().all(u8::is_ascii_digit)
            && rest[0] == b'.'
            && rest[1..].iter().all(u8::is_ascii_digit)
    })
}
