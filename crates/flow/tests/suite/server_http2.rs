//! The same service in HTTP/2, by another implementation of it.

use std::net::TcpStream;

use bytes::Bytes;

use crate::server::{Asked, Service};

pub fn serve(socket: TcpStream, service: &Service) {
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
    };
    // An answer may take long, and the others go on.
    let answer = tokio::task::spawn_blocking(move || service.answer(asked));
    let (status, fields, body) = answer.await.expect("an answer");
    let mut head = http::Response::builder().status(status);
    for field in &fields {
        let (name, value) = field.split_once(": ").unwrap();
        head = head.header(name, value);
    }
    respond.send_response(head.body(()).unwrap(), false)?.send_data(body.into(), true)
}
