//! `--script` with `session(s)`: sessions that a script in Lua leads, beside the same sessions as a Hurl file.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::flow_server::{Answer, Asked, Server};
use super::http2;
use super::support::{CommandOutput, TestDir, assert_balanced};

/// Sessions of each run, and rows of data.
const SESSIONS: u64 = 60;

const HURL: &str = r#"# truetail: name login
POST {{host}}/login
[Form]
user: {{user}}
HTTP 200
[Captures]
token: jsonpath "$.token"

# truetail: name list
GET {{host}}/items?page=1
X-Token: {{token}}
HTTP *
[Captures]
item: jsonpath "$.items[0].id"
[Asserts]
status == 200
jsonpath "$.items[0].id" > 0

# truetail: name buy
POST {{host}}/orders
X-Token: {{token}}
Content-Type: application/json
[Options]
delay: 20ms
`{"item":{{item}}}`
HTTP *
[Asserts]
status == 201
"#;

const LUA: &str = r#"
    steps = { "login", "list", "buy" }

    function session(s)
      local form = { ["Content-Type"] = "application/x-www-form-urlencoded" }
      local token = s:step("login"):post("/login", "user=" .. s.row.user, form).json.token
      local list = s:step("list"):get("/items?page=1", { ["X-Token"] = token })
      s:check(list.status == 200, "the list")
      local item = list.json.items[1].id
      s:check(item > 0, "an item that is there")
      s:sleep(0.02)
      local headers = { ["X-Token"] = token, ["Content-Type"] = "application/json" }
      local order = s:step("buy"):post("/orders", json.encode({ item = item }), headers)
      s:check(order.status == 201, "the order")
    end
"#;

/// A shop with tokens and cookies. A third of the lists has no item that can be bought, and some orders are refused.
fn shop(_: u64, asked: &Asked) -> Answer {
    let path = asked.line.split(' ').nth(1).expect("a path");
    let user = asked.body.strip_prefix("user=u").and_then(|user| user.parse::<u64>().ok());
    if let ("/login", Some(user)) = (path, user) {
        return (200, vec![format!("Set-Cookie: user={user}; Path=/")], format!(r#"{{"token": "t{user}"}}"#));
    }
    let token = asked.field("X-Token").and_then(|token| token.strip_prefix('t')).unwrap_or_default();
    let user: u64 = token.parse().unwrap_or(u64::MAX);
    if asked.field("Cookie") != Some(&format!("user={user}")) {
        return (403, Vec::new(), String::new());
    }
    match path {
        "/items?page=1" => {
            let id = if user.is_multiple_of(3) { 0 } else { user };
            (200, Vec::new(), format!(r#"{{"items": [{{"id": {id}}}, null]}}"#))
        }
        "/orders" if user.is_multiple_of(5) || asked.body != format!(r#"{{"item":{user}}}"#) => {
            (409, Vec::new(), String::new())
        }
        "/orders" => (201, Vec::new(), String::new()),
        _ => (404, Vec::new(), String::new()),
    }
}

struct Offered {
    output: CommandOutput,
    run: Value,
    /// Requests that the server counted, by method and path.
    counts: BTreeMap<String, u64>,
}

/// Offers sessions to the shop: with these words, and the files that they name.
fn offer(words: &[&str]) -> Offered {
    let server = Server::start(shop);
    let url = format!("http://{}", server.address);
    let host = format!("host={url}");
    let words: Vec<&str> = words.iter().map(|word| if *word == "URL" { &url } else { *word }).collect();
    let words: Vec<&str> = words.into_iter().map(|word| if word == "HOST" { &host } else { word }).collect();
    let dir = TestDir::new();
    let rows: String = (0..SESSIONS).map(|user| format!("u{user}\n")).collect();
    dir.file("users.csv", &format!("user\n{rows}"));
    dir.file("shop.hurl", HURL);
    dir.file("shop.lua", LUA);
    let base = ["run", "-r", "200", "-d", "300ms", "--data-from", "users.csv", "--json", "--quiet", "--no-save"];
    // The trial request of a flow would be one more login.
    let output = dir.truetail(&[&base[..], &["--no-preflight"], &words].concat());
    let run = output.json();
    let mut counts = BTreeMap::new();
    for asked in server.asked.lock().expect("no panic").iter() {
        let line = asked.line.trim_end_matches(" HTTP/1.1").to_owned();
        *counts.entry(line).or_insert(0) += 1;
    }
    Offered { output, run, counts }
}

/// Returns the books of sessions without what only the form of the script decides: the lines of steps.
fn books(run: &Value) -> Value {
    let mut steps = run["sessions"]["steps"].clone();
    for step in steps.as_array_mut().expect("steps") {
        let step = step.as_object_mut().expect("a step");
        step.remove("line");
        step.retain(|name, _| !["hops", "repeats", "retries", "most_requests"].contains(&name.as_str()));
    }
    json!({"tally": run["sessions"]["tally"], "steps": steps, "requests": run["tally"], "statuses": run["statuses"]})
}

#[test]
fn a_script_and_a_flow_with_the_same_sessions_have_the_same_books() {
    let flow = offer(&["--flow", "shop.hurl", "--variable", "HOST"]);
    for threads in ["1", "2"] {
        let script = offer(&["URL", "--script", "shop.lua", "--threads", threads]);
        assert_balanced(&script.run);
        assert_eq!(books(&script.run), books(&flow.run), "{:?}", script.output);
        assert_eq!(script.counts, flow.counts);
        let third = SESSIONS / 3;
        let refused = SESSIONS / 5 - SESSIONS / 15;
        let steps = &script.run["sessions"]["steps"];
        let bought = SESSIONS - third;
        let sent = [("GET /items?page=1", SESSIONS), ("POST /login", SESSIONS), ("POST /orders", bought)];
        let sent: Vec<_> = sent.map(|(line, count)| (line.to_owned(), count)).into();
        assert_eq!(script.counts.into_iter().collect::<Vec<_>>(), sent);
        assert_eq!(script.run["sessions"]["tally"]["completed"], bought - refused);
        assert_eq!(steps[1]["ended_here"], json!({"assert": third}));
        assert_eq!(steps[2]["ended_here"], json!({"assert": refused}));
        let names: Vec<&Value> = script.run["targets"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
        assert_eq!(names, ["login", "list", "buy"]);
        let notes = script.run["notes"].to_string();
        let why = "first end at list: shop.lua:10: an item that is there does not hold (session 0)";
        assert!(notes.contains(why), "{notes}");
    }
}

/// Runs a script for ten sessions with one worker, against a server that answers each request with its number.
fn run(script: &str, more: &[&str]) -> (CommandOutput, Vec<Asked>) {
    run_with(script, "1", more)
}

fn run_with(script: &str, threads: &str, more: &[&str]) -> (CommandOutput, Vec<Asked>) {
    let server = Server::start(|number, asked| {
        let long = asked.line.contains("/long");
        let body =
            if long { "x".repeat((1 << 20) + 1) } else { format!(r#"{{"n": {number}, "none": null, "list": []}}"#) };
        (200, vec!["X-One: 1".to_owned(), "x-one: 2".to_owned()], body)
    });
    let url = format!("http://{}", server.address);
    let dir = TestDir::new();
    dir.file("rows.csv", "id,name\n007,ann\n8,bob\n");
    let script = dir.file("load.lua", script);
    let base =
        ["run", &url, "-r", "200", "-d", "50ms", "--threads", threads, "--script", script, "--no-save", "--quiet"];
    let output = dir.truetail(&[&base[..], &["--json"], more].concat());
    let asked = server.asked.lock().expect("no panic").clone();
    (output, asked)
}

fn lines(asked: &[Asked]) -> Vec<&str> {
    asked.iter().map(|asked| asked.line.trim_end_matches(" HTTP/1.1")).collect()
}

#[test]
fn an_answer_has_its_parts_and_a_step_has_a_name_of_its_own_or_of_its_request() {
    let script = r#"
        steps = { "GET /a", "PUT /b", "last" }
        function session(s)
          local r = s:get("/a?number=" .. s.number)
          assert(r.status == 200 and r.headers["x-ONE"] == "1, 2" and r.headers.missing == nil)
          assert(r.body:find('"list"') and math.type(r.json.n) == "integer" and r.json.none == json.null)
          assert(json.encode(r.json.list) == "[]" and r.elapsed > 0)
          assert(json.encode(json.decode(json.encode({ a = { 1, "x" } }))) == '{"a":[1,"x"]}')
          s:put("/b", "body", { ["X-Team"] = "own", ["X-Number"] = s.number })
          s:step("last"):request("OPTIONS", "/c")
        end
    "#;
    let (output, asked) = run(script, &["-H", "X-Team: search", "--user", "ann:pw"]);
    let run = output.json();
    assert_eq!(run["sessions"]["tally"]["completed"], 10, "{output:?}");
    let names: Vec<_> = run["sessions"]["steps"].as_array().unwrap().iter().map(|step| step["name"].clone()).collect();
    assert_eq!(names, ["GET /a", "PUT /b", "last"]);
    let of = |start: &str| asked.iter().filter(|asked| asked.line.starts_with(start)).collect::<Vec<_>>();
    assert_eq!([of("GET /a?number=").len(), of("PUT /b").len(), of("OPTIONS /c").len()], [10, 10, 10]);
    assert!(asked.iter().all(|asked| asked.field("Authorization") == Some("Basic YW5uOnB3")), "{asked:?}");
    assert!(of("GET").iter().all(|asked| asked.field("X-Team") == Some("search")));
    let put = of("PUT")[0];
    assert_eq!((put.field("X-Team"), put.body.as_str()), (Some("own"), "body"));
}

#[test]
fn rows_and_random_numbers_follow_the_session_and_the_seed() {
    let script = r#"
        steps = { "row" }
        function session(s)
          for _ = 1, 100 do
            local die = s:random(6)
            assert(die >= 1 and die <= 6 and s:random() < 1)
          end
          s:step("row"):get("/" .. s.row.id .. "/" .. s.row.name .. "/" .. s:random(1, 1000000))
        end
    "#;
    let paths = |seed: &str, threads: &str| {
        let (output, asked) = run_with(script, threads, &["--data-from", "rows.csv", "--seed", seed]);
        assert_eq!(output.json()["sessions"]["tally"]["completed"], 10, "{output:?}");
        let mut paths: Vec<String> = lines(&asked).into_iter().map(str::to_owned).collect();
        paths.sort();
        paths
    };
    let first = paths("7", "1");
    assert_eq!(first, paths("7", "3"), "the same on any number of threads");
    assert_ne!(first, paths("8", "1"));
    let count = |row: &str| first.iter().filter(|path| path.starts_with(row)).count();
    assert_eq!((count("GET /007/ann/"), count("GET /8/bob/")), (5, 5));
    let (once, asked) = run(script, &["--data-from", "rows.csv", "--feed", "once"]);
    assert_eq!((once.json()["sessions"]["tally"]["planned"].clone(), asked.len()), (json!(2), 2));
}

#[test]
fn an_error_ends_its_session_and_is_counted_with_its_line() {
    for (script, cause, why) in [
        ("s:get('/')\n error('no good')", "raised", "load.lua:4: no good (session 0)"),
        ("local r = s:get('/')\n return r.x.y", "raised", "load.lua:4: attempt to index a nil value"),
        (
            "s:get('/')\n s:get('/nowhere')",
            "raised",
            "load.lua:4: there is no step 'GET /nowhere'; steps has 'GET /', 'GET",
        ),
        ("s:get('/')\n s.get('/')", "raised", "load.lua:4: write it with a colon"),
        ("s:get('/')\n coroutine.wrap(function() s:get('/') end)()", "raised", "load.lua:4: write it with a colon"),
        ("s:get('/')\n coroutine.yield(7)", "raised", "load.lua: session(s) called coroutine.yield"),
        ("s:get('/')\n s:step('GET /'):request('GET', 'x')", "request", "the path 'x' does not begin with a slash"),
        ("s:get('/')\n s:get('/', { A = {} })", "raised", "load.lua:4: the header A is a table"),
        ("s:get('/')\n s:step('GET /'):post('/', {})", "raised", "load.lua:4: the body is a table"),
        ("s:get('/')\n s:sleep(-1)", "raised", "load.lua:4: s:sleep takes a number of seconds"),
        ("s:get('/')\n json.encode(print)", "raised", "load.lua:4: "),
        (
            "s:get('/')\n local t = {}; t[1] = t; json.encode(t)",
            "raised",
            "load.lua:4: the value has more than 100 levels",
        ),
        ("s:get('/')\n string.rep('x', 1 << 28)", "raised", "64 MiB"),
        ("local r = s:get('/long')\n return r.body", "body_too_long", "load.lua:4: the body is longer than the 1 MiB"),
        ("s:get('/')\n pcall(function() s:check(false) end)", "assert", "load.lua:4: a check does not hold"),
    ] {
        let script = format!("steps = {{ 'GET /', 'GET /long' }}\nfunction session(s)\n{script}\nend");
        let (output, _) = run(&script, &[]);
        let run = output.json();
        let tally = &run["sessions"]["tally"];
        assert_eq!((&tally["begun"], &tally["ended_early"]), (&json!(10), &json!(10)), "{script}: {output:?}");
        let ended = run["sessions"]["steps"].as_array().unwrap().iter().find_map(|step| step.get("ended_here"));
        let ended = ended.unwrap_or_else(|| panic!("{output:?}"));
        let steps = run["sessions"]["steps"].to_string();
        assert!(steps.contains(&format!(r#"{{"{cause}":10}}"#)), "{script}: {steps} {ended}");
        assert!(run["notes"].to_string().contains(why), "{script}: {}", run["notes"]);
    }
}

#[test]
fn sessions_use_http_2_too() {
    let url = http2::serve(10);
    let dir = TestDir::new();
    let file = dir.file(
        "a.lua",
        "steps = { 'GET /', 'POST /' }\nfunction session(s)\n  s:check(s:get('/').body == 'ok')\n  s:post('/', 'x')\nend",
    );
    let words =
        ["run", &url, "-r", "100", "-d", "200ms", "--http2", "--json", "--quiet", "--no-save", "--script", file];
    let output = dir.truetail(&words);
    let run = output.json();
    assert_balanced(&run);
    assert_eq!(
        (&run["sessions"]["tally"]["completed"], &run["statuses"]["200"]),
        (&json!(20), &json!(40)),
        "{output:?}"
    );
}

#[test]
fn a_session_that_asks_for_nothing_never_begins() {
    let (output, asked) = run("steps = { 'a' }\nfunction session(s)\n  local x = nil + 1\nend", &[]);
    let run = output.json();
    assert_eq!((&run["sessions"]["tally"]["never_begun"], asked.len()), (&json!(10), 0), "{output:?}");
    assert!(run["notes"].to_string().contains("never made a request: load.lua:3: attempt to perform arithmetic"));
}

#[test]
fn a_loop_without_an_end_ends_the_run_with_its_line() {
    for script in [
        "steps = { 'GET /' }\nfunction session(s)\n  while true do end\nend",
        "steps = { 'GET /' }\nfunction session(s)\n  s:get('/')\n  while true do pcall(function() while true do end end) end\nend",
        "steps = { 'GET /' }\nfunction session(s)\n  s:get('/')\n  while true do s:sleep(1) end\nend",
    ] {
        let (output, _) = run(script, &[]);
        assert_eq!(output.code, Some(1), "{script}: {output:?}");
        assert!(output.stderr.contains("load.lua") && output.stderr.contains("a call took 10000000"), "{output:?}");
    }
}

/// The time that a script takes is generator lag and no time of the service.
#[test]
fn the_time_of_a_script_is_generator_lag() {
    let script =
        "steps = { 'GET /' }\nfunction session(s)\n  for _ = 1, 3000000 do end\n  s:get('/')\n s:get('/')\nend";
    let (output, _) = run(script, &[]);
    let run = output.json();
    let p50 = |metric: &str| {
        let quantiles = run[metric]["quantiles"].as_array().expect("quantiles");
        quantiles.iter().find(|one| one["q"] == 0.5).and_then(|one| one["value_ns"].as_u64()).expect("a median")
    };
    assert!(p50("generator_lag") > p50("service_time"), "{} {}", run["generator_lag"], run["service_time"]);
    assert!(run["sessions"]["steps"][0]["repeats"] == 10, "{}", run["sessions"]);
}

#[test]
fn setup_init_and_done_see_the_states_of_sessions() {
    let script = r#"
        steps = { "GET /" }
        local threads = {}
        function setup(thread) table.insert(threads, thread) end
        function init(args) prefix, answers = args[1], 0 end
        function session(s)
          s:get("/?" .. prefix)
          answers = answers + 1
        end
        function done(summary) print("answers", threads[1]:get("answers"), summary.requests) end
    "#;
    let (output, asked) = run(script, &["--", "word"]);
    assert_eq!(lines(&asked), ["GET /?word"; 10], "{output:?}");
    assert!(output.stderr.contains("answers\t10\t10"), "{output:?}");
}

#[test]
fn scripts_and_options_that_contradict_sessions_are_refused() {
    let session = "function session(s) s:get('/') end";
    let with = |more: &str| format!("steps = {{ 'GET /' }} {session} {more}");
    for (script, why) in [
        (with("function request() end"), "session() and request() contradict each other"),
        (with("function response() end"), "session() and response() contradict each other"),
        (with("function delay() end"), "session() and delay() contradict each other"),
        (session.to_owned(), "session() needs the names of its steps"),
        (format!("steps = {{}} {session}"), "session() needs the names of its steps"),
        (format!("steps = 'GET /' {session}"), "session() needs the names of its steps"),
    ] {
        let dir = TestDir::new();
        let file = dir.file("a.lua", &script);
        let output = dir.truetail(&["run", "http://127.0.0.1:9", "-r", "10", "-d", "1s", "--script", file]);
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(output.stderr.contains(&format!("--script: a.lua: {why}")), "{output:?}");
        assert_eq!(output.stderr.trim().lines().count(), 1, "{output:?}");
    }
    let dir = TestDir::new();
    let file = dir.file("a.lua", &with(""));
    let twice = dir.file("twice.lua", "steps = { 'a', 'a' } function session(s) end");
    let single = dir.file("single.lua", "function request() end");
    let base = ["run", "http://127.0.0.1:9", "-r", "10", "-d", "1s", "--script"];
    for (more, why) in [
        (&[file, "--method", "POST"][..], "session(s) says what is sent"),
        (&[file, "--check", "status == 200"], "write s:check"),
        (&[file, "--model", "closed", "--users", "3"], "sessions are partly open"),
        (&[file, "--stream", "sse"], "--flow"),
        (&[file, "--trace"], "--trace"),
        (&[twice], "'a' is there twice"),
        (&[single, "--http2"], "write session(s)"),
        (&[single, "--data-from", "rows.csv"], "write session(s)"),
    ] {
        let output = dir.truetail(&[&base[..], more].concat());
        assert_eq!(output.code, Some(2), "{more:?}: {output:?}");
        assert!(output.stderr.contains(why), "{more:?}: {output:?}");
    }
    let output = dir.truetail(&["run", "http://127.0.0.1:9/shop", "-r", "10", "-d", "1s", "--script", file]);
    assert!(output.code == Some(2) && output.stderr.contains("paths belong to the requests"), "{output:?}");
}
