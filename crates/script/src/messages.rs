//! Messages of sessions on channels: what is sent, and the values of Redis in replies.

use mlua::{Lua, Table, Value, Variadic};
use truetail_engine::{Framing, MessageOptions, redis_command};

/// Adds the functions of messages: `refused_message` returns why a message cannot be sent, or nil; `redis_command` the
/// message with the words of a command; and `redis_value` the value of a reply, or nil and the text of an error reply.
pub(crate) fn add_to(host: &Table, lua: &Lua, options: &MessageOptions) -> mlua::Result<()> {
    if options.framing == Framing::Redis {
        let command = |lua: &Lua, words: Variadic<mlua::String>| {
            let words: Vec<_> = words.iter().map(|word| word.as_bytes()).collect();
            lua.create_string(redis_command(&words))
        };
        host.set("redis_command", lua.create_function(command)?)?;
        let value = |lua: &Lua, reply: mlua::String| match Reply(&reply.as_bytes()).outermost(lua)? {
            (value, false) => Ok((value, Value::Nil)),
            (text, true) => Ok((Value::Nil, text)),
        };
        return host.set("redis_value", lua.create_function(value)?);
    }
    let options = options.clone();
    let refused = move |_: &Lua, message: mlua::String| Ok(refusal(&options, &message.as_bytes()));
    host.set("refused_message", lua.create_function(refused)?)
}

fn refusal(options: &MessageOptions, message: &[u8]) -> Option<String> {
    if options.framing == (Framing::WebSocket { is_text: true }) && std::str::from_utf8(message).is_err() {
        return Some("the message is no UTF-8, and a session sends texts on a WebSocket".to_owned());
    }
    options.refuses(message)
}

/// The rest of a reply of Redis (RESP2 or RESP3) whose end the channel has found.
struct Reply<'a>(&'a [u8]);

impl<'a> Reply<'a> {
    /// Reads the value of a reply as scripts of Redis see it: nil is false. Returns true with the text of an error.
    fn outermost(mut self, lua: &Lua) -> mlua::Result<(Value, bool)> {
        while self.0.first() == Some(&b'|') {
            self.attributes(lua)?;
        }
        let is_error = matches!(self.0.first(), Some(b'-' | b'!'));
        Ok((self.value(lua)?, is_error))
    }

    /// Reads a value. An error is its text.
    fn value(&mut self, lua: &Lua) -> mlua::Result<Value> {
        let (kind, line) = self.line();
        let text = |bytes: &[u8]| lua.create_string(bytes).map(Value::String);
        let Some(kind) = kind else { return Ok(Value::Nil) };
        match kind {
            b':' => match parsed(line) {
                Some(number) => Ok(Value::Integer(number)),
                None => text(line),
            },
            b',' => match parsed(line) {
                Some(number) => Ok(Value::Number(number)),
                None => text(line),
            },
            b'#' => Ok(Value::Boolean(line == b"t")),
            b'_' => Ok(Value::Boolean(false)),
            b'$' | b'!' | b'=' => match parsed::<usize>(line) {
                Some(length) => {
                    let bytes = self.take(length);
                    // A verbatim text begins with its kind: `txt:`.
                    text(if kind == b'=' { bytes.get(4..).unwrap_or(bytes) } else { bytes })
                }
                None => Ok(Value::Boolean(false)),
            },
            b'*' | b'~' | b'%' => match parsed::<u64>(line) {
                Some(count) => self.table(lua, count, kind == b'%'),
                None => Ok(Value::Boolean(false)),
            },
            b'|' => {
                self.skip(lua, parsed(line).unwrap_or(0))?;
                self.value(lua)
            }
            _ => text(line),
        }
    }

    fn table(&mut self, lua: &Lua, count: u64, is_map: bool) -> mlua::Result<Value> {
        let table = lua.create_table()?;
        for nth in 1..=count {
            if self.0.is_empty() {
                break;
            }
            if is_map {
                let key = self.value(lua)?;
                let value = self.item(lua)?;
                table.raw_set(key, value)?;
            } else {
                table.raw_set(nth, self.item(lua)?)?;
            }
        }
        Ok(Value::Table(table))
    }

    /// Reads a value in a table. An error is a table with its text in `err`.
    fn item(&mut self, lua: &Lua) -> mlua::Result<Value> {
        let is_error = matches!(self.0.first(), Some(b'-' | b'!'));
        let value = self.value(lua)?;
        if !is_error {
            return Ok(value);
        }
        let table = lua.create_table()?;
        table.raw_set("err", value)?;
        Ok(Value::Table(table))
    }

    fn attributes(&mut self, lua: &Lua) -> mlua::Result<()> {
        let (_, line) = self.line();
        self.skip(lua, parsed(line).unwrap_or(0))
    }

    /// Skips the names and values of so many attributes.
    fn skip(&mut self, lua: &Lua, count: u64) -> mlua::Result<()> {
        for _ in 0..count.saturating_mul(2) {
            if self.0.is_empty() {
                break;
            }
            self.value(lua)?;
        }
        Ok(())
    }

    /// Takes a line, and returns its type and the rest of it.
    fn line(&mut self) -> (Option<u8>, &'a [u8]) {
        let end = self.0.windows(2).position(|pair| pair == b"\r\n").unwrap_or(self.0.len());
        let line = &self.0[..end];
        self.0 = &self.0[(end + 2).min(self.0.len())..];
        (line.first().copied(), line.get(1..).unwrap_or_default())
    }

    /// Takes the bytes of a string, and its line end.
    fn take(&mut self, length: usize) -> &'a [u8] {
        let (bytes, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest.get(2..).unwrap_or_default();
        bytes
    }
}

fn parsed<T: std::str::FromStr>(line: &[u8]) -> Option<T> {
    std::str::from_utf8(line).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the value of a reply, and the text of an error, as Lua shows them.
    fn read(reply: &[u8]) -> String {
        let lua = Lua::new();
        let (value, is_error) = Reply(reply).outermost(&lua).expect("a value");
        lua.globals().set("value", value).expect("a table");
        let show = r#"
            local function show(value)
              if type(value) ~= "table" then return math.type(value) == "float" and ("%.2f"):format(value) or tostring(value) end
              local parts = {}
              for key, item in pairs(value) do parts[#parts + 1] = tostring(key) .. "=" .. show(item) end
              table.sort(parts)
              return "{" .. table.concat(parts, " ") .. "}"
            end
            return show(value)
        "#;
        let shown: String = lua.load(show).eval().expect("a text");
        if is_error { format!("error {shown}") } else { shown }
    }

    #[test]
    fn values_of_redis_become_values_of_lua() {
        for (reply, wanted) in [
            (&b"+OK\r\n"[..], "OK"),
            (b"-ERR no\r\n", "error ERR no"),
            (b"!5\r\nERR x\r\n", "error ERR x"),
            (b":-12\r\n", "-12"),
            (b",1.5\r\n", "1.50"),
            (b"#t\r\n", "true"),
            (b"_\r\n", "false"),
            (b"$-1\r\n", "false"),
            (b"*-1\r\n", "false"),
            (b"$0\r\n\r\n", ""),
            (b"$4\r\na\r\nb\r\n", "a\r\nb"),
            (b"=7\r\ntxt:abc\r\n", "abc"),
            (b"(3492890328409238509324850943850943825024385\r\n", "3492890328409238509324850943850943825024385"),
            (b"*0\r\n", "{}"),
            (b"*3\r\n$1\r\na\r\n$-1\r\n*1\r\n:7\r\n", "{1=a 2=false 3={1=7}}"),
            (b"*2\r\n-ERR no\r\n:1\r\n", "{1={err=ERR no} 2=1}"),
            (b"%2\r\n+a\r\n:1\r\n+b\r\n~1\r\n+c\r\n", "{a=1 b={1=c}}"),
            (b"|1\r\n+ttl\r\n:3\r\n$1\r\nx\r\n", "x"),
            (b"*1\r\n|1\r\n+ttl\r\n:3\r\n$1\r\nx\r\n", "{1=x}"),
        ] {
            assert_eq!(read(reply), wanted, "{:?}", String::from_utf8_lossy(reply));
        }
    }

    /// The channel has checked the reply, so this cannot come; it must end all the same.
    #[test]
    fn a_reply_that_is_cut_off_ends() {
        for reply in [&b""[..], b"*", b"*9999999999\r\n", b"$5\r\nab", b"%3\r\n+a\r\n", b"|4\r\n", b":x\r\n", b"?\r\n"]
        {
            read(reply);
        }
    }
}
