//! Values of k6's scripts that are easily misread: none may be written differently than k6 sends it.

use super::file;
use super::k6::{load, parsed};

/// Returns the flow of statements in the default function, after others around it.
fn flow_of(before: &str, statements: &str) -> String {
    let script = format!(
        "import http from 'k6/http'; import {{ check }} from 'k6';\n{before}\n\
         export default function () {{\n{statements}\nhttp.get('http://127.0.0.1/end'); }}"
    );
    file(&load(&script), "shop.hurl").to_owned()
}

fn assert_flow(before: &str, statements: &str, has: &[&str], lacks: &[&str]) {
    let flow = flow_of(before, statements);
    for part in has {
        assert!(flow.contains(part), "{statements}: {part} is missing:\n{flow}");
    }
    for part in lacks {
        assert!(!flow.contains(part), "{statements}: {part}:\n{flow}");
    }
}

#[test]
fn names_have_their_scope() {
    let get = |name: &str| format!("http.get('http://127.0.0.1/' + {name});");
    let inner = format!("{{ const n = 9; {} }} {}", get("n"), get("n"));
    assert_flow("const n = 3;", &inner, &["GET http://127.0.0.1/9\n", "GET http://127.0.0.1/3\n"], &[]);
    let outer = format!("{{ var v = 'a'; }} {}", get("v"));
    assert_flow("", &outer, &["GET http://127.0.0.1/a\n"], &[]);
    assert_flow("var n = 'a';\nn = 'b';", &get("n"), &["GET http://127.0.0.1/{{n}}\n"], &["/a\n", "/b\n"]);
    assert_flow("const n = ['a'];\nn.push('b');", &get("n[0]"), &[], &["/a\n"]);
}

#[test]
fn an_object_that_is_changed_under_another_name_is_unknown() {
    let post = "http.post('http://127.0.0.1/', JSON.stringify(o));";
    for change in ["const p = o; p.k = 'w';", "const p = { o }; p.o.k = 'w';", "let n = change(o);"] {
        assert_flow("", &format!("const o = {{ k: 'v' }}; {change} {post}"), &["{{"], &["\"v\""]);
    }
    assert_flow("const o = { k: 'v' };", &format!("const p = o; p.k = 'w'; {post}"), &["{{"], &["\"v\""]);
    assert_flow("", &format!("const o = {{ k: 'v' }}; console.log(o); {post}"), &["`{\"k\":\"v\"}`"], &[]);
}

#[test]
fn bodies_are_sent_as_k6_sends_them() {
    let post = |body: &str| format!("http.post('http://127.0.0.1/', {body});");
    let typed =
        |body: &str| format!("http.post('http://127.0.0.1/', {body}, {{ headers: {{ 'Content-Type': 'text/x' }} }});");
    // Without Content-Type, a body that is written as JSON would be sent with that of JSON.
    assert_flow("", &post("JSON.stringify({ a: 1 })"), &["\n`{\"a\":1}`\n"], &[]);
    assert_flow(
        "",
        &typed("JSON.stringify({ a: 1, b: undefined, c: [undefined, null] })"),
        &["\n{\"a\":1,\"c\":[null,null]}\n"],
        &[],
    );
    assert_flow("", &post("'' + 1e21"), &[], &["1000000000000000000000"]);
    assert_flow("", &post("'' + undefined + null"), &["`undefinednull`"], &[]);
    assert_flow(
        "",
        &post("{ a: 1, b: [1, 2] }"),
        &["# not read: a value of the next request, {{value}}\n", "\nb: {{value}}\n"],
        &["b: 1"],
    );
}

#[test]
fn braces_of_the_script_begin_no_placeholder() {
    let query = "http.post('http://127.0.0.1/', '{\"query\":\"{' + id + '}\"}', { headers: { 'Content-Type': 'application/json' } });";
    let graphql = load(&format!(
        "import http from 'k6/http'; export default function () {{ const id = next(); {query} http.get('http://127.0.0.1/'); }}"
    ));
    assert!(
        file(&graphql, "shop.hurl").contains("`{\"query\":\"\\u{7b}{{id}}}\"}`\n"),
        "{}",
        file(&graphql, "shop.hurl")
    );
    parsed(&graphql, "shop.hurl", &["id"]);
    for params in ["", ", { headers: { 'X-T': '{{seq}}' } }"] {
        let body = if params.is_empty() { "hello {{name}}" } else { "hello" };
        let one = load(&format!(
            "import http from 'k6/http'; export const options = {{ vus: 2, duration: '1s' }};
            export default function () {{ http.post('http://127.0.0.1/', '{body}'{params}); }}"
        ));
        assert!(file(&one, "shop.hurl").contains("\\u{7b}{"), "{}", file(&one, "shop.hurl"));
        parsed(&one, "shop.hurl", &[]);
    }
}

#[test]
fn parameters_that_a_flow_cannot_have_are_marked() {
    let get = |params: &str| format!("http.get('http://127.0.0.1/', {params});");
    assert_flow("", &get("{ redirects: 2.5 }"), &["(its parameter 'redirects')"], &["max-redirs: 2.5"]);
    assert_flow("", &get("{ headers: { '#a': 'b' } }"), &["# not read: headers: #a\n"], &["#a: b"]);
}

#[test]
fn only_checks_that_mean_the_same_are_asserts() {
    for (check, assert) in [
        ("r.json('a') !== undefined", Some("jsonpath \"$.a\" exists")),
        ("r.json('a') === 1", Some("jsonpath \"$.a\" == 1")),
        ("r.json('a') == 1", None),
        ("r.json('a') !== null", None),
        ("r.body.length > 0", Some("bytes count > 0")),
        ("r.body.length > 10", None),
    ] {
        let statement = format!("const r0 = http.get('http://127.0.0.1/'); check(r0, {{ c: (r) => {check} }});");
        let flow = flow_of("", &statement);
        match assert {
            Some(assert) => assert!(flow.contains(&format!("[Asserts]\n{assert}\n")), "{check}:\n{flow}"),
            None => {
                assert!(flow.contains("# not read: line 4: c: ") && !flow.contains("[Asserts]"), "{check}:\n{flow}")
            }
        }
    }
}

#[test]
fn options_that_only_a_run_knows_or_nobody_can_have_are_remarks() {
    let load = load(
        "import http from 'k6/http';
        export const options = { thresholds: { http_req_duration: ['p(NaN)<1', 'p(101)<3', 'p(95)<Infinity', 'p(9)<2'] },
            scenarios: {
            'a b': { executor: 'constant-arrival-rate', rate: 5, duration: '10 years', exec: 'shop' },
            'a.b': { executor: 'constant-arrival-rate', rate: 1e400, duration: '1s', exec: 'shop' },
            c: { executor: 'constant-arrival-rate', rate: -3, timeUnit: '0s', duration: '1s', exec: 'setup' },
            d: { executor: 'ramping-arrival-rate', stages: [{ target: -5, duration: '1s' }], exec: 'other' },
            e: { executor: 'constant-vus', vus: __ENV.USERS, duration: -1, exec: 'other' },
            f: { executor: 'shared-iterations', vus: 2, iterations: 2.5 } } };
        export function setup() { http.get('http://127.0.0.1/setup'); }
        export function shop() { http.get('http://127.0.0.1/shop'); }
        export function other() { http.get('http://127.0.0.1/other'); }
        export default function () { http.get('http://127.0.0.1/default'); }",
    );
    let toml = file(&load, "truetail.toml");
    let entries: Vec<&str> = toml.split("\n[run.").skip(1).collect();
    let remark = |key: &str| format!("# not read: {key}, whose value only a run knows or truetail cannot have\n");
    let wanted = [
        ("a_b]", "flow = \"shop.hurl\"", "duration", "duration ="),
        ("a_b_2]", "flow = \"shop.hurl\"", "rate", "rate ="),
        ("c]", "flow = \"setup_2.hurl\"", "rate", "rate ="),
        ("d]", "flow = \"other.hurl\"", "stages", "profile ="),
        ("e]", "flow = \"other.hurl\"", "vus", "duration ="),
        ("f]", "flow = \"shop_2.hurl\"", "iterations", "requests ="),
    ];
    assert_eq!(entries.len(), wanted.len(), "{toml}");
    for (entry, (name, flow, unread, lacks)) in entries.iter().zip(wanted) {
        assert!(entry.starts_with(name) && entry.contains(flow) && entry.contains(&remark(unread)), "{entry}");
        assert!(!entry.contains(lacks) && entry.contains("slo = [\"p9 < 2ms\"]\n"), "{lacks}: {entry}");
    }
    assert_eq!(toml.matches("# not read: the threshold http_req_duration: ").count(), 3, "{toml}");
    for (name, path) in [("shop", "shop"), ("shop_2", "default"), ("setup", "setup"), ("setup_2", "setup")] {
        let name = format!("{name}.hurl");
        assert!(file(&load, &name).contains(&format!("GET http://127.0.0.1/{path}\n")), "{name}");
        parsed(&load, &name, &[]);
    }
}
