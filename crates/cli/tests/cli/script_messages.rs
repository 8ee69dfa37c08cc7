//! `--script` with `session(s)` on channels: messages over WebSocket and TCP, and commands for Redis.

use std::io::{BufRead, BufReader, Write};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};
use tungstenite::Message;

use super::flow_server;
use super::messages::command;
use super::raw_server::serve_each;
use super::support::{CommandOutput, ServeProcess, TestDir, assert_balanced};

/// Sessions of a run at 200/s for 300 ms.
const SESSIONS: u64 = 60;

/// Sessions of messages. `SEND(` becomes what their protocol has for it.
const SHOP: &str = r#"
    steps = { "login", "ask", "bye" }
    function session(s)
      local token = s:step("login"):SEND(json.encode({ login = s.number })).json.token
      s:check(token, "a token")
      s:sleep(0.01)
      local ask = s:step("ask"):SEND(json.encode({ token = token, die = s:random(6), row = s.row.name }))
      s:check(ask.json.ok and ask.elapsed > 0, "an answer")
      s:step("bye"):SEND("bye")
    end
"#;

/// Answers a message of [`SHOP`]: a seventh of the logins and a fifth of the questions fail.
fn answer(message: &str) -> String {
    let asked: Value = serde_json::from_str(message).unwrap_or_default();
    let token = asked["token"].as_str().and_then(|token| token[1..].parse::<u64>().ok());
    match (asked["login"].as_u64(), token) {
        (Some(session), _) if session.is_multiple_of(7) => "{}".to_owned(),
        (Some(session), _) => format!(r#"{{"token":"t{session}"}}"#),
        (_, Some(session)) => json!({"ok": !session.is_multiple_of(5)}).to_string(),
        _ => "bye".to_owned(),
    }
}

/// What a server has seen.
#[derive(Clone, Default)]
struct Seen {
    /// Messages, channel by channel.
    messages: Arc<Mutex<Vec<Vec<String>>>>,
    /// Codes of the Close frames of clients.
    codes: Arc<Mutex<Vec<u16>>>,
}

impl Seen {
    /// Begins a channel, and returns its number.
    fn channel(&self) -> usize {
        let mut channels = self.messages.lock().expect("no panic");
        channels.push(Vec::new());
        channels.len() - 1
    }

    fn note(&self, channel: usize, message: &str) {
        self.messages.lock().expect("no panic")[channel].push(message.to_owned());
    }

    /// Returns the messages of each channel that had any.
    fn channels(&self) -> Vec<Vec<String>> {
        self.messages.lock().expect("no panic").iter().filter(|messages| !messages.is_empty()).cloned().collect()
    }

    fn sorted(&self) -> Vec<String> {
        let mut all = self.channels().concat();
        all.sort();
        all
    }
}

/// Replies to a message.
struct Answer {
    replies: Vec<String>,
    /// True if the server closes the channel after them.
    is_last: bool,
}

impl Answer {
    fn of(replies: &[&str]) -> Answer {
        Answer { replies: replies.iter().map(ToString::to_string).collect(), is_last: false }
    }
}

/// Starts a server of lines, which answers what `answer` says. The channel is closed after a last answer.
fn lines(answer: impl Fn(&str) -> Answer + Clone + Send + 'static) -> (String, Seen) {
    let seen = Seen::default();
    let noted = seen.clone();
    let place = serve_each(move |mut socket| {
        let channel = noted.channel();
        for line in BufReader::new(socket.try_clone().ok()?).lines() {
            let line = line.ok()?;
            noted.note(channel, &line);
            let Answer { replies, is_last } = answer(&line);
            for reply in replies {
                socket.write_all(format!("{reply}\n").as_bytes()).ok()?;
            }
            if is_last {
                return None;
            }
        }
        Some(())
    });
    (format!("tcp://{place}"), seen)
}

/// Starts a server of WebSocket that answers by [`answer`].
fn websocket() -> (String, Seen) {
    let seen = Seen::default();
    let noted = seen.clone();
    let place = serve_each(move |socket| -> Option<()> {
        let mut web = tungstenite::accept(socket).ok()?;
        let channel = noted.channel();
        loop {
            match web.read().ok()? {
                Message::Text(text) => {
                    noted.note(channel, &text);
                    web.send(answer(&text).into()).ok()?;
                }
                Message::Close(frame) => {
                    noted.codes.lock().expect("no panic").extend(frame.map(|frame| u16::from(frame.code)));
                }
                _ => {}
            }
        }
    });
    (format!("ws://{place}/chat"), seen)
}

/// Offers the sessions of a script.
fn offer(url: &str, script: &str, more: &[&str]) -> CommandOutput {
    let dir = TestDir::new();
    let rows: String = (0..SESSIONS).map(|row| format!("n{row}\n")).collect();
    dir.file("rows.csv", &format!("name\n{rows}"));
    dir.file("hello.txt", "send hello\nexpect welcome\n");
    let script = dir.file("chat.lua", script);
    let base = ["run", url, "-r", "200", "-d", "300ms", "--script", script, "--no-save", "--quiet", "--json"];
    dir.truetail(&[&base[..], more].concat())
}

fn books(run: &Value) -> Value {
    json!({"sessions": run["sessions"]["tally"], "steps": run["sessions"]["steps"], "requests": run["tally"]})
}

#[test]
fn sessions_of_messages_have_the_books_and_the_content_of_the_same_sessions_over_http() {
    let server = flow_server::Server::start(|_, asked| (200, Vec::new(), answer(&asked.body)));
    let http = format!("http://{}", server.address);
    let rows = ["--data-from", "rows.csv"];
    let no_trial = [&rows[..], &["--no-preflight"]].concat();
    let of_http = offer(&http, &SHOP.replace("SEND(", "post(\"/\", "), &no_trial).json();
    assert_balanced(&of_http);
    let mut sent: Vec<String> = server.asked.lock().expect("no panic").iter().map(|asked| asked.body.clone()).collect();
    sent.sort();
    let no_token = SESSIONS.div_ceil(7);
    let not_ok = SESSIONS.div_ceil(5) - SESSIONS.div_ceil(35);
    let completed = SESSIONS - no_token - not_ok;
    assert_eq!(of_http["sessions"]["tally"]["completed"], completed);
    let script = SHOP.replace("SEND(", "send(");
    let (tcp, lines) = lines(|line| Answer::of(&[&answer(line)]));
    let (ws, web) = websocket();
    for (url, seen, more) in [(tcp, lines, &["--framing", "line"][..]), (ws, web, &[])] {
        for threads in ["1", "2"] {
            seen.messages.lock().expect("no panic").clear();
            let output = offer(&url, &script, &[&rows[..], more, &["--threads", threads]].concat());
            let run = output.json();
            assert_balanced(&run);
            assert_eq!(books(&run), books(&of_http), "{output:?}");
            assert_eq!(seen.sorted(), sent, "{url}");
            // The preflight opens a channel too, and sends nothing.
            let channels = seen.channels();
            assert_eq!(channels.len() as u64, SESSIONS, "each session has a channel");
            assert!(channels.iter().all(|messages| messages[0].starts_with("{\"login\"")), "{channels:?}");
            assert_eq!(run["generator"]["connections_opened"], SESSIONS);
            assert_eq!(run["scenario"]["connection_per_session"], true);
            assert_eq!((&run["statuses"], &run["messages"]["channels_lost"]), (&json!({}), &json!(0)));
            let names: Vec<&Value> = run["targets"].as_array().expect("steps").iter().map(|one| &one["name"]).collect();
            assert_eq!(names, ["login", "ask", "bye"]);
            let why = "first end at login: chat.lua:5: a token does not hold (session 0)";
            assert!(run["notes"].to_string().contains(why), "{}", run["notes"]);
        }
    }
}

/// The books have the messages that `truetail serve` logs, and its faults.
#[test]
fn the_log_of_the_server_agrees_with_the_books() {
    let script = r#"
        steps = { "send", "again" }
        function session(s)
          s:check(s:send("first").body == "first", "an echo")
          s:sleep(0.02)
          s:check(s:step("again"):send("second").body == "second", "an echo")
        end
    "#;
    for (scheme, more) in [("ws", &[][..]), ("tcp", &["--framing", "length:4be"])] {
        let dir = TestDir::new();
        let service =
            "[service]\nbaseline = \"1ms\"\n[[service.fault]]\nkind = \"error-status\"\nstatus = 503\nevery = 3\n";
        let scenario = dir.file("s.toml", &format!("[workload]\nrate = 200\nduration = \"1s\"\n{service}"));
        let served = ServeProcess::start_with(&dir, scenario, more);
        let output = offer(&format!("{scheme}://127.0.0.1:{}", served.port()), script, more);
        let run = output.json();
        assert_balanced(&run);
        let (_, rows) = served.stop();
        let failed = rows.iter().filter(|row| row.contains(",503,answered,")).count() as u64;
        assert!(failed > SESSIONS / 4, "{failed} of {}", rows.len());
        assert_eq!(run["tally"]["responses"], rows.len() as u64, "{scheme}: {output:?}");
        let tally = &run["sessions"]["tally"];
        assert_eq!((&tally["ended_early"], &tally["completed"]), (&json!(failed), &json!(SESSIONS - failed)));
    }
}

#[test]
fn the_channel_of_a_session_opens_as_the_options_say_and_is_closed_at_its_end() {
    let (ws, seen) = websocket();
    let script = "steps = { 'send' }\nfunction session(s)\n  s:send('a')\n  s:send('b')\nend";
    let run = offer(&ws, script, &[]).json();
    assert_eq!((&run["sessions"]["tally"]["completed"], &run["tally"]["responses"]), (&json!(60), &json!(120)));
    assert_eq!(run["sessions"]["steps"][0]["repeats"], SESSIONS, "{}", run["sessions"]["steps"]);
    // The server may still read the last ones.
    let closed = || seen.codes.lock().expect("no panic").iter().filter(|code| **code == 1000).count() as u64;
    for _ in 0..500 {
        if closed() >= SESSIONS {
            break;
        }
        thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(closed() >= SESSIONS, "{} codes", closed());
    let dir = TestDir::new();
    let file = dir.file("chat.lua", script);
    let shown = dir.truetail(&["run", &ws, "-r", "20", "-d", "100ms", "-c", "9", "--script", file, "--no-save"]);
    assert!(shown.stdout.contains("a channel per session, at most 9, framing websocket"), "{shown:?}");
    let (tcp, seen) = lines(|line| Answer::of(&[if line == "hello" { "welcome" } else { line }]));
    let run = offer(&tcp, script, &["--framing", "line", "--hello", "hello.txt"]).json();
    assert_eq!(run["sessions"]["tally"]["completed"], SESSIONS);
    let all = seen.channels();
    assert_eq!(all.iter().filter(|messages| messages[..] == ["hello", "a", "b"]).count() as u64, SESSIONS, "{all:?}");
    assert_eq!(all.len() as u64, SESSIONS + 1, "and that of the preflight");
}

#[test]
fn replies_find_their_messages_among_pushes() {
    let (url, _) = lines(|line| {
        let id = &line[line.find("\"id\":").expect("an id")..];
        Answer::of(&[r#"{"push":1}"#, &format!(r#"{{"ok":true,{id}"#)])
    });
    let script = r#"
        steps = { "send" }
        function session(s)
          for nth = 1, 3 do
            local r = s:send('{"n":1,"id":' .. nth .. '}')
            s:check(r.json.id == nth and r.json.ok, "its own reply")
            s:check(r.status == nil and r.headers.any == nil and r.value == nil, "a reply has a body")
          end
        end
    "#;
    let run = offer(&url, script, &["--framing", "line", "--match", "json:/id"]).json();
    assert_balanced(&run);
    assert_eq!(run["sessions"]["tally"]["completed"], SESSIONS, "{}", run["notes"]);
    assert_eq!(run["messages"]["unmatched"], 3 * SESSIONS);
}

#[test]
fn a_lost_channel_and_a_missing_reply_end_their_session() {
    let script = r#"
        steps = { "first", "second", "third" }
        function session(s)
          local way = ({ "stays", "leaves", "hangs up", "is silent" })[s.number % 4 + 1]
          s:step("first"):send(way)
          s:sleep(0.05)
          s:step("second"):send(way .. " now")
          s:step("third"):send(way .. " later")
        end
    "#;
    let fourth = SESSIONS / 4;
    let (url, seen) = lines(|line| match line {
        "hangs up now" => Answer { is_last: true, ..Answer::of(&[]) },
        "is silent now" => Answer::of(&[]),
        _ => Answer { is_last: line == "leaves", ..Answer::of(&[line]) },
    });
    let output = offer(&url, script, &["--framing", "line", "--timeout", "3s"]);
    let run = output.json();
    assert_balanced(&run);
    let sessions = &run["sessions"];
    assert_eq!(
        (&sessions["tally"]["completed"], &sessions["tally"]["ended_early"]),
        (&json!(fourth), &json!(3 * fourth)),
        "{output:?}"
    );
    // The one that left does not go on on another channel.
    assert_eq!(sessions["steps"][1]["ended_here"], json!({"reset": 2 * fourth, "timed_out": fourth}));
    assert_eq!(sessions["steps"][2]["reached"], fourth);
    assert_eq!((&run["tally"]["reset"], &run["tally"]["timed_out"]), (&json!(2 * fourth), &json!(fourth)));
    let channels = seen.channels();
    assert_eq!(channels.len() as u64, SESSIONS, "no channel was opened again");
    let of = |start: &str| channels.iter().filter(|messages| messages[0] == start).cloned().collect::<Vec<_>>();
    assert!(of("leaves").iter().all(|messages| messages[..] == ["leaves"]), "{channels:?}");
    assert!(of("is silent").iter().all(|messages| messages[..] == ["is silent", "is silent now"]), "{channels:?}");
}

#[test]
fn a_command_returns_the_value_of_its_reply() {
    let place = serve_each(|mut socket| {
        let mut reader = BufReader::new(socket.try_clone().ok()?);
        let mut number = 0;
        loop {
            let words = command(&mut reader)?;
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let reply = match words[..] {
                ["INCR", _] => {
                    number += 1;
                    format!(":{number}\r\n")
                }
                ["GET", "none"] => "$-1\r\n".to_owned(),
                ["GET", key] => format!("${}\r\n{key}\r\n", key.len()),
                ["LRANGE", _, "0", "-1"] => "*3\r\n$1\r\na\r\n:7\r\n$-1\r\n".to_owned(),
                _ => "-ERR unknown command\r\n".to_owned(),
            };
            socket.write_all(reply.as_bytes()).ok()?;
        }
    });
    let script = r#"
        steps = { "GET", "INCR", "list", "wrong" }
        function session(s)
          local key = "key:" .. s.number
          local got = s:command("GET", key)
          assert(got.value == key and got.error == nil and got.body == "$" .. #key .. "\r\n" .. key .. "\r\n")
          assert(s:command("GET", "none").value == false)
          -- Another session has a channel of its own, and so a number of its own.
          assert(s:command("INCR", "n").value == 1 and s:command("INCR", "n").value == 2)
          local list = s:step("list"):command("LRANGE", key, 0, -1).value
          assert(#list == 3 and list[1] == "a" and list[2] == 7 and list[3] == false)
          local wrong = s:step("wrong"):command("STE", key)
          assert(wrong.value == nil and wrong.error == "ERR unknown command")
        end
    "#;
    let output = offer(&format!("redis://{place}"), script, &[]);
    let run = output.json();
    assert_balanced(&run);
    assert_eq!(run["sessions"]["tally"]["completed"], SESSIONS, "{output:?}");
    assert_eq!((&run["tally"]["responses"], &run["messages"]["error_replies"]), (&json!(360), &json!(SESSIONS)));
}

#[test]
fn what_cannot_be_sent_ends_its_session_with_its_line() {
    let (url, seen) = lines(|line| Answer::of(&[line]));
    let framed = ["--framing", "line"];
    for (wrong, more, why) in [
        ("s:get('/')", &framed[..], "the URL is that of a channel, so a session sends messages; write s:send"),
        ("s:call('a.B/C')", &framed, "calls need a URL with grpc:// or grpcs://; the URL is that of a channel"),
        ("s:command('GET', 'a')", &framed, "commands need a URL with redis:// or rediss://; the URL is that of a"),
        ("s:tell('a')", &framed, "attempt to call a nil value (method 'tell')"),
        ("s:send({})", &framed, "the message is a table, and must be a string; json.encode(value) makes one"),
        ("s:send('a\\nb')", &framed, "byte 1 of the message begins the delimiter of --framing line"),
        ("s:send('{}')", &["--framing", "line", "--match", "json:/id"], "the message has nothing at --match json:/id"),
        ("s:step('x'):send('{}')", &framed, "there is no step 'x'; steps has 'send'"),
        ("return s:send('{}').json.a.b", &framed, "attempt to index a nil value (field 'a')"),
        ("return s:send('x').json", &framed, "the body is no JSON"),
    ] {
        let script = format!("steps = {{ 'send' }}\nfunction session(s)\n s:send('{{\"id\":1}}')\n {wrong}\nend");
        let output = offer(&url, &script, more);
        let run = output.json();
        assert_balanced(&run);
        assert_eq!(run["sessions"]["tally"]["ended_early"], SESSIONS, "{wrong}: {output:?}");
        let why = format!("chat.lua:4: {why}");
        assert!(run["notes"].to_string().replace('\\', "").contains(&why), "{wrong}: {}", run["notes"]);
    }
    assert!(!seen.sorted().is_empty());
    let (web, _) = websocket();
    let binary = "steps = { 'send' }\nfunction session(s)\n s:send('a')\n s:send('\\xff')\nend";
    let run = offer(&web, binary, &[]).json();
    let why = "chat.lua:4: the message is no UTF-8, and a session sends texts on a WebSocket";
    assert!(run["notes"].to_string().contains(why), "{}", run["notes"]);
    let server = flow_server::Server::start(|_, _| (200, Vec::new(), "ok".to_owned()));
    let http = format!("http://{}", server.address);
    for (wrong, why) in [
        ("s:send('a')", "messages need a URL with ws://, wss://, tcp:// or tls://; the URL is one of HTTP"),
        ("s:command('GET')", "commands need a URL with redis:// or rediss://; the URL is one of HTTP"),
    ] {
        let script = format!("steps = {{ 'GET /' }}\nfunction session(s)\n s:get('/')\n {wrong}\nend");
        let run = offer(&http, &script, &[]).json();
        assert!(run["notes"].to_string().contains(&format!("chat.lua:4: {why}")), "{}", run["notes"]);
    }
    let redis = serve_each(|mut socket| {
        let mut reader = BufReader::new(socket.try_clone().ok()?);
        loop {
            command(&mut reader)?;
            socket.write_all(b"+OK\r\n").ok()?;
        }
    });
    for (wrong, why) in [
        ("s:send('a')", "messages need a URL with ws://, wss://, tcp:// or tls://; the URL begins with redis"),
        ("s:command()", "word 1 of the command is a nil"),
        ("s:command('GET', nil, 'a')", "word 2 of the command is a nil"),
        ("s:command('SET')", "there is no step 'SET'; steps has 'GET'"),
    ] {
        let script = format!("steps = {{ 'GET' }}\nfunction session(s)\n s:command('GET', 'a')\n {wrong}\nend");
        let run = offer(&format!("redis://{redis}"), &script, &[]).json();
        assert!(run["notes"].to_string().contains(&format!("chat.lua:4: {why}")), "{}", run["notes"]);
    }
}

#[test]
fn what_cannot_be_a_session_of_messages_is_refused_before_the_load() {
    let session = "steps = { 'send' } function session(s) s:send('a') end";
    let dir = TestDir::new();
    dir.file("ticks.txt", "send x\n");
    for (url, script, more, why) in [
        ("tcp://127.0.0.1:9", session, &[][..], "a message on a TCP channel needs an end; add --framing line"),
        ("tcp://127.0.0.1", session, &["--framing", "line"], "it has no port"),
        ("tcp://127.0.0.1:9", session, &["--framing", "line", "--data", "a"], "session(s) says what is sent"),
        ("ws://127.0.0.1:9", session, &["--data-hex", "00"], "session(s) says what is sent"),
        ("ws://127.0.0.1:9", session, &["--framing", "line"], "--framing is for tcp:// and tls:// URLs"),
        ("redis://127.0.0.1:9", session, &["--http2"], "--http2 is for HTTP and ws:// URLs"),
        ("redis://127.0.0.1:9", session, &["--permessage-deflate"], "--permessage-deflate is for ws://"),
        (
            "ws://127.0.0.1:9",
            session,
            &["--subscribe", "ticks.txt"],
            "a session waits for replies, and reads no pushes",
        ),
        ("redis://127.0.0.1:9", session, &["--command", "GET a"], "session(s) says what is sent"),
        ("redis://127.0.0.1:9", session, &["--match", "json:/id"], "--match is not for redis"),
        ("redis://127.0.0.1:9", session, &["-H", "A: b"], "--header is for HTTP and ws:// URLs"),
        (
            "ws://127.0.0.1:9",
            "function request() end",
            &[],
            "over ws:// a script leads sessions; define session(s), with s:send",
        ),
        ("redis://127.0.0.1:9", "x = 1", &[], "define session(s), with s:command(\"GET\", \"key\")"),
        ("ws://127.0.0.1:9", "steps = { 'a', 'a' } function session(s) end", &[], "'a' is there twice"),
    ] {
        let script = dir.file("chat.lua", script);
        let output =
            dir.truetail(&[&["run", url, "-r", "10", "-d", "1s", "--script", script, "--no-save"][..], more].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{url} {more:?}: {output:?}");
        assert!(output.stderr.contains(why), "{url} {more:?}: {output:?}");
    }
}
