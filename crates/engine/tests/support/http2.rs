//! A correct HTTP/2 server.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use truetail_engine::Plan;

/// Returns the plan in HTTP/2.
pub fn in_http2(mut plan: Plan) -> Plan {
    plan.target.use_http2().unwrap();
    plan
}

/// A server that uses another implementation of HTTP/2, on a free port. It ends with the test process.
pub struct Honest {
    pub address: SocketAddr,
    pub requests: Arc<AtomicU64>,
    pub connections: Arc<AtomicU64>,
    /// Most requests that were open at once on one connection.
    pub at_once: Arc<AtomicU64>,
    /// Requests in the order of arrival: method, authority, path, the header `x-test`, and the body's length.
    pub asked: Arc<std::sync::Mutex<Vec<String>>>,
    /// Values of the header `traceparent`, in the same order.
    pub traces: Arc<std::sync::Mutex<Vec<String>>>,
}

impl Honest {
    /// Answers each request with status 200 and `body`, after `time`. At most `streams` requests may be open at once.
    pub fn start(streams: u32, time: Duration, body: Vec<u8>) -> Honest {
        Honest::over(None, streams, time, body)
    }

    pub fn over(tls: Option<ServerConfig>, streams: u32, time: Duration, body: Vec<u8>) -> Honest {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let count = || Arc::new(AtomicU64::new(0));
        let honest = Honest {
            address,
            requests: count(),
            connections: count(),
            at_once: count(),
            asked: Arc::default(),
            traces: Arc::default(),
        };
        let requests = Arc::clone(&honest.requests);
        let connections = Arc::clone(&honest.connections);
        let at_once = Arc::clone(&honest.at_once);
        let asked = Arc::clone(&honest.asked);
        let traces = Arc::clone(&honest.traces);
        let body = Bytes::from(body);
        let tls = tls.map(Arc::new);
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                connections.fetch_add(1, Ordering::SeqCst);
                socket.set_nodelay(true).unwrap();
                let socket = match &tls {
                    None => socket,
                    Some(tls) => behind_tls(socket, Arc::clone(tls)),
                };
                let each = Each {
                    requests: Arc::clone(&requests),
                    at_once: Arc::clone(&at_once),
                    asked: Arc::clone(&asked),
                    traces: Arc::clone(&traces),
                    body: body.clone(),
                    time,
                };
                thread::spawn(move || serve(socket, streams, each));
            }
        });
        honest
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub fn seen(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }
}

#[derive(Clone)]
struct Each {
    requests: Arc<AtomicU64>,
    at_once: Arc<AtomicU64>,
    asked: Arc<std::sync::Mutex<Vec<String>>>,
    traces: Arc<std::sync::Mutex<Vec<String>>>,
    body: Bytes,
    time: Duration,
}

fn serve(socket: TcpStream, streams: u32, each: Each) {
    socket.set_nonblocking(true).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async move {
        let socket = tokio::net::TcpStream::from_std(socket).unwrap();
        let handshake = h2::server::Builder::new().max_concurrent_streams(streams).handshake::<_, Bytes>(socket).await;
        let Ok(mut connection) = handshake else { return };
        let open = Arc::new(AtomicU64::new(0));
        while let Some(Ok((request, respond))) = connection.accept().await {
            let now = open.fetch_add(1, Ordering::SeqCst) + 1;
            each.at_once.fetch_max(now, Ordering::SeqCst);
            let each = each.clone();
            let open = Arc::clone(&open);
            tokio::task::spawn_local(async move {
                let _ = answer(request, respond, &each, &open).await;
            });
        }
    });
}

async fn answer(
    request: http::Request<h2::RecvStream>,
    mut respond: h2::server::SendResponse<Bytes>,
    each: &Each,
    open: &AtomicU64,
) -> Result<(), h2::Error> {
    let (head, mut body) = request.into_parts();
    let mut length = 0;
    while let Some(data) = body.data().await {
        let data = data?;
        length += data.len();
        body.flow_control().release_capacity(data.len())?;
    }
    let header = head.headers.get("x-test").map_or("", |value| value.to_str().unwrap_or("?"));
    let preflight = head.headers.contains_key(truetail_engine::PREFLIGHT_HEADER);
    if !preflight {
        each.asked.lock().unwrap().push(format!("{} {} {header} {length}", head.method, head.uri));
        let trace = head.headers.get("traceparent").and_then(|value| value.to_str().ok());
        each.traces.lock().unwrap().extend(trace.map(str::to_owned));
        each.requests.fetch_add(1, Ordering::SeqCst);
    }
    tokio::time::sleep(each.time).await;
    open.fetch_sub(1, Ordering::SeqCst);
    let answer = http::Response::builder().status(200).header("content-type", "text/plain").body(()).unwrap();
    let mut stream = respond.send_response(answer, false)?;
    stream.send_data(each.body.clone(), true)
}

/// Terminates TLS, and returns a plain socket with the decrypted bytes.
fn behind_tls(socket: TcpStream, config: Arc<ServerConfig>) -> TcpStream {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (far, _) = listener.accept().unwrap();
    [&near, &far].into_iter().for_each(|socket| socket.set_nodelay(true).unwrap());
    thread::spawn(move || {
        let stream = StreamOwned::new(ServerConnection::new(config).unwrap(), socket);
        let _ = relay(stream, far);
    });
    near
}

/// Relays in both directions, with short waits in turn.
fn relay(mut sealed: StreamOwned<ServerConnection, TcpStream>, mut plain: TcpStream) -> std::io::Result<()> {
    while sealed.conn.is_handshaking() {
        sealed.conn.complete_io(&mut sealed.sock)?;
    }
    let short = Some(Duration::from_millis(1));
    sealed.sock.set_read_timeout(short)?;
    plain.set_read_timeout(short)?;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        for to_plain in [true, false] {
            let read = if to_plain { sealed.read(&mut buffer) } else { plain.read(&mut buffer) };
            match read {
                Ok(0) => return Ok(()),
                Ok(n) if to_plain => plain.write_all(&buffer[..n])?,
                Ok(n) => sealed.write_all(&buffer[..n])?,
                Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
                }
                Err(error) => return Err(error),
            }
        }
    }
}
