use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};
use truetail_model::random::mix64;
use truetail_model::record::Cause;

/// Bytes that the server adds to the client's key (RFC 6455, section 1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// Longest head of the server's answer.
const MAX_HEAD: usize = 16 << 10;
/// Largest number of header fields in it.
const MAX_FIELDS: usize = 64;
const PROTOCOL: &str = "Sec-WebSocket-Protocol";
/// Header fields that truetail sends itself.
const OWN: [&str; 6] =
    ["host", "upgrade", "connection", "sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions"];

/// The request that opens a WebSocket.
#[derive(Clone, PartialEq, Eq)]
pub struct WebSocketRequest {
    /// The head, up to the key.
    head: String,
    /// The protocols that the client offers.
    protocols: Vec<String>,
}

impl WebSocketRequest {
    /// Creates the request for a path with its query, on a host with its port. `headers` are lines as
    /// [`Request::new`](crate::Request::new) takes them.
    ///
    /// # Errors
    /// The line that is no header, or that only truetail may send.
    pub fn new(path: &str, host: &str, headers: &[String]) -> Result<WebSocketRequest, String> {
        let mut head = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nUser-Agent: truetail/{}\r\n",
            env!("CARGO_PKG_VERSION")
        );
        let mut protocols = Vec::new();
        for line in headers {
            let (name, value) =
                line.split_once(':').map(|(name, value)| (name.trim(), value.trim())).unwrap_or_default();
            let is_good = crate::target::method::is_token(name) && crate::is_header_value(value.as_bytes());
            if !is_good || OWN.iter().any(|own| name.eq_ignore_ascii_case(own)) {
                return Err(line.clone());
            }
            if name.eq_ignore_ascii_case(PROTOCOL) {
                protocols.extend(value.split(',').map(|protocol| protocol.trim().to_owned()));
            }
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        Ok(WebSocketRequest { head, protocols })
    }
}

/// Leaves out the head, which may have a password.
impl std::fmt::Debug for WebSocketRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebSocketRequest").finish_non_exhaustive()
    }
}

/// The opening of one WebSocket.
#[derive(Debug)]
pub(in crate::protocol::messages) struct Handshake {
    key: String,
    answer: Vec<u8>,
}

impl Handshake {
    /// Begins a handshake with the key of this seed, and appends its request to `out`.
    pub(in crate::protocol::messages) fn begin(request: &WebSocketRequest, seed: u64, out: &mut Vec<u8>) -> Handshake {
        let halves = [mix64(seed), mix64(!seed)].map(u64::to_be_bytes);
        let key = STANDARD.encode(halves.concat());
        out.extend_from_slice(format!("{}Sec-WebSocket-Key: {key}\r\n\r\n", request.head).as_bytes());
        Handshake { key, answer: Vec::new() }
    }

    /// Takes bytes of the answer. Returns the number of bytes that belong to it, once it is complete.
    ///
    /// # Errors
    /// [`Cause::NoWebSocket`] if the server does not switch to WebSocket as was asked for.
    pub(in crate::protocol::messages) fn receive(
        &mut self,
        request: &WebSocketRequest,
        bytes: &[u8],
    ) -> Result<Option<usize>, Cause> {
        let before = self.answer.len();
        self.answer.extend_from_slice(bytes);
        let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut answer = httparse::Response::new(&mut fields);
        match answer.parse(&self.answer) {
            Ok(httparse::Status::Complete(length)) if self.accepts(request, &answer) => Ok(Some(length - before)),
            Ok(httparse::Status::Partial) if self.answer.len() <= MAX_HEAD => Ok(None),
            Ok(_) | Err(_) => Err(Cause::NoWebSocket),
        }
    }

    fn accepts(&self, request: &WebSocketRequest, answer: &httparse::Response<'_, '_>) -> bool {
        let values = |name: &'static str| {
            let fields = answer.headers.iter().filter(move |field| field.name.eq_ignore_ascii_case(name));
            fields.filter_map(|field| std::str::from_utf8(field.value).ok()).map(str::trim)
        };
        let has_word = |name, word: &str| {
            values(name).flat_map(|value| value.split(',')).any(|one| one.trim().eq_ignore_ascii_case(word))
        };
        let accepted = accept_for(&self.key);
        answer.code == Some(101)
            && has_word("upgrade", "websocket")
            && has_word("connection", "upgrade")
            && values("sec-websocket-accept").eq([accepted.as_str()])
            && values("sec-websocket-extensions").all(str::is_empty)
            && values(PROTOCOL).all(|chosen| request.protocols.iter().any(|offered| offered == chosen))
    }
}

/// Returns the value by which a server accepts a key.
pub(in crate::protocol::messages) fn accept_for(key: &str) -> String {
    STANDARD.encode(Sha1::digest(format!("{key}{GUID}")))
}
