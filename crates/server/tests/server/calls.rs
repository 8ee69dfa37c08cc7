//! Calls of gRPC, with the client of the crate h2.

use std::task::{Context, Poll};

use bytes::Bytes;
use h2::client::SendRequest;
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderMap, Method, Request};
use truetail_model::service::{Fault, Selector};
use truetail_model::time::Nanos;
use truetail_server::Ending;

use crate::http2::{ask, request, with_client};
use crate::support::{endings, faulty, start, stop_and_check};

/// Calls of gRPC get their messages back, and an error of the service is a status of gRPC.
#[test]
fn calls_are_answered_with_their_messages_and_a_status() {
    let select = Selector { every: Some(2), ..Selector::default() };
    let service = faulty(vec![Fault::ErrorStatus { status: 503, immediately: true, select }]);
    let server = start(service.clone());
    with_client(&server, 65_535, async |client| {
        let call = |preflight: bool| {
            let mut call = request(Method::POST, "/shop.Orders/Buy");
            call.headers_mut().insert("content-type", "application/grpc+proto".parse().unwrap());
            if preflight {
                call.headers_mut().insert("truetail-preflight", "1".parse().unwrap());
            }
            call
        };
        let message = [&b"\0\0\0\0\x03"[..], b"abc", b"\0\0\0\0\0"].concat();
        for (preflight, status) in [(true, Some("0")), (false, Some("0")), (false, None)] {
            let mut client = client.clone().ready().await.unwrap();
            let (response, mut send) = client.send_request(call(preflight), false).unwrap();
            send.send_data(Bytes::copy_from_slice(&message), true).unwrap();
            let (head, mut data) = response.await.unwrap().into_parts();
            assert_eq!(
                (head.status.as_u16(), &head.headers["content-type"]),
                (200, &"application/grpc".parse().unwrap())
            );
            let mut body = Vec::new();
            while let Some(part) = data.data().await {
                body.extend_from_slice(&part.unwrap());
            }
            let trailers = data.trailers().await.unwrap();
            match status {
                Some(status) => {
                    assert_eq!(body, message);
                    assert_eq!(trailers.expect("trailers")["grpc-status"], status);
                    assert!(!head.headers.contains_key("grpc-status"));
                }
                None => {
                    assert_eq!((body.len(), &head.headers["grpc-status"], trailers), (0, &"14".parse().unwrap(), None))
                }
            }
        }
    });
    let truth = stop_and_check(server, &service);
    assert_eq!(truth.rows.iter().map(|row| row.status).collect::<Vec<_>>(), [Some(200), Some(503)]);
}

#[test]
fn a_broken_call_ends_as_its_fault_says() {
    let select = Selector::default();
    for (fault, length, reason) in [
        (Fault::ShortBody { select }, 4, Some(Reason::INTERNAL_ERROR)),
        (Fault::SlowBody { over: Nanos::from_millis(20), select }, 8, None),
    ] {
        let service = faulty(vec![fault]);
        let server = start(service.clone());
        with_client(&server, 65_535, async |client| {
            let mut call = request(Method::POST, "/shop.Orders/Buy");
            call.headers_mut().insert("content-type", "application/grpc".parse().unwrap());
            let answer = ask(&client, call, Some(b"\0\0\0\0\x03abc")).await.unwrap();
            assert_eq!((answer.body.len(), answer.reset), (length, reason));
        });
        stop_and_check(server, &service);
    }
}

#[test]
fn what_is_refused_as_http_has_no_status_of_a_call() {
    let service = faulty(vec![]);
    let server = start(service.clone());
    with_client(&server, 65_535, async |client| {
        let call = |method: Method, path: &str| {
            let mut call = request(method, path);
            call.headers_mut().insert("content-type", "application/grpc".parse().unwrap());
            call
        };
        let refused = ask(&client, call(Method::GET, "/clock"), None).await.unwrap();
        assert_eq!((refused.status, refused.fields.contains_key("grpc-status")), (405, false));
        let mut client = client.clone().ready().await.unwrap();
        let (response, mut send) = client.send_request(call(Method::POST, "/a.B/C"), false).unwrap();
        // A first message longer than the server keeps.
        for _ in 0..80 {
            send.reserve_capacity(65_536);
            while send.capacity() < 65_536 {
                if std::future::poll_fn(|context| send.poll_capacity(context)).await.is_none_or(|room| room.is_err()) {
                    break;
                }
            }
            if send.send_data(Bytes::from_static(&[1; 65_536]), false).is_err() {
                break;
            }
        }
        let (head, mut data) = response.await.unwrap().into_parts();
        while let Some(Ok(_)) = data.data().await {}
        assert_eq!((head.status.as_u16(), data.trailers().await.ok().flatten()), (413, None));
    });
    let truth = stop_and_check(server, &service);
    assert_eq!(truth.rows.iter().map(|row| row.ending).collect::<Vec<_>>(), [Ending::Dropped]);
}

fn call() -> Request<()> {
    let mut call = request(Method::POST, "/shop.Orders/Talk");
    call.headers_mut().insert("content-type", "application/grpc".parse().unwrap());
    call
}

fn message(content: &[u8]) -> Vec<u8> {
    [&[0], &(content.len() as u32).to_be_bytes()[..], content].concat()
}

/// A call that the client has not ended.
struct Talk {
    send: SendStream<Bytes>,
    response: Option<h2::client::ResponseFuture>,
    data: Option<RecvStream>,
    head: HeaderMap,
}

impl Talk {
    async fn begin(client: &SendRequest<Bytes>) -> Talk {
        let (response, send) = client.clone().ready().await.unwrap().send_request(call(), false).unwrap();
        Talk { send, response: Some(response), data: None, head: HeaderMap::new() }
    }

    fn send(&mut self, bytes: &[u8], is_last: bool) {
        self.send.send_data(Bytes::copy_from_slice(bytes), is_last).unwrap();
    }

    /// Returns the body of the answer, which the head precedes.
    async fn body(&mut self) -> &mut RecvStream {
        if let Some(response) = self.response.take() {
            let (head, data) = response.await.unwrap().into_parts();
            (self.head, self.data) = (head.headers, Some(data));
        }
        self.data.as_mut().unwrap()
    }

    /// Waits for this number of bytes, and returns them.
    async fn receive(&mut self, count: usize) -> Vec<u8> {
        let body = self.body().await;
        let mut bytes = Vec::new();
        while bytes.len() < count {
            let part = body.data().await.expect("more of the answer").unwrap();
            body.flow_control().release_capacity(part.len()).unwrap();
            bytes.extend_from_slice(&part);
        }
        bytes
    }

    /// Waits for the end of the answer, before which nothing else comes. Returns the status in its trailers.
    async fn status(&mut self) -> Option<String> {
        let body = self.body().await;
        while let Some(part) = body.data().await {
            assert_eq!(part.unwrap(), "");
        }
        let trailers = body.trailers().await.unwrap()?;
        Some(trailers["grpc-status"].to_str().unwrap().to_owned())
    }
}

/// The client sends a message only when it has the answer to the one before it.
#[test]
fn messages_are_sent_back_as_they_arrive() {
    let service = faulty(vec![]);
    let server = start(service.clone());
    with_client(&server, 65_535, async |client| {
        for ends_with_message in [false, true] {
            let mut talk = Talk::begin(&client).await;
            for content in [&b"one"[..], b"", &[7; 30_000]] {
                talk.send(&message(content), false);
                assert_eq!(talk.receive(5 + content.len()).await, message(content));
            }
            // Of a message and a half, the whole one comes back.
            let two = [message(b"four"), message(b"five")].concat();
            talk.send(&two[..12], false);
            assert_eq!(talk.receive(9).await, message(b"four"));
            talk.send(&two[12..], ends_with_message);
            assert_eq!(talk.receive(9).await, message(b"five"));
            if !ends_with_message {
                talk.send(b"", true);
            }
            assert_eq!(talk.status().await.as_deref(), Some("0"));
        }
    });
    assert_eq!(endings(&stop_and_check(server, &service)), [Ending::Answered; 2]);
}

/// The answers do not fit into the windows of the client, and the first ones have left before the last are sent.
#[test]
fn messages_that_the_client_takes_slowly_come_back_whole() {
    let service = faulty(vec![]);
    let server = start(service.clone());
    with_client(&server, 1_000, async |client| {
        let mut talk = Talk::begin(&client).await;
        let all = (0..200u8).map(|nth| message(&[nth; 5_000])).collect::<Vec<_>>();
        for part in all.chunks(10) {
            talk.send(&part.concat(), false);
            let length = part.concat().len();
            assert!(talk.receive(length).await == part.concat());
        }
        let rest = all.concat();
        talk.send(&rest, false);
        talk.send(b"", true);
        assert!(talk.receive(rest.len()).await == rest);
        assert_eq!(talk.status().await.as_deref(), Some("0"));
    });
    assert_eq!(endings(&stop_and_check(server, &service)), [Ending::Answered]);
}

/// The status comes before the client has ended the call, and the server then asks for no more of it.
#[test]
fn a_call_that_fails_ends_before_its_last_message() {
    let select = Selector::default();
    let service = faulty(vec![Fault::ErrorStatus { status: 503, immediately: true, select }]);
    let server = start(service.clone());
    with_client(&server, 65_535, async |client| {
        let mut talk = Talk::begin(&client).await;
        talk.send(&message(b"one"), false);
        assert_eq!(talk.status().await, None);
        assert_eq!(talk.head["grpc-status"], "14");
        let reset = std::future::poll_fn(|context| talk.send.poll_reset(context)).await;
        assert_eq!(reset.unwrap(), Reason::NO_ERROR);
    });
    let truth = stop_and_check(server, &service);
    assert_eq!((endings(&truth), truth.rows[0].status), (vec![Ending::Answered], Some(503)));
}

/// Half of an answer is known only when its request has ended.
#[test]
fn faults_of_parts_wait_for_the_end_of_the_call() {
    let select = Selector::default();
    let slow = Fault::SlowBody { over: Nanos::from_millis(20), select };
    for (fault, length) in [(Fault::ShortBody { select }, 8), (slow, 16)] {
        let service = faulty(vec![fault]);
        let server = start(service.clone());
        with_client(&server, 65_535, async |client| {
            let mut talk = Talk::begin(&client).await;
            talk.send(&message(b"one"), false);
            // A call in the meantime shows that the server has seen the first message.
            assert_eq!(ask(&client, request(Method::GET, "/healthy"), None).await.unwrap().status, 200);
            talk.send(&message(b"two"), true);
            let both = [message(b"one"), message(b"two")].concat();
            assert_eq!(talk.receive(length).await, both[..length]);
        });
        stop_and_check(server, &service);
    }
}

#[test]
fn a_client_that_takes_no_answers_or_sends_too_long_a_message_is_told_to_stop() {
    let service = faulty(vec![]);
    let server = start(service.clone());
    with_client(&server, 1_000, async |client| {
        for content in [&[0; 65_536], &[1; 65_536]] {
            let mut talk = Talk::begin(&client).await;
            talk.send(&message(b"one"), false);
            assert_eq!(talk.receive(8).await, message(b"one"));
            let reset = loop {
                talk.send.reserve_capacity(content.len());
                let reset_or_room = |context: &mut Context<'_>| match talk.send.poll_reset(context) {
                    Poll::Ready(reset) => Poll::Ready(Some(reset.unwrap())),
                    Poll::Pending => talk.send.poll_capacity(context).map(|_| None),
                };
                if let Some(reset) = std::future::poll_fn(reset_or_room).await {
                    break reset;
                }
                let room = talk.send.capacity().min(content.len());
                // Fails if the stream was reset meanwhile.
                let _ = talk.send.send_data(Bytes::copy_from_slice(&content[..room]), false);
            };
            assert_eq!(reset, Reason::ENHANCE_YOUR_CALM);
        }
    });
    assert_eq!(endings(&stop_and_check(server, &service)), [Ending::Dropped; 2]);
}
