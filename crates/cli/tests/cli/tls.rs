//! `truetail run https://…`, from certificate files to the notes of the run.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rcgen::{BasicConstraints, Certificate, CertificateParams, IsCa, KeyPair, generate_simple_self_signed};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::raw_server::serve_each;
use super::support::{CommandOutput, TestDir, assert_balanced};

/// Time between two pieces of an answer.
pub const BETWEEN: Duration = Duration::from_millis(60);
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Starts a server that answers every request with 200. Returns its URL, and its certificate in PEM.
pub fn serve() -> (String, String) {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(["127.0.0.1".to_owned()]).expect("a name");
    serve_with(params.self_signed(&key).expect("a certificate"), &key, &[ANSWER])
}

/// Starts a server that sends each answer in these pieces, [`BETWEEN`] apart. Returns its URL.
pub fn serve_pieces(pieces: &'static [&'static [u8]]) -> String {
    let made = generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    serve_with(made.cert, &made.signing_key, pieces).0
}

fn serve_with(made: Certificate, key: &KeyPair, pieces: &'static [&'static [u8]]) -> (String, String) {
    let pem = made.pem();
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.expect("versions").with_no_client_auth();
    let config = Arc::new(builder.with_single_cert(vec![made.der().clone()], key).expect("a pair"));
    let place = serve_each(move |socket| {
        answer_all(socket, Arc::clone(&config), pieces);
        Some(())
    });
    let url = format!("https://{place}/");
    (url, pem)
}

/// Returns the certificate of a client and its key, in PEM.
pub fn client() -> (String, String) {
    let made = generate_simple_self_signed(["client".to_owned()]).expect("a certificate");
    (made.cert.pem(), made.signing_key.serialize_pem())
}

fn answer_all(socket: TcpStream, config: Arc<ServerConfig>, pieces: &[&[u8]]) {
    let connection = ServerConnection::new(config).expect("a session");
    let mut reader = BufReader::new(StreamOwned::new(connection, socket));
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|n| n > 0) {
        for (number, piece) in pieces.iter().enumerate().filter(|_| line == "\r\n") {
            thread::sleep(if number == 0 { Duration::ZERO } else { BETWEEN });
            if reader.get_mut().write_all(piece).and_then(|()| reader.get_mut().flush()).is_err() {
                return;
            }
        }
        line.clear();
    }
}

/// Returns the only line of a refused run.
fn refused(output: &CommandOutput, code: i32) -> &str {
    assert_eq!((output.code, output.stderr.lines().count()), (Some(code), 1), "{output:?}");
    &output.stderr
}

#[test]
fn whom_to_trust() {
    let (url, certificate) = serve();
    let dir = TestDir::new();
    dir.file("ca.pem", &certificate);
    let run = |more: &[&str]| {
        dir.truetail(&[&["run", &url, "-r", "200", "-n", "40", "--json", "--quiet", "--no-save"], more].concat())
    };
    let output = run(&["--ca", "ca.pem"]);
    let trusted = output.json();
    output.assert_code(&trusted, 0);
    assert_balanced(&trusted);
    assert_eq!((trusted["statuses"]["200"].as_u64(), trusted["notes"].as_array().map(Vec::len)), (Some(40), Some(0)));
    assert!(trusted["tls_handshake_time"]["count"].as_u64() > Some(0), "{}", trusted["tls_handshake_time"]);
    let output = run(&["--insecure", "--no-keepalive"]);
    let unverified = output.json();
    assert_eq!(unverified["tls_handshake_time"]["count"], 40);
    let notes = unverified["notes"].to_string();
    assert!(
        notes.contains("--insecure: certificates were not verified") && notes.contains("--no-keepalive"),
        "{notes}"
    );
    assert!(output.stderr.contains("--insecure: certificates were not verified"), "{output:?}");
    let sessions = ["--model", "partly-open", "--session-length", "3", "--connection-per-session"];
    let args =
        [&["run", &url, "-r", "50", "-d", "400ms", "--insecure", "--json", "--quiet", "--no-save"], &sessions[..]];
    let per_session = dir.truetail(&args.concat()).json();
    assert_balanced(&per_session);
    assert_eq!(per_session["tls_handshake_time"]["count"], 20);
    assert_eq!(per_session["scenario"]["connection_per_session"], true);
    let other = generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    dir.file("other.pem", &other.cert.pem());
    let untrusted = run(&["--ca", "other.pem"]);
    let line = refused(&untrusted, 1);
    assert!(line.contains("TLS with 127.0.0.1:") && line.contains("accept any certificate with --insecure"), "{line}");
    let plain = TcpListener::bind("127.0.0.1:0").expect("a port");
    let http = format!("https://{}/", plain.local_addr().expect("an address"));
    thread::spawn(move || plain.incoming().flatten().for_each(|mut s| drop(s.write_all(b"HTTP/1.1 400 Bad\r\n\r\n"))));
    let output = dir.truetail(&["run", &http, "-r", "1", "--insecure"]);
    assert!(refused(&output, 1).contains("not TLS") && output.stderr.contains("http://"), "{output:?}");
}

/// Certificates like `openssl req -x509` makes: self-signed, and marked as an authority's.
#[test]
fn a_certificate_of_an_authority_is_trusted_where_it_is_named() {
    let key = KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new(["127.0.0.1".to_owned(), "a.test".to_owned()]).expect("names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let (url, certificate) = serve_with(params.self_signed(&key).expect("a certificate"), &key, &[ANSWER]);
    let dir = TestDir::new();
    dir.file("own.pem", &certificate);
    let other = params.self_signed(&KeyPair::generate().expect("a key")).expect("a certificate");
    dir.file("other.pem", &other.pem());
    let port = url.trim_end_matches('/').rsplit_once(':').expect("a port").1;
    let resolve = format!("b.test:{port}:127.0.0.1");
    let load = ["-r", "100", "-n", "3", "--no-save", "--json", "--quiet"];
    let run = |url: &str, more: &[&str]| dir.truetail(&[&["run", url], &load[..], more].concat());
    let trusted = run(&url, &["--ca", "own.pem"]);
    assert_eq!(trusted.json()["statuses"]["200"], 3, "{trusted:?}");
    let stranger = run(&url, &["--ca", "other.pem"]);
    assert!(refused(&stranger, 1).contains("trust this very certificate with --ca"), "{stranger:?}");
    let elsewhere = run(&url.replace("127.0.0.1", "b.test"), &["--ca", "own.pem", "--resolve", &resolve]);
    let line = refused(&elsewhere, 1);
    assert!(line.contains("its certificate is for 127.0.0.1 and a.test, not for b.test"), "{line}");
}

#[test]
fn what_makes_no_sense() {
    let dir = TestDir::new();
    let made = generate_simple_self_signed(["a".to_owned()]).expect("a certificate");
    dir.file("cert.pem", &made.cert.pem());
    dir.file("key.pem", &made.signing_key.serialize_pem());
    dir.file("words", "no certificate at all\n");
    let http = "http://127.0.0.1:9/";
    let https = "https://127.0.0.1:9/";
    for (url, flags, code, parts) in [
        (http, &["--ca", "cert.pem"][..], 2, &["--ca and http://127.0.0.1:9 contradict", "https://"][..]),
        (http, &["--insecure"], 2, &["--insecure and http://"]),
        (http, &["--cert", "cert.pem", "--key", "key.pem"], 2, &["--cert and http://"]),
        (https, &["--insecure", "--ca", "cert.pem"], 2, &["--insecure and --ca contradict"]),
        (https, &["--insecure", "--cert", "cert.pem"], 2, &["add --key"]),
        (https, &["--insecure", "--key", "key.pem"], 2, &["add --cert"]),
        (https, &["--ca", "missing"], 1, &["cannot read missing"]),
        (https, &["--ca", "words"], 1, &["--ca words: it holds no certificate", "BEGIN CERTIFICATE"]),
        (https, &["--ca", "key.pem"], 1, &["--ca key.pem: it holds no certificate"]),
        (https, &["--insecure", "--cert", "words", "--key", "key.pem"], 1, &["--cert words: it holds no certificate"]),
        (https, &["--insecure", "--cert", "cert.pem", "--key", "words"], 1, &["--key words", "PRIVATE KEY"]),
    ] {
        let output = dir.truetail(&[&["run", url, "-r", "1"], flags].concat());
        let line = refused(&output, code);
        assert!(parts.iter().all(|part| line.contains(part)), "{flags:?}: {line}");
    }
}
