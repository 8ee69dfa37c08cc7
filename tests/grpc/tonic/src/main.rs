//! A gRPC server with a known truth, on tonic: it fails every nth call, and counts its calls and the messages of streams.
//!
//! Options are -name=value, as for the servers in Go, Python and Node.js beside it; times are in milliseconds.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tokio_stream::{Stream, StreamExt};
use tonic::codec::CompressionEncoding;
use tonic::metadata::MetadataMap;
use tonic::transport::{Certificate, Identity, Server, ServerTlsConfig};
use tonic::{Request, Response, Status, Streaming};

mod truth {
    tonic::include_proto!("truth");
}

use truth::greeter_server::{Greeter, GreeterServer};
use truth::{HelloReply, HelloRequest};

#[derive(Default)]
struct Counts {
    calls: u64,
    open: u64,
    most_open: u64,
    received: u64,
    sent: u64,
    statuses: BTreeMap<&'static str, u64>,
}

struct Books {
    fail_every: Option<u64>,
    gap: Duration,
    counts: Mutex<Counts>,
}

impl Books {
    /// Returns the number of a call, and `None` for a preflight, which counts nowhere.
    fn enter(&self, metadata: &MetadataMap) -> Option<u64> {
        if metadata.contains_key("truetail-preflight") {
            return None;
        }
        let mut counts = self.counts.lock().expect("no panic");
        counts.calls += 1;
        counts.open += 1;
        counts.most_open = counts.most_open.max(counts.open);
        Some(counts.calls)
    }

    fn leave(&self, number: Option<u64>) -> Result<(), Status> {
        let Some(number) = number else { return Ok(()) };
        let fails = self.fail_every.is_some_and(|every| number.is_multiple_of(every));
        let mut counts = self.counts.lock().expect("no panic");
        counts.open -= 1;
        *counts.statuses.entry(if fails { "UNAVAILABLE" } else { "OK" }).or_default() += 1;
        if fails { Err(Status::unavailable("no room, 100% full")) } else { Ok(()) }
    }

    fn received(&self, number: Option<u64>) {
        self.counts.lock().expect("no panic").received += u64::from(number.is_some());
    }

    fn sent(&self, number: Option<u64>) {
        self.counts.lock().expect("no panic").sent += u64::from(number.is_some());
    }
}

struct Truth(Arc<Books>);

type Replies = Pin<Box<dyn Stream<Item = Result<HelloReply, Status>> + Send>>;
type Sender = mpsc::Sender<Result<HelloReply, Status>>;

fn reply(name: &str) -> HelloReply {
    HelloReply { message: format!("hello {name}") }
}

/// Answers with the messages that `made` sends, and then with its status.
fn stream<F: Future<Output = Result<(), Status>> + Send + 'static>(made: impl FnOnce(Sender) -> F) -> Response<Replies> {
    let (sender, receiver) = mpsc::channel(16);
    let made = made(sender.clone());
    tokio::spawn(async move {
        if let Err(status) = made.await {
            sender.send(Err(status)).await.ok();
        }
    });
    Response::new(Box::pin(ReceiverStream::new(receiver)))
}

#[tonic::async_trait]
impl Greeter for Truth {
    type SayManyStream = Replies;
    type ChatStream = Replies;

    async fn say_hello(&self, request: Request<HelloRequest>) -> Result<Response<HelloReply>, Status> {
        let number = self.0.enter(request.metadata());
        tokio::time::sleep(self.0.gap).await;
        self.0.leave(number)?;
        Ok(Response::new(reply(&request.get_ref().name)))
    }

    async fn say_many(&self, request: Request<HelloRequest>) -> Result<Response<Replies>, Status> {
        let books = self.0.clone();
        let number = books.enter(request.metadata());
        let request = request.into_inner();
        Ok(stream(|sender| async move {
            for _ in 0..request.count {
                books.sent(number);
                sender.send(Ok(reply(&request.name))).await.ok();
                tokio::time::sleep(books.gap).await;
            }
            books.leave(number)
        }))
    }

    async fn collect(&self, request: Request<Streaming<HelloRequest>>) -> Result<Response<HelloReply>, Status> {
        let number = self.0.enter(request.metadata());
        let mut requests = request.into_inner();
        let mut names = 0;
        while requests.next().await.transpose()?.is_some() {
            names += 1;
            self.0.received(number);
        }
        self.0.leave(number)?;
        self.0.sent(number);
        Ok(Response::new(reply(&names.to_string())))
    }

    async fn chat(&self, request: Request<Streaming<HelloRequest>>) -> Result<Response<Replies>, Status> {
        let books = self.0.clone();
        let number = books.enter(request.metadata());
        let mut requests = request.into_inner();
        Ok(stream(|sender| async move {
            while let Some(request) = requests.next().await.transpose()? {
                books.received(number);
                books.sent(number);
                sender.send(Ok(reply(&request.name))).await.ok();
            }
            books.leave(number)
        }))
    }
}

struct Options(BTreeMap<String, String>);

impl Options {
    fn from_arguments() -> Options {
        let pair = |word: String| {
            let (name, value) = word.trim_start_matches('-').split_once('=').expect("-name=value");
            (name.to_owned(), value.to_owned())
        };
        Options(std::env::args().skip(1).map(pair).collect())
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name).map(|value| value.trim_end_matches("ms").parse().expect("a number"))
    }

    fn time(&self, name: &str) -> Option<Duration> {
        self.number(name).map(Duration::from_millis)
    }

    fn file(&self, name: &str) -> Option<Vec<u8>> {
        self.0.get(name).map(|path| std::fs::read(path).expect("a file"))
    }
}

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::from_arguments();
    let fail_every = options.number("fail-every").filter(|every| *every > 0);
    let gap = options.time("gap").unwrap_or_default();
    let books = Arc::new(Books { fail_every, gap, counts: Mutex::default() });
    let mut server = Server::builder().max_concurrent_streams(options.number("max-streams").map(|n| n as u32));
    if let Some(age) = options.time("max-age") {
        server = server.max_connection_age(age);
    }
    if let Some(interval) = options.time("keepalive") {
        server = server.http2_keepalive_interval(Some(interval)).http2_keepalive_timeout(Some(Duration::from_millis(500)));
    }
    if let (Some(certificate), Some(key)) = (options.file("cert"), options.file("key")) {
        let mut tls = ServerTlsConfig::new().identity(Identity::from_pem(certificate, key));
        if let Some(authority) = options.file("client-ca") {
            tls = tls.client_ca_root(Certificate::from_pem(authority));
        }
        server = server.tls_config(tls)?;
    }
    let mut greeter = GreeterServer::new(Truth(books.clone()));
    if options.0.contains_key("gzip") {
        greeter = greeter.send_compressed(CompressionEncoding::Gzip);
    }
    let silent = options.0.get("reflection").is_some_and(|value| value == "false");
    let descriptors = include_bytes!(concat!(env!("OUT_DIR"), "/truth.bin"));
    let reflection = tonic_reflection::server::Builder::configure().register_encoded_file_descriptor_set(descriptors);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let mut stop = signal(SignalKind::terminate())?;
    let served = server
        .add_service(greeter)
        .add_optional_service((!silent).then(|| reflection.build_v1()).transpose()?)
        .serve_with_incoming(TcpListenerStream::new(listener));
    tokio::select! {
        ended = served => ended?,
        _ = stop.recv() => {}
    }
    let counts = books.counts.lock().expect("no panic");
    println!(
        "{}",
        serde_json::json!({
            "calls": counts.calls, "counts": counts.statuses, "received": counts.received, "sent": counts.sent,
            "most_open": counts.most_open,
        })
    );
    Ok(())
}
