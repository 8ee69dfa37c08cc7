//! Messages on bidirectional calls of gRPC, over real sockets and against another implementation of HTTP/2.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use truetail_engine::{
    AddressOverrides, CallRequest, FeedOrder, Forms, Framing, JsonForms, MessageOptions, Method, Opening, Plan,
    Request, RequestSet, Target, TargetRequests,
};
use truetail_model::record::Metric;
use truetail_model::time::Nanos;
use truetail_run::MessageBooks;

use crate::support::messages::{Numbered, compared};
use crate::support::raw_http2::{DATA, HEADERS, Raw, SETTINGS, Say, WINDOW_UPDATE, frame};
use crate::support::{open, run};

/// Bytes before each message.
const PREFIX: usize = 5;

/// A server that handles what it has read at once: it answers the last message first.
struct Echo {
    address: SocketAddr,
    messages: Arc<AtomicU64>,
    calls: Arc<AtomicU64>,
}

impl Echo {
    /// Starts a server that ends each call after this number of messages with UNAVAILABLE, the rest unanswered. Calls
    /// have a window of `window` bytes.
    fn start(most: u64, window: u32) -> Echo {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let echo = Echo { address: listener.local_addr().unwrap(), messages: Arc::default(), calls: Arc::default() };
        let counts = (Arc::clone(&echo.messages), Arc::clone(&echo.calls));
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let counts = counts.clone();
                thread::spawn(move || serve(socket, counts, most, window));
            }
        });
        echo
    }
}

fn serve(socket: TcpStream, counts: (Arc<AtomicU64>, Arc<AtomicU64>), most: u64, window: u32) {
    socket.set_nodelay(true).unwrap();
    socket.set_nonblocking(true).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async move {
        let socket = tokio::net::TcpStream::from_std(socket).unwrap();
        let handshake = h2::server::Builder::new().initial_window_size(window).handshake::<_, Bytes>(socket).await;
        let Ok(mut connection) = handshake else { return };
        while let Some(Ok((request, respond))) = connection.accept().await {
            counts.1.fetch_add(1, Ordering::SeqCst);
            let messages = Arc::clone(&counts.0);
            tokio::task::spawn_local(async move {
                let _ = converse(request, respond, &messages, most).await;
            });
        }
    });
}

async fn converse(
    request: http::Request<h2::RecvStream>,
    mut respond: h2::server::SendResponse<Bytes>,
    messages: &AtomicU64,
    mut left: u64,
) -> Result<(), h2::Error> {
    let head = http::Response::builder().header("content-type", "application/grpc").body(()).unwrap();
    let mut answer = respond.send_response(head, false)?;
    let mut body = request.into_body();
    let mut held = Vec::new();
    while let Some(data) = body.data().await {
        let data = data?;
        body.flow_control().release_capacity(data.len())?;
        held.extend_from_slice(&data);
        let mut batch: Vec<Vec<u8>> = Vec::new();
        while left > 0
            && held.len() >= PREFIX
            && let length = PREFIX + u32::from_be_bytes([held[1], held[2], held[3], held[4]]) as usize
            && held.len() >= length
        {
            batch.push(held.drain(..length).collect());
            left -= 1;
        }
        messages.fetch_add(batch.len() as u64, Ordering::SeqCst);
        batch.reverse();
        answer.send_data(batch.concat().into(), false)?;
        if left == 0 {
            return answer
                .send_trailers([("grpc-status".parse().unwrap(), "14".parse().unwrap())].into_iter().collect());
        }
    }
    answer.send_trailers([("grpc-status".parse().unwrap(), "0".parse().unwrap())].into_iter().collect())
}

/// The bytes are JSON already.
struct AsTheyAre;

impl JsonForms for AsTheyAre {
    fn of_message(&self, message: &[u8]) -> Option<String> {
        String::from_utf8(message.to_vec()).ok()
    }

    fn of_reply(&self, reply: &[u8]) -> Option<String> {
        String::from_utf8(reply.to_vec()).ok()
    }
}

fn plan(address: SocketAddr, messages: u64, rate: f64, matching: &str) -> Plan {
    let mut only = TargetRequests::new(Method::Other("SEND".to_owned()), "grpc://echo/p.S/M".to_owned(), 1);
    only.push_message(br#"{"id":0}"#);
    let sample = RequestSet::new(vec![only], 0, FeedOrder::InOrder, 1).unwrap();
    let requests = sample.clone().made_in_run(Arc::new(Numbered), &sample);
    let headers = ["content-type: application/grpc".to_owned(), "te: trailers".to_owned()];
    let method = Method::Other("POST".to_owned());
    let head = Request::new(method, &format!("http://{address}/p.S/M"), &headers, Vec::new()).unwrap();
    let mut target = Target::for_origin(requests, head.origin(), &AddressOverrides::default()).unwrap();
    let mut options = MessageOptions::new(Framing::Grpc, matching.parse().unwrap());
    options.opening = Opening::Call(CallRequest::new(&head).unwrap());
    options.forms = Some(Forms::new(AsTheyAre));
    target.use_messages(options);
    let mut plan = Plan { target, ..open(&format!("http://{address}"), rate, messages) };
    plan.workload.limits.connections = Some(4);
    plan.threads = Some(1);
    plan
}

/// The window of a call holds a few messages, so that they wait for it all the time.
#[test]
fn each_reply_ends_the_message_with_its_id_in_any_order() {
    const MESSAGES: u64 = 20_000;
    let echo = Echo::start(u64::MAX, 100);
    let (output, right) = compared(plan(echo.address, MESSAGES, 20_000.0, "json:/id"), PREFIX);
    assert_eq!(output.snapshot.tally.responses, MESSAGES, "{:?}", output.snapshot.causes);
    assert_eq!((right.len() as u64, echo.messages.load(Ordering::SeqCst)), (MESSAGES, MESSAGES));
    assert_eq!(echo.calls.load(Ordering::SeqCst), 4);
    let expected = MessageBooks { channels_opened_before: 4, ..MessageBooks::default() };
    assert_eq!(output.generator.messages, Some(expected));
    assert_eq!(output.snapshot.metric(Metric::ConnectTime).count(), 4);
    assert!(output.snapshot.samples.even().iter().all(|record| !record.connected));
}

#[test]
fn a_call_that_ended_ends_its_messages_and_is_opened_again() {
    const MESSAGES: u64 = 3000;
    let echo = Echo::start(500, 65_535);
    let (output, right) = compared(plan(echo.address, MESSAGES, 20_000.0, "json:/id"), PREFIX);
    let tally = output.snapshot.tally;
    assert_eq!(tally.planned, MESSAGES);
    assert_eq!((tally.responses, right.len() as u64), (echo.messages.load(Ordering::SeqCst), tally.responses));
    assert_eq!(tally.responses + tally.reset + tally.malformed + tally.connect_failed, MESSAGES, "{tally:?}");
    let books = output.generator.messages.unwrap();
    assert_eq!(books.call_statuses.get("UNAVAILABLE"), Some(&books.channels_lost), "{books:?}");
    assert!(books.channels_lost > 0 && echo.calls.load(Ordering::SeqCst) > 4, "{books:?}");
    assert_eq!((books.unmatched, books.doubled, books.pushes), (0, 0, 0));
}

/// The window has room for two messages and opens long after. The others wait for the server, not for truetail.
#[test]
fn a_message_that_waits_for_the_window_waits_for_its_connection() {
    const MESSAGES: u64 = 20;
    let settings = frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 26]);
    let is_first = Arc::new(AtomicU64::new(0));
    let server = Raw::start(settings, move |_, heard| match heard.kind {
        HEADERS => {
            let block = [&[0x88, 0, 12][..], b"content-type", &[16], b"application/grpc"].concat();
            Say::Bytes(frame(HEADERS, 4, 1, &block))
        }
        DATA => {
            let mut said = frame(DATA, 0, 1, &heard.payload);
            if is_first.fetch_add(1, Ordering::SeqCst) == 1 {
                thread::sleep(Duration::from_secs(1));
                said.extend(frame(WINDOW_UPDATE, 0, 1, &100_000_u32.to_be_bytes()));
            }
            Say::Bytes(said)
        }
        _ => Say::Bytes(Vec::new()),
    });
    let mut plan = plan(server.address, MESSAGES, 100.0, "order");
    plan.workload.limits.connections = Some(1);
    let output = run(&plan);
    assert_eq!(output.snapshot.tally.responses, MESSAGES, "{:?}", output.snapshot.causes);
    let waited = output.snapshot.metric(Metric::ConnectionWait);
    let long = Nanos::from_millis(300);
    assert!(waited.count() - waited.count_at_or_below(long) >= MESSAGES / 2, "{waited:?}");
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
}
