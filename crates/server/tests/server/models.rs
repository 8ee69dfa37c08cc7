//! The server as a language model, and its batch.

use std::io::Write;
use std::sync::{Arc, Mutex};

use truetail_model::service::{
    Batch, Fault, FaultKind, Gate, Service, StreamContent, StreamDescription, StreamPace, VirtualService,
};
use truetail_model::time::{Nanos, Timestamp};
use truetail_server::{Ending, EventKind, Server, ServerOptions, ServerTruth};

use crate::support::*;

const fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

const BATCH: Batch = Batch { cap: 3, prefill: ms(3), step: ms(2), step_per_stream: Nanos::from_micros(500) };

fn batched(events: u64, faults: Vec<Fault>) -> Service {
    let content = StreamContent { events, ..StreamContent::default() };
    Service { stream: Some(StreamDescription { content, pace: StreamPace::Batched(BATCH) }), ..faulty(faults) }
}

/// Formats a request of HTTP/1.0. Its answer ends with the connection and is not chunked.
fn post(path: &str, body: &str) -> String {
    format!("POST {path} HTTP/1.0\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Returns the body of the answer to `request`, up to the end of the connection.
fn body(server: &Server, request: &str) -> String {
    let mut client = Client::connect(server);
    client.send(request);
    let (bytes, end) = client.until_end();
    assert_eq!(end, End::Closed);
    let text = String::from_utf8(bytes).unwrap();
    text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {text}")).1.to_owned()
}

/// Checks that the event times of each stream equal the model's for the observed arrivals, to the nanosecond, and that
/// no event left before it was due.
fn check_batch(truth: &ServerTruth, service: &Service, path: &str) {
    let mut model: VirtualService<usize> = VirtualService::new(service, path);
    let mut expected = vec![Vec::new(); truth.rows.len()];
    truth
        .rows
        .iter()
        .enumerate()
        .for_each(|(key, row)| assert!(model.admit(Timestamp(row.arrived_ns), key).completed.is_none()));
    model.advance(Timestamp::NEVER, &mut |event| expected[event.key].push(event.at.0));
    assert_eq!(truth.streams.len(), truth.rows.len());
    for stream in &truth.streams {
        let row = &truth.rows[stream.number as usize - 1];
        let mut due = stream.due_ns.clone();
        due.dedup();
        assert_eq!(due, expected[stream.number as usize - 1], "{row:?}");
        assert_eq!(row.due_ns, due.last().copied());
        assert!(stream.due_ns.iter().zip(&stream.events_ns).all(|(due, left)| left >= due), "{stream:?}");
    }
}

#[test]
fn a_batch_does_what_the_model_says() {
    for faults in [
        vec![],
        vec![
            Fault::Stall { at: Timestamp(ms(15).0), length: ms(60), gate: Gate::Arrivals },
            Fault::Stall { at: Timestamp(ms(100).0), length: ms(50), gate: Gate::Events },
        ],
    ] {
        let has_faults = !faults.is_empty();
        let service = batched(8, faults);
        let server = start(service.clone());
        let mut clients: Vec<Client> = (0..12).map(|_| Client::connect(&server)).collect();
        for client in &mut clients {
            client.send("GET /v1/completions HTTP/1.0\r\n\r\n");
        }
        for client in &mut clients {
            let (bytes, _) = client.until_end();
            let text = String::from_utf8(bytes).unwrap();
            assert_eq!(text.matches("data: ").count(), 8 + 2, "{text}");
            assert!(text.ends_with("data: [DONE]\n\n"), "{text}");
        }
        let truth = server.stop();
        assert_eq!(endings(&truth), [Ending::Answered; 12]);
        assert!(truth.streams.iter().all(|stream| stream.content_ns().count() == 8));
        check_batch(&truth, &service, "/v1/completions");
        assert_eq!(truth.rows.iter().any(|row| row.faults.contains(FaultKind::Stall)), has_faults, "{truth:?}");
    }
}

#[test]
fn the_body_says_how_long_the_answer_is() {
    let server = start(batched(4, vec![]));
    let of = |tokens: u64| {
        let request = format!(
            "{{\"model\":\"m\",\"stream\":true,\"max_tokens\":{tokens},\"stream_options\":{{\"include_usage\":true}},\
             \"messages\":[{{\"role\":\"user\",\"content\":\"hello\"}}]}}"
        );
        body(&server, &post("/v1/chat/completions", &request))
    };
    for tokens in [1, 2, 30] {
        let answer = of(tokens);
        assert_eq!(answer.matches("\"delta\":{\"content\"").count() as u64, tokens, "{answer}");
        assert_eq!(answer.matches("\"role\":\"assistant\"").count(), 1, "{answer}");
        assert!(answer.contains(&format!("\"completion_tokens\":{tokens}")), "{answer}");
    }
    let whole = body(&server, &post("/v1/completions", "{\"max_tokens\":2,\"prompt\":\"x\"}"));
    assert!(whole.contains("\"text\":\" 0 1\"") && !whole.contains("data:"), "{whole}");
    let truth = server.stop();
    let kinds: Vec<EventKind> = truth.streams[0].kinds.clone();
    assert_eq!(kinds, [EventKind::Role, EventKind::Content, EventKind::Finish, EventKind::Usage, EventKind::Done]);
    assert_eq!(endings(&truth), [Ending::Answered; 4]);
}

#[test]
fn a_chunked_body_is_read_and_an_invalid_one_refused() {
    let server = start(batched(4, vec![]));
    let chunked = "POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
                   8\r\n{\"stream\r\n19\r\n\":false,\"max_tokens\": 2 }\r\n0\r\n\r\n";
    assert!(body(&server, chunked).contains("\"text\":\" 0 1\""));
    let mut client = Client::connect(&server);
    let refused = "POST /v1/completions HTTP/1.1\r\nContent-Length: 1\r\n\r\n{";
    assert_eq!(client.ask(refused).status, 400);
    assert_eq!(client.ask(refused).status, 400, "the connection is still good");
    let long = format!("POST /v1/completions HTTP/1.1\r\nContent-Length: 5000000\r\n\r\n{}", " ".repeat(4_200_000));
    assert_eq!(client.ask(long).status, 413);
    let truth = server.stop();
    assert_eq!(truth.rows.iter().map(|row| row.status).collect::<Vec<_>>(), [Some(200), Some(400), Some(400), None]);
    assert!(truth.totals.is_balanced());
}

/// Preliminary questions of clients of models neither start the clock nor join the batch. A service without streams
/// treats these paths like any other.
#[test]
fn questions_about_the_model_are_no_load() {
    let server = start(batched(2, vec![]));
    let mut client = Client::connect(&server);
    for path in ["/health", "/metrics", "/v1/models"] {
        assert_eq!(client.ask(get(path)).status, 200, "{path}");
    }
    assert_eq!(server.admitted(), 0);
    body(&server, &post("/v1/completions", "{\"stream\": true}"));
    assert_eq!(client.ask(get("/health")).status, 200);
    assert_eq!(client.ask(get("/get_server_info")).status, 404);
    let truth = server.stop();
    assert_eq!((truth.rows.len(), truth.rows[0].arrived_ns, truth.totals.control), (1, 0, 5));
    let plain = start(faulty(vec![]));
    Client::connect(&plain).ask(get("/health"));
    assert_eq!(plain.stop().rows.len(), 1);
}

#[test]
fn a_client_that_goes_keeps_its_place_and_others_go_on() {
    let service = batched(200, vec![]);
    let server = start(service.clone());
    let mut gone = Client::connect(&server);
    gone.send("GET /v1/completions HTTP/1.0\r\n\r\n");
    assert!(gone.some_bytes() > 0);
    drop(gone);
    let answer = body(&server, &post("/v1/completions", "{\"stream\":true,\"max_tokens\":3}"));
    assert!(answer.ends_with("data: [DONE]\n\n"), "{answer}");
    let truth = server.stop();
    assert!(truth.totals.is_balanced());
    assert_eq!(endings(&truth), [Ending::ClientGone, Ending::Answered]);
}

#[test]
fn a_clock_that_is_started_anew_leaves_no_stream_behind() {
    let server = start(batched(100, vec![]));
    let mut before = Client::connect(&server);
    before.send("GET /api HTTP/1.0\r\n\r\n");
    assert!(before.some_bytes() > 0);
    assert_eq!(Client::connect(&server).ask("POST /clock HTTP/1.1\r\nContent-Length: 0\r\n\r\n").status, 204);
    let after = body(&server, "GET /api HTTP/1.0\r\n\r\n");
    assert_eq!(after.matches("data: ").count(), 100);
    let (bytes, _) = before.until_end();
    assert!(String::from_utf8(bytes).unwrap().ends_with("data: 99\n\n"));
    let truth = server.stop();
    let of: Vec<_> = truth.streams.iter().map(|stream| (stream.epoch, stream.events_ns.len())).collect();
    assert!(of.contains(&(1, 100)) && of.contains(&(2, 100)), "{of:?}");
}

/// A sink that a test can read afterwards.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_log_of_events_has_a_row_an_event() {
    let log = Shared::default();
    let service = batched(3, vec![]);
    let server = Server::start(ServerOptions { events: Some(Box::new(log.clone())), ..options(service) }).unwrap();
    let answer = body(&server, "GET /v1/chat/completions HTTP/1.0\r\n\r\n");
    assert_eq!(answer.matches("data: ").count(), 6);
    let truth = server.stop();
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let mut rows = text.lines();
    assert_eq!(rows.next(), Some("epoch,number,event,kind,due_ns,left_ns"));
    let stream = &truth.streams[0];
    let expected: Vec<String> = (0..6)
        .map(|n| format!("1,1,{n},{},{},{}", stream.kinds[n].name(), stream.due_ns[n], stream.events_ns[n]))
        .collect();
    assert_eq!(rows.collect::<Vec<_>>(), expected);
    let kinds: Vec<_> = stream.kinds.iter().map(|kind| kind.name()).collect();
    assert_eq!(kinds, ["role", "content", "content", "content", "finish", "done"]);
}

#[test]
fn a_preflight_gets_an_answer_of_the_model_that_reaches_no_service() {
    let dead = Fault::Stall { at: Timestamp::ZERO, length: ms(600_000), gate: Gate::Arrivals };
    let server = start(batched(8, vec![dead]));
    let preflight = |path: &str, body: &str| {
        format!("POST {path} HTTP/1.0\r\ntruetail-preflight: 1\r\nContent-Length: {}\r\n\r\n{body}", body.len())
    };
    let asked = r#"{"prompt":"a b c","max_tokens":1000000000,"stream":true,"stream_options":{"include_usage":true}}"#;
    let stream = body(&server, &preflight("/v1/completions", asked));
    assert_eq!(stream.matches("\"text\":\" ").count(), 16, "{stream}");
    assert!(stream.contains("\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":16"), "{stream}");
    assert!(stream.ends_with("data: [DONE]\n\n"), "{stream}");
    let whole = body(&server, &preflight("/v1/chat/completions", r#"{"max_tokens":2}"#));
    assert!(whole.contains(r#""message":{"role":"assistant","content":" 0 1"}"#), "{whole}");
    let embedding = body(&server, &preflight("/v1/embeddings", r#"{"input":"a b"}"#));
    assert!(embedding.contains(r#""usage":{"prompt_tokens":2,"total_tokens":2}"#), "{embedding}");
    assert!(body(&server, &preflight("/api", "")).starts_with("ok"), "another path has no model");
    let truth = server.stop();
    assert_eq!((truth.totals.control, truth.rows.len(), truth.streams.len()), (4, 0, 0));
}
