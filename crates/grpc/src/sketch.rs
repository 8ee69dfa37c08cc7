use prost_reflect::{Cardinality, FieldDescriptor, Kind, MessageDescriptor, ServiceDescriptor};
use serde_json::{Map, Value, json};

use crate::schema::{Schema, SchemaError};

/// Deepest message within a sample.
const DEEPEST: usize = 4;
/// Limit on the fields of all messages of a sample together.
const MAX_FIELDS: usize = 200;

/// What a schema says about a name, as texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sketch {
    /// A service: its name, and a line for each method.
    Service(String, Vec<String>),
    /// A method: its line, and a sample of the message that it takes, in JSON; a list if it takes a stream.
    Method(String, String),
    /// A message: its name, a line for each field, and a sample in JSON.
    Message(String, Vec<String>, String),
}

impl Schema {
    /// Returns a sketch of each service, sorted by name.
    pub fn all_services(&self) -> Vec<Sketch> {
        self.services().iter().filter_map(|name| self.service(name)).map(|service| sketch_service(&service)).collect()
    }

    /// Returns a sketch of a service, of a method (`package.Service/Method` or with a dot), or of a message.
    ///
    /// # Errors
    /// [`SchemaError::NoService`] if nothing has this name, and [`SchemaError::NoMethod`].
    pub fn sketch(&self, name: &str) -> Result<Sketch, SchemaError> {
        if let Some(service) = self.service(name) {
            return Ok(sketch_service(&service));
        }
        if let Some(message) = self.message(name) {
            let lines = message.fields().map(|field| line_of_field(&field)).collect();
            return Ok(Sketch::Message(message.full_name().to_owned(), lines, sample_text(&message)));
        }
        let (service, method) = name.split_once('/').or_else(|| name.rsplit_once('.')).unwrap_or((name, ""));
        let found = self.method(service, method).map_err(|error| match error {
            SchemaError::NoService { there, .. } => SchemaError::NoService { name: name.to_owned(), there },
            other => other,
        })?;
        let sample = sample_text(&found.input());
        let sample = if found.kind().client_streams() { format!("[{sample}]") } else { sample };
        Ok(Sketch::Method(found.line(), sample))
    }
}

fn sketch_service(service: &ServiceDescriptor) -> Sketch {
    let lines = service.methods().map(|method| crate::CallMethod::new(method).line()).collect();
    Sketch::Service(service.full_name().to_owned(), lines)
}

fn line_of_field(field: &FieldDescriptor) -> String {
    let kind = if field.is_map() { "map of entries".to_owned() } else { kind_name(&field.kind()) };
    let label = if field.cardinality() == Cardinality::Repeated && !field.is_map() { "repeated " } else { "" };
    let choice = field.containing_oneof().filter(|oneof| !oneof.is_synthetic());
    let choice = choice.map_or_else(String::new, |oneof| format!("  (one of {})", oneof.name()));
    format!("{label}{kind} {} = {}{choice}", field.name(), field.number())
}

fn kind_name(kind: &Kind) -> String {
    match kind {
        Kind::Message(message) => message.full_name().to_owned(),
        Kind::Enum(names) => names.full_name().to_owned(),
        other => format!("{other:?}").to_ascii_lowercase(),
    }
}

fn sample_text(message: &MessageDescriptor) -> String {
    sample(message, DEEPEST, &mut MAX_FIELDS.clone()).to_string()
}

/// Returns a message in JSON with a value for each field. If fields exclude each other, it has the first one.
fn sample(message: &MessageDescriptor, depth: usize, left: &mut usize) -> Value {
    if let Some(value) = well_known(message.full_name()) {
        return value;
    }
    let mut members = Map::new();
    if depth == 0 {
        return Value::Object(members);
    }
    for field in message.fields() {
        let is_first = field
            .containing_oneof()
            .is_none_or(|oneof| oneof.fields().next().is_some_and(|first| first.number() == field.number()));
        if !is_first || *left == 0 {
            continue;
        }
        *left -= 1;
        members.insert(field.name().to_owned(), sample_of_field(&field, depth, left));
    }
    Value::Object(members)
}

fn sample_of_field(field: &FieldDescriptor, depth: usize, left: &mut usize) -> Value {
    match field.kind() {
        Kind::Message(entry) if field.is_map() => {
            let key = if entry.map_entry_key_field().kind() == Kind::String { "key" } else { "0" };
            let value = sample_of_field(&entry.map_entry_value_field(), depth, left);
            json!({ key: value })
        }
        kind if field.is_list() => Value::Array(vec![sample_of_kind(&kind, depth, left)]),
        kind => sample_of_kind(&kind, depth, left),
    }
}

fn sample_of_kind(kind: &Kind, depth: usize, left: &mut usize) -> Value {
    match kind {
        Kind::Double | Kind::Float => json!(0.5),
        Kind::Int64 | Kind::Uint64 | Kind::Sint64 | Kind::Fixed64 | Kind::Sfixed64 => json!("0"),
        Kind::Int32 | Kind::Uint32 | Kind::Sint32 | Kind::Fixed32 | Kind::Sfixed32 => json!(0),
        Kind::Bool => json!(false),
        Kind::String | Kind::Bytes => json!(""),
        Kind::Enum(names) => json!(names.default_value().name()),
        Kind::Message(message) => sample(message, depth - 1, left),
    }
}

/// Returns a sample of a message that has a form of its own in JSON.
fn well_known(name: &str) -> Option<Value> {
    match name.strip_prefix("google.protobuf.")? {
        "Timestamp" => Some(json!("2026-01-01T00:00:00Z")),
        "Duration" => Some(json!("1.5s")),
        "FieldMask" => Some(json!("name")),
        "Struct" | "Empty" => Some(json!({})),
        "ListValue" => Some(json!([])),
        "Value" => Some(Value::Null),
        "Any" => Some(json!({ "@type": "type.googleapis.com/google.protobuf.Empty", "value": {} })),
        "StringValue" | "BytesValue" => Some(json!("")),
        "BoolValue" => Some(json!(false)),
        "Int64Value" | "UInt64Value" => Some(json!("0")),
        "Int32Value" | "UInt32Value" => Some(json!(0)),
        "DoubleValue" | "FloatValue" => Some(json!(0.5)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const SOURCE: &str =
        "syntax = \"proto3\"; package p; import \"google/protobuf/timestamp.proto\"; enum E { ZERO = 0; }
        message Tree { string name = 1; Tree left = 2; repeated Tree more = 3; map<string, int64> counts = 4;
          oneof way { E e = 5; bytes b = 6; } google.protobuf.Timestamp at = 7; optional bool maybe = 8; double x = 9; }
        service S { rpc One(Tree) returns (Tree); rpc Many(Tree) returns (stream Tree); }";

    fn schema() -> Schema {
        let read = |name: &str| Ok((name == "s.proto").then(|| SOURCE.to_owned()));
        Schema::compile(&["s.proto".to_owned()], Arc::new(read)).unwrap()
    }

    #[test]
    fn a_sample_is_a_message_that_can_be_sent() {
        let Sketch::Method(line, sample) = schema().sketch("p.S/One").unwrap() else { panic!("a method") };
        assert_eq!(line, "One(p.Tree) returns (p.Tree)");
        assert!(sample.len() < 20_000 && sample.contains("\"counts\":{\"key\":\"0\"}"), "{sample}");
        assert!(!sample.contains("\"b\":"), "only one of a choice: {sample}");
        schema().method("p.S", "One").unwrap().body_of_json(sample.as_bytes()).unwrap();
    }

    #[test]
    fn names_of_every_kind_are_described() {
        let schema = schema();
        let lines = ["One(p.Tree) returns (p.Tree)", "Many(p.Tree) returns (stream p.Tree)"].map(str::to_owned);
        let service = Sketch::Service("p.S".to_owned(), lines.to_vec());
        assert_eq!((schema.sketch("p.S").unwrap(), schema.all_services()), (service.clone(), vec![service]));
        assert_eq!(schema.sketch("p.S.Many").unwrap(), schema.sketch("p.S/Many").unwrap());
        let Sketch::Message(_, fields, _) = schema.sketch("p.Tree").unwrap() else { panic!("a message") };
        let wanted = ["string name = 1", "p.Tree left = 2", "repeated p.Tree more = 3", "map of entries counts = 4"];
        assert_eq!(fields[..4], wanted);
        assert_eq!(fields[4..6], ["p.E e = 5  (one of way)", "bytes b = 6  (one of way)"]);
        for (name, wanted) in [("p.S/Two", "p.S has no method Two"), ("p.T", "there is no service p.T; the only")] {
            assert!(schema.sketch(name).unwrap_err().to_string().starts_with(wanted), "{name}");
        }
    }
}
