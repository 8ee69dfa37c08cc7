//! `thread`: the state of a worker, as `setup`, `done` and the worker itself see it.

use std::net::SocketAddr;
use std::sync::Arc;

use mlua::{Error, Lua, UserData, UserDataFields, UserDataMethods, Value, WeakLua};

use crate::shared::Shared;

/// Deepest table that is copied from one state to another.
const MAX_DEPTH: u32 = 16;

/// Handle to the state of a worker.
#[derive(Clone)]
pub(crate) struct ThreadHandle {
    pub(crate) state: WeakLua,
    pub(crate) shared: Arc<Shared>,
    /// Addresses of the run.
    pub(crate) addresses: Arc<Vec<SocketAddr>>,
}

impl ThreadHandle {
    fn state(&self) -> mlua::Result<Lua> {
        self.state.try_upgrade().ok_or_else(|| Error::runtime("this thread has ended"))
    }

    /// Refuses an address that this thread would not keep to.
    fn check_address(&self, address: &str) -> mlua::Result<()> {
        match self.addresses[..] {
            [only] if only.to_string() == address => Ok(()),
            _ => Err(Error::runtime(format!(
                "threads cannot have addresses of their own; to send to {address} alone, use --resolve HOST:PORT:ADDRESS"
            ))),
        }
    }
}

impl UserData for ThreadHandle {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("addr", |_, thread| Ok(thread.addresses.first().map(SocketAddr::to_string)));
        fields.add_field_method_set("addr", |_, thread, address: Option<String>| {
            address.map_or(Ok(()), |address| thread.check_address(&address))
        });
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("get", |lua, thread, name: String| {
            let value: Value = thread.state()?.globals().get(name)?;
            copy(&value, lua, 0)
        });
        methods.add_method("set", |_, thread, (name, value): (String, Value)| {
            let state = thread.state()?;
            let value = copy(&value, &state, 0)?;
            state.globals().set(name, value)
        });
        methods.add_method("stop", |_, thread, ()| match thread.shared.stop() {
            true => Ok(()),
            false => Err(Error::runtime("thread:stop() ends the load, and it has not begun")),
        });
    }
}

/// Copies a value into another state.
fn copy(value: &Value, to: &Lua, depth: u32) -> mlua::Result<Value> {
    match value {
        Value::Nil | Value::Boolean(_) | Value::Integer(_) | Value::Number(_) => Ok(value.clone()),
        Value::String(text) => Ok(Value::String(to.create_string(text.as_bytes())?)),
        Value::Table(_) if depth == MAX_DEPTH => {
            Err(Error::runtime(format!("a table with more than {MAX_DEPTH} levels cannot be copied to another thread")))
        }
        Value::Table(table) => {
            let copied = to.create_table()?;
            for pair in table.pairs::<Value, Value>() {
                let (key, value) = pair?;
                copied.raw_set(copy(&key, to, depth + 1)?, copy(&value, to, depth + 1)?)?;
            }
            Ok(Value::Table(copied))
        }
        other => Err(Error::runtime(format!(
            "a {} cannot be copied to another thread; use numbers, strings, booleans and tables",
            other.type_name()
        ))),
    }
}
