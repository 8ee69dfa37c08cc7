//! Calls of gRPC. The service answers each with the messages of the call, and its faults are statuses of gRPC.
//!
//! The server does not know what kind of call a method takes. A call whose messages arrive together with its end is
//! answered as a whole. Otherwise each message is sent back as it arrives, and the status follows when the client has
//! ended the call. Faults that need the whole answer, or break it, wait for the end.

use http::{HeaderMap, HeaderValue};

use crate::exchange::ServerExchange;

/// Head of an answer with messages, in the form of HTTP/1.
const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/grpc\r\n";
const OK: &str = "0";
/// Bytes before each message: whether it is compressed, and its length.
const PREFIX: usize = 5;

/// Returns true if a request with this content type is a call.
pub(super) fn is_call(content_type: Option<&HeaderValue>) -> bool {
    let value = content_type.map(HeaderValue::as_bytes).unwrap_or_default();
    let rest = value.strip_prefix(b"application/grpc");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"+") || rest.starts_with(b";"))
}

/// Answers a call with its messages. A call that the service refuses gets a head with a status, and no message.
pub(super) fn answer(exchange: &mut ServerExchange, messages: &[u8]) {
    exchange.pending = None;
    let status = exchange.error_status().map(status_for);
    let head = match status {
        Some(status) => format!("{HEAD}grpc-status: {status}\r\n\r\n"),
        None => format!("{HEAD}\r\n"),
    };
    let messages = if status.is_some() { &[] } else { messages };
    exchange.answer_with([head.as_bytes(), messages].concat(), head.len());
}

/// Returns the length of the complete messages at the start of a body.
pub(super) fn whole_messages(body: &[u8]) -> usize {
    let mut end = 0;
    while let Some((prefix, rest)) = body[end..].split_first_chunk::<PREFIX>() {
        let [_, length @ ..] = *prefix;
        let length = u32::from_be_bytes(length) as usize;
        if length > rest.len() {
            break;
        }
        end += PREFIX + length;
    }
    end
}

/// Returns the trailers of a call that succeeded.
pub(super) fn trailers() -> HeaderMap {
    HeaderMap::from_iter([(http::HeaderName::from_static("grpc-status"), HeaderValue::from_static(OK))])
}

/// Returns the status of gRPC for a status of HTTP, as gRPC's own mapping has it
/// (<https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md>).
fn status_for(status: u16) -> u8 {
    match status {
        400 => 13,
        401 => 16,
        403 => 7,
        404 => 12,
        429 | 502 | 503 | 504 => 14,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_known_by_their_content_type() {
        let is = |text: &'static str| is_call(Some(&HeaderValue::from_static(text)));
        assert!(is("application/grpc") && is("application/grpc+proto") && is("application/grpc; charset=utf-8"));
        assert!(!is("application/grpc-web") && !is("application/json") && !is_call(None));
    }

    #[test]
    fn messages_are_whole_up_to_the_last_complete_one() {
        let body = b"\0\0\0\0\x03abc\0\0\0\0\0\x01\0\0\0\x02xy";
        let ends = (0..=body.len()).map(|length| whole_messages(&body[..length]));
        let wanted = [vec![0; 8], vec![8; 5], vec![13; 7], vec![20]].concat();
        assert_eq!(ends.collect::<Vec<_>>(), wanted);
        assert_eq!(whole_messages(b"\0\xff\xff\xff\xff"), 0);
    }
}
