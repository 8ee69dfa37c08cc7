//! An HTTP/2 server that sends frames from a test.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A complete answer: status 200 and two bytes.
pub fn ok(stream: u32) -> Vec<u8> {
    [frame(HEADERS, 4, stream, &[0x88]), frame(DATA, 1, stream, b"ok")].concat()
}

/// A frame that the server received.
pub struct Heard {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Heard {
    /// Returns true for the last frame of a request.
    pub fn ends_request(&self) -> bool {
        matches!(self.kind, HEADERS | DATA) && self.flags & 1 != 0
    }
}

/// The server's action for one frame.
pub enum Say {
    /// Sends these bytes.
    Bytes(Vec<u8>),
    /// Sends these bytes and closes.
    Close(Vec<u8>),
}

/// A server that sends `first` on each connection and answers each frame with `say`, which gets the connection's index.
pub struct Raw {
    pub address: SocketAddr,
    pub connections: Arc<AtomicU64>,
}

impl Raw {
    pub fn start(first: Vec<u8>, say: impl Fn(u64, &Heard) -> Say + Send + Sync + 'static) -> Raw {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicU64::new(0));
        let say = Arc::new(say);
        let counter = Arc::clone(&connections);
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let first = first.clone();
                let say = Arc::clone(&say);
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
                // Closing with unread bytes causes a reset, which may overtake the answer.
                socket.shutdown(std::net::Shutdown::Write).ok()?;
                let _ = std::io::copy(&mut socket, &mut std::io::sink());
                return None;
            }
        }
    }
}
