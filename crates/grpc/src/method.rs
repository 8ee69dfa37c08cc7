use std::fmt;

use prost::Message;
use prost_reflect::{DeserializeOptions, DynamicMessage, MessageDescriptor, MethodDescriptor, SerializeOptions};
use serde_json::Value;
use truetail_engine::JsonForms;
use truetail_run::GrpcKind;

use crate::json_fields;

/// One method: the form of its requests and answers.
#[derive(Clone)]
pub struct CallMethod {
    method: MethodDescriptor,
    /// Its calls are channels, and each message of an answer is a separate reply.
    is_channel: bool,
}

/// Writes the full name. A descriptor would write its whole schema.
impl fmt::Debug for CallMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.full_name())
    }
}

impl CallMethod {
    pub(crate) fn new(method: MethodDescriptor) -> CallMethod {
        CallMethod { method, is_channel: false }
    }

    /// Returns the method with calls that are channels: each message of an answer is a separate reply.
    #[must_use]
    pub fn on_channels(self) -> CallMethod {
        CallMethod { is_channel: true, ..self }
    }

    /// Returns true if an answer is read as the list of its messages.
    pub(crate) fn answers_with_list(&self) -> bool {
        self.method.is_server_streaming() && !self.is_channel
    }

    /// Returns the kind of its calls.
    pub fn kind(&self) -> GrpcKind {
        GrpcKind::new(self.method.is_client_streaming(), self.method.is_server_streaming())
    }

    /// Returns the method as a schema writes it: `Add(shop.Item) returns (stream shop.Item)`.
    pub(crate) fn line(&self) -> String {
        let stream = |streams| if streams { "stream " } else { "" };
        format!(
            "{}({}{}) returns ({}{})",
            self.method.name(),
            stream(self.method.is_client_streaming()),
            self.method.input().full_name(),
            stream(self.method.is_server_streaming()),
            self.method.output().full_name()
        )
    }

    pub(crate) fn input(&self) -> MessageDescriptor {
        self.method.input()
    }

    /// Returns the full name with the service: `package.Service/Method`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.method.parent_service().full_name(), self.method.name())
    }

    /// Returns the body of a call with this message in JSON, with its prefix. An empty text is an empty message. If the
    /// client streams, the text has any number of messages: one after another, or a list.
    ///
    /// # Errors
    /// The problem with the text, as one line.
    pub fn body_of_json(&self, text: &[u8]) -> Result<Vec<u8>, String> {
        let text = if text.trim_ascii().is_empty() { b"{}" } else { text };
        if !self.kind().client_streams() {
            return self.message_of_json(serde_json::from_slice(text).map_err(not_json)?);
        }
        let mut values = Vec::new();
        for value in serde_json::Deserializer::from_slice(text).into_iter::<Value>() {
            match value.map_err(not_json)? {
                Value::Array(list) if !is_list(&self.method.input()) => values.extend(list),
                value => values.push(value),
            }
        }
        let count = values.len();
        let messages = values.into_iter().zip(1..).map(|(value, nth)| {
            let told = |problem| if count > 1 { format!("message {nth}: {problem}") } else { problem };
            self.message_of_json(value).map_err(told)
        });
        Ok(messages.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Checks that the members of a message in JSON are fields of the message. Their values are not checked, and a text
    /// that is no object is not either.
    ///
    /// # Errors
    /// The first member that is no field, and what there is.
    pub fn check_names(&self, text: &[u8]) -> Result<(), String> {
        match serde_json::from_slice(text) {
            Ok(value @ Value::Object(_)) => json_fields::check(&self.method.input(), &value),
            _ => Ok(()),
        }
    }

    fn message_of_json(&self, value: Value) -> Result<Vec<u8>, String> {
        self.encoded(value).map(|message| framed(&message))
    }

    /// Returns the bytes of one message in JSON, without a prefix. An empty text is an empty message.
    ///
    /// # Errors
    /// The problem with the text, as one line.
    pub fn message_bytes(&self, text: &[u8]) -> Result<Vec<u8>, String> {
        let text = if text.trim_ascii().is_empty() { b"{}" } else { text };
        let value: Value = serde_json::from_slice(text).map_err(not_json)?;
        match value {
            Value::Array(_) if !is_list(&self.method.input()) => {
                Err("a list of messages is for a call that ends; each arrival sends one message on a channel"
                    .to_owned())
            }
            value => self.encoded(value),
        }
    }

    fn encoded(&self, value: Value) -> Result<Vec<u8>, String> {
        let message = self.method.input();
        json_fields::check(&message, &value)?;
        let options = DeserializeOptions::new().deny_unknown_fields(true);
        let name = message.name().to_owned();
        let message = DynamicMessage::deserialize_with_options(message, value, &options)
            .map_err(|error| format!("the JSON is no {name}: {error}"))?;
        Ok(message.encode_to_vec())
    }

    /// Returns a message of the answer in JSON, with all of its fields, under their names in the schema.
    ///
    /// # Errors
    /// The bytes are not a message of the schema.
    pub fn answer_as_json(&self, message: &[u8]) -> Result<String, String> {
        as_json(self.method.output(), message)
    }

    /// Returns a message of a request in JSON, as [`CallMethod::answer_as_json`] does.
    ///
    /// # Errors
    /// The bytes are not a message of the schema.
    pub fn request_as_json(&self, message: &[u8]) -> Result<String, String> {
        as_json(self.method.input(), message)
    }
}

/// Both forms have the names and the texts of the schema, so that values can be compared.
impl JsonForms for CallMethod {
    fn of_message(&self, message: &[u8]) -> Option<String> {
        self.request_as_json(message).ok()
    }

    fn of_reply(&self, reply: &[u8]) -> Option<String> {
        self.answer_as_json(reply).ok()
    }
}

fn as_json(descriptor: MessageDescriptor, message: &[u8]) -> Result<String, String> {
    let name = descriptor.name().to_owned();
    let message = DynamicMessage::decode(descriptor, message).map_err(|error| format!("no {name}: {error}"))?;
    let options = SerializeOptions::new().skip_default_fields(false).use_proto_field_name(true);
    let mut text = Vec::new();
    message
        .serialize_with_options(&mut serde_json::Serializer::new(&mut text), &options)
        .map_err(|error| format!("{name} has no form in JSON: {error}"))?;
    String::from_utf8(text).map_err(|error| error.to_string())
}

fn not_json(error: serde_json::Error) -> String {
    format!("the message is not JSON: {error}")
}

/// Returns true for a message whose form in JSON may be a list.
fn is_list(message: &MessageDescriptor) -> bool {
    matches!(message.full_name(), "google.protobuf.ListValue" | "google.protobuf.Value")
}

/// Returns a message with the prefix that gRPC demands: not compressed, and its length.
pub fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("requests of at most 1 GiB");
    [&[0], &length.to_be_bytes()[..], message].concat()
}
