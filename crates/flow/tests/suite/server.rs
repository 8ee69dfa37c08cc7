//! A service with a login, that counts what it is asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// One request, as the server read it.
#[derive(Clone, Debug)]
pub struct Asked {
    pub line: String,
    pub fields: Vec<String>,
    pub body: String,
}

impl Asked {
    pub fn field(&self, name: &str) -> Option<&str> {
        let of = |line: &'_ str| line.split_once(": ").is_some_and(|(known, _)| known.eq_ignore_ascii_case(name));
        self.fields.iter().find(|line| of(line)).and_then(|line| line.split_once(": ")).map(|(_, value)| value)
    }
}

/// An answer: status line, fields and body.
pub type Answer = (u16, Vec<String>, String);

/// A server on a port of its own; it ends with the test process.
pub struct Server {
    pub address: SocketAddr,
    pub asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Answers request number n as `answer` says.
    pub fn start(answer: impl Fn(u64, &Asked) -> Answer + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, count, answer) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicU64::new(0)), Arc::new(answer));
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, count, answer) = (Arc::clone(&seen), Arc::clone(&count), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream, &seen, &count, &*answer));
            }
        });
        Server { address, asked }
    }

    /// How many requests began with this.
    pub fn count(&self, line: &str) -> u64 {
        self.asked.lock().unwrap().iter().filter(|asked| asked.line.starts_with(line)).count() as u64
    }
}

fn serve(stream: TcpStream, seen: &Mutex<Vec<Asked>>, count: &AtomicU64, answer: &dyn Fn(u64, &Asked) -> Answer) {
    let mut reader = BufReader::new(stream);
    while let Some(asked) = read(&mut reader) {
        let number = count.fetch_add(1, Ordering::SeqCst);
        let (status, fields, body) = answer(number, &asked);
        seen.lock().unwrap().push(asked);
        let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
        let text = format!("HTTP/1.1 {status} X\r\n{fields}Content-Length: {}\r\n\r\n{body}", body.len());
        if reader.get_mut().write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let mut asked = Asked { line: lines.remove(0), fields: lines, body: String::new() };
    let length = asked.field("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    asked.body = String::from_utf8(body).unwrap();
    Some(asked)
}
