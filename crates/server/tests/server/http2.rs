//! HTTP/2, with the client of the crate h2.

use std::io::Write;
use std::time::Duration;

use bytes::Bytes;
use h2::Reason;
use h2::client::{Builder, SendRequest};
use http::{Method, Request};
use tokio::net::TcpStream;
use truetail_model::service::{Fault, Selector, Service};
use truetail_model::time::Nanos;
use truetail_server::{Ending, EventKind, Server};

use crate::support::{Client, FOR_EVER, faulty, get, stall, start, stop_and_check};

/// Time limit that only a hanging server exceeds.
const PATIENCE: Duration = Duration::from_secs(20);

/// An answer, with an error if the stream was reset.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) fields: http::HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) reset: Option<Reason>,
}

/// Runs `talk` with a connection to the server.
pub(crate) fn with_client<F: Future<Output = ()>>(
    server: &Server,
    window: u32,
    talk: impl FnOnce(SendRequest<Bytes>) -> F,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let addr = server.addr();
    runtime.block_on(async move {
        let stream = TcpStream::connect(addr).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (client, connection) = Builder::new().initial_window_size(window).handshake(stream).await.unwrap();
        tokio::spawn(connection);
        tokio::time::timeout(PATIENCE, talk(client)).await.unwrap();
    });
}

/// Waits until the server has admitted `count` requests, while other tasks continue.
async fn admitted(server: &Server, count: u64) {
    while server.admitted() < count {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

pub(crate) fn request(method: Method, path: &str) -> Request<()> {
    Request::builder().method(method).uri(format!("http://server{path}")).body(()).unwrap()
}

/// Returns the answer to a request, with a body if given.
pub(crate) async fn ask(
    client: &SendRequest<Bytes>,
    request: Request<()>,
    body: Option<&[u8]>,
) -> Result<Answer, Reason> {
    let mut client = client.clone().ready().await.unwrap();
    let (response, mut send) = client.send_request(request, body.is_none()).unwrap();
    if let Some(body) = body {
        send.send_data(Bytes::copy_from_slice(body), true).unwrap();
    }
    let (head, mut data) = response.await.map_err(|error| error.reason().unwrap())?.into_parts();
    let mut answer = Answer { status: head.status.as_u16(), fields: head.headers, body: Vec::new(), reset: None };
    while let Some(part) = data.data().await {
        match part {
            Ok(part) => {
                data.flow_control().release_capacity(part.len()).unwrap();
                answer.body.extend_from_slice(&part);
            }
            Err(error) => {
                answer.reset = error.reason();
                break;
            }
        }
    }
    Ok(answer)
}

async fn get_path(client: &SendRequest<Bytes>, path: &str) -> Result<Answer, Reason> {
    ask(client, request(Method::GET, path), None).await
}

#[test]
fn requests_are_answered_on_one_connection() {
    let service = Service { body_bytes: 5, ..faulty(vec![]) };
    let server = start(service.clone());
    with_client(&server, 65_535, async |client| {
        for _ in 0..20 {
            let answer = get_path(&client, "/api?x=1").await.unwrap();
            assert_eq!((answer.status, answer.body.as_slice(), answer.reset), (200, &b"okoko"[..], None));
            assert_eq!(answer.fields["content-length"], "5");
            assert!(!answer.fields.contains_key("connection"));
        }
        let head = ask(&client, request(Method::HEAD, "/api"), None).await.unwrap();
        assert_eq!((head.status, head.body.len()), (200, 0));
        let posted = ask(&client, request(Method::POST, "/api"), Some(&[7; 100_000])).await.unwrap();
        assert_eq!((posted.status, posted.body.len()), (200, 5));
    });
    assert_eq!(stop_and_check(server, &service).totals.count(Ending::Answered), 22);
}

#[test]
fn paths_of_the_server_itself_are_no_load() {
    let service = faulty(vec![]);
    let server = start(service.clone());
    with_client(&server, 65_535, async |client| {
        assert_eq!(get_path(&client, "/healthy").await.unwrap().status, 200);
        assert_eq!(ask(&client, request(Method::POST, "/clock"), None).await.unwrap().status, 204);
        assert_eq!(get_path(&client, "/clock").await.unwrap().status, 405);
        let mut preflight = request(Method::GET, "/api");
        preflight.headers_mut().insert("truetail-preflight", "1".parse().unwrap());
        assert_eq!(ask(&client, preflight, None).await.unwrap().status, 200);
    });
    assert_eq!(stop_and_check(server, &service).totals.admitted, 0);
}

#[test]
fn a_large_answer_waits_for_the_window_of_the_client() {
    let service = Service { body_bytes: 3_000_001, ..faulty(vec![]) };
    let server = start(service.clone());
    with_client(&server, 1_000, async |client| {
        let (one, other) = tokio::join!(get_path(&client, "/api"), get_path(&client, "/api"));
        for answer in [one.unwrap(), other.unwrap()] {
            assert_eq!((answer.body.len(), answer.reset), (3_000_001, None));
            assert!(answer.body.chunks(2).all(|two| b"ok".starts_with(two)));
        }
    });
    assert_eq!(stop_and_check(server, &service).totals.count(Ending::Answered), 2);
}

#[test]
fn many_requests_are_under_way_at_once() {
    let service = Service { baseline: Nanos::from_millis(300), ..faulty(vec![]) };
    let server = start(service.clone());
    with_client(&server, 65_535, async |client| {
        let asked: Vec<_> = (0..500)
            .map(|_| {
                let client = client.clone();
                tokio::spawn(async move { get_path(&client, "/api").await.unwrap().status })
            })
            .collect();
        admitted(&server, 500).await;
        for answer in asked {
            assert_eq!(answer.await.unwrap(), 200);
        }
    });
    assert_eq!(stop_and_check(server, &service).totals.count(Ending::Answered), 500);
}

#[test]
fn a_fault_of_one_answer_leaves_the_connection_alone() {
    let cases = [
        (Fault::ShortBody { select: Selector::default() }, Ending::ShortBody),
        (Fault::Reset { select: Selector::default() }, Ending::Reset),
        (Fault::Garbage { select: Selector::default() }, Ending::Garbage),
    ];
    for (fault, ending) in cases {
        let service = Service { body_bytes: 1_000, ..faulty(vec![fault]) };
        let server = start(service.clone());
        with_client(&server, 65_535, async |client| {
            let answer = get_path(&client, "/api").await;
            match ending {
                Ending::ShortBody => {
                    let answer = answer.unwrap();
                    assert_eq!((answer.body.len(), answer.reset), (500, Some(Reason::INTERNAL_ERROR)));
                }
                Ending::Reset => assert_eq!(answer.unwrap_err(), Reason::INTERNAL_ERROR),
                _ => assert_eq!(answer.unwrap().reset, Some(Reason::PROTOCOL_ERROR)),
            }
            assert_eq!(get_path(&client, "/healthy").await.unwrap().status, 200, "{ending:?}");
        });
        assert_eq!(stop_and_check(server, &service).totals.count(ending), 1, "{ending:?}");
    }
}

#[test]
fn a_client_that_goes_leaves_rows_that_say_so() {
    let service = faulty(vec![stall(FOR_EVER)]);
    let server = start(service.clone());
    with_client(&server, 65_535, async |client| {
        let mut client = client.ready().await.unwrap();
        let asked: Vec<_> = (0..3).map(|_| client.send_request(request(Method::GET, "/api"), true).unwrap()).collect();
        admitted(&server, 3).await;
        drop(asked);
    });
    // An answer to a later request shows that the server has seen the end of the connection.
    Client::connect(&server).ask(get("/healthy"));
    assert_eq!(stop_and_check(server, &service).totals.count(Ending::ClientGone), 3);
}

#[test]
fn streams_that_are_never_answered_are_forgotten_when_the_client_resets_them() {
    let service = faulty(vec![Fault::BlackHole { select: Selector::default() }]);
    let server = start(service.clone());
    with_client(&server, 65_535, async |client| {
        for round in 1..=20 {
            let mut client = client.clone().ready().await.unwrap();
            let asked: Vec<_> =
                (0..500).map(|_| client.send_request(request(Method::GET, "/api"), true).unwrap()).collect();
            // The server takes requests that arrive together with their resets for an attack.
            admitted(&server, round * 500).await;
            drop(asked);
        }
        assert_eq!(get_path(&client, "/healthy").await.unwrap().status, 200);
    });
    assert_eq!(stop_and_check(server, &service).totals.count(Ending::BlackHole), 10_000);
}

#[test]
fn a_model_streams_its_events() {
    let service = faulty(vec![]);
    let server = start(service);
    with_client(&server, 65_535, async |client| {
        let body = br#"{"model": "m", "prompt": "Hi", "max_tokens": 5, "stream": true}"#;
        let answer = ask(&client, request(Method::POST, "/v1/completions"), Some(body)).await.unwrap();
        assert_eq!((answer.status, answer.reset), (200, None));
        assert_eq!(answer.fields["content-type"], "text/event-stream");
        assert!(!answer.fields.contains_key("transfer-encoding"));
        let text = String::from_utf8(answer.body).unwrap();
        assert!(text.starts_with("data: {") && text.ends_with("data: [DONE]\n\n"), "{text}");
        let cut = get_path(&client, "/stream?events=3&cut=2").await.unwrap();
        assert_eq!(cut.reset, Some(Reason::INTERNAL_ERROR));
        assert_eq!(String::from_utf8(cut.body).unwrap().matches("\n\n").count(), 2);
    });
    let truth = server.stop();
    assert_eq!((truth.totals.count(Ending::Answered), truth.totals.count(Ending::ShortBody)), (1, 1));
    let content =
        |stream: &truetail_server::StreamTruth| stream.kinds.iter().filter(|kind| **kind == EventKind::Content).count();
    assert_eq!(content(&truth.streams[0]), 5);
}

#[test]
fn what_is_no_preface_is_http_1() {
    let service = faulty(vec![]);
    let server = start(service.clone());
    let mut client = Client::connect(&server);
    for byte in b"PRI * HTTP/1.1\r\n\r\n" {
        client.stream.write_all(&[*byte]).unwrap();
    }
    assert_eq!(client.answer().status, 200);
    assert_eq!(client.ask(get("/api")).status, 200);
    stop_and_check(server, &service);
}

#[test]
fn a_preface_that_goes_wrong_ends_the_connection() {
    let service = faulty(vec![]);
    let server = start(service.clone());
    let preface = b"PRI * HTTP/2.0\r\n\r\n".as_slice();
    for rest in [&b"XX\r\n\r\n"[..], b"SM\r\n\r\n\xff\xff\xff\x00\x00\x00\x00\x00\x01"] {
        let mut client = Client::connect(&server);
        client.send([preface, rest].concat());
        // Wait for the end.
        client.until_end();
    }
    assert_eq!(stop_and_check(server, &service).totals.admitted, 0);
}
