//! A service with a login that records its requests.

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
    /// The number of its connection. Not every test crate that includes this file uses it.
    #[allow(dead_code)]
    pub connection: usize,
}

impl Asked {
    pub fn field(&self, name: &str) -> Option<&str> {
        let of = |line: &'_ str| line.split_once(": ").is_some_and(|(known, _)| known.eq_ignore_ascii_case(name));
        self.fields.iter().find(|line| of(line)).and_then(|line| line.split_once(": ")).map(|(_, value)| value)
    }
}

/// An answer: status, fields and body.
pub type Answer = (u16, Vec<String>, String);

/// A server on a free port. It ends with the test process.
pub struct Server {
    pub address: SocketAddr,
    pub asked: Arc<Mutex<Vec<Asked>>>,
}

/// State that the connections of a server share.
#[derive(Clone)]
pub struct Service {
    seen: Arc<Mutex<Vec<Asked>>>,
    count: Arc<AtomicU64>,
    answer: AnswerEach,
    connection: usize,
}

/// Function that returns the answer to request number n.
pub type AnswerEach = Arc<dyn Fn(u64, &Asked) -> Answer + Send + Sync>;

impl Service {
    /// Records a request and returns its answer.
    pub fn answer(&self, asked: Asked) -> Answer {
        let asked = Asked { connection: self.connection, ..asked };
        let number = self.count.fetch_add(1, Ordering::SeqCst);
        let answer = (self.answer)(number, &asked);
        self.seen.lock().unwrap().push(asked);
        answer
    }
}

impl Server {
    /// Starts a server that answers request number n with `answer`.
    pub fn start(answer: impl Fn(u64, &Asked) -> Answer + Send + Sync + 'static) -> Server {
        Server::with(Arc::new(answer), serve)
    }

    /// Starts a server that calls `serve` with each connection.
    pub fn with(answer: AnswerEach, serve: fn(TcpStream, &Service)) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let service = Service { seen: Arc::default(), count: Arc::default(), answer, connection: 0 };
        let asked = Arc::clone(&service.seen);
        std::thread::spawn(move || {
            for (connection, stream) in listener.incoming().flatten().enumerate() {
                let service = Service { connection, ..service.clone() };
                std::thread::spawn(move || serve(stream, &service));
            }
        });
        Server { address, asked }
    }

    /// Returns the number of requests whose line begins with `line`.
    pub fn count(&self, line: &str) -> u64 {
        self.asked.lock().unwrap().iter().filter(|asked| asked.line.starts_with(line)).count() as u64
    }
}

pub fn serve(stream: TcpStream, service: &Service) {
    let mut reader = BufReader::new(stream);
    while let Some(asked) = read(&mut reader) {
        let (status, fields, body) = service.answer(asked);
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
    let mut asked = Asked { line: lines.remove(0), fields: lines, body: String::new(), connection: 0 };
    let length = asked.field("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    asked.body = String::from_utf8(body).unwrap();
    Some(asked)
}
