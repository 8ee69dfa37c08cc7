//! Scripts of k6 as flows, which truetail's parser reads.

use truetail_flow::Flow;
use truetail_import::ways::{LoadFiles, load_of_k6};

use super::file;

pub(super) fn load(script: &str) -> LoadFiles {
    load_of_k6(script.as_bytes(), "shop.js").unwrap_or_else(|error| panic!("{error}"))
}

/// Parses a flow, with a value for each variable.
pub(super) fn parsed(load: &LoadFiles, name: &str, variables: &[&str]) -> Flow {
    let variables: Vec<(String, String)> =
        variables.iter().map(|name| ((*name).to_owned(), "http://127.0.0.1:1/".to_owned())).collect();
    let text = file(load, name);
    Flow::parse(name, text, &variables, &|_| Err("no file".to_owned()))
        .unwrap_or_else(|error| panic!("{}: {}\n{text}", error.line, error.problem))
}

const SESSION: &str = r#"
import http, { url as u } from 'k6/http';
import { check, group, sleep as pause } from 'k6';
import { randomIntBetween, uuidv4 } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';
import { Trend } from 'k6/metrics';

const BASE = __ENV.BASE || 'http://127.0.0.1:8080';
const json = { 'Content-Type': 'application/json' };
const slow = new Trend('slow');
let seen = 0;

export const options = {
  scenarios: {
    shop: { executor: 'constant-arrival-rate', rate: 90, timeUnit: '1m', duration: '1m30s', preAllocatedVUs: 5 },
  },
  thresholds: { http_req_duration: ['p(95)<500', 'avg<200'], http_req_failed: ['rate<0.01'], slow: ['p(95)<3'] },
};

function login(user) {
  const res = http.post(`${BASE}/login`, JSON.stringify({ user, n: 1, id: uuidv4() }), { headers: json });
  check(res, { 'logged in': (r) => r.status === 200 && r.json('ok') === true, odd: (r) => r.cookies.a });
  return res.json('data.token');
}

export default function () {
  const token = login('ann');
  const params = { headers: { ...json, Authorization: `Bearer ${token}` }, tags: { name: 'list' }, timeout: '5s' };
  pause(1.5);
  group('items', () => {
    let res = http.get(`${BASE}/items?n=${randomIntBetween(1, 6)}`, params);
    check(res, { listed: (r) => r.body.includes('"items"') && r.headers['X-Kind'] !== undefined });
    slow.add(res.timings.duration);
    pause(Math.random() * 2);
    http.put(BASE + '/items/' + res.json().items[0].id, { a: 'b c', n: 3 }, { redirects: 0 });
  });
  seen += 1;
  if (seen > 3) { http.del(`${BASE}/items`); }
  pause(1);
}
"#;

#[test]
fn a_session_is_read_statement_by_statement() {
    let load = load(SESSION);
    let flow = file(&load, "shop.hurl");
    let wanted = r#"# truetail: name POST /login
# not read: line 21: odd: (r) => r.cookies.a
POST {{BASE}}/login
Content-Type: application/json
[Options]
location: true
max-redirs: 10
{"user":"ann","n":1,"id":"{{newUuid}}"}
HTTP 200
[Captures]
token: jsonpath "$.data.token"
[Asserts]
jsonpath "$.ok" == true

# truetail: name items/list
# truetail: delay 1500ms
GET {{BASE}}/items?n={{randomInt 1 6}}
Content-Type: application/json
Authorization: Bearer {{token}}
[Options]
location: true
max-redirs: 10
max-time: 5s
HTTP *
[Captures]
id: jsonpath "$.items[0].id"
[Asserts]
body contains "\u{22}items\u{22}"
header "X-Kind" exists

# truetail: name items/PUT /items/{id}
# truetail: delay uniform 0s..2s
# not read: line 32: slow.add(res.timings.duration);
PUT {{BASE}}/items/{{id}}
[Form]
a: b c
n: 3
HTTP *

# not read: line 36: seen += 1;
# not read: line 37: if (seen > 3) { http.del(`${BASE}/items`); } (with a request)
"#;
    assert_eq!(flow, wanted, "{flow}");
    let toml = file(&load, "truetail.toml");
    let entry = toml.split_once("\n\n").expect("an entry").1;
    let wanted = r#"[run.shop]
flow = "shop.hurl"
duration = "90s"
rate = "90/m"
variable = ["BASE=http://127.0.0.1:8080"]
slo = ["p95 < 500ms", "mean < 200ms", "error-rate < 1%"]
"#;
    assert_eq!(entry, wanted, "{toml}");
    assert!(toml.contains("# not read: the threshold slow: p(95)<3\n"), "{toml}");
    assert_eq!(parsed(&load, "shop.hurl", &["BASE"]).requests_per_session(), 3);
    assert_eq!(load.notes[0], "3 requests of shop.js");
}

#[test]
fn users_have_no_rate_and_simple_scripts_no_flow() {
    let one = load(
        "import http from 'k6/http'; import { sleep, check } from 'k6';
        export let options = { vus: 10, duration: '30s' };
        export default () => { const r = http.get('http://127.0.0.1:8080/a?b=c');
            check(r, { ok: r => r.status == 200 }); sleep(0.5); }",
    );
    let entry = file(&one, "truetail.toml").split_once("\n\n").expect("an entry").1;
    let wanted = "[run.shop]\nurl = \"http://127.0.0.1:8080/a?b=c\"\ncheck = \"status == 200\"\nmodel = \"closed\"\n\
        users = 10\nthink-time = \"500ms\"\nduration = \"30s\"\n\
        # changed: redirects are not followed, unlike in a flow\n";
    assert_eq!((entry, one.files.len()), (wanted, 1));
    let two = load(
        "import http from 'k6/http'; import { sleep } from 'k6';
        export const options = { stages: [{ duration: '1m', target: 20 }, { duration: '10s', target: 0 }] };
        export default function () { http.get('http://127.0.0.1:8080/a'); sleep(2); http.get('http://127.0.0.1:8080/b'); }",
    );
    let toml = file(&two, "truetail.toml");
    assert!(
        toml.contains("flow = \"shop.hurl\"\nduration = \"70s\"\n# not read: 1 user, then to 20 in 60s, to 0 in 10s. "),
        "{toml}"
    );
    assert!(two.notes.iter().any(|note| note == "choose a rate in truetail.toml, because users have none: shop"));
    assert_eq!(parsed(&two, "shop.hurl", &[]).requests_per_session(), 2);
}

/// Users who come and go are users over time, with the last number of each stage.
#[test]
fn users_who_come_and_go_are_stages() {
    for (options, wanted) in [
        (
            "stages: [{ duration: '1m', target: 20 }, { duration: '30s', target: 20 }, { duration: '10s', target: 0 }]",
            "users = \"1..20/1m,20/30s,20..0/10s\"\nthink-time = \"1s\"\nduration = \"100s\"\n",
        ),
        (
            "scenarios: { shop: { executor: 'ramping-vus', startVUs: 0, gracefulRampDown: '5s', gracefulStop: '7s',
                stages: [{ duration: '0s', target: 5 }, { duration: 10000, target: 5 }] } }",
            "users = \"steps:5/10s\"\nthink-time = \"1s\"\ndrain = \"7s\"\nduration = \"10s\"\n",
        ),
    ] {
        let script = format!(
            "import http from 'k6/http'; import {{ sleep }} from 'k6';
            export const options = {{ {options} }};
            export default function () {{ http.get('http://127.0.0.1:8080/a', {{ redirects: 0 }}); sleep(1); }}"
        );
        let load = load(&script);
        let entry = file(&load, "truetail.toml").split_once("\n\n").expect("an entry").1;
        let wanted = format!("[run.shop]\nurl = \"http://127.0.0.1:8080/a\"\nmodel = \"closed\"\n{wanted}");
        assert_eq!((entry, load.files.len()), (wanted.as_str(), 1), "{options}");
    }
}

/// A number or a list that is not read leaves no load that could be run by mistake.
#[test]
fn users_that_cannot_be_read_are_no_load() {
    let stages = |count: usize| format!("stages: [{}]", "{ duration: '1s', target: 3 }, ".repeat(count));
    for (options, remarks) in [
        (
            format!("scenarios: {{ shop: {{ executor: 'ramping-vus', startVUs: __ENV.N, {} }} }}", stages(2)),
            &["# not read: startVUs, whose value only a run knows", "# not read: ? users, then to 3 in 1s, "][..],
        ),
        (format!("vus: __ENV.N, {}", stages(2)), &["# not read: vus, whose", "# not read: ? users, then to 3"]),
        ("vus: __ENV.N, duration: '5s'".to_owned(), &["# not read: vus, whose", "# not read: ? users. Each"]),
        (
            stages(201),
            &["# not read: 201 stages; a load has at most 200 here", "# not read: 1 user, then to 3 in 1s, "],
        ),
    ] {
        let script = format!(
            "import http from 'k6/http';
            export const options = {{ {options} }};
            export default function () {{ http.get('http://127.0.0.1:8080/a', {{ redirects: 0 }}); }}"
        );
        let load = load(&script);
        let toml = file(&load, "truetail.toml");
        assert!(!toml.contains("users = ") && toml.contains("flow = \"shop.hurl\"\n"), "{options}: {toml}");
        remarks.iter().for_each(|remark| assert!(toml.contains(remark), "{remark}: {toml}"));
    }
    let most = load(&format!(
        "import http from 'k6/http';
        export const options = {{ {} }};
        export default function () {{ http.get('http://127.0.0.1:8080/a', {{ redirects: 0 }}); }}",
        stages(200)
    ));
    assert!(file(&most, "truetail.toml").contains("users = \"1..3/1s,3/1s,"), "{most:?}");
}

/// Too many stages of a rate would keep the last one that is read.
#[test]
fn too_many_stages_of_a_rate_are_no_load() {
    let stages = "{ duration: '1s', target: 3 }, ".repeat(201);
    let load = load(&format!(
        "import http from 'k6/http';
        export const options = {{ scenarios: {{ shop: {{ executor: 'ramping-arrival-rate', stages: [{stages}] }} }} }};
        export default function () {{ http.get('http://127.0.0.1:8080/a'); }}"
    ));
    let toml = file(&load, "truetail.toml");
    assert!(!toml.contains("profile = ") && toml.contains("# not read: stages, whose value"), "{toml}");
}

#[test]
fn what_comes_before_the_load_needs_a_flow() {
    let load = load(
        "import http from 'k6/http';
        export const options = { vus: 10, duration: '60s' };
        export function setup() { http.get('http://127.0.0.1:8080/status'); }
        export default function () { http.get('http://127.0.0.1:8080/page'); }",
    );
    let toml = file(&load, "truetail.toml");
    assert!(toml.contains("flow = \"shop.hurl\"\nsetup = \"setup.hurl\"\nduration = \"60s\"\n"), "{toml}");
    assert!(file(&load, "setup.hurl").contains("GET http://127.0.0.1:8080/status\n"));
}

#[test]
fn setup_gives_sessions_its_data_and_scenarios_have_functions() {
    let load = load(
        "import http from 'k6/http';
        export const options = { scenarios: {
            read: { executor: 'ramping-arrival-rate', startRate: 1, timeUnit: '1s', exec: 'list',
                stages: [{ target: 10, duration: '10s' }, { target: 10, duration: '1m' }] },
            write: { executor: 'constant-arrival-rate', rate: 2, duration: '1m', exec: 'add', env: { KIND: 'x' } } } };
        export function setup() { const r = http.post('http://127.0.0.1:8080/token'); return { token: r.json('t') }; }
        export function list(data) { http.get('http://127.0.0.1:8080/', { headers: { 'X-Token': data.token } }); }
        export function add(data) { http.post('http://127.0.0.1:8080/' + __ENV.KIND, 'hello'); }",
    );
    assert!(file(&load, "setup.hurl").contains("[Captures]\ntoken: jsonpath \"$.t\"\n"));
    assert!(file(&load, "list.hurl").contains("X-Token: {{token}}\n"));
    assert!(file(&load, "add.hurl").contains("POST http://127.0.0.1:8080/{{KIND}}\n[Options]"));
    let toml = file(&load, "truetail.toml");
    for line in
        ["profile = \"1..10/10s,10/60s\"", "rate = \"2/s\"", "variable = [\"KIND=x\"]", "setup = \"setup.hurl\""]
    {
        assert!(toml.lines().any(|there| there == line), "{line}: {toml}");
    }
    parsed(&load, "list.hurl", &["token"]);
}

#[test]
fn values_that_only_a_run_knows_are_never_guessed() {
    let load = load(
        "import http from 'k6/http'; import { check } from 'k6';
        const users = JSON.parse(open('./users.json'));
        let count = 0;
        export default function () {
            count += 1;
            const user = users[count % users.length];
            const params = { headers: { A: '1' } };
            sign(params);
            http.get('http://127.0.0.1/' + count + '/' + user.name, params);
            for (let i = 0; i < 3; i++) { http.get('http://127.0.0.1/' + i); }
            const body = user.ok ? 'a' : 'b';
            http.post('http://127.0.0.1/', body);
        }",
    );
    let flow = file(&load, "shop.hurl");
    for part in [
        "# not read: line 8: sign(params);",
        "GET http://127.0.0.1/{{count}}/{{user_name}}\n",
        "(its parameters, headers among them)",
        "for (let i = 0; i < 3; i++) { http.get('http://127.0.0.1/' + i); } (with a request)",
        "`{{body}}`",
    ] {
        assert!(flow.contains(part), "{part} is missing:\n{flow}");
    }
    assert!(!flow.contains("A: 1"), "{flow}");
    let needed = "give these variables with --variable: body, count, user_name";
    assert!(load.notes.iter().any(|note| note == needed), "{:?}", load.notes);
}

#[test]
fn what_is_no_script_is_told_in_a_line() {
    for (script, says) in [
        ("const a: number = 1;", "line 1: it is not JavaScript"),
        ("\n\nexport default function () { http.get( }", "line 3"),
        ("const a = 1;", "it has no function"),
        ("export default function () {}", "none of its requests"),
    ] {
        let error = load_of_k6(script.as_bytes(), "a.js").unwrap_err().to_string();
        assert!(error.contains(says) && !error.contains('\n'), "{script}: {error}");
    }
    let deep = format!("export default function () {{ let a = {}1{}; }}", "(".repeat(3000), ")".repeat(3000));
    assert!(load_of_k6(deep.as_bytes(), "a.js").is_err());
}

#[test]
fn a_value_that_is_made_once_is_the_same_in_all_requests() {
    let load = load(
        "import http from 'k6/http';
        const start = Date.now();
        export default function () {
            const user = { name: 'u_' + Date.now() };
            http.post('http://127.0.0.1/register', JSON.stringify(user));
            http.post('http://127.0.0.1/login/' + Date.now(), JSON.stringify(user));
            http.get('http://127.0.0.1/' + start);
        }",
    );
    let flow = file(&load, "shop.hurl");
    for part in [
        "variable: now_1={{now}}\n",
        "`{\"name\":\"u_{{now_1}}\"}`\nHTTP *\n\n# truetail: name POST /login",
        "/login/{{now}}\n",
        "GET http://127.0.0.1/{{start}}\n",
    ] {
        assert!(flow.contains(part), "{part} is missing:\n{flow}");
    }
    assert_eq!(flow.matches("{\"name\":\"u_{{now_1}}\"}").count(), 2, "{flow}");
    assert!(file(&load, "truetail.toml").contains("# not read: line 2: the value of start is made once\n"));
    assert!(load.notes.iter().any(|note| note == "give these variables with --variable: start"), "{:?}", load.notes);
    assert_eq!(parsed(&load, "shop.hurl", &["start"]).requests_per_session(), 3);
}

/// Damaged scripts give an error, or flows that our own parser reads.
#[test]
fn flows_of_damaged_scripts_can_be_read() {
    const PIECES: [&str; 10] = ["a", "\u{e9}", "{{", "}}", "#", "\\u{7b}", "%", "\\n", "\\\"", "/"];
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut read = 0;
    for _ in 0..400 {
        let mut script = SESSION.to_owned();
        for _ in 0..=next(3) {
            let at = next(script.len());
            if script.as_bytes()[at].is_ascii_alphabetic() {
                script.replace_range(at..=at, PIECES[next(PIECES.len())]);
            }
        }
        let Ok(load) = load_of_k6(script.as_bytes(), "shop.js") else { continue };
        read += 1;
        for (name, text) in load.files.iter().filter(|(name, _)| name.ends_with(".hurl")) {
            let names: Vec<&str> = text.split("{{").skip(1).filter_map(|rest| rest.split("}}").next()).collect();
            parsed(&load, name, &names);
        }
    }
    assert!(read > 50, "{read}");
}
