//! A server without free file descriptors continues to serve its clients, does not spin, and serves the waiting clients
//! later. A separate test binary, because the limit applies to the whole process.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use socket2::{Domain, Socket, Type};
use truetail_model::service::Service;
use truetail_model::time::Nanos;
use truetail_server::{Server, ServerOptions};

const CLIENTS: usize = 30;
/// Number of clients that find a descriptor on the server's side.
const ROOM: u64 = 5;

/// Returns the lowest free descriptor. New ones get this number and the numbers after it.
fn next_descriptor() -> u64 {
    use std::os::fd::AsRawFd;
    TcpListener::bind("127.0.0.1:0").unwrap().as_raw_fd() as u64
}

fn is_answered(stream: &mut TcpStream) -> bool {
    stream.write_all(b"GET /api HTTP/1.1\r\n\r\n").unwrap();
    matches!(stream.read(&mut [0; 1000]), Ok(length) if length > 0)
}

fn cpu_time() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

#[test]
fn no_descriptor_left() {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let service = Service::healthy(Nanos::from_millis(1));
    let server = Server::start(ServerOptions::new(service, any_port)).unwrap();
    // Create the clients' sockets before the limit is lowered, so that connecting needs no descriptor.
    let sockets: Vec<Socket> = (0..CLIENTS).map(|_| Socket::new(Domain::IPV4, Type::STREAM, None).unwrap()).collect();
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(next_descriptor() + ROOM), ..before }).unwrap();
    let connect = |socket: Socket| {
        socket.connect(&server.addr().into()).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        TcpStream::from(socket)
    };
    let mut streams: Vec<TcpStream> = sockets.into_iter().map(connect).collect();
    for stream in &mut streams[..ROOM as usize] {
        assert!(is_answered(stream));
    }
    let started = Instant::now();
    let used_before = cpu_time();
    std::thread::sleep(Duration::from_millis(500));
    let wall = started.elapsed();
    let cpu = cpu_time() - used_before;
    assert!(cpu < wall / 4, "{cpu:?} of CPU time in {wall:?}: it spins");
    // Each client that leaves makes room for one that waits.
    while !streams.is_empty() {
        assert!(is_answered(&mut streams[0]), "{} left", streams.len());
        streams.remove(0);
    }
    assert_eq!(server.stop().totals.admitted, CLIENTS as u64 + ROOM);
}
