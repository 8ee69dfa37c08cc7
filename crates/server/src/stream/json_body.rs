//! The body of a request to a language model.

use serde::Deserialize;
use serde_json::Value;
use truetail_model::service::StreamFormat;

/// Maximum length of a body. Longer bodies are refused.
pub(crate) const MAX_BODY_BYTES: usize = 4 << 20;

/// Maximum number of texts to embed in one request, as OpenAI has it. More are refused.
const MAX_TEXTS: u64 = 2_048;

/// The fields of a request to the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ModelRequest {
    /// Name of the model, which the answer repeats.
    pub(crate) model: String,
    /// Number of tokens of the answer; `None` leaves it to the service.
    pub(crate) tokens: Option<u64>,
    /// True if the answer must be a stream.
    pub(crate) streams: bool,
    pub(crate) wants_usage: bool,
    /// Words of the prompt; they count as its tokens.
    pub(crate) prompt_words: u64,
    /// Number of texts to embed.
    pub(crate) texts: u64,
}

#[derive(Deserialize)]
struct RequestFields {
    model: Option<String>,
    max_tokens: Option<u64>,
    max_completion_tokens: Option<u64>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    #[serde(default)]
    prompt: Value,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Value,
}

impl ModelRequest {
    /// Parses a body if the format needs one.
    pub(crate) fn parse_for(format: StreamFormat, body: &[u8]) -> Option<ModelRequest> {
        let request = ModelRequest::parse(if format == StreamFormat::Plain { &[] } else { body })?;
        let is_whole = format == StreamFormat::Embeddings;
        (!is_whole || request.texts <= MAX_TEXTS)
            .then_some(ModelRequest { streams: request.streams && !is_whole, ..request })
    }

    /// Parses a body; `None` if it is invalid. An empty body requests a stream of any length.
    pub(crate) fn parse(body: &[u8]) -> Option<ModelRequest> {
        if body.is_empty() {
            return Some(ModelRequest { streams: true, ..ModelRequest::from_fields(&RequestFields::none()) });
        }
        let fields: RequestFields = serde_json::from_slice(body).ok()?;
        let body = ModelRequest::from_fields(&fields);
        (body.tokens != Some(0)).then_some(body)
    }

    fn from_fields(fields: &RequestFields) -> ModelRequest {
        let messages = fields.messages.iter().map(|message| &message.content);
        ModelRequest {
            model: fields.model.clone().unwrap_or_else(|| "truetail".to_owned()),
            tokens: fields.max_completion_tokens.or(fields.max_tokens),
            streams: fields.stream.unwrap_or(false),
            wants_usage: fields.stream_options.as_ref().and_then(|options| options.include_usage).unwrap_or(false),
            prompt_words: messages.chain([&fields.prompt, &fields.input]).map(words).sum(),
            texts: texts(&fields.input),
        }
    }
}

impl RequestFields {
    fn none() -> RequestFields {
        RequestFields {
            model: None,
            max_tokens: None,
            max_completion_tokens: None,
            stream: None,
            stream_options: None,
            prompt: Value::Null,
            input: Value::Null,
            messages: Vec::new(),
        }
    }
}

/// Counts the words in a text, or in the texts of a list of parts. A number counts as a token.
fn words(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.split_whitespace().count() as u64,
        Value::Array(parts) => parts.iter().map(words).sum(),
        Value::Object(part) => part.get("text").map_or(0, words),
        Value::Number(_) => 1,
        Value::Null | Value::Bool(_) => 0,
    }
}

/// Counts the texts in a text, its tokens, or a list of either.
fn texts(input: &Value) -> u64 {
    match input {
        Value::Array(texts) if !texts.iter().all(Value::is_number) => texts.len() as u64,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_send_is_read() {
        let chat = br#"{"model":"m","messages":[{"role":"user","content":"say it twice"},
            {"role":"user","content":[{"type":"text","text":"a b"}]}],
            "stream":true,"max_tokens":7,"stream_options":{"include_usage":true},"temperature":0.5}"#;
        let expected = ModelRequest {
            model: "m".into(),
            tokens: Some(7),
            streams: true,
            wants_usage: true,
            prompt_words: 5,
            texts: 1,
        };
        assert_eq!(ModelRequest::parse(chat), Some(expected));
        let completion =
            ModelRequest::parse(br#"{"prompt":[1,2,3],"max_completion_tokens":9,"max_tokens":8}"#).unwrap();
        assert_eq!((completion.tokens, completion.prompt_words, completion.streams), (Some(9), 3, false));
        assert!(ModelRequest::parse(b"").unwrap().streams);
    }

    #[test]
    fn texts_to_embed_are_counted_and_no_stream() {
        for (input, words, texts) in [
            (r#""a b c""#, 3, 1),
            (r#"["a b","c"]"#, 3, 2),
            ("[7,8,9]", 3, 1),
            ("[[7,8],[9]]", 3, 2),
            ("null", 0, 1),
            ("[]", 0, 1),
        ] {
            let body = format!(r#"{{"stream":true,"input":{input}}}"#);
            let read = ModelRequest::parse_for(StreamFormat::Embeddings, body.as_bytes()).expect("a request");
            assert_eq!((read.prompt_words, read.texts, read.streams), (words, texts, false), "{input}");
        }
        let many = format!(r#"{{"input":["a"{}]}}"#, r#","a""#.repeat(MAX_TEXTS as usize));
        assert_eq!(ModelRequest::parse_for(StreamFormat::Embeddings, many.as_bytes()), None);
        assert!(!ModelRequest::parse_for(StreamFormat::Embeddings, b"").expect("a request").streams);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for body in ["{", "[]", r#"{"max_tokens":0}"#, r#"{"max_tokens":-1}"#, r#"{"stream":"yes"}"#, "\u{0}"] {
            assert_eq!(ModelRequest::parse(body.as_bytes()), None, "{body}");
        }
    }
}
