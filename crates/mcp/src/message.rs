//! Messages of JSON-RPC 2.0, one a line.

use serde::Deserialize;
use serde_json::{Value, json};

/// Longest line that is read, in bytes.
pub const MAX_LINE_BYTES: usize = 1 << 20;
/// Longest id of a request that is text, in bytes.
const MAX_ID_BYTES: usize = 256;

pub(crate) const PARSE_ERROR: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;

/// A message of the client.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Message {
    /// Wants an answer with this id: text, or a whole number.
    Request { id: Value, method: String, params: Value },
    /// Wants no answer.
    Notification { method: String, params: Value },
    /// Answers a request of the server, which asks nothing.
    Answer,
}

/// A message that is refused.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Refusal {
    /// Id of the request; null if it is not known.
    pub id: Value,
    pub code: i64,
    /// One line for the client.
    pub message: String,
}

impl Refusal {
    pub(crate) fn new(id: Value, code: i64, message: impl Into<String>) -> Refusal {
        Refusal { id, code, message: message.into() }
    }

    pub(crate) fn to_line(&self) -> String {
        json!({"jsonrpc": "2.0", "id": self.id, "error": {"code": self.code, "message": self.message}}).to_string()
    }
}

/// A message as it is on the line.
#[derive(Deserialize)]
struct Envelope {
    jsonrpc: Option<String>,
    /// `Some(None)` is an id that is null.
    #[serde(default, deserialize_with = "given")]
    id: Option<Value>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
}

/// Reads a member that is there, even if it is null.
fn given<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// Reads one line.
///
/// # Errors
/// If the line is no message of JSON-RPC 2.0.
pub(crate) fn parse(line: &[u8]) -> Result<Message, Refusal> {
    if line.len() > MAX_LINE_BYTES {
        let message = format!("a message has more than {MAX_LINE_BYTES} bytes; send a shorter one");
        return Err(Refusal::new(Value::Null, INVALID_REQUEST, message));
    }
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        Refusal::new(Value::Null, PARSE_ERROR, format!("the line is no JSON: {error}; send one message a line"))
    })?;
    if value.is_array() {
        let message = "batches of messages are not supported; send one message a line";
        return Err(Refusal::new(Value::Null, INVALID_REQUEST, message));
    }
    let id = value.get("id").filter(|id| is_id(id)).cloned().unwrap_or_default();
    let refused = |message: &str| Refusal::new(id.clone(), INVALID_REQUEST, message);
    let envelope =
        Envelope::deserialize(value).map_err(|error| refused(&format!("the message is not valid: {error}")))?;
    if envelope.jsonrpc.as_deref() != Some("2.0") {
        return Err(refused("the message has no member \"jsonrpc\": \"2.0\""));
    }
    match (envelope.method, envelope.id) {
        (Some(method), None) => Ok(Message::Notification { method, params: envelope.params }),
        (Some(method), Some(id)) if is_id(&id) => Ok(Message::Request { id, method, params: envelope.params }),
        (Some(_), Some(_)) => Err(refused("the id of a request must be a short text or a whole number")),
        (None, Some(_)) => Ok(Message::Answer),
        (None, None) => Err(refused("the message has neither a method nor an id")),
    }
}

/// Returns true for an id that an answer may repeat.
pub(crate) fn is_id(id: &Value) -> bool {
    match id {
        Value::String(text) => text.len() <= MAX_ID_BYTES,
        Value::Number(number) => number.is_i64() || number.is_u64(),
        _ => false,
    }
}

/// Returns the line that answers a request.
pub(crate) fn answer(id: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

/// Returns the line of a notification.
pub(crate) fn notification(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_a_request_a_notification_or_an_answer() {
        let request = parse(br#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#).unwrap();
        assert_eq!(request, Message::Request { id: json!("a"), method: "ping".into(), params: Value::Null });
        let told = parse(br#"{"jsonrpc":"2.0","method":"m","params":{"a":1}}"#).unwrap();
        assert_eq!(told, Message::Notification { method: "m".into(), params: json!({"a": 1}) });
        assert_eq!(parse(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#).unwrap(), Message::Answer);
    }

    #[test]
    fn a_line_that_is_no_message_is_refused_with_the_id_where_it_is_known() {
        let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}", "x".repeat(MAX_LINE_BYTES));
        let deep = "[".repeat(100_000);
        let long_id = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{}\",\"method\":\"m\"}}", "x".repeat(MAX_ID_BYTES + 1));
        for (line, code, id, part) in [
            ("", PARSE_ERROR, Value::Null, "no JSON"),
            ("{", PARSE_ERROR, Value::Null, "no JSON"),
            ("\u{0}", PARSE_ERROR, Value::Null, "no JSON"),
            (&deep, PARSE_ERROR, Value::Null, "recursion limit"),
            ("[{}]", INVALID_REQUEST, Value::Null, "batches"),
            ("7", INVALID_REQUEST, Value::Null, "not valid"),
            (r#"{"id":3}"#, INVALID_REQUEST, json!(3), "jsonrpc"),
            (r#"{"jsonrpc":"1.0","id":3,"method":"m"}"#, INVALID_REQUEST, json!(3), "jsonrpc"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, INVALID_REQUEST, Value::Null, "the id"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, INVALID_REQUEST, Value::Null, "the id"),
            (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, INVALID_REQUEST, Value::Null, "the id"),
            (r#"{"jsonrpc":"2.0","id":4,"method":7}"#, INVALID_REQUEST, json!(4), "not valid"),
            (r#"{"jsonrpc":"2.0"}"#, INVALID_REQUEST, Value::Null, "neither"),
            (&long, INVALID_REQUEST, Value::Null, "bytes"),
            (&long_id, INVALID_REQUEST, Value::Null, "the id"),
        ] {
            let start: String = line.chars().take(60).collect();
            let refusal = parse(line.as_bytes()).expect_err(&start);
            assert_eq!((refusal.code, &refusal.id), (code, &id), "{start}: {}", refusal.message);
            assert!(refusal.message.contains(part) && !refusal.message.contains('\n'), "{start}: {}", refusal.message);
        }
        assert_eq!(parse(&[0xff, 0xfe]).unwrap_err().code, PARSE_ERROR);
    }
}
