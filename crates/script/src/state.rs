//! One Lua state, with limits on memory and instructions.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mlua::{
    ChunkMode, Error, FromLua, FromLuaMulti, Function, HookTriggers, IntoLuaMulti, Lua, LuaOptions, StdLib, Table,
    Value, Variadic, VmState, ffi,
};

use crate::error::ScriptError;
use crate::format;
use crate::shared::Output;

/// Limit on the memory of one state.
const MAX_MEMORY: usize = 64 << 20;
/// Instructions between two looks at the budget.
const LOOK: u32 = 10_000;
/// Limit on the looks in one call: ten million instructions.
const MAX_LOOKS: u32 = 1_000;
/// Time limit of `wrk.connect`.
const CONNECT_TIME: Duration = Duration::from_secs(1);

const PRELUDE: &str = include_str!("prelude.lua");

/// Properties of a state before its script is loaded.
#[derive(Clone, Debug)]
pub(crate) struct StateOptions {
    /// Name of the script's file, for errors.
    pub(crate) file: String,
    /// The script may use `io`, `os`, `require`, `dofile` and `loadfile`.
    pub(crate) allows_io: bool,
    pub(crate) seed: u64,
    pub(crate) output: Output,
}

/// Looks at the instruction count since the current call began.
#[derive(Clone, Default, Debug)]
struct Budget(Arc<AtomicU32>);

impl Budget {
    fn renew(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Returns true if the call may go on.
    fn spend(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) + 1 < MAX_LOOKS
    }

    fn is_spent(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= MAX_LOOKS
    }
}

/// A Lua state with the table `wrk`.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) lua: Lua,
    file: String,
    budget: Budget,
}

impl State {
    /// Creates a state that has run the prelude, and not yet a script.
    pub(crate) fn new(options: &StateOptions) -> Result<State, ScriptError> {
        let safe = StdLib::COROUTINE | StdLib::TABLE | StdLib::STRING | StdLib::UTF8 | StdLib::MATH;
        let powers = if options.allows_io { StdLib::IO | StdLib::OS | StdLib::PACKAGE } else { StdLib::NONE };
        let made = Lua::new_with(safe | powers, LuaOptions::default());
        let lua = made.map_err(|error| describe(&options.file, &error))?;
        let state = State { lua, file: options.file.clone(), budget: Budget::default() };
        state.prepare(options).map_err(|error| describe(&options.file, &error))?;
        Ok(state)
    }

    fn prepare(&self, options: &StateOptions) -> mlua::Result<()> {
        self.lua.set_memory_limit(MAX_MEMORY)?;
        let budget = self.budget.clone();
        let file = self.file.clone();
        let look = HookTriggers::new().every_nth_instruction(LOOK);
        self.lua.set_global_hook(look, move |_, at| match budget.spend() {
            true => Ok(VmState::Continue),
            false => Err(Error::runtime(spent(&file, at.current_line()))),
        })?;
        let globals = self.lua.globals();
        globals.set("host", self.host(options)?)?;
        self.lua.load(PRELUDE).set_name("=prelude").exec()?;
        globals.raw_remove("host")?;
        format::install(&self.lua)?;
        let math: Table = globals.get("math")?;
        math.get::<Function>("randomseed")?.call::<()>(options.seed as i64)
    }

    /// Returns the functions that the prelude needs from the host.
    fn host(&self, options: &StateOptions) -> mlua::Result<Table> {
        let host = self.lua.create_table()?;
        host.set("allows_io", options.allows_io)?;
        let budget = self.budget.clone();
        host.set("is_spent", self.lua.create_function(move |_, ()| Ok(budget.is_spent()))?)?;
        let message = spent(&self.file, None);
        host.set("spent_message", self.lua.create_function(move |_, ()| Ok(message.clone()))?)?;
        let output = options.output.clone();
        let write = move |_: &Lua, words: Variadic<mlua::String>| {
            words.iter().for_each(|word| output.write(&word.to_string_lossy()));
            Ok(())
        };
        host.set("write", self.lua.create_function(write)?)?;
        host.set("time", self.lua.create_function(|_, ()| Ok(unix_seconds()))?)?;
        let began = Instant::now();
        host.set("clock", self.lua.create_function(move |_, ()| Ok(began.elapsed().as_secs_f64()))?)?;
        host.set("lookup", self.lua.create_function(|_, (host, service)| lookup(host, service))?)?;
        host.set("connect", self.lua.create_function(|_, address: String| Ok(connects(&address)))?)?;
        Ok(host)
    }

    /// Runs the script.
    pub(crate) fn load(&self, code: &[u8]) -> Result<(), ScriptError> {
        self.budget.renew();
        let chunk = self.lua.load(code).set_name(format!("@{}", self.file)).set_mode(ChunkMode::Text);
        self.described(chunk.exec())
    }

    /// Returns a global function of the script, if it defines it.
    pub(crate) fn function(&self, name: &str) -> Option<Function> {
        self.lua.globals().get(name).ok()
    }

    /// Calls a function with a new budget of instructions.
    pub(crate) fn call<R: FromLuaMulti>(
        &self,
        function: &Function,
        arguments: impl IntoLuaMulti,
    ) -> Result<R, ScriptError> {
        self.budget.renew();
        self.described(function.call(arguments))
    }

    /// Calls a function without arguments, with a new budget of instructions, and replaces the contents of `text` by
    /// the string that it returns.
    pub(crate) fn call_for_text(&self, function: &Function, text: &mut Vec<u8>) -> Result<(), ScriptError> {
        self.budget.renew();
        text.clear();
        let mut is_text = false;
        // SAFETY: the function is on the stack, and `lua_call` leaves its one value there, which `lua_tolstring` may
        // turn from a number into a string. An error of Lua jumps over the frame of the closure, which has no value
        // with a destructor: it borrows `text`. The bytes belong to the string on the stack.
        let found = unsafe {
            self.lua.exec_raw::<Value>(function, |state| {
                ffi::lua_call(state, 0, 1);
                let mut length = 0;
                let bytes = ffi::lua_tolstring(state, -1, &raw mut length);
                is_text = !bytes.is_null();
                if is_text {
                    text.extend_from_slice(std::slice::from_raw_parts(bytes.cast::<u8>(), length));
                    ffi::lua_pop(state, 1);
                }
            })
        };
        match self.described(found)? {
            _ if is_text => Ok(()),
            other => self.described(mlua::String::from_lua(other, &self.lua)).map(|_| ()),
        }
    }

    /// Gives the next call a new budget of instructions.
    pub(crate) fn renew_budget(&self) {
        self.budget.renew();
    }

    /// Returns true if the latest call used up its instructions.
    pub(crate) fn is_spent(&self) -> bool {
        self.budget.is_spent()
    }

    /// Returns an error in words.
    pub(crate) fn describe(&self, error: &Error) -> ScriptError {
        describe(&self.file, error)
    }

    /// Returns a result with the error in words.
    pub(crate) fn described<T>(&self, result: mlua::Result<T>) -> Result<T, ScriptError> {
        result.map_err(|error| self.describe(&error))
    }

    /// Returns an error of this script that has no line.
    pub(crate) fn error(&self, problem: &str) -> ScriptError {
        ScriptError(format!("{}: {problem}", self.file))
    }
}

fn spent(file: &str, line: Option<usize>) -> String {
    let place = line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"));
    let most = u64::from(LOOK) * u64::from(MAX_LOOKS);
    format!("{place}: a call took {most} instructions, the limit; look for a loop without an end")
}

/// Returns an error in one line, which begins with file and line if Lua knows them.
fn describe(file: &str, error: &Error) -> ScriptError {
    let (message, trace) = message_of(error);
    let line = message.lines().next().unwrap_or_default().trim();
    if line.starts_with(&format!("{file}:")) {
        return ScriptError(line.to_owned());
    }
    let place = trace.lines().map(str::trim).find_map(|line| place_in(file, line));
    ScriptError(format!("{}: {line}", place.unwrap_or_else(|| file.to_owned())))
}

/// Returns the innermost message, and the traces around it.
fn message_of(error: &Error) -> (String, String) {
    match error {
        Error::RuntimeError(text) => {
            let (message, trace) = text.split_once("\nstack traceback:").unwrap_or((text, ""));
            (message.to_owned(), trace.to_owned())
        }
        Error::SyntaxError { message, .. } => (message.clone(), String::new()),
        Error::MemoryError(_) => {
            (format!("needs more than {} MiB, the limit of a state", MAX_MEMORY >> 20), String::new())
        }
        Error::CallbackError { traceback, cause } => {
            let (message, inner) = message_of(cause);
            (message, format!("{inner}\n{traceback}"))
        }
        other => (other.to_string(), String::new()),
    }
}

/// Returns `FILE:LINE` from a line of a trace, if it is of this file.
fn place_in(file: &str, line: &str) -> Option<String> {
    let number = line.strip_prefix(file)?.strip_prefix(':')?.split(':').next()?;
    number.parse::<u32>().ok().map(|number| format!("{file}:{number}"))
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Returns the addresses of a host as `wrk.lookup` does. The service is a port, or `http` or `https`.
fn lookup(host: String, service: Option<String>) -> mlua::Result<Vec<String>> {
    let port = match service.as_deref().unwrap_or("http") {
        "http" => 80,
        "https" => 443,
        number => number.parse().map_err(|_| Error::runtime(format!("'{number}' is no port; write a number")))?,
    };
    let found = addresses(&host, port).map_err(|error| Error::runtime(format!("cannot look up {host}: {error}")))?;
    Ok(found.iter().map(SocketAddr::to_string).collect())
}

/// Returns the distinct addresses of a host.
fn addresses(host: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
    let mut found: Vec<SocketAddr> = Vec::new();
    for address in (host.trim_matches(['[', ']']), port).to_socket_addrs()? {
        if !found.contains(&address) {
            found.push(address);
        }
    }
    Ok(found)
}

fn connects(address: &str) -> bool {
    address.parse().is_ok_and(|address| TcpStream::connect_timeout(&address, CONNECT_TIME).is_ok())
}
