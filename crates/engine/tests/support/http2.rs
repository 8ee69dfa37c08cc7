//! Servers of HTTP/2: an honest one, and one that sends the frames that a test tells it to.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use truetail_engine::Plan;

/// The same plan in HTTP/2.
pub fn in_http2(mut plan: Plan) -> Plan {
    plan.target.use_http2().unwrap();
    plan
}

/// A server by another implementation of HTTP/2, on a port of its own; it ends with the test process.
pub struct Honest {
    pub address: SocketAddr,
    pub requests: Arc<AtomicU64>,
    pub connections: Arc<AtomicU64>,
    /// Most requests that were open at once on one connection.
    pub at_once: Arc<AtomicU64>,
    /// What was asked, in the order in which it came: method, authority, path, the header `x-test`, and the body's length.
    pub asked: Arc<std::sync::Mutex<Vec<String>>>,
}

impl Honest {
    /// Answers each request with status 200 and `body`, after `time`; `streams` requests may be open at once.
    pub fn start(streams: u32, time: Duration, body: Vec<u8>) -> Honest {
        Honest::over(None, streams, time, body)
    }

    pub fn over(tls: Option<ServerConfig>, streams: u32, time: Duration, body: Vec<u8>) -> Honest {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let count = || Arc::new(AtomicU64::new(0));
        let honest =
            Honest { address, requests: count(), connections: count(), at_once: count(), asked: Arc::default() };
        let (requests, connections, at_once) =
            (Arc::clone(&honest.requests), Arc::clone(&honest.connections), Arc::clone(&honest.at_once));
        let (asked, body, tls) = (Arc::clone(&honest.asked), Bytes::from(body), tls.map(Arc::new));
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
            let (each, open) = (each.clone(), Arc::clone(&open));
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
        each.requests.fetch_add(1, Ordering::SeqCst);
    }
    tokio::time::sleep(each.time).await;
    open.fetch_sub(1, Ordering::SeqCst);
    let answer = http::Response::builder().status(200).header("content-type", "text/plain").body(()).unwrap();
    let mut stream = respond.send_response(answer, false)?;
    stream.send_data(each.body.clone(), true)
}

/// What is said behind TLS, through a pair of plain sockets.
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

/// Both ways, by short waits in turn.
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

/// Types of frames that tests use.
pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;

/// One frame.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A whole answer: status 200 and two bytes.
pub fn ok(stream: u32) -> Vec<u8> {
    [frame(HEADERS, 4, stream, &[0x88]), frame(DATA, 1, stream, b"ok")].concat()
}

/// A frame that the server heard.
pub struct Heard {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Heard {
    /// The last frame of a request.
    pub fn ends_request(&self) -> bool {
        matches!(self.kind, HEADERS | DATA) && self.flags & 1 != 0
    }
}

/// What the server does.
pub enum Say {
    /// Sends these bytes.
    Bytes(Vec<u8>),
    /// Sends these bytes and closes.
    Close(Vec<u8>),
}

/// A server that begins with `first` on each connection and says to each frame what `say` has for it, given the number of
/// the connection, from 0.
pub struct Raw {
    pub address: SocketAddr,
    pub connections: Arc<AtomicU64>,
}

impl Raw {
    pub fn start(first: Vec<u8>, say: impl Fn(u64, &Heard) -> Say + Send + Sync + 'static) -> Raw {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, say) = (Arc::new(AtomicU64::new(0)), Arc::new(say));
        let counter = Arc::clone(&connections);
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let (first, say) = (first.clone(), Arc::clone(&say));
                let number = counter.fetch_add(1, Ordering::SeqCst);
                thread::spawn(move || converse(socket, &first, |heard| say(number, heard)));
            }
        });
        Raw { address, connections }
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

fn converse(mut socket: TcpStream, first: &[u8], say: impl Fn(&Heard) -> Say) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    let mut preface = [0; 24];
    socket.read_exact(&mut preface).ok()?;
    assert_eq!(&preface, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    socket.write_all(first).ok()?;
    loop {
        let mut head = [0; 9];
        socket.read_exact(&mut head).ok()?;
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        socket.read_exact(&mut payload).ok()?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        match say(&Heard { kind: head[3], flags: head[4], stream, payload }) {
            Say::Bytes(bytes) => socket.write_all(&bytes).ok()?,
            Say::Close(bytes) => {
                socket.write_all(&bytes).ok()?;
                // Whoever closes with bytes unread resets, and a reset may overtake what was said.
                socket.shutdown(std::net::Shutdown::Write).ok()?;
                let _ = std::io::copy(&mut socket, &mut std::io::sink());
                return None;
            }
        }
    }
}
