//! The same calls to gRPC servers in Go, Python (grpcio), Node.js (grpc-js) and Rust (tonic): each kind of call,
//! reflection, TLS with certificates on both sides, compressed and long messages, and how servers keep, limit and end
//! connections.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use serde_json::{Value, json};

use crate::counting_server::CountingServer;
use crate::support::{TestDir, assert_balanced};

const SERVERS: [&str; 4] = ["grpc-go", "grpc-python", "grpc-node", "grpc-tonic"];
/// The limit of a message that all of these servers have, if nothing else is said.
const MESSAGE_LIMIT: usize = 4 << 20;

/// Loads a method of each server that is installed, and hands over the run, the counts of the server and its name.
fn on_each(options: &[&str], method: &str, load: &[&str], look: impl Fn(Value, Value, &str)) {
    let dir = TestDir::new();
    for name in SERVERS {
        let Some(server) = CountingServer::start(name, options) else { continue };
        let url = format!("grpc://{}/truth.Greeter/{method}", server.place);
        look(run(&dir, &url, load, name), server.stop(), name);
    }
}

/// Runs the load, which must balance.
fn run(dir: &TestDir, url: &str, load: &[&str], name: &str) -> Value {
    let output = dir.truetail(&[&["run", url, "--quiet", "--no-save", "--json"], load].concat());
    assert!(!output.stdout.is_empty(), "{name}: {output:?}");
    let run = output.json();
    assert_balanced(&run);
    run
}

/// A server counts the messages of streams that it receives and sends, and of answers alone only those to a stream.
#[test]
#[ignore = "needs gRPC servers: make test-tools"]
fn each_kind_of_call_has_the_books_of_each_server() {
    let three = r#"[{"name":"a"},{"name":"b"},{"name":"c"}]"#;
    let gap = ["--message-gap", "5ms"];
    for (method, data, more, kind, received, sent) in [
        ("SayHello", r#"{"name":"a"}"#, &[][..], "unary", 0, 0),
        ("SayMany", r#"{"name":"a","count":4}"#, &[], "server_streaming", 0, 400),
        ("Collect", three, &[], "client_streaming", 300, 90),
        ("Collect", three, &gap, "client_streaming", 300, 90),
        ("Chat", three, &[], "bidirectional", 300, 300),
        ("Chat", three, &gap, "bidirectional", 300, 300),
    ] {
        let load = [&["-r", "200", "-n", "100", "--data", data], more].concat();
        on_each(&["-fail-every=10"], method, &load, |run, counts, name| {
            let case = format!("{name} {method} {more:?}: {counts} {run}");
            assert_eq!(run["scenario"]["grpc"]["kind"], kind, "{case}");
            assert_eq!((&counts["calls"], &run["tally"]["responses"]), (&100.into(), &100.into()), "{case}");
            assert_eq!(run["grpc"]["statuses"], json!({"OK": 90, "UNAVAILABLE": 10}), "{case}");
            assert_eq!(counts["counts"], run["grpc"]["statuses"], "{case}");
            assert_eq!((&counts["received"], &counts["sent"]), (&received.into(), &sent.into()), "{case}");
            let answers_with_stream = kind == "server_streaming" || kind == "bidirectional";
            let events = if answers_with_stream { counts["sent"].clone() } else { Value::Null };
            assert_eq!(run["stream"]["events"], events, "{case}");
        });
    }
}

#[test]
#[ignore = "needs gRPC servers: make test-tools"]
fn each_server_tells_its_schema_or_says_that_it_does_not() {
    let dir = TestDir::new();
    for name in SERVERS {
        let Some(server) = CountingServer::start(name, &[]) else { continue };
        let listed = dir.truetail(&["grpc", "list", &server.place]);
        assert!(listed.stdout.contains("SayMany(truth.HelloRequest) returns (stream truth.HelloReply)"), "{listed:?}");
        let described = dir.truetail(&["grpc", "describe", &server.place, "truth.Greeter/SayHello"]);
        assert!(described.stdout.contains("\"count\""), "{name}: {described:?}");
        server.stop();
        let Some(silent) = CountingServer::start(name, &["-reflection=false"]) else { continue };
        let refused = dir.truetail(&["grpc", "list", &silent.place]);
        assert!(refused.code == Some(1) && refused.stderr.contains("has no reflection"), "{name}: {refused:?}");
        silent.stop();
    }
}

/// Writes the certificates of an authority, of 127.0.0.1 and of a client, and their keys.
fn write_certificates(dir: &TestDir) {
    // OpenSSL takes a certificate for its own issuer if both have the same name.
    let parameters = |subjects: &[&str], name: &str| {
        let subjects: Vec<String> = subjects.iter().map(|subject| (*subject).to_owned()).collect();
        let mut made = CertificateParams::new(subjects).expect("parameters");
        made.distinguished_name.push(DnType::CommonName, name);
        made
    };
    let mut authority = parameters(&[], "authority");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority =
        CertifiedIssuer::self_signed(authority, KeyPair::generate().expect("a key")).expect("a certificate");
    dir.file("ca.pem", &authority.pem());
    for (name, subject) in [("server", "127.0.0.1"), ("client", "client")] {
        let key = KeyPair::generate().expect("a key");
        dir.file(
            &format!("{name}.pem"),
            &parameters(&[subject], name).signed_by(&key, &authority).expect("a certificate").pem(),
        );
        dir.file(&format!("{name}-key.pem"), &key.serialize_pem());
    }
}

#[test]
#[ignore = "needs gRPC servers: make test-tools"]
fn each_server_takes_calls_over_tls_and_asks_for_a_certificate_if_told_to() {
    let dir = TestDir::new();
    write_certificates(&dir);
    let option = |name: &str, file: &str| format!("-{name}={}", dir.path().join(file).display());
    let tls = [option("cert", "server.pem"), option("key", "server-key.pem")];
    let mutual = [&tls[..], &[option("client-ca", "ca.pem")]].concat();
    let load = ["-r", "200", "-n", "100", "--data", "{\"name\":\"a\"}", "--ca", "ca.pem"];
    let identity = ["--cert", "client.pem", "--key", "client-key.pem"];
    for name in SERVERS {
        for (options, load) in [(&tls[..], load.to_vec()), (&mutual, [&load[..], &identity].concat())] {
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            let Some(server) = CountingServer::start(name, &options) else { continue };
            let url = format!("grpcs://{}/truth.Greeter/SayHello", server.place);
            let run = run(&dir, &url, &load, name);
            let counts = server.stop();
            assert_eq!((&run["grpc"]["statuses"]["OK"], &counts["calls"]), (&100.into(), &100.into()), "{name} {run}");
        }
        let options: Vec<&str> = mutual.iter().map(String::as_str).collect();
        let Some(server) = CountingServer::start(name, &options) else { continue };
        let url = format!("grpcs://{}/truth.Greeter/SayHello", server.place);
        let refused = dir.truetail(&[&["run", &url, "--quiet", "--no-save"], &load[..]].concat());
        assert!(refused.code == Some(1) && refused.stderr.contains("certificate"), "{name}: {refused:?}");
        assert_eq!(server.stop()["calls"], 0, "{name}");
    }
}

#[test]
#[ignore = "needs gRPC servers: make test-tools"]
fn answers_that_each_server_compresses_are_read() {
    let text = "a".repeat(3000);
    let data = json!({ "name": text }).to_string();
    let wanted = format!("message.message == \"hello {text}\"");
    let load = ["-r", "200", "-n", "100", "--data", &data, "-H", "grpc-accept-encoding: gzip", "--check", &wanted];
    on_each(&["-gzip=yes"], "SayHello", &load, |run, counts, name| {
        assert_eq!((&run["checks"][0]["passed"], &counts["counts"]["OK"]), (&100.into(), &100.into()), "{name} {run}");
        // An answer is 3000 bytes and more, unless it was compressed.
        let bytes = run["bytes_in"].as_u64().expect("a number");
        // grpc-js compresses no answers.
        assert!(bytes < 100 * 1500 || name == "grpc-node", "{name}: {bytes} bytes");
    });
}

#[test]
#[ignore = "needs gRPC servers: make test-tools"]
fn messages_as_long_as_each_server_allows_pass_and_longer_ones_are_its_own_refusal() {
    let dir = TestDir::new();
    // The name of a field and the length of its text take 5 bytes.
    for (length, passes) in [(MESSAGE_LIMIT - 5, true), (MESSAGE_LIMIT - 4, false)] {
        dir.file("long.json", &json!({ "name": "a".repeat(length) }).to_string());
        let path = dir.path().join("long.json").display().to_string();
        let load =
            ["-r", "5", "-n", "10", "--timeout", "20s", "--data-file", &path, "--allow-errors", "--no-preflight"];
        on_each(&[], "SayHello", &load, |run, counts, name| {
            // tonic calls it out of range.
            let refusal = if name == "grpc-tonic" { "OUT_OF_RANGE" } else { "RESOURCE_EXHAUSTED" };
            let status = if passes { "OK" } else { refusal };
            assert_eq!(run["grpc"]["statuses"], json!({ status: 10 }), "{name} {counts} {}", run["causes"]);
            assert_eq!(counts["calls"], if passes { 10 } else { 0 }, "{name}");
        });
    }
}

/// A connection without calls is closed by a server that gets no answer to its pings.
#[test]
#[ignore = "needs gRPC servers: make test-tools"]
fn pings_of_each_server_are_answered() {
    let load = [
        "-r",
        "1",
        "-n",
        "3",
        "-c",
        "1",
        "--message-gap",
        "2s",
        "--data",
        r#"[{"name":"a"},{"name":"b"},{"name":"c"}]"#,
    ];
    on_each(&["-keepalive=1000ms"], "Chat", &load, |run, counts, name| {
        assert_eq!((&run["grpc"]["statuses"]["OK"], &counts["sent"]), (&3.into(), &9.into()), "{name} {run}");
        assert_eq!(run["generator"]["connections_opened"], 1, "{name}");
    });
}

/// The server takes three calls at once, each for 20 ms: 150 in a second, and the arrivals are twice as many. The
/// others wait, and the server never sees more at once than it allowed.
#[test]
#[ignore = "needs gRPC servers: make test-tools"]
fn the_limit_of_streams_of_each_server_is_kept() {
    let load = ["-r", "300", "-n", "300", "-c", "1", "--timeout", "20s", "--data", "{\"name\":\"a\"}"];
    on_each(&["-max-streams=3", "-gap=20ms"], "SayHello", &load, |run, counts, name| {
        let statuses = &run["grpc"]["statuses"];
        let of = |status: &str| statuses[status].as_u64().unwrap_or(0);
        assert_eq!(
            (of("OK"), of("OK") + of("UNAVAILABLE")),
            (counts["calls"].as_u64().expect("a count"), 300),
            "{name} {run}"
        );
        assert_eq!(counts["most_open"], 3, "{name}");
        // grpcio refuses a call that comes before it has cleared away the one that it has answered.
        if name != "grpc-python" {
            assert_eq!(of("OK"), 300, "{name}");
            // 300 calls, three at once, take 2 s, and the last one was due after 1 s.
            let slowest = run["response_time"]["max_ns"].as_u64().expect("a time");
            assert!(slowest > 900_000_000, "{name}: {slowest} ns");
        }
        let opened = run["generator"]["connections_opened"].as_u64().expect("a number");
        assert_eq!(opened, 1, "{name}");
    });
}

/// Each connection is told to go away after 400 ms, while it has calls.
#[test]
#[ignore = "needs gRPC servers: make test-tools"]
fn no_call_is_lost_when_each_server_ends_its_connections() {
    let load = ["-r", "200", "-n", "600", "-c", "2", "--data", "{\"name\":\"a\"}"];
    on_each(&["-max-age=400ms", "-gap=20ms"], "SayHello", &load, |run, counts, name| {
        assert_eq!(run["grpc"]["statuses"], json!({"OK": 600}), "{name} {} {}", run["tally"], run["causes"]);
        assert_eq!(counts["calls"], 600, "{name}");
        let opened = run["generator"]["connections_opened"].as_u64().expect("a number");
        assert!(opened >= 4, "{name}: {opened} connections");
    });
}
