//! The service of `server` over HTTP/2, with an independent implementation.

use std::net::{SocketAddr, TcpStream};
use std::ops::Deref;
use std::sync::Arc;

use bytes::Bytes;
use truetail_engine::HttpVersion;

use crate::server::{self, Answer, AnswerEach, Asked, Server, Service};

/// A server, and its version of HTTP.
pub struct Versioned {
    server: Server,
    pub version: HttpVersion,
}

impl Deref for Versioned {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

/// Address and HTTP version for a run.
pub trait Place {
    fn place(&self) -> (SocketAddr, HttpVersion);
}

impl Place for Server {
    fn place(&self) -> (SocketAddr, HttpVersion) {
        (self.address, HttpVersion::Http1)
    }
}

impl Place for Versioned {
    fn place(&self) -> (SocketAddr, HttpVersion) {
        (self.address, self.version)
    }
}

/// Starts the same service in each version.
pub fn in_both(answer: impl Fn(u64, &Asked) -> Answer + Send + Sync + 'static) -> [Versioned; 2] {
    let answer: AnswerEach = Arc::new(answer);
    [HttpVersion::Http1, HttpVersion::Http2].map(|version| {
        let serve = if version == HttpVersion::Http1 { server::serve } else { serve };
        Versioned { server: Server::with(Arc::clone(&answer), serve), version }
    })
}

fn serve(socket: TcpStream, service: &Service) {
    socket.set_nodelay(true).unwrap();
    socket.set_nonblocking(true).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async move {
        let socket = tokio::net::TcpStream::from_std(socket).unwrap();
        let Ok(mut connection) = h2::server::handshake(socket).await else { return };
        while let Some(Ok((request, respond))) = connection.accept().await {
            let service = service.clone();
            tokio::task::spawn_local(async move {
                let _ = answer(request, respond, service).await;
            });
        }
    });
}

async fn answer(
    request: http::Request<h2::RecvStream>,
    mut respond: h2::server::SendResponse<Bytes>,
    service: Service,
) -> Result<(), h2::Error> {
    let (head, mut content) = request.into_parts();
    let mut body = Vec::new();
    while let Some(data) = content.data().await {
        let data = data?;
        body.extend_from_slice(&data);
        content.flow_control().release_capacity(data.len())?;
    }
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let fields =
        head.headers.iter().map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())));
    let asked = Asked {
        line: format!("{} {path} HTTP/2", head.method),
        fields: fields.collect(),
        body: String::from_utf8(body).unwrap(),
        connection: 0,
    };
    // A slow answer must not block the other streams.
    let answer = tokio::task::spawn_blocking(move || service.answer(asked));
    let (status, fields, body) = answer.await.expect("an answer");
    let mut head = http::Response::builder().status(status);
    for field in &fields {
        let (name, value) = field.split_once(": ").unwrap();
        head = head.header(name, value);
    }
    respond.send_response(head.body(()).unwrap(), false)?.send_data(body.into(), true)
}
