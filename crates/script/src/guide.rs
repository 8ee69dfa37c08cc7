//! The sessions of one worker: a coroutine for each, which says what it asks for next.

use std::sync::Arc;

use mlua::{FromLua, FromLuaMulti, IntoLuaMulti, Lua, MultiValue, Table, Thread, ThreadStatus, Value};
use truetail_engine::FieldList;
use truetail_flow::{Guide, GuidedAnswer, GuidedRequest, NextMove, SessionRows};
use truetail_model::record::GrpcStatus;
use truetail_model::time::Nanos;
use truetail_run::EarlyEnd;

use crate::error::ScriptError;
use crate::file::{SessionAsks, SessionPlan};
use crate::sessions::{ASK, FAIL, SessionFunctions};
use crate::shared::Shared;
use crate::state::State;

/// Longest think time: longer than any run.
const MAX_THINK_S: f64 = 1e9;
/// Characters of an error that are kept.
const MAX_WHY: usize = 300;

/// The sessions of one worker.
#[derive(Debug)]
pub(crate) struct LuaGuide {
    state: State,
    functions: SessionFunctions,
    rows: Option<Arc<SessionRows>>,
    asks: SessionAsks,
    shared: Arc<Shared>,
    /// The open session of each user, with its number.
    under_way: Vec<Option<(u64, Thread)>>,
}

/// A move of a coroutine: the kind, and values that depend on it.
type Said = (Option<String>, Value, Value, Value, Value, Value, Value);

impl LuaGuide {
    /// Takes over a state after `init`.
    pub(crate) fn new(state: State, functions: SessionFunctions, plan: &SessionPlan, shared: Arc<Shared>) -> LuaGuide {
        LuaGuide { state, functions, rows: plan.rows.clone(), asks: plan.asks.clone(), shared, under_way: Vec::new() }
    }

    fn start(&self, number: u64) -> Result<(Thread, Value), ScriptError> {
        let row = self.rows.as_ref().map(|rows| self.row(rows, number)).transpose();
        let row = self.state.described(row)?;
        self.state.call(&self.functions.start, (number, row))
    }

    fn row(&self, rows: &SessionRows, number: u64) -> mlua::Result<Table> {
        let pairs = rows.columns.iter().zip(rows.row_of(number));
        self.state.lua.create_table_from(pairs.map(|(column, value)| (column.as_str(), value.as_str())))
    }

    /// Runs the coroutine of a user up to its next move.
    fn go_on(&mut self, user: u32, number: u64, thread: Thread, arguments: impl IntoLuaMulti) -> NextMove {
        self.state.renew_budget();
        let said = thread.resume::<MultiValue>(arguments);
        let next = match said {
            Ok(_) if thread.status() == ThreadStatus::Finished => return NextMove::Done,
            Ok(values) => {
                self.state.described(Said::from_lua_multi(values, &self.state.lua)).and_then(|said| self.read(said))
            }
            Err(error) => Err(self.state.describe(&error)),
        };
        match next {
            Ok(next @ NextMove::Ask(_)) => {
                self.under_way[user as usize] = Some((number, thread));
                next
            }
            Ok(NextMove::Fail { cause, why }) => self.failed(number, Some(&thread), cause, &why),
            Ok(other) => other,
            Err(error) => self.failed(number, Some(&thread), EarlyEnd::Raised, &error.to_string()),
        }
    }

    fn read(&self, (kind, first, second, method, path, body, headers): Said) -> Result<NextMove, ScriptError> {
        let lua = &self.state.lua;
        let text = |value: Value| self.state.described(String::from_lua(value, lua));
        match kind.as_deref() {
            Some(ASK) => {
                let think = second.as_f64().unwrap_or_default().min(MAX_THINK_S);
                Ok(NextMove::Ask(GuidedRequest {
                    step: first.as_u32().unwrap_or(u32::MAX),
                    think: Nanos((think * 1e9).round() as u64),
                    method: text(method)?,
                    path: text(path)?,
                    headers: match self.asks {
                        SessionAsks::Messages(_) => Vec::new(),
                        _ => self.state.described(self.headers(headers.as_table()))?,
                    },
                    body: self.state.described(bytes(lua, body))?,
                }))
            }
            Some(FAIL) => {
                let cause = match text(first)?.as_str() {
                    "assert" => EarlyEnd::Assert,
                    _ => EarlyEnd::BodyTooLong,
                };
                Ok(NextMove::Fail { cause, why: text(second)? })
            }
            _ => Err(self
                .state
                .error("session(s) called coroutine.yield; only s:get(…), s:sleep(…) and the like may wait")),
        }
    }

    /// Returns the header fields of a request by name: its own, and those of `wrk.headers` that it has not.
    fn headers(&self, own: Option<&Table>) -> mlua::Result<Vec<(String, String)>> {
        let mut fields = Vec::new();
        for pair in own.into_iter().flat_map(Table::pairs::<String, String>) {
            fields.push(pair?);
        }
        let usual: Table = self.state.lua.globals().get::<Table>("wrk")?.get("headers")?;
        for pair in usual.pairs::<String, String>() {
            let (name, value) = pair?;
            if !fields.iter().any(|(known, _)| known.eq_ignore_ascii_case(&name)) {
                fields.push((name, value));
            }
        }
        // Lua gives them in an order that changes from run to run.
        fields.sort_unstable();
        Ok(fields)
    }

    /// Ends a session early. A script without an end ends the run instead.
    fn failed(&self, number: u64, thread: Option<&Thread>, cause: EarlyEnd, why: &str) -> NextMove {
        if self.state.is_spent() {
            self.shared.fail(ScriptError(format!("{why} (session {number})")));
            return NextMove::Stop;
        }
        thread.into_iter().for_each(|thread| self.close(thread));
        let shown: String = why.chars().take(MAX_WHY).collect();
        NextMove::Fail { cause, why: format!("{shown} (session {number})") }
    }

    /// Closes a coroutine, so that its variables with `<close>` are closed too.
    fn close(&self, thread: &Thread) {
        // Its errors are no part of the session, which had ended before.
        let closed = self.state.call::<MultiValue>(&self.functions.close, thread.clone());
        if let Err(error) = closed
            && self.state.is_spent()
        {
            self.shared.fail(error);
        }
    }

    fn answer(&self, answer: &GuidedAnswer<'_>) -> mlua::Result<(Value, Table, Option<mlua::String>, f64)> {
        let lua = &self.state.lua;
        let body = answer.is_whole.then(|| lua.create_string(answer.body)).transpose()?;
        let status = match (&self.asks, GrpcStatus::of_recorded(answer.status)) {
            (SessionAsks::Messages(_), _) => Value::Nil,
            (SessionAsks::Calls(_), Some(status)) => Value::String(lua.create_string(status.name())?),
            (SessionAsks::Calls(_) | SessionAsks::Requests, _) => Value::Integer(answer.status.into()),
        };
        Ok((status, fields(lua, answer.fields)?, body, answer.response_time.as_secs_f64()))
    }
}

impl Guide for LuaGuide {
    fn begin(&mut self, user: u32, number: u64) -> NextMove {
        if self.shared.failure().is_some() {
            return NextMove::Stop;
        }
        if self.under_way.len() <= user as usize {
            self.under_way.resize_with(user as usize + 1, || None);
        }
        match self.start(number) {
            Ok((thread, session)) => self.go_on(user, number, thread, session),
            Err(error) => self.failed(number, None, EarlyEnd::Raised, &error.to_string()),
        }
    }

    fn answered(&mut self, user: u32, answer: &GuidedAnswer<'_>) -> NextMove {
        let Some((number, thread)) = self.under_way[user as usize].take() else { return NextMove::Stop };
        match self.state.described(self.answer(answer)) {
            Ok(answer) => self.go_on(user, number, thread, answer),
            Err(error) => self.failed(number, Some(&thread), EarlyEnd::Raised, &error.to_string()),
        }
    }

    fn abandon(&mut self, user: u32) {
        if let Some((_, thread)) = self.under_way[user as usize].take() {
            self.close(&thread);
        }
    }
}

/// Returns header fields by their names in lower case. Values of one name are joined by commas.
fn fields(lua: &Lua, list: &FieldList) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    for (name, value) in list.iter() {
        let name = lua.create_string(name.to_ascii_lowercase())?;
        let before: Option<mlua::String> = table.raw_get(&name)?;
        let value = match before {
            Some(before) => lua.create_string([&before.as_bytes()[..], b", ", value].concat())?,
            None => lua.create_string(value)?,
        };
        table.raw_set(name, value)?;
    }
    Ok(table)
}

fn bytes(lua: &Lua, body: Value) -> mlua::Result<Vec<u8>> {
    Ok(lua.coerce_string(body)?.map_or_else(Vec::new, |text| text.as_bytes().to_vec()))
}
