use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};
use truetail_model::random::mix64;
use truetail_model::record::Cause;

use super::super::splitter::Splitter;
use super::super::varying::Varying;
use super::deflate::{DEFLATE_OFFER, DeflateTerms};
use crate::protocol::http2::PlainBlock;
use crate::target::fields::{InHttp2, is_allowed_in_http2};

/// Bytes that the server adds to the client's key (RFC 6455, section 1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// Longest head of the server's answer.
const MAX_HEAD: usize = 16 << 10;
/// Largest number of header fields in it.
const MAX_FIELDS: usize = 64;
const USER_AGENT: &str = concat!("truetail/", env!("CARGO_PKG_VERSION"));
const PROTOCOL: &str = "Sec-WebSocket-Protocol";
const EXTENSIONS: &str = "Sec-WebSocket-Extensions";
/// Header fields that truetail sends itself.
const OWN: [&str; 6] =
    ["host", "upgrade", "connection", "sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions"];

/// The request that opens a WebSocket.
#[derive(Clone, PartialEq, Eq)]
pub struct WebSocketRequest {
    path: String,
    host: String,
    /// Header fields that are not in the request of every WebSocket.
    fields: Vec<(String, String)>,
    /// The protocols that the client offers.
    protocols: Vec<String>,
    /// The scheme of the request over HTTP/2; `None` over HTTP/1.1.
    http2_scheme: Option<&'static str>,
    /// The client offers to compress messages.
    offers_deflate: bool,
}

impl WebSocketRequest {
    /// Creates the request for a path with its query, on a host with its port, over HTTP/1.1. `headers` are lines as
    /// [`Request::new`](crate::Request::new) takes them.
    ///
    /// # Errors
    /// The line that is no header, or that only truetail may send.
    pub fn new(path: &str, host: &str, headers: &[String]) -> Result<WebSocketRequest, String> {
        let own = [("Sec-WebSocket-Version", "13".to_owned()), ("User-Agent", USER_AGENT.to_owned())];
        let mut fields: Vec<_> = own.map(|(name, value)| (name.to_owned(), value)).into();
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
            fields.push((name.to_owned(), value.to_owned()));
        }
        Ok(WebSocketRequest {
            path: path.to_owned(),
            host: host.to_owned(),
            fields,
            protocols,
            http2_scheme: None,
            offers_deflate: false,
        })
    }

    /// Opens the WebSocket over HTTP/2 (RFC 8441). Each channel has its own connection. `is_secure`: over TLS.
    ///
    /// # Errors
    /// The header line that HTTP/2 does not allow.
    pub fn over_http2(mut self, is_secure: bool) -> Result<WebSocketRequest, String> {
        let refused = |(name, value): &&(String, String)| !is_allowed_in_http2(name.as_bytes(), value.as_bytes());
        if let Some((name, value)) = self.fields.iter().find(refused) {
            return Err(format!("{name}: {value}"));
        }
        self.fields.retain(|(name, value)| InHttp2::for_header(name.as_bytes(), value.as_bytes()) == InHttp2::Sent);
        self.http2_scheme = Some(if is_secure { "https" } else { "http" });
        Ok(self)
    }

    /// Offers the server to compress messages (permessage-deflate, RFC 7692).
    #[must_use]
    pub fn offering_deflate(self) -> WebSocketRequest {
        WebSocketRequest { offers_deflate: true, ..self }
    }

    pub(in crate::protocol::messages) fn is_over_http2(&self) -> bool {
        self.http2_scheme.is_some()
    }

    pub(in crate::protocol::messages) fn offers_deflate(&self) -> bool {
        self.offers_deflate
    }

    fn all_fields(&self) -> impl Iterator<Item = (&str, &str)> {
        let offer = self.offers_deflate.then_some((EXTENSIONS, DEFLATE_OFFER));
        self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain(offer)
    }

    /// Returns the fields of the request over HTTP/2, encoded; `None` over HTTP/1.1.
    pub(in crate::protocol::messages) fn http2_fields(&self) -> Option<Vec<u8>> {
        let pseudo = [
            (":method", "CONNECT"),
            (":protocol", "websocket"),
            (":scheme", self.http2_scheme?),
            (":path", &self.path),
            (":authority", &self.host),
        ];
        let others: Vec<_> = self.all_fields().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
        let others = others.iter().map(|(name, value)| (name.as_str(), *value));
        Some(PlainBlock::encode(pseudo.into_iter().chain(others).map(|(name, value)| (name, value.as_bytes()))))
    }

    fn http1_head(&self, key: &str) -> String {
        let fields: String = self.all_fields().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{fields}\
             Sec-WebSocket-Key: {key}\r\n\r\n",
            self.path, self.host
        )
    }

    /// Returns the extensions that both sides use after an answer with these header fields.
    ///
    /// # Errors
    /// [`Cause::NoWebSocket`] if it chooses a protocol or an extension that was not offered.
    pub(in crate::protocol::messages) fn agreement<'a>(
        &self,
        fields: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    ) -> Result<Agreement, Cause> {
        let mut extensions = Vec::new();
        for (name, value) in fields {
            let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
            let value = std::str::from_utf8(value).map(str::trim);
            if is(PROTOCOL) && !self.protocols.iter().any(|offered| value == Ok(offered)) {
                return Err(Cause::NoWebSocket);
            }
            if is(EXTENSIONS) {
                extensions.push(value.map_err(|_| Cause::NoWebSocket)?);
            }
        }
        let extensions = extensions.into_iter().flat_map(|value| value.split(',')).map(str::trim);
        let mut chosen = extensions.filter(|extension| !extension.is_empty());
        let deflate = match (chosen.next(), chosen.next()) {
            (None, _) => None,
            (Some(one), None) if self.offers_deflate => Some(DeflateTerms::parse(one).ok_or(Cause::NoWebSocket)?),
            _ => return Err(Cause::NoWebSocket),
        };
        Ok(Agreement { deflate })
    }
}

/// Extensions that both sides of a channel use.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(in crate::protocol::messages) struct Agreement {
    deflate: Option<DeflateTerms>,
}

impl Agreement {
    /// Lets a channel use the extensions.
    pub(in crate::protocol::messages) fn apply(self, splitter: &mut Splitter, varying: &mut Varying) {
        if let Some(terms) = self.deflate {
            splitter.inflate(terms);
            varying.deflate(terms);
        }
    }
}

/// Leaves out the header fields, which may have a password.
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
    /// Begins a handshake over HTTP/1.1 with the key of this seed, and appends its request to `out`.
    pub(in crate::protocol::messages) fn begin(request: &WebSocketRequest, seed: u64, out: &mut Vec<u8>) -> Handshake {
        let halves = [mix64(seed), mix64(!seed)].map(u64::to_be_bytes);
        let key = STANDARD.encode(halves.concat());
        out.extend_from_slice(request.http1_head(&key).as_bytes());
        Handshake { key, answer: Vec::new() }
    }

    /// Takes bytes of the answer. Once it is complete, returns the number of bytes that belong to it, and what both
    /// sides agreed on.
    ///
    /// # Errors
    /// [`Cause::NoWebSocket`] if the server does not switch to WebSocket as was asked for.
    pub(in crate::protocol::messages) fn receive(
        &mut self,
        request: &WebSocketRequest,
        bytes: &[u8],
    ) -> Result<Option<(usize, Agreement)>, Cause> {
        let before = self.answer.len();
        self.answer.extend_from_slice(bytes);
        let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut answer = httparse::Response::new(&mut fields);
        match answer.parse(&self.answer) {
            Ok(httparse::Status::Complete(length)) if self.accepts(&answer) => {
                let fields = answer.headers.iter().map(|field| (field.name.as_bytes(), field.value));
                Ok(Some((length - before, request.agreement(fields)?)))
            }
            Ok(httparse::Status::Partial) if self.answer.len() <= MAX_HEAD => Ok(None),
            Ok(_) | Err(_) => Err(Cause::NoWebSocket),
        }
    }

    fn accepts(&self, answer: &httparse::Response<'_, '_>) -> bool {
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
    }
}

/// Returns the value by which a server accepts a key.
pub(in crate::protocol::messages) fn accept_for(key: &str) -> String {
    STANDARD.encode(Sha1::digest(format!("{key}{GUID}")))
}
