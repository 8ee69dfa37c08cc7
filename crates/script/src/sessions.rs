//! The functions for sessions in a Lua state, and the names of their steps.

use mlua::{Function, Lua, LuaSerdeExt, Table, Value};
use truetail_flow::MAX_BODY_BYTES;
use truetail_model::random::{Numbered, mix64};

use crate::error::ScriptError;
use crate::file::{ScriptFile, ScriptTarget, SessionAsks};
use crate::shared::Output;
use crate::state::{State, StateOptions};
use crate::{calls, messages};

/// First value of a coroutine that wants a request sent.
pub(crate) const ASK: &str = "truetail.ask";
/// First value of a coroutine whose session ends early.
pub(crate) const FAIL: &str = "truetail.fail";

const PRELUDE: &str = include_str!("session.lua");

/// Most levels of a value that becomes JSON.
const MAX_DEPTH: u32 = 100;
/// Most values in a value that becomes JSON.
const MAX_VALUES: u32 = 1_000_000;

/// The random stream of sessions.
const PURPOSE: u64 = 0x6c75_6173_0000_0001;

/// Functions of a state that lead sessions.
#[derive(Clone, Debug)]
pub(crate) struct SessionFunctions {
    /// Takes the names of the steps.
    pub(crate) learn: Function,
    /// Returns the coroutine of a session, and its argument.
    pub(crate) start: Function,
    /// Closes a coroutine.
    pub(crate) close: Function,
}

impl SessionFunctions {
    /// Adds what sessions need to a state, before its script is loaded.
    pub(crate) fn add_to(
        state: &State,
        file: &ScriptFile,
        asks: &SessionAsks,
    ) -> Result<SessionFunctions, ScriptError> {
        state.described(prepare(&state.lua, file, asks))
    }
}

fn prepare(lua: &Lua, file: &ScriptFile, asks: &SessionAsks) -> mlua::Result<SessionFunctions> {
    let host = lua.create_table()?;
    match asks {
        SessionAsks::Requests => {}
        SessionAsks::Calls(schema) => calls::add_to(&host, lua, schema)?,
        SessionAsks::Messages(options) => messages::add_to(&host, lua, options)?,
    }
    host.set("ASK", ASK)?;
    host.set("FAIL", FAIL)?;
    let limit = MAX_BODY_BYTES >> 20;
    host.set("TOO_LONG", format!("the body is longer than the {limit} MiB that are kept of it"))?;
    host.set("null", lua.null())?;
    host.set("encode", lua.create_function(|lua, value: Value| encode(lua, value))?)?;
    host.set("decode", lua.create_function(|lua, text: mlua::String| parsed(lua, &text.as_bytes()))?)?;
    let in_words = |lua: &Lua, text: mlua::String| {
        let value = parsed(lua, &text.as_bytes());
        Ok(match value {
            Ok(value) => (value, None),
            Err(mlua::Error::ExternalError(error)) => (Value::Nil, Some(error.to_string())),
            Err(error) => return Err(error),
        })
    };
    host.set("parsed", lua.create_function(in_words)?)?;
    let name = file.name.clone();
    host.set("place", lua.create_function(move |lua, ()| Ok(place(lua, &name)))?)?;
    let seed = file.seed;
    let uniform = move |_: &Lua, (session, drawn): (u64, u64)| {
        Ok(Numbered::new(mix64(seed) ^ mix64(session), PURPOSE).uniform(drawn))
    };
    host.set("uniform", lua.create_function(uniform)?)?;
    let globals = lua.globals();
    globals.set("host", &host)?;
    lua.load(PRELUDE).set_name("=session").exec()?;
    globals.raw_remove("host")?;
    let coroutine: Table = globals.get("coroutine")?;
    Ok(SessionFunctions { learn: host.get("learn")?, start: host.get("start")?, close: coroutine.get("close")? })
}

/// Returns `FILE:LINE: ` of the script's line that called the function of the prelude that asks.
fn place(lua: &Lua, file: &str) -> String {
    let line = lua.inspect_stack(2, |frame| {
        let is_script = frame.source().short_src.is_some_and(|source| source == file);
        frame.current_line().filter(|_| is_script)
    });
    line.flatten().map_or_else(|| format!("{file}: "), |line| format!("{file}:{line}: "))
}

fn parsed(lua: &Lua, text: &[u8]) -> mlua::Result<Value> {
    let value: serde_json::Value = serde_json::from_slice(text).map_err(mlua::Error::external)?;
    lua.to_value(&value)
}

fn encode(lua: &Lua, value: Value) -> mlua::Result<String> {
    if !is_bounded(&value, MAX_DEPTH, &mut { MAX_VALUES })? {
        let problem = format!("has more than {MAX_DEPTH} levels or {MAX_VALUES} values, the limits of JSON");
        return Err(mlua::Error::runtime(format!("the value {problem}")));
    }
    let value: serde_json::Value = lua.from_value(value)?;
    Ok(value.to_string())
}

/// Returns true if a value has at most so many levels of tables, and so many values.
fn is_bounded(value: &Value, levels: u32, values: &mut u32) -> mlua::Result<bool> {
    if levels == 0 || *values == 0 {
        return Ok(false);
    }
    *values -= 1;
    let Value::Table(table) = value else { return Ok(true) };
    for pair in table.pairs::<Value, Value>() {
        if !is_bounded(&pair?.1, levels - 1, values)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the names of the steps if a script defines `session(s)`; `None` if it makes single requests.
///
/// # Errors
/// The script fails, has `session` and another function that makes requests or waits, or names no steps. The schema
/// lacks the method that a step is named after.
pub fn steps_of(
    file: &ScriptFile,
    target: &ScriptTarget,
    asks: &SessionAsks,
) -> Result<Option<Vec<String>>, ScriptError> {
    if !file.may_lead_sessions() {
        return Ok(None);
    }
    let output = Output::new(|_| ());
    let options = StateOptions { file: file.name.clone(), allows_io: file.allows_io, seed: file.seed, output };
    let state = State::new(&options)?;
    SessionFunctions::add_to(&state, file, asks)?;
    state.described(target.describe_to(&state))?;
    state.load(&file.code)?;
    if state.function("session").is_none() {
        return Ok(None);
    }
    for (name, why) in [
        ("request", "a script makes single requests or leads sessions; take one of the two out"),
        ("response", "session(s) gets each answer where it asks; take response out"),
        ("delay", "the schedule says when sessions arrive, and s:sleep plans think time; take delay out"),
    ] {
        if state.function(name).is_some() {
            return Err(state.error(&format!("session() and {name}() contradict each other: {why}")));
        }
    }
    let names: Option<Vec<String>> = state.lua.globals().get("steps").ok();
    let Some(names) = names.filter(|names| !names.is_empty()) else {
        return Err(state.error(
            "session() needs the names of its steps, because each has books of its own; write them at the top, such \
             as steps = { \"login\", \"GET /items\" }",
        ));
    };
    if let SessionAsks::Calls(schema) = asks {
        for name in names.iter().filter(|name| name.contains('/')) {
            calls::method(schema, name).map_err(|problem| state.error(&format!("steps: {problem}")))?;
        }
    }
    Ok(Some(names))
}
