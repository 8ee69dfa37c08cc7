//! `truetail flow from-postman`, `from-k6` and `from-jmx`: what others wrote for other tools, as loads.

use serde_json::{Value, json};

use super::flow_server::{Asked, Server};
use super::support::{TestDir, assert_balanced};
use super::ways::{asked, counts, ok, url};

/// A collection with a login, a folder with another authorization, forms, and what a flow cannot have.
fn collection() -> Value {
    json!({
        "info": {"name": "Shop", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
        "variable": [{"key": "base url", "value": "https://shop.example"}, {"key": "size", "value": "10"}],
        "event": [{"listen": "prerequest", "script": {"exec": ["console.log('whole')"]}}],
        "item": [
            {
                "name": "Log in",
                "event": [{"listen": "test", "script": {"exec": [
                    "const data = pm.response.json();",
                    "pm.test('ok', () => {", "    pm.response.to.have.status(200);", "});",
                    "pm.environment.set('token', data.auth.token);",
                    "pm.environment.set('later', Date.now() + 5);"
                ]}}],
                "request": {
                    "method": "POST",
                    "url": {"raw": "{{base url}}/login", "host": ["{{base url}}"]},
                    "header": [{"key": "X-Off", "value": "1", "disabled": true}, {"key": "X-Id", "value": "{{$guid}}"}],
                    "body": {"mode": "raw", "raw": "{\"user\": \"ann\", \"size\": {{size}}}",
                             "options": {"raw": {"language": "json"}}}
                }
            },
            {
                "name": "Cart / all",
                "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{token}}", "type": "string"}]},
                "item": [
                    {"name": "Get", "request": {"method": "GET", "url": {
                        "raw": "{{base url}}/carts/:id?x=a b&y={{size}}", "variable": [{"key": "id", "value": "7"}]}}},
                    {"name": "Put", "request": {"method": "PUT", "auth": {"type": "noauth"}, "url": "{{base url}}/form",
                        "body": {"mode": "urlencoded", "urlencoded": [
                            {"key": "a b", "value": "c & d"}, {"key": "off", "value": "1", "disabled": true}]}}},
                    {"name": "Signed", "request": {"method": "GET", "auth": {"type": "awsv4"}, "url": "{{base url}}/s"}}
                ]
            },
            {"name": "Nothing", "request": {"method": "GET"}}
        ]
    })
}

#[test]
fn a_collection_of_postman_becomes_a_flow() {
    let server = Server::start(|_, asked| {
        let is_login = asked.line.starts_with("POST /login");
        (200, Vec::new(), if is_login { r#"{"auth": {"token": "t-1"}}"#.to_owned() } else { "{}".to_owned() })
    });
    let dir = TestDir::new();
    dir.file("shop.json", &collection().to_string());
    let made = ok(dir.truetail(&["flow", "from-postman", "shop.json", "-o", "shop.hurl"]));
    assert!(made.stderr.contains("4 requests of shop.json; left out: 1 without a URL that can be sent"), "{made:?}");
    assert!(made.stderr.contains("3 parts could not be read"), "{made:?}");
    let text = std::fs::read_to_string(dir.path().join("shop.hurl")).unwrap();
    for line in [
        "# not read: script of the collection: console.log('whole')",
        "# not read: script: pm.environment.set('later', Date.now() + 5);",
        "# not read: authorization of the type awsv4",
        "# truetail run --flow FILE -r 1 -d 10s --variable base_url=http://127.0.0.1:8080 --variable size=10",
    ] {
        assert!(text.lines().any(|there| there == line), "{line}: {text}");
    }
    let base = format!("base_url={}", url(&server));
    let load = ["run", "--flow", "shop.hurl", "--variable", &base, "--variable", "size=3", "-r", "20", "-d", "250ms"];
    let run = ok(dir.truetail(&[&load[..], &["--json", "--quiet", "--no-save", "--no-preflight"]].concat())).json();
    assert_balanced(&run);
    assert_eq!(run["sessions"]["tally"]["completed"], 5, "{}", run["sessions"]["tally"]);
    let names: Vec<_> = run["sessions"]["steps"].as_array().unwrap().iter().map(|step| step["name"].clone()).collect();
    assert_eq!(names, ["Log in", "Cart all/Get", "Cart all/Put", "Cart all/Signed"]);
    let seen = asked(&server);
    let of = |start: &str| seen.iter().filter(|asked| asked.line.starts_with(start)).collect::<Vec<_>>();
    let logins = of("POST /login ");
    assert!(logins.len() == 5 && logins.iter().all(|asked| asked.body == "{\"user\": \"ann\", \"size\": 3}"));
    assert!(logins.iter().all(|asked| asked.field("content-type") == Some("application/json")));
    assert!(logins.iter().all(|asked| asked.field("x-off").is_none()));
    let ids = counts(logins.iter().map(|asked| asked.field("x-id").unwrap_or_default().to_owned()));
    assert!(ids.len() == 5 && ids.keys().all(|id| id.len() == 36), "{ids:?}");
    let carts = of("GET /carts/7?x=a%20b&y=3 ");
    assert!(carts.len() == 5 && carts.iter().all(|asked| asked.field("authorization") == Some("Bearer t-1")));
    let forms = of("PUT /form ");
    assert!(forms.len() == 5 && forms.iter().all(|asked| asked.body == "a%20b=c%20%26%20d"), "{:?}", forms[0].body);
    assert!(forms.iter().all(|asked| asked.field("authorization").is_none()));
    for (text, says) in [("{}", "it is not a collection"), ("{\"info\":{\"schema\":\"v1.0\"}}", "its schema is 'v1.0'")]
    {
        dir.file("other.json", text);
        let refused = dir.truetail(&["flow", "from-postman", "other.json"]);
        assert!(refused.code == Some(1) && refused.stderr.contains(says), "{refused:?}");
    }
}

#[test]
fn a_script_of_k6_becomes_a_load() {
    let server = Server::start(|_, asked| {
        let is_login = asked.line.starts_with("POST /login");
        (200, Vec::new(), if is_login { r#"{"token": "t-1"}"#.to_owned() } else { "{}".to_owned() })
    });
    let dir = TestDir::new();
    let script = "import http from 'k6/http'; import { check, group } from 'k6';
        const BASE = __ENV.BASE || 'http://127.0.0.1:1';
        export const options = { scenarios: { shop: { executor: 'constant-arrival-rate', rate: 20, timeUnit: '1s',
            duration: '250ms', preAllocatedVUs: 1 } }, thresholds: { http_req_failed: ['rate<0.5'] } };
        export default function () {
            const user = { name: 'u' + Date.now() };
            const res = http.post(`${BASE}/login`, JSON.stringify(user), { headers: { 'Content-Type': 'application/json' } });
            check(res, { ok: (r) => r.status === 200 });
            const token = res.json('token');
            group('buy', () => http.put(`${BASE}/items/7`, JSON.stringify(user), { headers: { 'X-Token': token } }));
        }";
    dir.file("shop.js", script);
    let made = ok(dir.truetail(&["flow", "from-k6", "shop.js", "--out", "load"]));
    assert!(made.stderr.contains("shop.hurl, truetail.toml in load"), "{made:?}");
    let again = dir.truetail(&["flow", "from-k6", "shop.js", "--out", "load"]);
    assert!(again.code == Some(2) && again.stderr.contains("exists already"), "{again:?}");
    for name in ["shop.hurl", "truetail.toml"] {
        std::fs::rename(dir.path().join("load").join(name), dir.path().join(name)).unwrap();
    }
    let base = format!("BASE={}", url(&server));
    let run = ["run", "shop", "--variable", &base, "--json", "--quiet", "--no-save", "--no-preflight"];
    let run = ok(dir.truetail(&run)).json();
    assert_balanced(&run);
    assert_eq!(run["sessions"]["tally"]["completed"], 5, "{}", run["sessions"]["tally"]);
    assert_eq!(run["gates"][0]["state"], "holds", "{}", run["gates"]);
    let seen = asked(&server);
    let of = |start: &str| seen.iter().filter(|asked| asked.line.starts_with(start)).collect::<Vec<_>>();
    let logins = of("POST /login ");
    let items = of("PUT /items/7 ");
    assert_eq!((logins.len(), items.len()), (5, 5));
    assert!(items.iter().all(|asked| asked.field("x-token") == Some("t-1")));
    // A name is made once in a session, and sent twice.
    let names = |asked: &[&Asked]| counts(asked.iter().map(|asked| asked.body.clone()));
    assert_eq!(names(&logins), names(&items));
    assert!(logins.iter().all(|asked| asked.body.starts_with("{\"name\":\"u1")), "{:?}", logins[0].body);
}

#[test]
fn what_is_no_script_or_plan_is_one_line() {
    let dir = TestDir::new();
    dir.file("a.js", "export default function () { http.get( }");
    dir.file("a.jmx", "<a/>");
    for (verb, file, says) in [("from-k6", "a.js", "it is not JavaScript"), ("from-jmx", "a.jmx", "no test plan")] {
        let refused = dir.truetail(&["flow", verb, file, "--out", "out"]);
        assert_eq!((refused.code, refused.stderr.lines().count()), (Some(1), 1), "{refused:?}");
        assert!(refused.stderr.contains(says) && !dir.path().join("out").exists(), "{refused:?}");
    }
    let unnamed = dir.truetail(&["flow", "from-k6", "a.js"]);
    assert!(unnamed.code == Some(2) && unnamed.stderr.contains("--out"), "{unnamed:?}");
}
