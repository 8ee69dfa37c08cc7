//! The fastest honest HTTP server that fits on a page: one thread, one answer, nothing read of a request but where it
//! ends. Load generators are compared against it, so that the server is not what is measured.
//!
//! `cargo run --release -p truetail-reactor --example minimal_server -- 127.0.0.1:8080`

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};

use truetail_reactor::{Events, Reactor};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok";
const LISTENER: u64 = 0;

fn main() -> io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let listener = TcpListener::bind(&address)?;
    listener.set_nonblocking(true)?;
    println!("http://{}/", listener.local_addr()?);
    let reactor = Reactor::new()?;
    reactor.add(&listener, LISTENER)?;
    let (mut events, mut buffer) = (Events::with_capacity(256), vec![0; 64 * 1024]);
    let mut connections: HashMap<u64, (TcpStream, usize)> = HashMap::new();
    let mut next = LISTENER + 1;
    loop {
        reactor.wait(&mut events, None)?;
        for event in events.iter() {
            if event.token == LISTENER {
                while let Ok((stream, _)) = listener.accept() {
                    stream.set_nonblocking(true)?;
                    stream.set_nodelay(true)?;
                    reactor.add(&stream, next)?;
                    connections.insert(next, (stream, 0));
                    next += 1;
                }
            } else if let Some((stream, matched)) = connections.get_mut(&event.token)
                && !serve(stream, matched, &mut buffer, event.may_have_ended)
            {
                connections.remove(&event.token);
            }
        }
    }
}

/// Answers each end of a head. `matched` is how much of `\r\n\r\n` was seen. Says whether the connection goes on.
fn serve(stream: &mut TcpStream, matched: &mut usize, buffer: &mut [u8], may_have_ended: bool) -> bool {
    loop {
        let n = match stream.read(buffer) {
            Ok(0) => return false,
            Ok(n) => n,
            Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
        };
        for byte in &buffer[..n] {
            *matched = match (*matched, byte) {
                (0 | 2, b'\r') | (1 | 3, b'\n') => *matched + 1,
                (_, b'\r') => 1,
                _ => 0,
            };
            if *matched == 4 {
                *matched = 0;
                if stream.write_all(ANSWER).is_err() {
                    return false;
                }
            }
        }
        if n < buffer.len() && !may_have_ended {
            return true;
        }
    }
}
