//! `--script`: a script makes the requests, and the server sees them.

#[cfg(not(feature = "script"))]
#[test]
fn without_the_feature_the_message_says_how_to_get_a_script() {
    let dir = super::support::TestDir::new();
    let output = dir.truetail(&["run", "http://127.0.0.1:9", "-n", "1", "-r", "10", "--script", dir.file("a.lua", "")]);
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(output.stderr.contains("cargo build --release --features script"), "{output:?}");
}

#[cfg(feature = "script")]
mod with_the_feature {
    use std::collections::BTreeMap;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpStream;
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::super::raw_server::serve_each;
    use super::super::support::{CommandOutput, TestDir};

    /// A request as the server saw it: its head, with lines in order, and its body.
    #[derive(Clone, PartialEq, Eq, Debug)]
    struct Seen {
        first: String,
        headers: BTreeMap<String, String>,
        body: String,
    }

    /// Starts a server that keeps connections, answers with a token, and returns its URL and the requests.
    fn serve() -> (String, Receiver<Seen>) {
        let (sender, seen) = channel();
        let place = serve_each(move |socket| answer_all(socket, &sender));
        let url = format!("http://{place}");
        (url, seen)
    }

    fn answer_all(mut socket: TcpStream, seen: &Sender<Seen>) -> Option<()> {
        let mut reader = BufReader::new(socket.try_clone().ok()?);
        loop {
            let head: Vec<_> =
                reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            let (first, lines) = head.split_first()?;
            let field = |line: &String| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
            let headers: BTreeMap<_, _> = lines.iter().filter_map(field).collect();
            let length = headers.get("Content-Length").map_or(0, |length| length.parse().expect("a length"));
            let mut body = vec![0; length];
            reader.read_exact(&mut body).ok()?;
            seen.send(Seen { first: first.clone(), headers, body: String::from_utf8(body).ok()? }).ok()?;
            socket.write_all(b"HTTP/1.1 200 OK\r\nX-Token: secret\r\nContent-Length: 5\r\n\r\nhello").ok()?;
        }
    }

    /// Runs `script` for ten requests.
    fn run_script(script: &str, more: &[&str]) -> (CommandOutput, Vec<Seen>) {
        offer(script, &["-n", "10", "-r", "200"], more)
    }

    /// Offers this load with one worker, and returns the output and the requests that the server saw.
    fn offer(script: &str, load: &[&str], more: &[&str]) -> (CommandOutput, Vec<Seen>) {
        let dir = TestDir::new();
        let (url, seen) = serve();
        let file = dir.file("load.lua", script);
        let base = ["run", &format!("{url}/base?x=1"), "--threads", "1", "--script", file];
        let output = dir.truetail(&[&base[..], load, &["--no-save", "--quiet"], more].concat());
        (output, seen.try_iter().collect())
    }

    fn first_lines(seen: &[Seen]) -> Vec<&str> {
        seen.iter().map(|request| request.first.as_str()).collect()
    }

    #[test]
    fn a_script_that_changes_wrk_sends_what_it_says() {
        let script = r#"
            wrk.method = "POST"
            wrk.body = "foo=bar&baz=quux"
            wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
        "#;
        let (output, seen) = run_script(script, &["-H", "X-Team: search"]);
        assert_eq!((output.code, seen.len()), (Some(0), 10), "{output:?}");
        for request in &seen {
            assert_eq!(
                (request.first.as_str(), request.body.as_str()),
                ("POST /base?x=1 HTTP/1.1", "foo=bar&baz=quux")
            );
            let names: Vec<_> = request.headers.keys().map(String::as_str).collect();
            assert_eq!(names, ["Content-Length", "Content-Type", "Host", "X-Team"]);
        }
    }

    #[test]
    fn a_counter_numbers_paths_and_headers() {
        let script = r#"
            local counter = 0
            function request()
              wrk.headers["X-Counter"] = counter
              counter = counter + 1
              return wrk.format(nil, "/" .. counter)
            end
        "#;
        let (output, seen) = run_script(script, &[]);
        assert_eq!(output.code, Some(0), "{output:?}");
        // Requests on two connections may reach the server in either order.
        let mut counters: Vec<u32> =
            seen.iter().map(|request| request.headers["X-Counter"].parse().expect("a number")).collect();
        for (request, counter) in seen.iter().zip(&counters) {
            assert_eq!(request.first, format!("GET /{} HTTP/1.1", counter + 1));
        }
        counters.sort_unstable();
        assert_eq!(counters, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn a_token_from_an_answer_goes_into_later_requests() {
        let script = r#"
            local token
            request = function() return wrk.format("GET", token and "/resource" or "/authenticate") end
            response = function(status, headers, body)
              if not token and status == 200 and body == "hello" then
                token = headers["X-Token"]
                wrk.headers["X-Token"] = token
              end
            end
        "#;
        // One user waits for each answer.
        let (output, seen) = offer(script, &["--model", "closed", "--users", "1", "-n", "4"], &[]);
        assert_eq!(seen.len(), 4, "{output:?}");
        let first = seen.iter().map(|request| request.first.as_str()).collect::<Vec<_>>();
        assert_eq!(first[0], "GET /authenticate HTTP/1.1");
        assert!(first[1..].iter().all(|line| *line == "GET /resource HTTP/1.1"), "{first:?}");
        assert!(seen[1..].iter().all(|request| request.headers["X-Token"] == "secret"), "{seen:?}");
        assert!(!seen[0].headers.contains_key("X-Token"));
    }

    #[test]
    fn pipelined_requests_are_sent_one_after_the_other() {
        let script = r#"
            init = function(args)
              wrk.body = "b"
              text = wrk.format(nil, "/first") .. wrk.format("POST", "/second") .. wrk.format(nil, "/third")
            end
            request = function() return text end
        "#;
        let (output, seen) = run_script(script, &[]);
        assert_eq!(output.code, Some(0), "{output:?}");
        let count = |path: &str| first_lines(&seen).iter().filter(|line| line.contains(path)).count();
        assert_eq!((count("/first"), count("POST /second"), count("/third")), (4, 3, 3), "{seen:?}");
    }

    #[test]
    fn setup_init_and_done_share_values_with_threads() {
        let script = r#"
            local threads = {}
            function setup(thread)
              thread:set("id", #threads + 1)
              thread:set("deep", { list = { 1, "two", true } })
              table.insert(threads, thread)
            end
            function init(args)
              sent, answered, words = 0, 0, args
            end
            function request() sent = sent + 1; return wrk.request() end
            function response(status) if status == 200 then answered = answered + 1 end end
            function done(summary, latency, requests)
              for _, thread in ipairs(threads) do
                print("thread", thread:get("id"), thread:get("sent"), thread:get("answered"), thread:get("words")[2])
                io.write(thread:get("deep").list[2], "\n")
              end
              local e = summary.errors
              print("counts", summary.requests, summary.bytes > 0, summary.duration > 0,
                e.connect + e.read + e.write + e.timeout + e.status)
              print("latency", latency.min <= latency:percentile(50) and latency:percentile(99) <= latency.max
                and latency.mean > 0 and latency.stdev >= 0)
              local total = 0
              for nth = 1, #latency do
                local _, count = latency(nth)
                total = total + count
              end
              print("total", total, requests.max > 0)
            end
        "#;
        let (output, seen) = run_script(script, &["--", "one", "two"]);
        assert_eq!((output.code, seen.len()), (Some(0), 10), "{output:?}");
        let lines: Vec<_> = output.stdout.lines().rev().take(5).collect();
        let expected =
            ["total\t10\ttrue", "latency\ttrue", "counts\t10\ttrue\ttrue\t0", "two", "thread\t1\t10\t10\ttwo"];
        assert_eq!(lines, expected, "{output:?}");
    }

    /// Scripts of wrk are written for Lua 5.1, and truetail's Lua is 5.4.
    #[test]
    fn idioms_of_lua_5_1_work() {
        let script = r#"
            function done(summary, latency, requests)
              for _, p in pairs({ 50, 99, 99.999 }) do
                io.write(string.format("%g%%,%d\n", p, latency:percentile(p)))
              end
              print(("%d %i %5.1f %s %x %%d"):format(2.9, -2.9, 1.25, 3.5, 255.0))
              print(unpack({ 1, 2, 3 }), math.pow(2, 3) == 8, table.getn({ 4, 5 }), loadstring("return 7")())
            end
        "#;
        let (output, _) = run_script(script, &[]);
        assert_eq!(output.code, Some(0), "{output:?}");
        let lines: Vec<_> = output.stdout.lines().rev().take(5).collect();
        assert_eq!(lines[..2], ["1\ttrue\t2\t7", "2 -2   1.2 3.5 ff %d"], "{output:?}");
        for (line, start) in lines[2..].iter().rev().zip(["50%,", "99%,", "99.999%,"]) {
            let whole = line.strip_prefix(start).is_some_and(|rest| rest.parse::<u64>().is_ok());
            assert!(whole, "{line}: {output:?}");
        }
    }

    #[test]
    fn a_script_can_end_the_load() {
        let script = r#"
            local answers = 0
            function response()
              answers = answers + 1
              if answers == 3 then wrk.thread:stop() end
            end
        "#;
        let load = ["--model", "closed", "--users", "1", "-n", "1000000"];
        let (output, seen) = offer(script, &load, &["--json"]);
        let run = output.json();
        let responses = run["tally"]["responses"].as_u64().expect("a count");
        assert!((3..1_000_000).contains(&responses), "{responses}");
        assert_eq!((seen.len() as u64, &run["tally"]["planned"]), (responses, &responses.into()));
        assert!(run["notes"].to_string().contains("the script ended the load with thread:stop()"), "{}", run["notes"]);
    }

    #[test]
    fn a_script_with_an_address_of_the_run_goes_on_and_another_one_is_refused() {
        let script = r#"
            function setup(thread)
              local found = wrk.lookup(wrk.host, wrk.port or "http")
              for nth = #found, 1, -1 do
                if not wrk.connect(found[nth]) then table.remove(found, nth) end
              end
              thread.addr = found[math.random(#found)]
              assert(thread.addr == wrk.host .. ":" .. wrk.port)
            end
        "#;
        let (output, seen) = run_script(script, &[]);
        assert_eq!((output.code, seen.len()), (Some(0), 10), "{output:?}");
        let (output, seen) = run_script("function setup(thread) thread.addr = '127.0.0.9:1' end", &[]);
        assert_eq!((output.code, seen.len()), (Some(1), 0), "{output:?}");
        assert!(
            output.stderr.contains("load.lua:1: threads cannot have addresses") && output.stderr.contains("--resolve")
        );
    }

    #[test]
    fn mistakes_end_the_run_with_their_line() {
        for (script, line) in [
            ("local a = ", "load.lua:1:"),
            ("function delay() return 10 end", "load.lua: delay() is not there"),
            ("\nfunction init() local x = nil; return x.y end", "load.lua:2: attempt to index a nil value"),
            ("\n\nfunction request() return 'hello\\r\\n\\r\\n' end", "load.lua: request() returned no request"),
            ("function request()\n  while true do end\nend", "load.lua:2: a call took 10000000 instructions"),
            (
                "function request()\n  while true do\n    pcall(function() while true do end end)\n  end\nend",
                "a call took 10000000 instructions",
            ),
            ("function request() return string.rep('x', 1 << 28) end", "64 MiB"),
            ("function response()\n  error('no good')\nend", "load.lua:2: no good"),
            ("function done()\n  error('too late')\nend", "load.lua:2: too late"),
            ("function init() io.open('/etc/passwd') end", "load.lua:1: attempt to call a nil value (field 'open')"),
            ("function init() os.execute('true') end", "load.lua:1: attempt to call a nil value (field 'execute')"),
            ("function init() dofile('x.lua') end", "load.lua:1: attempt to call a nil value (global 'dofile')"),
            ("function init() require('x') end", "load.lua:1: attempt to call a nil value (global 'require')"),
            ("function init() assert(load(string.dump(function() end))) end", "attempt to load a binary chunk"),
        ] {
            let (output, _) = run_script(script, &[]);
            assert_eq!(output.code, Some(1), "{script}: {output:?}");
            assert!(output.stderr.contains(line), "{script}: {output:?}");
        }
    }

    #[test]
    fn a_script_may_use_files_if_it_is_allowed_to() {
        let script = "function init() assert(io.open('load.lua')):close(); assert(os.getenv) end";
        let (output, seen) = run_script(script, &["--script-allow", "io"]);
        assert_eq!((output.code, seen.len()), (Some(0), 10), "{output:?}");
    }

    #[test]
    fn options_that_a_script_cannot_keep_are_refused() {
        let dir = TestDir::new();
        let file = dir.file("a.lua", "");
        for (url, more, why) in [
            ("http://127.0.0.1:9", &["--http2"][..], "--http2"),
            ("http://127.0.0.1:9", &["--trace"], "--trace"),
            ("redis://127.0.0.1:9", &["--command", "PING"], "redis://"),
        ] {
            let output = dir.truetail(&[&["run", url, "-n", "1", "-r", "10", "--script", file][..], more].concat());
            assert_eq!(output.code, Some(2), "{output:?}");
            assert!(output.stderr.contains(why), "{output:?}");
        }
    }

    #[test]
    fn scripts_with_the_same_seed_draw_the_same_numbers() {
        let script = "function request() return wrk.format(nil, '/' .. math.random(1000000)) end";
        let paths = |seed: &str| {
            let (output, seen) = run_script(script, &["--seed", seed]);
            assert_eq!(output.code, Some(0), "{output:?}");
            let mut lines = seen.into_iter().map(|request| request.first).collect::<Vec<_>>();
            lines.sort();
            lines
        };
        let first = paths("7");
        assert_eq!(first, paths("7"));
        assert_ne!(first, paths("8"));
    }

    #[test]
    fn each_arrival_of_several_threads_has_a_request() {
        let dir = TestDir::new();
        let (url, seen) = serve();
        let file = dir.file("a.lua", "function request() return wrk.format(nil, '/made') end");
        let output = dir.truetail(&[
            "run",
            &url,
            "-n",
            "2000",
            "-r",
            "10000",
            "--threads",
            "2",
            "--script",
            file,
            "--json",
            "--no-save",
            "--quiet",
        ]);
        let run = output.json();
        assert_eq!((run["tally"]["planned"].as_u64(), run["tally"]["responses"].as_u64()), (Some(2000), Some(2000)));
        let seen: Vec<_> = seen.try_iter().collect();
        assert_eq!(seen.len(), 2000);
        assert!(seen.iter().all(|request| request.first == "GET /made HTTP/1.1"));
    }
}
