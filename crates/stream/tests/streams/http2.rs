//! HTTP/2 streams from an independent server implementation.

use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use truetail_engine::Plan;
use truetail_model::time::Nanos;
use truetail_run::{StreamKind, StreamTime};
use truetail_stream::StreamOptions;

use crate::{MS, count, longest, plan, run, sse};

/// Action of the server after a piece.
#[derive(Clone, Copy)]
enum Then {
    Wait(Duration),
    Reset,
}

/// Starts a server that answers each request with these pieces, each in a data frame. It ends with the test process.
fn serve(pieces: impl Into<Vec<(&'static str, Then)>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let pieces = pieces.into();
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let pieces = pieces.clone();
            thread::spawn(move || {
                socket.set_nonblocking(true).unwrap();
                socket.set_nodelay(true).unwrap();
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                tokio::task::LocalSet::new().block_on(&runtime, async move {
                    let socket = tokio::net::TcpStream::from_std(socket).unwrap();
                    let Ok(mut connection) = h2::server::handshake(socket).await else { return };
                    while let Some(Ok((_, respond))) = connection.accept().await {
                        let pieces = pieces.clone();
                        tokio::task::spawn_local(async move {
                            let _ = answer(respond, pieces).await;
                        });
                    }
                });
            });
        }
    });
    url
}

async fn answer(
    mut respond: h2::server::SendResponse<Bytes>,
    pieces: Vec<(&'static str, Then)>,
) -> Result<(), h2::Error> {
    let head = http::Response::builder().status(200).header("content-type", "text/event-stream").body(()).unwrap();
    let mut stream = respond.send_response(head, false)?;
    for (piece, then) in pieces {
        stream.send_data(Bytes::from_static(piece.as_bytes()), false)?;
        match then {
            Then::Wait(time) => tokio::time::sleep(time).await,
            Then::Reset => {
                stream.send_reset(h2::Reason::INTERNAL_ERROR);
                return Ok(());
            }
        }
    }
    stream.send_data(Bytes::new(), true)
}

fn in_http2(url: &str, requests: u64) -> Plan {
    let mut plan = plan(url, 100.0, requests);
    plan.target.use_http2().unwrap();
    plan
}

const SHORT: Then = Then::Wait(Duration::from_millis(20));

#[test]
fn streams_on_one_connection_are_told_apart() {
    let url = serve([
        ("data: a\n\ndata: b\n\n", SHORT),
        ("data: c", Then::Wait(Duration::from_secs(2))),
        ("\n\n: a comment\n\n", SHORT),
    ]);
    let (_, facts) = run(in_http2(&url, 20), StreamOptions { stall: Some(Nanos::from_millis(300)), ..sse() });
    assert_eq!((facts.tally.complete, facts.events), (20, 60), "{facts:?}");
    assert!(facts.coalesced_gaps >= 20, "{facts:?}");
    // The server waits longer than asserted: its wait begins before the system has its bytes, and the client may pause.
    assert_eq!(count(&facts, StreamTime::LongestGap), 20);
    assert!(longest(&facts, StreamTime::LongestGap) >= 300 * MS && facts.stalls >= 1, "{facts:?}");
    let chunks = StreamOptions::new(StreamKind::Chunks);
    let (_, facts) = run(in_http2(&url, 5), chunks);
    assert_eq!((facts.tally.complete, facts.events), (5, 15), "{facts:?}");
}

#[test]
fn a_stream_that_is_reset_is_cut() {
    let url =
        serve([("data: a\n\n", SHORT), ("data: b\n\n", Then::Wait(Duration::from_millis(100))), ("d", Then::Reset)]);
    let (_, facts) = run(in_http2(&url, 8), sse());
    assert_eq!((facts.tally.cut, facts.tally.planned, facts.events), (8, 8, 16), "{facts:?}");
    assert_eq!(count(&facts, StreamTime::EventGapCensored), 8);
}

#[test]
fn an_idle_stream_is_given_up_and_its_connection_is_not() {
    let url = serve([("data: a\n\n", Then::Wait(Duration::from_secs(60)))]);
    let options = StreamOptions { idle_timeout: Some(Nanos::from_millis(200)), ..sse() };
    let (_, facts) = run(in_http2(&url, 10), options);
    assert_eq!((facts.tally.idle, facts.events), (10, 10), "{facts:?}");
}
