//! A server that speaks TLS, or pretends to, and its certificates.

use std::io::{self, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, date_time_ymd,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{HandshakeKind, RootCertStore, ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion};
use truetail_engine::{Identity, Plan, TlsOptions};

use super::read_request;

/// A certificate and its key, in PEM.
#[derive(Clone)]
pub struct Pair {
    pub certificate: String,
    pub key: String,
}

impl Pair {
    pub fn identity(&self) -> Identity {
        Identity { certificates: self.certificate.clone().into_bytes(), key: self.key.clone().into_bytes() }
    }
}

pub static AUTHORITY: LazyLock<(String, Issuer<'static, KeyPair>)> = LazyLock::new(|| {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, "authority of these tests");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let pem = params.self_signed(&key).unwrap().pem();
    (pem, Issuer::new(params, key))
});

/// Returns a certificate signed by [`AUTHORITY`] for these names, after `change`.
pub fn signed(names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> Pair {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(names.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap();
    change(&mut params);
    Pair { certificate: params.signed_by(&key, &AUTHORITY.1).unwrap().pem(), key: key.serialize_pem() }
}

pub fn valid() -> Pair {
    signed(&["localhost", "127.0.0.1"], |_| ())
}

pub fn expired() -> Pair {
    signed(&["127.0.0.1"], |params| {
        (params.not_before, params.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(2001, 1, 1));
    })
}

pub fn for_client() -> Pair {
    signed(&["client"], |params| params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth])
}

/// Returns a self-signed certificate like that of `openssl req -x509`.
pub fn for_authority() -> Pair {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    Pair { certificate: params.self_signed(&key).unwrap().pem(), key: key.serialize_pem() }
}

pub fn self_signed() -> Pair {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    Pair { certificate: made.cert.pem(), key: made.signing_key.serialize_pem() }
}

/// Returns options that trust only [`AUTHORITY`].
pub fn trusting() -> TlsOptions {
    TlsOptions { authorities: Some(AUTHORITY.0.clone().into_bytes()), ..TlsOptions::default() }
}

pub fn insecure() -> TlsOptions {
    TlsOptions { insecure: true, ..TlsOptions::default() }
}

pub fn secured(mut plan: Plan, options: &TlsOptions) -> Plan {
    plan.target.secure(options).unwrap();
    plan
}

/// Returns a server's configuration for this certificate.
pub fn config(pair: &Pair, wants_client: bool, versions: &[&'static SupportedProtocolVersion]) -> ServerConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider)).with_protocol_versions(versions).unwrap();
    let builder = if wants_client {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(AUTHORITY.0.as_bytes()).unwrap()).unwrap();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
        builder.with_client_cert_verifier(verifier)
    } else {
        builder.with_no_client_auth()
    };
    let chain = vec![CertificateDer::from_pem_slice(pair.certificate.as_bytes()).unwrap()];
    let mut config =
        builder.with_single_cert(chain, PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).unwrap()).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

pub fn usual() -> ServerConfig {
    config(&valid(), false, rustls::ALL_VERSIONS)
}

/// The server's action for one request.
#[derive(Clone)]
pub enum Act {
    /// Sends these bytes and keeps the connection.
    Send(Vec<u8>),
    /// Sends these bytes in records of one byte each.
    Drip(Vec<u8>),
    /// Sends one record with these bytes, with its last bytes on the wire after this time.
    InTwo(Vec<u8>, Duration),
    /// Sends these bytes and closes with TLS's close_notify.
    SendAndClose(Vec<u8>),
    /// Sends these bytes and closes TCP without close_notify.
    SendAndCut(Vec<u8>),
    /// Sends these bytes, and then bytes that are not TLS.
    SendAndBreak(Vec<u8>),
    /// Sends these bytes, keeps the connection, and changes its TLS keys a moment later.
    SendAndRekey(Vec<u8>),
    /// Sends nothing until the client closes.
    Hang,
}

/// A socket that can be made slow.
struct Wire {
    socket: TcpStream,
    /// Limit on the bytes of one write.
    most: usize,
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.read(buffer)
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.write(&bytes[..bytes.len().min(self.most)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

type Stream = StreamOwned<ServerConnection, Wire>;

/// A server on a free port. It ends with the test process.
pub struct TlsPuppet {
    pub address: SocketAddr,
    pub requests: Arc<AtomicU64>,
    pub connections: Arc<AtomicU64>,
    pub resumed: Arc<AtomicU64>,
}

impl TlsPuppet {
    /// Handles request number n (from 0, over all connections) with `act(n)`.
    pub fn start(config: ServerConfig, act: impl Fn(u64) -> Act + Send + Sync + 'static) -> TlsPuppet {
        TlsPuppet::start_slow(config, usize::MAX, act)
    }

    /// Starts a server like [`TlsPuppet::start`] with at most `most` bytes in each segment, from the handshake on.
    pub fn start_slow(
        config: ServerConfig,
        most: usize,
        act: impl Fn(u64) -> Act + Send + Sync + 'static,
    ) -> TlsPuppet {
        let config = Arc::new(config);
        let act = Arc::new(act);
        let count = || Arc::new(AtomicU64::new(0));
        let requests = count();
        let connections = count();
        let resumed = count();
        let counts = (Arc::clone(&requests), Arc::clone(&connections), Arc::clone(&resumed));
        let address = listen(move |socket| {
            counts.1.fetch_add(1, Ordering::SeqCst);
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            serve(StreamOwned::new(connection, Wire { socket, most }), &*act, &counts.0, &counts.2);
        });
        TlsPuppet { address, requests, connections, resumed }
    }

    pub fn url(&self) -> String {
        format!("https://{}/", self.address)
    }
}

/// Calls `serve` with each connection, in a new thread.
pub fn listen(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            socket.set_nodelay(true).unwrap();
            let serve = Arc::clone(&serve);
            thread::spawn(move || serve(socket));
        }
    });
    address
}

fn serve(stream: Stream, act: &(dyn Fn(u64) -> Act + Send + Sync), requests: &AtomicU64, resumed: &AtomicU64) {
    let mut reader = BufReader::new(stream);
    while read_request(&mut reader) {
        let stream = reader.get_mut();
        let n = requests.fetch_add(1, Ordering::SeqCst);
        let is_resumed = stream.conn.handshake_kind() == Some(HandshakeKind::Resumed);
        resumed.fetch_add(u64::from(is_resumed), Ordering::SeqCst);
        if !perform(act(n), stream) {
            return;
        }
    }
}

/// Performs `act`, and returns true if the connection continues.
fn perform(act: Act, stream: &mut Stream) -> bool {
    match act {
        Act::Send(bytes) => stream.write_all(&bytes).is_ok(),
        Act::Drip(bytes) => bytes.iter().all(|byte| stream.write_all(&[*byte]).is_ok()),
        Act::InTwo(bytes, pause) => in_two(&bytes, pause, stream).is_ok(),
        Act::SendAndClose(bytes) => {
            let _ = stream.write_all(&bytes);
            stream.conn.send_close_notify();
            let _ = stream.flush();
            false
        }
        Act::SendAndCut(bytes) => {
            let _ = stream.write_all(&bytes);
            false
        }
        Act::SendAndBreak(bytes) => {
            let _ = stream.write_all(&bytes);
            let _ = stream.sock.socket.write_all(b"this is no record of TLS");
            false
        }
        Act::SendAndRekey(bytes) => {
            let _ = stream.write_all(&bytes);
            thread::sleep(Duration::from_millis(5));
            stream.conn.refresh_traffic_keys().unwrap();
            stream.flush().is_ok()
        }
        Act::Hang => {
            let _ = stream.read(&mut [0; 16]);
            false
        }
    }
}

fn in_two(bytes: &[u8], pause: Duration, stream: &mut Stream) -> io::Result<()> {
    let mut sealed = Vec::new();
    stream.conn.writer().write_all(bytes)?;
    while stream.conn.wants_write() {
        stream.conn.write_tls(&mut sealed)?;
    }
    let (first, last) = sealed.split_at(sealed.len() - 1);
    stream.sock.socket.write_all(first)?;
    thread::sleep(pause);
    stream.sock.socket.write_all(last)
}
