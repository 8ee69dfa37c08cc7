//! A stream of HTTP/2 that carries a WebSocket (RFC 8441).

use std::io::{self, ErrorKind};
use std::task::{Context, Poll, Waker};

use bytes::{Buf, Bytes};
use h2::ext::Protocol;
use h2::server::SendResponse;
use h2::{RecvStream, SendStream};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};
use truetail_model::service::RouteId;

use crate::answer_queue::AnswerQueue;
use crate::messages::MessageConnection;
use crate::transport::{ByteStream, Transport};

/// Bytes in both directions of one stream.
#[derive(Debug)]
struct Tunnel {
    request: RecvStream,
    /// Bytes of the request that were not read yet.
    received: Bytes,
    reply: SendStream<Bytes>,
}

/// Returns true if a client asks for another protocol on the stream, such as WebSocket.
pub(super) fn is_asked_for(head: &Parts) -> bool {
    head.method == Method::CONNECT && head.extensions.get::<Protocol>().is_some()
}

/// Answers the client's request, and returns the channel to `route`. `None`: it asked for something else than WebSocket
/// in version 13, or is gone.
pub(super) fn accept(
    head: &Parts,
    request: RecvStream,
    mut respond: SendResponse<Bytes>,
    token: u64,
    route: RouteId,
) -> Option<MessageConnection> {
    let is_websocket = head.extensions.get::<Protocol>().is_some_and(|protocol| protocol.as_str() == "websocket");
    let version = head.headers.get("sec-websocket-version").map(HeaderValue::as_bytes);
    if !is_websocket || version != Some(b"13") {
        let mut refusal = Response::new(());
        *refusal.status_mut() = if is_websocket { StatusCode::BAD_REQUEST } else { StatusCode::NOT_IMPLEMENTED };
        // Fails only if the client is gone, and then need not be told.
        let _ = respond.send_response(refusal, true);
        return None;
    }
    let offered = head.headers.get("sec-websocket-protocol").and_then(|offered| offered.to_str().ok());
    let chosen = offered.and_then(|offered| offered.split(',').next()).map(str::trim);
    let mut answer = Response::new(());
    if let Some(Ok(chosen)) = chosen.map(HeaderValue::from_str) {
        answer.headers_mut().insert("sec-websocket-protocol", chosen);
    }
    let reply = respond.send_response(answer, false).ok()?;
    let stream = Tunnel { request, received: Bytes::new(), reply };
    let answers = AnswerQueue::new(Transport::Stream(Box::new(stream)), token);
    Some(MessageConnection::on_stream(answers, route))
}

impl ByteStream for Tunnel {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut context = Context::from_waker(Waker::noop());
        while self.received.is_empty() {
            match self.request.poll_data(&mut context) {
                Poll::Pending => return Err(ErrorKind::WouldBlock.into()),
                Poll::Ready(None) => return Ok(0),
                Poll::Ready(Some(Err(error))) => return Err(io::Error::other(error)),
                Poll::Ready(Some(Ok(data))) => {
                    // Fails if the stream is gone, which the next poll reports.
                    let _ = self.request.flow_control().release_capacity(data.len());
                    self.received = data;
                }
            }
        }
        let length = self.received.len().min(buffer.len());
        self.received.copy_to_slice(&mut buffer[..length]);
        Ok(length)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.reply.reserve_capacity(bytes.len());
        let length = self.reply.capacity().min(bytes.len());
        if length == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        self.reply.send_data(Bytes::copy_from_slice(&bytes[..length]), false).map_err(io::Error::other)?;
        Ok(length)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.reply.send_data(Bytes::new(), true).map_err(io::Error::other)
    }
}
