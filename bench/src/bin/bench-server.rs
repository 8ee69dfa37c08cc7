//! A minimal HTTP server for comparing load generators, so fast that it does not limit them. It has one thread and
//! one answer, and looks only for the end of each request.
//!
//! `bench-server ADDRESS [STAMPS]`: with a second argument, the kernel timestamps every segment. On `GET /end` the
//! server writes the timestamps of all requests to the file STAMPS and exits. A record has three native 64-bit
//! numbers: the connection, the arrival of the request, and the instant just before its answer went to the kernel.
//! Times are nanoseconds since 1970, and 0 if there is no timestamp. On loopback, an answer reaches the client within
//! the call that sends it. The difference of the two times is therefore the time from kernel to kernel, less a part
//! of that call: too short by some microseconds, and never too long.

use std::fs::File;
use std::io::{self, BufWriter, IoSliceMut, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;

use memchr::memmem;
use nix::errno::Errno;
use nix::sys::socket::sockopt::ReceiveTimestampns;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt};
use rustix::net::sockopt::{set_socket_reuseaddr, set_socket_reuseport};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, send};
use truetail_reactor::{Reactor, ReadinessEvents};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok";
const END_OF_HEAD: &[u8] = b"\r\n\r\n";
const END: &[u8] = b"GET /end ";
const LISTENER: u64 = 0;
const BACKLOG: i32 = 1024;

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let stamps = arguments.next();
    let listener = listen(address.parse().map_err(io::Error::other)?)?;
    println!("http://{}/", listener.local_addr()?);
    let mut server = Server::new(stamps.is_some());
    server.serve(&listener)?;
    stamps.map_or(Ok(()), |file| server.write_stamps(&file))
}

/// With `SO_REUSEPORT`, several servers can share an address (`bench/processors.py`); the kernel distributes the
/// connections.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = rustix::net::socket(family, SocketType::STREAM, None)?;
    set_socket_reuseaddr(&socket, true)?;
    set_socket_reuseport(&socket, true)?;
    rustix::net::bind(&socket, &address)?;
    rustix::net::listen(&socket, BACKLOG)?;
    let listener = TcpListener::from(socket);
    listener.set_nonblocking(true)?;
    Ok(listener)
}

struct Server {
    buffer: Vec<u8>,
    control: Option<Vec<u8>>,
    stamps: Vec<[u64; 3]>,
    ended: bool,
}

struct Connection {
    stream: TcpStream,
    /// Number of bytes of `\r\n\r\n` at the end of the last read.
    matched: usize,
}

impl Server {
    fn new(stamped: bool) -> Server {
        let control = stamped.then(|| nix::cmsg_space!(nix::sys::time::TimeSpec));
        Server { buffer: vec![0; 64 * 1024], control, stamps: Vec::new(), ended: false }
    }

    fn serve(&mut self, listener: &TcpListener) -> io::Result<()> {
        let reactor = Reactor::new()?;
        reactor.add(listener, LISTENER)?;
        let mut events = ReadinessEvents::with_capacity(256);
        // Indexed by token; tokens are not reused.
        let mut connections: Vec<Option<Connection>> = vec![None];
        while !self.ended {
            reactor.wait(&mut events, None)?;
            for event in events.iter() {
                if event.token == LISTENER {
                    while let Ok((stream, _)) = listener.accept() {
                        self.prepare(&stream)?;
                        reactor.add(&stream, connections.len() as u64)?;
                        connections.push(Some(Connection { stream, matched: 0 }));
                    }
                } else if let Some(connection) = &mut connections[event.token as usize]
                    && !self.answer(event.token, connection, event.may_have_ended)
                {
                    connections[event.token as usize] = None;
                }
            }
        }
        Ok(())
    }

    fn prepare(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        // The simplest congestion control: its cost is not part of the comparison.
        let _ = rustix::net::sockopt::set_tcp_congestion(stream, "reno");
        if self.control.is_some() {
            setsockopt(stream, ReceiveTimestampns, &true)?;
        }
        Ok(())
    }

    /// Reads into the buffer. Returns the number of bytes and their timestamp, in nanoseconds since 1970 (0 if
    /// unknown).
    fn read(&mut self, stream: &TcpStream) -> Result<(usize, u64), Errno> {
        let Some(control) = &mut self.control else {
            return match recv(stream, &mut self.buffer[..], RecvFlags::empty()) {
                Ok((read, _)) => Ok((read, 0)),
                Err(error) => Err(Errno::from_raw(error.raw_os_error())),
            };
        };
        let mut parts = [IoSliceMut::new(&mut self.buffer)];
        let message = recvmsg::<()>(stream.as_raw_fd(), &mut parts, Some(control), MsgFlags::empty())?;
        let stamp = message.cmsgs()?.find_map(|part| match part {
            ControlMessageOwned::ScmTimestampns(at) => Some(at.tv_sec() as u64 * 1_000_000_000 + at.tv_nsec() as u64),
            _ => None,
        });
        Ok((message.bytes, stamp.unwrap_or(0)))
    }

    /// Sends an answer for each end of a head. Returns true if the connection stays open.
    fn answer(&mut self, token: u64, connection: &mut Connection, may_have_ended: bool) -> bool {
        loop {
            let (n, stamp) = match self.read(&connection.stream) {
                Ok((0, _)) => return false,
                Ok(read) => read,
                Err(error) => return error == Errno::EAGAIN,
            };
            self.ended |= self.buffer[..n].starts_with(END);
            let ends = heads_in(&self.buffer[..n], &mut connection.matched);
            for _ in 0..ends {
                if self.control.is_some() {
                    self.stamps.push([token, stamp, now()]);
                }
                if send(&connection.stream, ANSWER, SendFlags::NOSIGNAL) != Ok(ANSWER.len()) {
                    return false;
                }
            }
            if n < self.buffer.len() && !may_have_ended {
                return true;
            }
        }
    }

    fn write_stamps(&self, file: &str) -> io::Result<()> {
        let mut out = BufWriter::new(File::create(file)?);
        for number in self.stamps.iter().flatten() {
            out.write_all(&number.to_ne_bytes())?;
        }
        out.flush()
    }
}

fn now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Returns the number of heads that end in `bytes`. `matched` carries a partial end from one read to the next.
fn heads_in(bytes: &[u8], matched: &mut usize) -> usize {
    // The usual case: whole requests and no other bytes.
    if *matched == 0 && bytes.ends_with(END_OF_HEAD) {
        return memmem::find_iter(bytes, END_OF_HEAD).count();
    }
    bytes.iter().filter(|byte| ends_a_head(matched, **byte)).count()
}

fn ends_a_head(matched: &mut usize, byte: u8) -> bool {
    *matched = match (*matched, byte) {
        (0 | 2, b'\r') | (1 | 3, b'\n') => *matched + 1,
        (_, b'\r') => 1,
        _ => 0,
    };
    let ends = *matched == 4;
    if ends {
        *matched = 0;
    }
    ends
}
