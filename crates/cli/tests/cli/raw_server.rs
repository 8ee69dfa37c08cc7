//! A listener that says what it is told, and remembers what it was asked.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// Answers each connection once, as soon as something was read from it that ends a request.
pub struct RawServer {
    pub url: String,
    /// What was asked, a text a connection.
    pub asked: Receiver<String>,
}

impl RawServer {
    /// Answers with `answer` when a request that ends with `end` has come, and closes the connection; never answers
    /// where there is none.
    pub fn start(answer: Option<&'static str>, end: &'static str) -> RawServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/api", listener.local_addr().expect("an address"));
        let (sender, asked) = channel();
        // It lives as long as the test process: a listener that waits costs nothing.
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let sender = sender.clone();
                thread::spawn(move || sender.send(serve(stream, answer, end)));
            }
        });
        RawServer { url, asked }
    }
}

fn serve(mut stream: TcpStream, answer: Option<&str>, end: &str) -> String {
    let mut asked = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        asked.extend_from_slice(&buffer[..count]);
        if asked.ends_with(end.as_bytes()) {
            match answer {
                Some(answer) => drop(stream.write_all(answer.as_bytes())),
                None => continue,
            }
            break;
        }
    }
    String::from_utf8_lossy(&asked).into_owned()
}

/// A port on which nobody listens: it was free a moment ago.
pub fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port()
}
