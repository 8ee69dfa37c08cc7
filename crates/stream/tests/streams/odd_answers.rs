//! Hostile answers, and answers that are not streams.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use truetail_model::time::Nanos;
use truetail_run::StreamTime;
use truetail_stream::StreamOptions;

use crate::{count, plan, run, sse};

const HEAD: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n";

/// Starts a server that answers the first request on each connection with `act`, then closes the connection.
pub(crate) fn serve(act: impl Fn(&mut TcpStream) -> std::io::Result<()> + Clone + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let act = act.clone();
            thread::spawn(move || {
                let _ = socket.read(&mut [0; 4096]);
                let _ = act(&mut socket);
            });
        }
    });
    url
}

fn answering(text: String) -> String {
    serve(move |socket| socket.write_all(text.as_bytes()))
}

#[test]
fn an_answer_that_is_no_stream_is_not_read_as_one() {
    for head in [
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n",
        "HTTP/1.1 503 Busy\r\nContent-Type: text/event-stream\r\n",
    ] {
        // A request on a connection that is being closed would be lost.
        let url = answering(format!("{head}Connection: close\r\nContent-Length: 9\r\n\r\ndata: a\n\n"));
        let (_, facts) = run(plan(&url, 100.0, 3), sse());
        assert_eq!((facts.tally.not_a_stream, facts.events, facts.bytes), (3, 0, Some(0)), "{head}");
        assert_eq!(count(&facts, StreamTime::FirstEventFailed), 3);
    }
}

#[test]
fn no_answer_is_no_stream_that_was_cut() {
    let (_, facts) = run(plan(&serve(|_| Ok(())), 100.0, 3), sse());
    assert_eq!((facts.tally.failed, facts.tally.cut), (3, 0), "{:?}", facts.tally);
}

#[test]
fn the_end_of_the_connection_ends_a_body_without_a_length() {
    let url = answering(format!("{HEAD}\r\ndata: a\n\ndata: b\n\n"));
    let (_, facts) = run(plan(&url, 100.0, 3), sse());
    assert_eq!((facts.tally.complete, facts.events), (3, 6), "{facts:?}");
}

#[test]
fn trailers_and_bytes_that_are_no_text_are_no_events() {
    let body = b"\xff\xfedata: a\n\ndata: \xc3\x28\n\n";
    let url = serve(move |socket| {
        write!(socket, "{HEAD}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n", body.len())?;
        socket.write_all(body)?;
        socket.write_all(b"\r\n0\r\ndata: c\r\n\r\n")
    });
    let (_, facts) = run(plan(&url, 100.0, 2), sse());
    assert_eq!((facts.tally.complete, facts.events), (2, 2), "{facts:?}");
}

#[test]
fn an_event_without_end_is_read_to_the_time_limit() {
    let url = serve(|socket| {
        write!(socket, "{HEAD}\r\ndata: ")?;
        loop {
            socket.write_all(&[b'x'; 1 << 14])?;
            thread::sleep(std::time::Duration::from_millis(1));
        }
    });
    let mut plan = plan(&url, 100.0, 1);
    plan.workload.limits.timeout = Some(Nanos::from_secs(5));
    // Bytes keep coming, so the stream is not idle.
    let (_, facts) = run(plan, StreamOptions { idle_timeout: Some(Nanos::from_secs(3)), ..sse() });
    assert_eq!((facts.tally.timed_out, facts.tally.planned, facts.events), (1, 1, 0), "{:?}", facts.tally);
    assert!(facts.bytes > Some(0));
    assert_eq!(count(&facts, StreamTime::FirstEventCensored), 1);
}
