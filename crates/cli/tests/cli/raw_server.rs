//! Listeners: one for each connection a thread, one with a fixed answer; and a port that refuses connections.

use std::io::{BufRead, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use socket2::{Domain, Socket, Type};

/// Starts a server that handles each connection by `serve` in a thread. Returns its host and port.
pub fn serve_each(serve: impl Fn(TcpStream) -> Option<()> + Clone + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let place = listener.local_addr().expect("an address").to_string();
    // The thread lives as long as the test process, because a waiting listener costs nothing.
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let serve = serve.clone();
            thread::spawn(move || serve(socket));
        }
    });
    place
}

/// Reads the next request of a connection, and returns its body; `None` at the end of the connection.
pub fn read_body(reader: &mut impl BufRead) -> Option<String> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "))?;
    let mut body = vec![0; length.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    Some(String::from_utf8(body).expect("bodies are UTF-8"))
}

/// Answers each connection once, as soon as it has read the end of a request.
pub struct RawServer {
    pub url: String,
    /// Received requests, one text per connection.
    pub asked: Receiver<String>,
}

impl RawServer {
    /// Sends `answer` after a request that ends with `end`, and closes the connection. Without `answer`, never answers.
    pub fn start(answer: Option<&'static str>, end: &'static str) -> RawServer {
        RawServer::start_when(answer, move |asked| asked.ends_with(end.as_bytes()))
    }

    /// Answers each whole request, with a body of any length.
    pub fn start_whole(answer: &'static str) -> RawServer {
        RawServer::start_when(Some(answer), is_whole)
    }

    fn start_when(answer: Option<&'static str>, whole: impl Fn(&[u8]) -> bool + Copy + Send + 'static) -> RawServer {
        let (sender, asked) = channel();
        let place = serve_each(move |stream| sender.send(serve(stream, answer, whole)).ok());
        RawServer { url: format!("http://{place}/api"), asked }
    }
}

/// Returns true if the head is complete and the body has the length in the head.
pub fn is_whole(asked: &[u8]) -> bool {
    let text = String::from_utf8_lossy(asked);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    body.len() == length.map_or(0, |length| length.parse().expect("a length"))
}

fn serve(mut stream: TcpStream, answer: Option<&str>, whole: impl Fn(&[u8]) -> bool) -> String {
    let mut asked = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        asked.extend_from_slice(&buffer[..count]);
        if whole(&asked) {
            match answer {
                Some(answer) => drop(stream.write_all(answer.as_bytes())),
                None => continue,
            }
            break;
        }
    }
    String::from_utf8_lossy(&asked).into_owned()
}

/// Port that refuses connections and that no other process can take: it is bound, but not listened on.
pub struct ClosedPort {
    socket: Socket,
}

impl ClosedPort {
    /// Takes `port`, or any free port for 0.
    pub fn take(port: u16) -> ClosedPort {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        // Old connections to an earlier listener may linger.
        socket.set_reuse_address(true).expect("an option");
        socket.bind(&SocketAddr::from(([127, 0, 0, 1], port)).into()).expect("the port");
        ClosedPort { socket }
    }

    pub fn url(&self) -> String {
        let address = self.socket.local_addr().expect("an address").as_socket().expect("an IP address");
        format!("http://{address}/api")
    }
}
