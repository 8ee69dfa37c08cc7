//! `wrk.format` without steps of Lua. Values that are neither strings nor numbers, and their errors, are left to the
//! function of the same name in `prelude.lua`.

use std::ffi::{c_char, c_int};

use mlua::{Function, Lua, Table, Variadic, ffi, lua_State};

// Upvalues of `format`: the table `wrk`, the function in Lua, and strings.
const WRK: c_int = ffi::lua_upvalueindex(1);
const IN_LUA: c_int = ffi::lua_upvalueindex(2);
const STRINGS: [&str; 12] = [
    "method",
    "path",
    "headers",
    "body",
    "Host",
    "Content-Length",
    " ",
    " HTTP/1.1\r\n",
    "Host: ",
    ": ",
    "\r\n",
    "Content-Length: ",
];
const METHOD: c_int = ffi::lua_upvalueindex(3);
const PATH: c_int = ffi::lua_upvalueindex(4);
const HEADERS: c_int = ffi::lua_upvalueindex(5);
const BODY: c_int = ffi::lua_upvalueindex(6);
const HOST: c_int = ffi::lua_upvalueindex(7);
const CONTENT_LENGTH: c_int = ffi::lua_upvalueindex(8);
const BLANK: c_int = ffi::lua_upvalueindex(9);
const VERSION: c_int = ffi::lua_upvalueindex(10);
const HOST_START: c_int = ffi::lua_upvalueindex(11);
const COLON: c_int = ffi::lua_upvalueindex(12);
const LINE_END: c_int = ffi::lua_upvalueindex(13);
const LENGTH_START: c_int = ffi::lua_upvalueindex(14);

// Places of the arguments on the stack. The parts of the text follow them.
const OUR_METHOD: c_int = 1;
const OUR_PATH: c_int = 2;
const OUR_HEADERS: c_int = 3;
const OUR_BODY: c_int = 4;
const ARGUMENTS: c_int = 4;

/// Values on the stack for a header field, at most.
const ROOM: c_int = 8;

/// Puts this function in the place of `wrk.format`. The prelude has run.
pub(crate) fn install(lua: &Lua) -> mlua::Result<()> {
    let wrk: Table = lua.globals().get("wrk")?;
    let in_lua: Function = wrk.get("format")?;
    let upvalues = STRINGS.len() as c_int + 2;
    // SAFETY: the values on the stack become upvalues of the closure. Nothing in the closure of Rust has a
    // destructor that an error of Lua could skip.
    let format: Function = unsafe {
        lua.exec_raw((&wrk, in_lua, Variadic::from_iter(STRINGS)), |state| {
            ffi::lua_pushcclosure(state, format, upvalues);
        })
    }?;
    wrk.raw_set("format", format)
}

/// `wrk.format(method, path, headers, body)`. The parts of the text are pushed in order, and Lua joins them: so memory
/// belongs to Lua alone, within its limit.
unsafe extern "C-unwind" fn format(state: *mut lua_State) -> c_int {
    // SAFETY: Lua calls this function with a valid state and room for 20 values beside the arguments. An error of Lua
    // jumps over the frames of this function and of the ones that it calls, and none of them has a value with a
    // destructor.
    unsafe {
        ffi::lua_settop(state, ARGUMENTS);
        for (place, name) in [(OUR_METHOD, METHOD), (OUR_PATH, PATH), (OUR_HEADERS, HEADERS), (OUR_BODY, BODY)] {
            if ffi::lua_toboolean(state, place) == 0 {
                ffi::lua_pushvalue(state, name);
                ffi::lua_gettable(state, WRK);
                ffi::lua_replace(state, place);
            }
        }
        if !push_parts(state) {
            ffi::lua_settop(state, ARGUMENTS);
            ffi::lua_pushvalue(state, IN_LUA);
            ffi::lua_insert(state, 1);
            ffi::lua_call(state, ARGUMENTS, 1);
            return 1;
        }
        ffi::lua_concat(state, ffi::lua_gettop(state) - ARGUMENTS);
        1
    }
}

/// Pushes the parts of the text. Returns false if a value is neither a string nor a number, or if there is no room.
///
/// # Safety
/// The state is that of [`format`], with the four arguments on its stack, and no value of the caller has a destructor.
unsafe fn push_parts(state: *mut lua_State) -> bool {
    // SAFETY: the indices mean arguments, upvalues and values pushed here. `lua_next` gets a table, and the key
    // that it gave before. At most 20 values are pushed before `lua_checkstack` makes room for more.
    unsafe {
        let has_body = ffi::lua_toboolean(state, OUR_BODY) != 0;
        if ffi::lua_isstring(state, OUR_METHOD) == 0
            || ffi::lua_isstring(state, OUR_PATH) == 0
            || ffi::lua_type(state, OUR_HEADERS) != ffi::LUA_TTABLE
            || (has_body && ffi::lua_type(state, OUR_BODY) != ffi::LUA_TSTRING)
        {
            return false;
        }
        for part in [OUR_METHOD, BLANK, OUR_PATH, VERSION, HOST] {
            ffi::lua_pushvalue(state, part);
        }
        ffi::lua_gettable(state, OUR_HEADERS);
        let has_host = ffi::lua_toboolean(state, -1) != 0;
        ffi::lua_pop(state, 1);
        if !has_host {
            for part in [HOST_START, HEADERS] {
                ffi::lua_pushvalue(state, part);
            }
            if ffi::lua_gettable(state, WRK) != ffi::LUA_TTABLE {
                return false;
            }
            ffi::lua_pushvalue(state, HOST);
            ffi::lua_gettable(state, -2);
            ffi::lua_replace(state, -2);
            if ffi::lua_isstring(state, -1) == 0 {
                return false;
            }
            ffi::lua_pushvalue(state, LINE_END);
        }
        ffi::lua_pushnil(state);
        while ffi::lua_next(state, OUR_HEADERS) != 0 {
            if ffi::lua_isstring(state, -1) == 0
                || ffi::lua_isstring(state, -2) == 0
                || ffi::lua_checkstack(state, ROOM) == 0
            {
                return false;
            }
            if ffi::lua_rawequal(state, -2, CONTENT_LENGTH) != 0 {
                ffi::lua_pop(state, 1);
                continue;
            }
            // The name stays as it is: `lua_next` needs it, and joining makes a string of a number in its place.
            ffi::lua_pushvalue(state, COLON);
            ffi::lua_insert(state, -2);
            ffi::lua_pushvalue(state, LINE_END);
            ffi::lua_pushvalue(state, -4);
        }
        if has_body {
            ffi::lua_pushvalue(state, LENGTH_START);
            push_number(state, ffi::lua_rawlen(state, OUR_BODY));
            ffi::lua_pushvalue(state, LINE_END);
        }
        ffi::lua_pushvalue(state, LINE_END);
        if has_body {
            ffi::lua_pushvalue(state, OUR_BODY);
        }
    }
    true
}

/// Pushes the digits of a number.
///
/// # Safety
/// The state is valid, with room for a value, and no value of the callers has a destructor.
unsafe fn push_number(state: *mut lua_State, number: usize) {
    const DIGITS: usize = 20;
    let mut text = [0u8; DIGITS];
    let mut first = DIGITS;
    let mut rest = number;
    loop {
        first -= 1;
        text[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let digits = &text[first..];
    // SAFETY: Lua copies the bytes, which are valid meanwhile.
    unsafe { ffi::lua_pushlstring(state, digits.as_ptr().cast::<c_char>(), digits.len()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a state with the prelude, and the function in Lua.
    fn prepared() -> (Lua, Function) {
        let lua = Lua::new();
        let globals = lua.globals();
        globals.set("host", lua.create_table_from([("allows_io", true)]).expect("a table")).expect("a state");
        lua.load(include_str!("prelude.lua")).exec().expect("the prelude");
        let wrk: Table = globals.get("wrk").expect("a table");
        let set = "wrk.method, wrk.path, wrk.headers = 'GET', '/p', { Host = 'h:1', ['X-Team'] = 'search' }";
        lua.load(set).exec().expect("values");
        let in_lua = wrk.get("format").expect("a function");
        install(&lua).expect("a state");
        (lua, in_lua)
    }

    /// Returns the text, or the first line of the error.
    fn text(result: mlua::Result<mlua::String>) -> Result<Vec<u8>, String> {
        let text = result.map(|text| text.as_bytes().to_vec());
        text.map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned())
    }

    #[test]
    fn both_functions_make_the_same_text() {
        for (before, arguments) in [
            ("", ""),
            ("", "'POST', '/x'"),
            ("", "nil, '/x', nil, 'a=b'"),
            ("", "'PUT', nil, nil, ''"),
            ("", "7, 1.5, { A = 1, B = 2.5, [1] = 'x', [2] = 'y', ['Content-Length'] = '9' }, 'abc'"),
            ("", "false, false, false, false"),
            ("", "'GET', '/', { Host = 'other' }"),
            ("", "'GET', '/', { Host = false }"),
            ("", "'GET', '/', { A = true }"),
            ("", "'GET', '/', { A = {} }"),
            ("", "'GET', '/', { [{}] = 'a' }"),
            ("", "'GET', '/', 'Host'"),
            ("", "'GET', '/', 5"),
            ("", "{}, '/'"),
            ("", "'GET', print"),
            ("", "'GET', '/', {}, 12"),
            ("", "'GET', '/', {}, true"),
            ("", "'GET', '/\\0\\xff', { ['A\\0'] = '\\0' }, '\\0'"),
            ("wrk.body = 'default'", "'POST'"),
            ("wrk.headers = {}", ""),
            ("wrk.headers = {}", "'GET', '/', { A = 'b' }"),
            ("wrk.headers = nil", "'GET', '/', { A = 'b' }"),
            ("wrk.headers = 'x'", "'GET', '/', { A = 'b' }"),
            ("wrk.headers.Host = 8080", "'GET', '/', { A = 'b' }"),
            ("wrk.path = nil", ""),
            ("wrk.headers = setmetatable({ A = 'b' }, { __index = { Host = 'inherited' } })", ""),
            ("value = setmetatable({}, { __concat = function() return 'joined' end })", "'GET', '/', { A = value }"),
            ("setmetatable(wrk, { __index = { path = '/inherited' } }); wrk.path = nil", ""),
            ("for nth = 1, 3000 do wrk.headers['H' .. nth] = nth end", "'GET', '/'"),
            ("wrk.body = ('x'):rep(100000); wrk.path = '/' .. wrk.body", ""),
        ] {
            let (lua, in_lua) = prepared();
            lua.load(before).exec().expect("values");
            let call = |format: Function| {
                lua.globals().set("chosen", format).expect("a state");
                text(lua.load(format!("return chosen({arguments})")).set_name("=call").call(()))
            };
            let fast = call(lua.load("return wrk.format").eval().expect("a function"));
            assert_eq!(fast, call(in_lua), "{before}; {arguments}");
        }
    }

    #[test]
    fn more_text_than_the_limit_is_an_error_of_memory() {
        let (lua, _) = prepared();
        lua.load("big = ('x'):rep(1 << 20)").exec().expect("a string");
        lua.set_memory_limit(4 << 20).expect("a limit");
        let call = |arguments: &str| lua.load(format!("return #wrk.format({arguments})")).eval::<usize>();
        assert!(matches!(call("'GET', big .. big, nil, big"), Err(mlua::Error::MemoryError(_))));
        assert_eq!(call("'GET', '/'").map_err(|error| error.to_string()), Ok(45));
    }
}
