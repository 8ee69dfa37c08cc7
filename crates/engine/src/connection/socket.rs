//! Sockets: opening them, sending and receiving.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;

use socket2::{Protocol, Socket, Type};
use truetail_model::record::Cause;
use truetail_reactor::sending;

use super::timestamps::{self, WallTime};
use crate::target::endpoint::{Endpoint, connect_cause};

/// Limit on the local ports that are tried for one connection.
const PORTS_TRIED: u32 = 64;

/// Begins to connect to `endpoint` from the first free port that `pick` returns. Without one, the system chooses.
///
/// # Errors
/// If no attempt can be made.
pub(crate) fn connect(endpoint: &Endpoint, mut pick: impl FnMut() -> Option<u16>) -> Result<Socket, Cause> {
    let socket = match endpoint {
        Endpoint::Tcp(address) => from_a_free_port(&mut pick, |port| connect_tcp(*address, port)),
        Endpoint::Unix(_) => connect_unix(endpoint),
    };
    socket.map_err(|error| endpoint.connect_cause(&error))
}

/// Tries picked ports one after the other, and then asks the system once.
fn from_a_free_port<T>(
    mut pick: impl FnMut() -> Option<u16>,
    mut attempt: impl FnMut(Option<u16>) -> io::Result<T>,
) -> io::Result<T> {
    for _ in 0..PORTS_TRIED {
        let port = pick();
        match attempt(port) {
            Err(error) if port.is_some() && connect_cause(&error) == Cause::NoLocalPort => {}
            done => return done,
        }
    }
    attempt(pick())
}

fn connect_tcp(address: SocketAddr, from_port: Option<u16>) -> io::Result<Socket> {
    let socket = Socket::new(socket2::Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    socket.set_tcp_nodelay(true)?;
    if let Some(port) = from_port {
        let any: IpAddr = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        // Allows a port that is in use for another destination, or that still lingers.
        socket.set_reuse_address(true)?;
        socket.bind(&SocketAddr::new(any, port).into())?;
    }
    match socket.connect(&address.into()) {
        Ok(()) => Ok(socket),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::INPROGRESS.raw_os_error()) => Ok(socket),
        Err(error) => Err(error),
    }
}

/// Connects to a socket in the file system, which succeeds or fails at once.
fn connect_unix(endpoint: &Endpoint) -> io::Result<Socket> {
    let socket = Socket::new(endpoint.domain(), Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    socket.connect(&endpoint.address()?)?;
    Ok(socket)
}

/// Returns the outcome of connecting once the socket is writable, or `None` while it continues.
pub(super) fn connected(socket: &Socket) -> Option<Result<(), Cause>> {
    match socket.take_error() {
        Ok(Some(error)) | Err(error) => Some(Err(connect_cause(&error))),
        Ok(None) => match socket.peer_addr() {
            Ok(_) => Some(Ok(())),
            Err(error) if error.kind() == io::ErrorKind::NotConnected => None,
            Err(error) => Some(Err(connect_cause(&error))),
        },
    }
}

/// Reads once. Returns the number of bytes, and the kernel's stamp of the last of them if `stamped` and available.
/// `None`: nothing can be read now.
#[inline(always)]
pub(super) fn read(socket: &Socket, buffer: &mut [u8], stamped: bool) -> io::Result<Option<(usize, Option<WallTime>)>> {
    loop {
        let read = match stamped {
            true => timestamps::receive(socket.as_fd(), buffer),
            false => receive(socket, buffer).map(|n| (n, None)),
        };
        match read {
            Ok(read) => return Ok(Some(read)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Hands bytes to the socket, as many as it takes, and returns their number.
#[inline(always)]
pub(super) fn write(socket: &Socket, bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut taken = 0;
    while taken < bytes.len() {
        match send(socket, &bytes[taken..]) {
            Ok(0) => return (taken, Err(io::ErrorKind::WriteZero.into())),
            Ok(n) => taken += n,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (taken, Err(error)),
        }
    }
    (taken, Ok(()))
}

/// Calls the kernel directly if rustix does, because libc prepares for thread cancellation around each call.
#[inline(always)]
fn send(socket: &Socket, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(socket, bytes, sending::FLAGS)?)
}

#[inline(always)]
fn receive(socket: &Socket, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::net::recv(socket, buffer, rustix::net::RecvFlags::empty())?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken() -> io::Error {
        rustix::io::Errno::ADDRINUSE.into()
    }

    #[test]
    fn picked_ports_are_tried_in_turn_and_the_system_once() {
        let mut ports = 1000..;
        let found = from_a_free_port(|| ports.next(), |port| if port == Some(1007) { Ok(port) } else { Err(taken()) });
        assert_eq!(found.unwrap(), Some(1007));
        for (ports, attempts) in [(Some(1000), PORTS_TRIED + 1), (None, 1)] {
            let mut tried = 0;
            let none = from_a_free_port::<()>(
                || ports,
                |_| {
                    tried += 1;
                    Err(taken())
                },
            );
            assert_eq!((connect_cause(&none.unwrap_err()), tried), (Cause::NoLocalPort, attempts), "{ports:?}");
        }
    }
}
