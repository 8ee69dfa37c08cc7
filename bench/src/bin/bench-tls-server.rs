//! `bench-server` with TLS 1.3 and a certificate that is generated at startup. It has one thread, one answer and
//! kept-alive connections.
//!
//! `bench-tls-server ADDRESS`

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use memchr::memmem;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection};
use truetail_reactor::{Reactor, ReadinessEvents};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok";
const END_OF_HEAD: &[u8] = b"\r\n\r\n";
const LISTENER: u64 = 0;

struct Connection {
    stream: TcpStream,
    session: ServerConnection,
}

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let listener = TcpListener::bind(&address)?;
    listener.set_nonblocking(true)?;
    let config = Arc::new(config()?);
    println!("https://{}/", listener.local_addr()?);
    let reactor = Reactor::new()?;
    reactor.add(&listener, LISTENER)?;
    let mut events = ReadinessEvents::with_capacity(256);
    let mut connections: Vec<Option<Connection>> = vec![None];
    let mut buffer = vec![0; 64 * 1024];
    loop {
        reactor.wait(&mut events, None)?;
        for event in events.iter() {
            if event.token == LISTENER {
                while let Ok((stream, _)) = listener.accept() {
                    stream.set_nonblocking(true)?;
                    stream.set_nodelay(true)?;
                    reactor.add(&stream, connections.len() as u64)?;
                    connections.push(Some(Connection { stream, session: ServerConnection::new(Arc::clone(&config))? }));
                }
            } else if let Some(connection) = &mut connections[event.token as usize]
                && serve(connection, &mut buffer).is_err()
            {
                connections[event.token as usize] = None;
            }
        }
    }
}

fn config() -> Result<ServerConfig, Failure> {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der())?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_protocol_versions(&[&rustls::version::TLS13])?;
    Ok(builder.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key)?)
}

/// Answers every request that has arrived. Fails if the connection has ended.
fn serve(connection: &mut Connection, buffer: &mut [u8]) -> Result<(), Failure> {
    let Connection { stream, session } = connection;
    loop {
        match session.read_tls(stream) {
            Ok(0) => return Err("closed".into()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let opened = session.process_new_packets()?.plaintext_bytes_to_read();
        session.reader().read_exact(&mut buffer[..opened])?;
        // Assumes whole requests: the clients of this benchmark send no partial ones.
        for _ in memmem::find_iter(&buffer[..opened], END_OF_HEAD) {
            session.writer().write_all(ANSWER)?;
        }
        while session.wants_write() {
            session.write_tls(stream)?;
        }
    }
}
