//! A small HTTP client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Time limit of an answer, generous for busy machines.
const TIMEOUT: Duration = Duration::from_secs(50);

#[derive(Debug)]
pub struct Answer {
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn status(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("UTF-8")
    }
}

/// Returns the answer to a GET. `headers` are more header lines, each with its line break.
pub fn get(address: SocketAddr, path: &str, headers: &str) -> std::io::Result<Answer> {
    let mut stream = connect(address)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\r\n")?;
    let mut all = Vec::new();
    stream.read_to_end(&mut all)?;
    let end = all.windows(4).position(|bytes| bytes == b"\r\n\r\n").ok_or(std::io::ErrorKind::UnexpectedEof)?;
    let body = all.split_off(end + 4);
    Ok(Answer { head: String::from_utf8(all).expect("UTF-8"), body })
}

pub fn connect(address: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    Ok(stream)
}

/// Name and data of an event.
pub type Event = (String, String);

/// Returns the events of a stream until it ends.
pub fn events(address: SocketAddr) -> impl Iterator<Item = Event> {
    let mut stream = connect(address).expect("a connection");
    write!(stream, "GET /events HTTP/1.1\r\nHost: {address}\r\n\r\n").expect("it reads");
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
    assert!(head[0].contains(" 200 ") && head.contains(&"Content-Type: text/event-stream".to_owned()), "{head:?}");
    std::iter::from_fn(move || {
        let mut name = String::new();
        let mut data = Vec::new();
        for line in lines.by_ref() {
            match line.split_once(": ") {
                Some(("event", value)) => name = value.to_owned(),
                Some(("data", value)) => data.push(value.to_owned()),
                _ if line.is_empty() && !name.is_empty() => return Some((name, data.join("\n"))),
                _ => {}
            }
        }
        None
    })
}

/// Returns the value of a sample in Prometheus' text format, by its name and labels.
pub fn sample(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    Some(line.parse().unwrap_or_else(|error| panic!("{line}: {error}")))
}
