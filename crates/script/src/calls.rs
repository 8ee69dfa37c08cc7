//! Messages of gRPC calls in sessions: the body of a call from the JSON of its message, and back.

use mlua::{Lua, Table};
use truetail_grpc::{CallMethod, Schema, answer_as_json};

/// Adds the functions that make bodies and read them: `call_body` returns the body, or nil and the problem with its
/// message, and `call_message` the JSON of an answer, or nil.
pub(crate) fn add_to(host: &Table, lua: &Lua, schema: &Schema) -> mlua::Result<()> {
    let schema = schema.clone();
    let of_read = schema.clone();
    let body = lua.create_function(move |lua, (name, message): (String, mlua::String)| {
        let body = method(&schema, &name).and_then(|method| method.body_of_json(&message.as_bytes()));
        Ok(match body {
            Ok(body) => (Some(lua.create_string(body)?), None),
            Err(problem) => (None, Some(problem)),
        })
    })?;
    host.set("call_body", body)?;
    let read = lua.create_function(move |lua, (name, body, is_gzip): (String, mlua::String, bool)| {
        let method = method(&of_read, &name).map_err(mlua::Error::runtime)?;
        let message = answer_as_json(&method, &body.as_bytes(), is_gzip);
        message.map(|text| lua.create_string(text)).transpose()
    })?;
    host.set("call_message", read)
}

/// Returns a method by its full name, such as `shop.Cart/Add`.
///
/// # Errors
/// The schema has no such method, or it takes or returns a stream.
pub(crate) fn method(schema: &Schema, name: &str) -> Result<CallMethod, String> {
    let (service, method) =
        name.split_once('/').ok_or_else(|| format!("'{name}' is no method; write package.Service/Method"))?;
    let found = schema.method(service, method).map_err(|error| error.to_string())?;
    let kind = found.kind();
    if kind.client_streams() || kind.server_streams() {
        return Err(format!("{name} has a stream of messages, and s:call sends one message and waits for one"));
    }
    Ok(found)
}
