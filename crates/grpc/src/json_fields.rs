use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use serde_json::Value;
use strsim::damerau_levenshtein;

/// Checks that the members of a JSON text are fields of its message, with messages inside it. Messages of Google, such
/// as `google.protobuf.Struct`, have forms of their own.
///
/// # Errors
/// The first member that is no field, and what there is.
pub(crate) fn check(message: &MessageDescriptor, value: &Value) -> Result<(), String> {
    if message.package_name() == "google.protobuf" {
        return Ok(());
    }
    let Value::Object(members) = value else {
        return Err(format!("{} is an object in JSON, such as {{}}", message.name()));
    };
    members.iter().try_for_each(|(name, value)| match field(message, name) {
        Some(field) => check_field(&field, value),
        // An extension.
        None if name.starts_with('[') => Ok(()),
        None => Err(unknown(message, name)),
    })
}

fn field(message: &MessageDescriptor, name: &str) -> Option<FieldDescriptor> {
    message.get_field_by_json_name(name).or_else(|| message.get_field_by_name(name))
}

fn check_field(field: &FieldDescriptor, value: &Value) -> Result<(), String> {
    let Kind::Message(message) = field.kind() else { return Ok(()) };
    match value {
        Value::Null => Ok(()),
        Value::Object(entries) if field.is_map() => match message.map_entry_value_field().kind() {
            Kind::Message(message) => entries.values().try_for_each(|value| check(&message, value)),
            _ => Ok(()),
        },
        // A wrong form is told by the decoder.
        _ if field.is_map() => Ok(()),
        Value::Array(values) if field.is_list() => values.iter().try_for_each(|value| check(&message, value)),
        Value::Object(_) => check(&message, value),
        _ => Ok(()),
    }
}

fn unknown(message: &MessageDescriptor, name: &str) -> String {
    let mut fields: Vec<String> = message.fields().map(|field| field.name().to_owned()).collect();
    fields.sort_by_key(|field| damerau_levenshtein(field, name));
    let name_of_message = message.name();
    let has = match fields.len() {
        0 => "it has none".to_owned(),
        _ => format!("it has: {}", fields.join(", ")),
    };
    format!("no field '{name}' in {name_of_message}; {has}")
}
