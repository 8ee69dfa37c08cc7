//! HTTP over TLS.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use truetail_model::service::{Fault, Selector, Service};
use truetail_model::time::Nanos;
use truetail_server::{Certificate, Ending, Server, ServerOptions};
use tungstenite::{Bytes, Message};

use crate::support::{Client, End, faulty, get, options, stop_and_check, wait_for_admitted};

/// Returns a self-signed certificate in PEM, and its key.
fn pem() -> (Vec<u8>, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    (made.cert.pem().into_bytes(), made.signing_key.serialize_pem().into_bytes())
}

/// Starts a server over TLS, and returns the configuration of its clients.
fn start(service: Service) -> (Server, Arc<ClientConfig>) {
    let (chain, key) = pem();
    let certificate = Some(Certificate::from_pem(&chain, &key).unwrap());
    let server = Server::start(ServerOptions { certificate, ..options(service) }).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(rustls::pki_types::CertificateDer::from_pem_slice(&chain).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    (server, Arc::new(config))
}

fn connect(server: &Server, config: &Arc<ClientConfig>) -> StreamOwned<ClientConnection, TcpStream> {
    let name = ServerName::try_from("localhost").unwrap();
    let session = ClientConnection::new(Arc::clone(config), name).unwrap();
    StreamOwned::new(session, Client::connect(server).stream)
}

/// Reads until the end of the head and `body` bytes of the body.
fn answer(stream: &mut impl Read, body: usize) -> Vec<u8> {
    let mut all = Vec::new();
    let mut buffer = [0; 10_000];
    loop {
        let read = stream.read(&mut buffer).unwrap();
        assert_ne!(read, 0, "{}", String::from_utf8_lossy(&all));
        all.extend_from_slice(&buffer[..read]);
        let head = all.windows(4).position(|four| four == b"\r\n\r\n");
        if head.is_some_and(|head| all.len() >= head + 4 + body) {
            return all;
        }
    }
}

#[test]
fn requests_are_answered_over_one_connection() {
    let service = Service { body_bytes: 5, ..faulty(vec![]) };
    let (server, config) = start(service.clone());
    let mut stream = connect(&server, &config);
    for _ in 0..20 {
        stream.write_all(get("/api").as_bytes()).unwrap();
        assert!(answer(&mut stream, 5).ends_with(b"okoko"));
    }
    assert_eq!(stop_and_check(server, &service).totals.count(Ending::Answered), 20);
}

#[test]
fn an_answer_that_the_client_reads_slowly_arrives_whole() {
    let service = Service { body_bytes: 8_000_000, ..faulty(vec![]) };
    let (server, config) = start(service.clone());
    let mut stream = connect(&server, &config);
    stream.write_all(get("/api").as_bytes()).unwrap();
    // The system's buffers are full long before the end of this pause.
    std::thread::sleep(Duration::from_millis(200));
    let all = answer(&mut stream, 8_000_000);
    assert!(all.ends_with(b"okokok") && all.windows(2).filter(|two| two == b"ko").count() >= 3_999_999);
    assert_eq!(stop_and_check(server, &service).totals.count(Ending::Answered), 1);
}

#[test]
fn an_answer_that_is_cut_short_ends_with_a_close_notification() {
    let fault = Fault::ShortBody { select: Selector::default() };
    let service = Service { body_bytes: 1_000, ..faulty(vec![fault]) };
    let (server, config) = start(service.clone());
    let mut stream = connect(&server, &config);
    stream.write_all(get("/api").as_bytes()).unwrap();
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    assert!(all.ends_with(b"okok") && all.len() < 1_000, "{}", all.len());
    assert_eq!(stop_and_check(server, &service).totals.count(Ending::ShortBody), 1);
}

#[test]
fn what_is_no_tls_is_told_so_and_closed() {
    let service = faulty(vec![]);
    let (server, _) = start(service.clone());
    let mut client = Client::connect(&server);
    client.send(get("/api"));
    let (said, end) = client.until_end();
    // Only an alert.
    assert_eq!((said.first(), end), (Some(&21), End::Closed));
    let truth = stop_and_check(server, &service);
    assert_eq!((truth.totals.admitted, truth.totals.refused), (0, 0));
}

#[test]
fn a_client_that_leaves_in_mid_handshake_leaves_nothing_behind() {
    let service = Service { baseline: Nanos::from_millis(1), ..faulty(vec![]) };
    let (server, config) = start(service.clone());
    for bytes in [&[][..], &[22], &[22, 3, 1, 2, 0, 1]] {
        Client::connect(&server).send(bytes);
    }
    let mut stream = connect(&server, &config);
    stream.write_all(get("/healthy").as_bytes()).unwrap();
    answer(&mut stream, 0);
    assert_eq!(stop_and_check(server, &service).totals.admitted, 0);
}

#[test]
fn files_that_are_no_certificate_or_no_key_are_refused() {
    let (chain, key) = pem();
    let (_, other) = pem();
    let problem = |chain: &[u8], key: &[u8]| Certificate::from_pem(chain, key).unwrap_err();
    assert!(problem(b"", &key).contains("no certificate"));
    assert!(problem(&chain, &chain).contains("no private key"));
    assert!(problem(&chain, &other).contains("together"));
}

/// Answers fill the system's buffers, so that TLS holds the next one when the ping comes.
#[test]
fn a_pong_does_not_go_before_bytes_that_tls_holds() {
    // More than the buffers of the system hold, and less than these and a channel together.
    const MESSAGES: usize = 6_000;
    let service = faulty(vec![]);
    let (server, config) = start(service.clone());
    let address = format!("wss://localhost:{}/", server.addr().port());
    let stream = connect(&server, &config);
    rustix::net::sockopt::set_socket_recv_buffer_size(&stream.sock, 65_536).unwrap();
    let mut channel = tungstenite::client(address, stream).unwrap().0;
    let text = |number: usize| format!("{number:01000}");
    for number in 0..MESSAGES {
        channel.send(Message::text(text(number))).unwrap();
    }
    wait_for_admitted(&server, MESSAGES as u64);
    // All answers are due, and the system has no room for them.
    std::thread::sleep(Duration::from_millis(100));
    channel.send(Message::Ping(Bytes::from_static(b"p"))).unwrap();
    let mut pongs = 0;
    let mut next = 0;
    while next < MESSAGES || pongs == 0 {
        match channel.read().unwrap() {
            Message::Pong(_) => pongs += 1,
            answer => {
                assert_eq!(answer, Message::text(text(next)));
                next += 1;
            }
        }
    }
    assert_eq!(pongs, 1);
    assert_eq!(stop_and_check(server, &service).totals.count(Ending::Answered), MESSAGES as u64);
}
