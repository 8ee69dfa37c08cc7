//! Browser archives as flows, which truetail's parser reads.

use proptest::prelude::*;
use serde_json::{Value, json};
use truetail_flow::Flow;
use truetail_import::ways::{HarFlow, HarOptions, flow_of_har};

const ORIGIN: &str = "https://shop.example";

/// An entry that began `ms` milliseconds after noon, and took 10 ms.
fn entry(ms: u32, method: &str, path: &str, more: Value) -> Value {
    let mut entry = json!({
        "startedDateTime": format!("2026-11-20T12:00:{:02}.{:03}Z", ms / 1000, ms % 1000),
        "time": 10.0,
        "request": {"method": method, "url": format!("{ORIGIN}{path}"), "headers": [], "bodySize": -1},
        "response": {"status": 200, "headers": [], "content": {"mimeType": "application/json"}},
    });
    merge(&mut entry, more);
    entry
}

fn merge(into: &mut Value, more: Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (key, value) in more {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, more) => *into = more,
    }
}

fn made(entries: Vec<Value>, options: &HarOptions) -> Result<HarFlow, String> {
    let archive = json!({"log": {"version": "1.2", "entries": entries}}).to_string();
    flow_of_har(archive.as_bytes(), "a.har", options).map_err(|error| error.to_string())
}

fn parsed(flow: &HarFlow) -> Flow {
    let variables = [("host".to_owned(), "http://127.0.0.1:8080".to_owned())];
    Flow::parse("a.hurl", &flow.hurl, &variables, &|_| Err("no file".to_owned()))
        .unwrap_or_else(|error| panic!("{}: {}\n{}", error.line, error.problem, flow.hurl))
}

/// Returns the text after the comments at the start.
fn steps(flow: &HarFlow) -> &str {
    flow.hurl.split_once("\n\n").expect("steps").1
}

fn headers(headers: &[(&str, &str)]) -> Value {
    headers.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
}

#[test]
fn what_was_streamed_is_marked() {
    let kind = |kind: &str| json!({"response": {"content": {"mimeType": kind}}});
    let entries = vec![
        entry(0, "GET", "/", kind("text/html; charset=utf-8")),
        entry(10, "POST", "/chat", kind("Text/Event-Stream; charset=utf-8")),
    ];
    let flow = made(entries, &HarOptions::default()).unwrap();
    assert_eq!(steps(&flow), "GET {{host}}/\nHTTP 200\n\n# truetail: stream\nPOST {{host}}/chat\nHTTP 200\n");
    let streams: Vec<_> = truetail_flow::Flows::from(parsed(&flow)).streams().map(|(_, is_stream)| is_stream).collect();
    assert_eq!(streams, [false, true]);
}

#[test]
fn a_recording_becomes_steps_with_think_times() {
    let of_login = [
        ("Host", "shop.example"),
        ("Cookie", "a=1"),
        ("content-length", "9"),
        ("Referer", "https://shop.example/in#x"),
    ];
    let form = json!({"mimeType": "application/x-www-form-urlencoded", "text": "user=ann+b&pass%77ord=%23"});
    let entries = vec![
        entry(
            0,
            "GET",
            "/",
            json!({"_resourceType": "document", "response": {"headers": headers(&[("Set-Cookie", "a=1; Path=/")])}}),
        ),
        entry(50, "GET", "/app.js", json!({"_resourceType": "script"})),
        entry(55, "GET", "/logo", json!({"response": {"content": {"mimeType": "image/png"}}})),
        entry(
            2_010,
            "POST",
            "/login",
            json!({"request": {"headers": headers(&of_login), "postData": form}, "response": {"status": 302}}),
        ),
        entry(
            2_015,
            "PUT",
            "/items?x={{y}}",
            json!({"request": {
            "headers": headers(&[("content-type", "application/json"), ("Authorization", "Bearer #1")]),
            "postData": {"mimeType": "application/json", "text": "{\"a\": [1]}"}}, "response": {"status": 304}}),
        ),
    ];
    let flow = made(entries, &HarOptions::default()).unwrap();
    assert_eq!(
        steps(&flow),
        "GET {{host}}/\nHTTP 200\n\n\
         POST {{host}}/login\nReferer: {{host}}/in\\u{23}x\n[Options]\ndelay: 2000ms\n[Form]\nuser: ann b\npassword: \\u{23}\nHTTP 302\n\n\
         PUT {{host}}/items?x=%7B%7By%7D%7D\ncontent-type: application/json\nAuthorization: Bearer \\u{23}1\n{\"a\": [1]}\nHTTP *\n"
    );
    assert_eq!((flow.requests, parsed(&flow).requests_per_session()), (3, 3));
    let wanted = [
        "3 requests to https://shop.example of a.har; left out: 2 images, style sheets, scripts and fonts (--assets keeps them)",
        "1 of them began before the one before had ended; a flow sends them one after the other, without think time",
        "it holds what may grant access: Authorization (1), password (1); put variables in their place before others read it",
    ];
    assert_eq!(flow.notes, wanted);
}

#[test]
fn what_is_no_step_is_counted_by_cause() {
    let entries = || {
        vec![
            entry(0, "GET", "/", json!({"request": {"headers": headers(&[("cookie", "sid=1; theme=x")])}})),
            entry(1, "GET", "/a.css", json!({})),
            entry(2, "GET", "/ws", json!({"_resourceType": "websocket"})),
            entry(3, "GET", "/x", json!({"response": {"status": 0}})),
            entry(4, "POST", "/x", json!({"request": {"bodySize": 7}})),
            entry(5, "GET", "", json!({"request": {"url": "https://cdn.example/a"}})),
            json!({"startedDateTime": "soon"}),
        ]
    };
    let flow = made(entries(), &HarOptions::default()).unwrap();
    let wanted = "1 request to https://shop.example of a.har; left out: 1 not understood, 1 of WebSockets, 1 without an answer, \
                  1 whose body was not recorded, 1 images, style sheets, scripts and fonts (--assets keeps them), \
                  1 of other origins (https://cdn.example)";
    assert_eq!(flow.notes[0], wanted);
    assert!(flow.notes[1].contains("no recorded answer set are left out: sid, theme"), "{:?}", flow.notes);
    assert_eq!(made(entries(), &HarOptions { assets: true, origins: Vec::new() }).unwrap().requests, 2);
    for origin in ["https://CDN.example/", "https://cdn.example:443", "HTTPS://me@cdn.example:443/"] {
        let of_cdn = HarOptions { assets: false, origins: vec![origin.to_owned()] };
        assert!(steps(&made(entries(), &of_cdn).unwrap()).starts_with("GET {{host}}/a\n"), "{origin}");
    }
    let origins = ["https://shop.example", "https://cdn.example", "https://shop.example/"].map(str::to_owned).to_vec();
    let both = made(entries(), &HarOptions { assets: false, origins }).unwrap();
    assert!(
        both.notes[0].starts_with("2 requests to https://shop.example and https://cdn.example of a.har;"),
        "{both:?}"
    );
    assert_eq!(both.notes[1], "{{host}} is https://shop.example, {{host2}} is https://cdn.example");
    assert!(steps(&both).contains("GET {{host}}/\n") && steps(&both).contains("GET {{host2}}/a\n"), "{both:?}");
    let usage = "--variable host=http://127.0.0.1:8080 --variable host2=http://127.0.0.1:8081";
    assert!(both.hurl.contains(&format!("# hurl {usage} FILE")), "{both:?}");
    let nowhere = HarOptions { assets: false, origins: vec!["https://nowhere.example".to_owned()] };
    assert!(made(entries(), &nowhere).unwrap_err().contains("left out: 1 not understood"));
    assert!(made(Vec::new(), &HarOptions::default()).unwrap_err().contains("no request"));
    assert!(flow_of_har(b"{\"log\": 1}", "a.har", &HarOptions::default()).is_err());
}

#[test]
fn remarks_are_short_and_hold_no_control_characters() {
    let cookies = format!("a\u{1b}[31mRED=1; {}=1; c=1; d=1; e=1; f=1", "b".repeat(500));
    let sent: Vec<_> = (0..9).map(|n| (format!("X-Api-Key-{n}"), "1")).collect();
    let sent: Vec<_> = sent.iter().map(|(name, value)| (&**name, *value)).chain([("cookie", &*cookies)]).collect();
    let flow =
        made(vec![entry(0, "GET", "/", json!({"request": {"headers": headers(&sent)}}))], &HarOptions::default());
    let flow = flow.unwrap();
    assert!(!flow.notes.concat().contains(char::is_control), "{:?}", flow.notes);
    assert!(flow.notes.iter().all(|note| note.len() < 400), "{:?}", flow.notes);
    assert!(flow.notes[1].contains("a [31mRED, bbb") && flow.notes[1].contains("…, c, d, e, …;"), "{:?}", flow.notes);
    assert!(flow.notes[2].contains("X-Api-Key-4 (1), …;"), "{:?}", flow.notes);
}

#[test]
fn bodies_are_kept_as_they_were() {
    let body = |mime: &str, data: Value| {
        let mut data = data;
        merge(&mut data, json!({"mimeType": mime}));
        steps(
            &made(vec![entry(0, "POST", "/", json!({"request": {"postData": data}}))], &HarOptions::default()).unwrap(),
        )
        .to_owned()
    };
    let form = "application/x-www-form-urlencoded; charset=utf-8";
    for (mime, data, wanted) in [
        ("text/plain", json!({"text": "a\n{{b}}`"}), "Content-Type: text/plain\n`a\\u{a}\\u{7b}{b}}\\u{60}`\n"),
        (
            "application/octet-stream",
            json!({"text": "AAH/", "encoding": "base64"}),
            "Content-Type: application/octet-stream\nbase64,AAH/;\n",
        ),
        (form, json!({"params": [{"name": "a[b]", "value": "c: d"}]}), "[Form]\na\\u{5b}b\\u{5d}: c: d\n"),
        (form, json!({"text": "a%26b+c%3D=d%26"}), "[Form]\na\\u{25}26b\\u{25}20c\\u{25}3D: d&\n"),
        // Text that Hurl's form would trim.
        (form, json!({"text": "a=+b"}), "Content-Type: application/x-www-form-urlencoded; charset=utf-8\n`a=+b`\n"),
    ] {
        assert_eq!(body(mime, data), format!("POST {{{{host}}}}/\n{wanted}HTTP 200\n"), "{mime}");
    }
}

#[test]
fn a_list_that_looks_like_a_section_is_a_body() {
    for body in [
        "[null]",
        "[true]",
        "[ false ]",
        "[\nnull\n]",
        "[[true]]",
        "[1, null]",
        "[\n[false]\n]",
        "{\"a\":\n[true]}",
        "[]",
    ] {
        let data = json!({"mimeType": "application/json", "text": body});
        let flow = made(vec![entry(0, "POST", "/", json!({"request": {"postData": data}}))], &HarOptions::default());
        let read = parsed(&flow.unwrap());
        let requests = read.requests();
        let bytes = requests.bytes(requests.choose(0));
        assert!(bytes.ends_with(format!("\r\n\r\n{body}").as_bytes()), "{}", String::from_utf8_lossy(bytes));
    }
}

proptest! {
    /// The parser reads the flow of any recording, and the first request is sent as it was recorded.
    #[test]
    fn every_archive_is_a_flow_that_is_read(
        recorded in prop::collection::vec(
            ("(GET|POST|PUT|DELETE)", "(/[ -~äß]{0,12}){1,3}", prop::collection::vec(("[A-Za-z][A-Za-z0-9-]{0,6}", "[ -~ä]{0,12}"), 0..4),
             proptest::option::of(prop_oneof![".{0,30}", "\\PC{0,10}", r#"\{"[a-z]\{\{": \[1, "`#"\]\}"#])),
            1..5,
        ),
        mime in prop::sample::select(vec!["text/plain", "application/json", "application/x-www-form-urlencoded", ""]),
    ) {
        let entries = recorded.iter().enumerate().map(|(nth, (method, path, fields, body))| {
            let fields: Vec<_> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
            let data = body.as_ref().map_or(Value::Null, |body| json!({"mimeType": mime, "text": body}));
            entry(nth as u32 * 100, method, path, json!({"request": {"headers": headers(&fields), "postData": data}}))
        });
        let flow = made(entries.collect(), &HarOptions { assets: true, origins: Vec::new() }).unwrap();
        let read = parsed(&flow);
        prop_assert_eq!(read.requests_per_session() as usize, recorded.len());
        let requests = read.requests();
        let bytes = requests.bytes(requests.choose(0));
        let (method, _, _, body) = &recorded[0];
        let begins = [method.as_bytes(), b" /"].concat();
        prop_assert!(bytes.starts_with(&begins));
        let is_form = flow.hurl.contains("[Form]");
        if let Some(body) = body.as_ref().filter(|_| !is_form) {
            let sent = bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| &bytes[at + 4..]).unwrap();
            let is_json = body.trim().starts_with(['{', '[']);
            prop_assert!(sent == body.as_bytes() || is_json && sent == body.trim().as_bytes(), "{:?}", flow.hurl);
        }
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = flow_of_har(&bytes, "a", &HarOptions::default());
    }
}
