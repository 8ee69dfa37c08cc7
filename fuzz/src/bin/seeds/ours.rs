//! Seed inputs for the targets that are no tool parsers.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use truetail_fuzz::{CHANNELS, Cut, RUN_FILES, SEPARATOR};
use truetail_run::LlmApi;

use crate::answers::{Sent, table};

/// Repetitions of the repeated part of an endless answer.
const REPETITIONS: usize = 3;

/// The inputs for one of our targets; `None` for other names.
///
/// # Errors
/// Where a file of this repository cannot be read.
pub fn of(target: &str) -> io::Result<Option<Vec<Vec<u8>>>> {
    Ok(Some(match target {
        "http2" => conversations(),
        "messages" => channels(),
        "exchange" => exchanges(),
        "schema" => schemas(),
        "response" => responses(),
        "event_stream" => event_streams(),
        "model_answer" => model_answers(),
        "requests" => requests(),
        "run_folder" => vec![run_folder()?],
        "scenario" => scenarios()?,
        "flow" => flows()?,
        "scrape" => pages_of_metrics(),
        "spans" => SPANS.iter().map(|message| message.to_vec()).collect(),
        "timing" => SERVER_TIMING.iter().map(|value| value.as_bytes().to_vec()).collect(),
        "ways" => ways()?,
        _ => return Ok(None),
    }))
}

/// A message in each form. The trace id is the one of the first request of the run in `fuzz_targets/spans.rs`.
const SPANS: [&[u8]; 3] = [
    b"{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"a\"}}]},\
      \"scopeSpans\":[{\"spans\":[{\"traceId\":\"00000000000000017ab40e090f363a7d\",\"spanId\":\"0000000000000002\",\
      \"parentSpanId\":\"\",\"name\":\"b\",\"kind\":2,\"startTimeUnixNano\":\"1\",\"endTimeUnixNano\":3}]}]}]}",
    b"{\"data\":[{\"traceID\":\"17ab40e090f363a7d\",\"spans\":[{\"traceID\":\"17ab40e090f363a7d\",\"spanID\":\"2\",\"operationName\":\"b\",\"references\":\
      [{\"refType\":\"CHILD_OF\",\"traceID\":\"17ab40e090f363a7d\",\"spanID\":\"3\"}],\"startTime\":1,\"duration\":2,\"tags\":[{\"key\":\
      \"span.kind\",\"value\":\"server\"}],\"processID\":\"p1\"}],\"processes\":{\"p1\":{\"serviceName\":\"a\"}}}]}",
    b"\x0a\x4e\x0a\x15\x0a\x13\x0a\x0cservice.name\x12\x03\x0a\x01a\x12\x35\x12\x33\x0a\x10\0\0\0\0\0\0\0\x01\
      \x7a\xb4\x0e\x09\x0f\x36\x3a\x7d\
      \x12\x08\0\0\0\0\0\0\0\x02\x2a\x01b\x30\x02\x39\x01\0\0\0\0\0\0\0\x41\x03\0\0\0\0\0\0\0",
];

const SERVER_TIMING: [&str; 4] = [
    "db;dur=53.2, app;desc=\"a, \\\"b\";dur=1e3",
    "cache, total ; dur = 5 ; desc=x",
    "header:x-time:ms",
    ";;dur=1,\"a\";dur,,x;dur=\"2\"",
];

/// Two pages of a service, with a metric of each kind.
fn pages_of_metrics() -> Vec<Vec<u8>> {
    let page = |count: u64| {
        format!(
            "# HELP up Help.\n# TYPE http_request_duration_seconds histogram\n\
             http_request_duration_seconds_bucket{{path=\"/a\\n\",le=\"0.1\"}} {count}\n\
             http_request_duration_seconds_bucket{{path=\"/a\\n\",le=\"+Inf\"}} {count} 17 # {{id=\"x\"}} 0.2\n\
             http_request_duration_seconds_sum{{path=\"/a\\n\"}} 1.5\n\
             # TYPE rpc_server_seconds summary\nrpc_server_seconds{{quantile=\"0.99\"}} NaN\n\
             rpc_server_seconds_count {count}\n# TYPE jobs counter\njobs_total {count}\n\
             {{\"a.b\",c=\"d\"}} -Inf\n# EOF\n"
        )
        .into_bytes()
    };
    vec![page(1), [page(1), page(9), page(3)].join(SEPARATOR)]
}

/// What the peer of each channel may send, whole and in pieces.
fn channels() -> Vec<Vec<u8>> {
    let fix = b"8=FIX.4.4\x019=15\x0135=0\x01112=test\x0110=000\x01".as_slice();
    let frames = b"\x81\x08{\"id\":0}\x01\x04{\"id\x89\x01p\x80\x04\":1}\x82\x7e\x00\x7e\x88\x02\x03\xe8".as_slice();
    let replies =
        b"+OK\r\n$2\r\nab\r\n-ERR no\r\n*2\r\n:1\r\n$-1\r\n>2\r\n+message\r\n+a\r\n%1\r\n+a\r\n#t\r\n".as_slice();
    let lengths = b"\0\0\0\x010\x01\0\0\0\0\0\0\x000".as_slice();
    let lines = b"a\nb\r\nc\ne\n{\"id\":0}\r\n{\"id\":1}\n0\x0000\0aab".as_slice();
    let rows = CHANNELS.iter().enumerate().flat_map(|(place, channel)| {
        let bytes = match channel.framing {
            "fix" => fix,
            "redis" => replies,
            "websocket" => frames,
            framing if framing.starts_with("length") => lengths,
            _ => lines,
        };
        let with_place = |cut: Vec<u8>| [&[place as u8], &cut[..]].concat();
        [with_place(Cut::write(false, &[], bytes)), with_place(Cut::write(true, &[1, 3, 9], bytes))]
    });
    rows.collect()
}

/// Each framing with a rule, a message, a file and a URL.
fn exchanges() -> Vec<Vec<u8>> {
    let file = "# login\nexpect welcome\nsend a\nsend-hex 00ff\nwithin 2s\nawait b";
    let rows = CHANNELS.iter().map(|channel| {
        let url = "rediss://me:secret@a.test:6379/2";
        [channel.framing, channel.matching, channel.message, file, url].map(str::as_bytes).join(SEPARATOR)
    });
    rows.collect()
}

/// A schema with a field of each kind: as a descriptor set, and as the answers of a server.
fn schemas() -> Vec<Vec<u8>> {
    const SOURCE: &str = "syntax = \"proto3\"; package p; enum E { ZERO = 0; }
        message M { string a = 1; M m = 2; repeated M more = 3; map<string, int64> n = 4; oneof o { E e = 5; bytes b = 6; } }
        service S { rpc One(M) returns (M); rpc Many(stream M) returns (stream M); }";
    let read = |name: &str| Ok((name == "s.proto").then(|| SOURCE.to_owned()));
    let schema = truetail_grpc::Schema::compile(&["s.proto".to_owned()], std::sync::Arc::new(read)).expect("a schema");
    let set = schema.to_descriptor_set();
    // The only field of the set is its file, and its length takes two bytes.
    let file = &set[3..];
    let tagged = |tag: u8, bytes: &[u8]| {
        let length = bytes.len() as u16;
        [&[tag, (length & 0x7f) as u8 | 0x80, (length >> 7) as u8], bytes].concat()
    };
    let framed = |message: Vec<u8>| [&[0], &(message.len() as u32).to_be_bytes()[..], &message].concat();
    let files = framed(tagged(0x22, &tagged(0x0a, file)));
    let services = framed(b"\x32\x07\x0a\x05\x0a\x03p.S".to_vec());
    let both = [&services[..], &files].concat();
    vec![Cut::write(false, &[], &set), Cut::write(false, &[], &both), Cut::write(false, &[services.len()], &both)]
}

/// The table of answers, each whole and in three pieces.
fn responses() -> Vec<Vec<u8>> {
    let rows = table().into_iter().flat_map(|row| {
        let bytes = match row.sent {
            Sent::Bytes(bytes) => bytes,
            Sent::Endless(first, again) => [first, again.repeat(REPETITIONS)].concat(),
        };
        let third = bytes.len() / 3;
        [Cut::write(row.is_head_request, &[], &bytes), Cut::write(row.is_head_request, &[third, 2 * third], &bytes)]
    });
    rows.collect()
}

/// Event streams with each kind of line and line break, whole and in pieces.
fn event_streams() -> Vec<Vec<u8>> {
    let streams: [&[u8]; 4] = [
        b"data: one\n\nevent: x\r\ndata:two\r\ndata\r\n\r\n",
        b"\xef\xbb\xbfdata: marked\r\r: comment\rid: 7\rretry: 10\r\r",
        b"data: [DONE]\n\ndata: never finis",
        b"data\n\ndatum: no\n\ndata: \xff\xc3\n\n",
    ];
    streams.iter().flat_map(|bytes| [Cut::write(false, &[], bytes), Cut::write(true, &[1, 5, 6, 12], bytes)]).collect()
}

/// The body of an answer in each API of language models, in their order, whole and in pieces.
fn model_answers() -> Vec<Vec<u8>> {
    let bodies: [&[&str]; LlmApi::ALL.len()] = [
        &[
            r#"data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"a \u00e9\ud83d"}}],"usage":null}"#,
            r#"data: {"choices":[{"index":1,"delta":{"reasoning_content":"b"},"finish_reason":"stop"}]}"#,
            r#"data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":1}}}"#,
            "data: [DONE]\n",
        ],
        &[r#"data: {"choices":[{"index":0,"text":"a","finish_reason":"length"}],"error":null}"#],
        &[
            "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"delta\":\"a\"}",
            r#"data: {"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":3,"output_tokens":2}}}"#,
        ],
        &[
            r#"data: {"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}"#,
            r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#,
            r#"data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#,
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}",
        ],
        &[
            r#"data: {"candidates":[{"content":{"parts":[{"text":"a"},{"functionCall":{}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"thoughtsTokenCount":1,"candidatesTokenCount":2}}"#,
        ],
        &[
            r#"{"message":{"content":"a","thinking":"b"},"done":false}"#,
            r#"{"response":"","done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":2}"#,
        ],
        &[
            r#"data:{"token":{"text":"a","special":false},"generated_text":"a","details":{"finish_reason":"eos_token","generated_tokens":1}}"#,
        ],
        &[r#"data: {"content":"a","stop":true,"stop_type":"limit","tokens_predicted":2,"tokens_evaluated":3}"#],
        &[
            r#"data: {"text":"a","meta_info":{"prompt_tokens":3,"completion_tokens":2,"finish_reason":{"type":"length"}}}"#,
        ],
        &[r#"{"object":"list","data":[{"embedding":[0.1,-2e3]}],"usage":{"prompt_tokens":8,"total_tokens":8}}"#],
        &[r#"{"results":[{"relevance_score":0.9}],"meta":{"tokens":{"input_tokens":12}}}"#],
        &[
            r#"{"choices":[{"message":{"content":"a","reasoning_content":"b"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#,
        ],
    ];
    let seeds = (0..).zip(bodies).flat_map(|(api, lines)| {
        let line_end = if lines[0].starts_with('{') { "\n" } else { "\n\n" };
        let body = lines.iter().flat_map(|line| [*line, line_end]).collect::<String>();
        let third = body.len() / 3;
        [Cut::write(false, &[], body.as_bytes()), Cut::write(true, &[third, 2 * third], body.as_bytes())]
            .map(|cut| [&[api][..], &cut].concat())
    });
    seeds.collect()
}

/// HTTP/2 answers on several streams, whole and in pieces, and frames of the connection.
fn conversations() -> Vec<Vec<u8>> {
    let frame = |kind: u8, flags: u8, stream: u8, payload: &[u8]| {
        [&[0, 0, payload.len() as u8, kind, flags, 0, 0, 0, stream], payload].concat()
    };
    let settings = frame(4, 0, 0, &[0, 3, 0, 0, 0, 100]);
    let answer = |stream| [frame(1, 4, stream, b"\x88\x40\x01x\x03abc"), frame(0, 1, stream, b"body")].concat();
    let split = |stream| [frame(1, 1, stream, b"\x88"), frame(9, 4, stream, b"\xbe")].concat();
    // The answer of a gRPC call: head, a message, trailers.
    let call = [
        frame(1, 4, 9, b"\x88\x0f\x10\x10application/grpc"),
        frame(0, 0, 9, b"\0\0\0\0\x02ab"),
        frame(1, 5, 9, b"\0\x0bgrpc-status\x010"),
    ];
    let parts = [
        answer(1),
        split(3),
        frame(3, 0, 5, &[0, 0, 0, 8]),
        frame(6, 0, 0, &[1; 8]),
        frame(8, 0, 0, &[0, 0, 1, 0]),
        frame(7, 0, 0, &[0, 0, 0, 7, 0, 0, 0, 0]),
        frame(0, 8, 7, b"\x02ok\0\0"),
        call.concat(),
    ];
    let all = [settings.clone(), parts.concat()].concat();
    let mut seeds: Vec<Vec<u8>> =
        parts.iter().map(|part| Cut::write(false, &[], &[&settings[..], part].concat())).collect();
    seeds.extend([Cut::write(false, &[5, 20, 33], &all), Cut::write(true, &[], &all)]);
    seeds
}

/// Targets, commands and rows; the first byte says which.
fn requests() -> Vec<Vec<u8>> {
    const TARGETS: &str = "\
# weight: 3
GET http://127.0.0.1:8080/items/{{id}}?q={{name}}
X-Name: {{name}}

POST http://127.0.0.1:8080/items
Content-Type: application/json
@body.json

curl 'http://127.0.0.1:8080/search' -H 'Accept: text/html' --data-raw 'q={{name}}' \\
  -X PUT --compressed
HEAD http://127.0.0.1:8080/health
";
    const FIXED: &str = "GET http://[::1]:8080/a\nHost: other\n\nDELETE http://[::1]:8080/b?c=d#e\n";
    const COMMAND: &str =
        r#"curl -G -d a=b --data-urlencode "c= d" -A 'x' -e http://r/ -b k=v -u me:word $'http://h/\x41'"#;
    const CSV: &str = "id,name\n1,one\n2,\"two & a \"\"half\"\"\"\n";
    const LINES: &str =
        "{\"id\": 1, \"name\": \"one\"}\n{\"id\": 2.5, \"name\": null}\n{\"id\": true, \"name\": \"\\u00e9\"}\n";
    let input = |flags: u8, parts: &[&str]| [&[flags][..], parts.join(SEPARATOR_TEXT).as_bytes()].concat();
    vec![
        input(0, &[FIXED]),
        input(0, &[TARGETS, CSV]),
        input(1, &[TARGETS, LINES]),
        input(2, &[TARGETS, CSV]),
        input(4, &[COMMAND]),
        input(5, &["curl http://h/{{id}} --json '{\"n\": \"{{name}}\"}'", LINES]),
    ]
}

/// [`SEPARATOR`], as text.
const SEPARATOR_TEXT: &str = match std::str::from_utf8(SEPARATOR) {
    Ok(text) => text,
    Err(_) => panic!("it is ASCII"),
};

/// A run of forty requests in virtual time, written by `truetail simulate`.
fn run_folder() -> io::Result<Vec<u8>> {
    let folder = here().join("seeds/run_folder");
    let is_there = |name: &&&str| folder.join(name).exists();
    let files = RUN_FILES.iter().filter(is_there).map(|name| fs::read(folder.join(name)));
    Ok(files.collect::<io::Result<Vec<_>>>()?.join(SEPARATOR))
}

/// The flow that comes with a scenario, and one with a part of everything that is read.
fn flows() -> io::Result<Vec<Vec<u8>>> {
    const MUCH: &str = r#"# truetail: name a
# truetail: delay exponential 10ms
PUT {{host}}/a/{{id}}?x=y#z
Name: a\u{20ac} {{id}}
[Query]
q: {{newUuid}}
[Cookies]
c: d
[BasicAuth]
me: word
[Options]
variable: n=7
repeat: 2
max-time: 500ms
```json
{"n": {{n}}, "t": "{{id}}"}
```
HTTP/1.1 *
Content-Type: text/plain
[Captures]
one: jsonpath "$.a[*]" nth 1 toInt
two: regex /a(.)c/ replace "a" "b"
three: cookie "s[Path]"
[Asserts]
header "X" not exists
body startsWith "a" # why
status >= 200
duration < 1000
bytes count == 3
variable "one" isInteger

POST http://127.0.0.1:1/b
[Multipart]
f: file,a.txt; text/plain
g: {{one}}
"#;
    let shop = fs::read(here().join("../scenarios/07-login-that-stalls/shop.hurl"))?;
    let bodies = ["`a`", "base64,YQ==;", "hex,0a;", "file,b;", "{\"a\": [1, null]}"];
    let of_bodies = bodies.map(|body| format!("POST {{{{host}}}}/a\n{body}\nHTTP 200\n{body}\n").into_bytes());
    Ok([shop, format!("GET {{{{host}}}}/\nHTTP 200\n[Captures]\nid: body\n\n{MUCH}").into_bytes()]
        .into_iter()
        .chain(of_bodies)
        .collect())
}

/// The scenarios that come with truetail.
fn scenarios() -> io::Result<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(here().join("../scenarios"))? {
        let file = entry?.path().join("scenario.toml");
        if file.is_file() {
            found.push(fs::read(file)?);
        }
    }
    Ok(found)
}

/// Logs and an archive as programs wrote them, and recorded arrivals; the first byte says which.
fn ways() -> io::Result<Vec<Vec<u8>>> {
    const LINES: usize = 8;
    let of = |kind: u8, name: &str| {
        let bytes = fs::read(here().join("../testdata/import").join(name))?;
        let lines = if kind == 0 { LINES } else { usize::MAX };
        let beginning = bytes.split_inclusive(|byte| *byte == b'\n').take(lines).flatten().copied();
        Ok([kind].into_iter().chain(beginning).collect())
    };
    let logs =
        ["access.json", "combined.log", "named.log", "timed.log"].map(|log| of(0, &format!("nginx/1.22.1/{log}")));
    let mut seeds: Vec<Vec<u8>> = logs.into_iter().collect::<io::Result<_>>()?;
    seeds.push(of(1, "by-hand/browser.har")?);
    seeds.push(b"\x02seconds,request\n# note: said\n0,GET /a?b\n1.5,PUT /c shop.test\n".to_vec());
    Ok(seeds)
}

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}
