//! Flows that are accepted, and flows that are refused with the line and the name of the problem.

use truetail_engine::HttpVersion;
use truetail_flow::{Flow, FlowError};

/// Parses a flow. Each file contains its own name.
pub fn flow(text: &str) -> Result<Flow, FlowError> {
    let read = |path: &str| match path {
        "missing" => Err("cannot read missing".to_owned()),
        path => Ok(path.as_bytes().to_vec()),
    };
    Flow::parse("test.hurl", text, &[("host".to_owned(), "http://127.0.0.1:8080".to_owned())], &read)
}

const WITH_EVERYTHING: &str = r##"
# truetail: name log in
POST {{host}}/login?from=test   # a comment
X-One: a value # not part of it
X-Two: \# is one
[Options]
variable: kind=user
verbose: true
max-time: 5s
[Form]
name: {{kind}}-1
password: a&b
HTTP 200
Content-Type: application/json
[Captures]
token: jsonpath "$.token"
first: header "Location" regex /items\/(\d+)/
id: cookie "session"
age: cookie "session[Max-Age]"
[Asserts]
status >= 200
status < 300
header "X-Nothing" not exists
jsonpath "$.items" count > 0
jsonpath "$.items[*].id" nth 0 toString == "1"
jsonpath "$.name" startsWith "a\"b"
body contains "token"
variable "token" matches /^[a-z]+$/
variable "token" isString
duration < 5000
bytes startsWith hex,7b;
bytes startsWith base64,ew==;
jsonpath "$.ok" == true
jsonpath "$.none" == null
jsonpath "$.f" == -1.5e3
jsonpath "$.t" == `one line`
regex "a(b)c" == {{token}}
cookie "session" replace "a" "b" split "," first urlEncode == "x"

# Nothing is expected here.
# truetail: delay exponential 2s
GET {{host}}/items/{{first}}
[Query]
q: {{token urlEncode}}
[Cookies]
theme: dark
[BasicAuth]
me: secret

PUT {{host}}/items/{{first}}
[Options]
delay: 100
repeat: 3
{
  "id": {{first}},
  "text": "{{token}} and \"more\"",
  "list": [1, true, null, {"a": "b"}]
}
HTTP *

POST {{host}}/upload
[Multipart]
field: text
file: file,picture.png; image/png
HTTP/1.1 201

POST {{host}}/raw
```json
{"a": "{{newUuid}}"}
```
HTTP 200
[Asserts]
jsonpath "$.id" exists

POST {{host}}/b
base64,AQID;
HTTP 200
`a {{token}}`

POST {{host}}/f
file,body.bin;

GET {{host}}/skipped
[Options]
skip: true
"##;

#[test]
fn what_is_supported_is_read() {
    let flow = flow(WITH_EVERYTHING).unwrap_or_else(|error| panic!("{error}"));
    let itinerary = flow.itinerary();
    let names: Vec<&str> = itinerary.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(
        names,
        ["log in", "GET /items/{{first}}", "PUT /items/{{first}}", "POST /upload", "POST /raw", "POST /b", "POST /f"]
    );
    assert_eq!(itinerary.moves.unwrap(), [0, 1, 2, 2, 2, 3, 4, 5, 6]);
    assert_eq!(flow.origins().map(|origin| origin.to_string()).collect::<Vec<_>>(), ["http://127.0.0.1:8080"]);
}

#[test]
fn our_own_comments_belong_to_the_request_after_them() {
    let text = "# truetail: name a\nGET {{host}}/1\n\n# truetail: name b\nGET {{host}}/2\nX: y\n# truetail: name b\n# another\n\n\
                GET {{host}}/3\nHTTP 200\n\nGET {{host}}/3\n\nGET {{host}}/3\n";
    let steps = flow(text).unwrap().itinerary().steps;
    let steps: Vec<(&str, usize)> = steps.iter().map(|step| (step.name.as_str(), step.line)).collect();
    assert_eq!(steps, [("a", 2), ("b", 5), ("b #2", 10), ("GET /3", 13), ("GET /3 #2", 15)]);
}

#[test]
fn the_first_request_is_made_before_the_run() {
    let flow = flow(WITH_EVERYTHING).unwrap();
    let requests = flow.requests();
    let first = String::from_utf8(requests.bytes(requests.choose(0)).to_vec()).unwrap();
    let (head, body) = first.split_once("\r\n\r\n").unwrap();
    let lines: Vec<&str> = head.split("\r\n").collect();
    assert_eq!(lines[0], "POST /login?from=test HTTP/1.1");
    for line in [
        "Host: 127.0.0.1:8080",
        "X-One: a value",
        "X-Two: # is one",
        "Content-Type: application/x-www-form-urlencoded",
        "Content-Length: 26",
    ] {
        assert!(lines.contains(&line), "{line} is missing in {head}");
    }
    assert_eq!(body, "name=user-1&password=a%26b");
    assert_eq!(body.len(), 26);
}

#[test]
fn what_is_not_supported_is_refused_with_its_line_and_its_name() {
    let get = "GET http://127.0.0.1/\n";
    for (text, line, says) in [
        (format!("{get}HTTP 200\n[Asserts]\nxpath \"//p\" exists"), 4, "xpath"),
        (format!("{get}HTTP 200\n[Asserts]\ncertificate \"Subject\" exists"), 4, "certificate"),
        (format!("{get}HTTP 200\n[Asserts]\nip isIpv4"), 4, "ip"),
        (format!("{get}HTTP 200\n[Asserts]\nsha256 == hex,00;"), 4, "sha256"),
        (format!("{get}HTTP 200\n[Asserts]\nbody xpath \"//p\" exists"), 4, "xpath"),
        (format!("{get}HTTP 200\n[Asserts]\nbody isIsoDate"), 4, "isIsoDate"),
        (format!("{get}HTTP 200\n[Captures]\na: redirects count"), 4, "redirects"),
        (format!("{get}[Options]\ndigest: true"), 3, "digest"),
        (format!("{get}[Options]\nntlm: true"), 3, "ntlm"),
        (format!("{get}[Options]\nnegotiate: true"), 3, "negotiate"),
        (format!("{get}[Options]\nnetrc: true"), 3, "netrc"),
        (format!("{get}[Options]\noutput: a.txt"), 3, "output"),
        (format!("{get}[Options]\nproxy: localhost:1"), 3, "proxy"),
        (format!("{get}[Options]\nlimit-rate: 1000"), 3, "limit-rate"),
        (format!("{get}[Options]\nrepeat: -1"), 3, "endless"),
        (format!("{get}[Options]\nlocation: yes"), 3, "true or false"),
        (format!("{get}[Options]\nlocation-trusted: sure"), 3, "true or false"),
        (format!("{get}[Options]\nmax-redirs: -1"), 3, "without a limit"),
        (format!("{get}[Options]\nmax-redirs: 10001"), 3, "10000"),
        (format!("{get}[Options]\nmax-redirs: few"), 3, "'few'"),
        (format!("{get}[Options]\nmax-redirs: {{{{x}}}}"), 3, "max-redirs"),
        (format!("{get}[Options]\nretry: -1"), 3, "endless retries"),
        (format!("{get}[Options]\nretry: 10001"), 3, "10000"),
        (format!("{get}[Options]\nretry: often"), 3, "'often'"),
        (format!("{get}[Options]\nretry-interval: soon"), 3, "'soon'"),
        (format!("{get}[Options]\nhttp3: true"), 3, "--http2"),
        (format!("{get}[Options]\nhttp1.0: true"), 3, "http1.0"),
        (format!("{get}[Options]\nskip: {{{{x}}}}"), 3, "skip"),
        (format!("{get}[Options]\ndelay: soon"), 3, "soon"),
        (format!("{get}[Options]\ndelay: 1s"), 1, "first request"),
        (format!("{get}HTTP/3 200"), 2, "HTTP/3"),
        (format!("{get}HTTP 20"), 2, "status"),
        (format!("{get}<p>x</p>"), 2, "XML"),
        (format!("{get}```graphql\nquery\n```"), 2, "graphql"),
        (format!("{get}[Nonsense]\n"), 2, "[Nonsense]"),
        (format!("{get}[Captures]\na: body"), 2, "[Captures]"),
        (format!("{get}X: {{{{nobody}}}}"), 1, "nobody"),
        (format!("{get}X: {{{{randomInt 1}}}}"), 2, "write two whole numbers"),
        (format!("{get}HTTP 200\n\n# truetail: delay uniform 3s..1s\n{get}"), 4, "no range of times"),
        (format!("{get}HTTP 200\n\n# truetail: delay uniform 3s\n{get}"), 4, "no range of times"),
        (format!("{get}X: {{{{randomChoice }}}}"), 2, "write the words"),
        (format!("{get}X: {{{{getEnv \"X\"}}}}"), 2, "getEnv"),
        (format!("{get}Content-Length: 3"), 1, "Content-Length"),
        (format!("{get}file,missing;"), 1, "missing"),
        (format!("{get}{{\"a\": "), 2, "JSON"),
        (format!("{get}HTTP 200\n[Captures]\na: jsonpath \"$[\""), 4, "JSONPath"),
        (format!("{get}HTTP 200\n[Captures]\na: regex \"(\""), 4, "regular expression"),
        (format!("{get}HTTP 200\n[Captures]\na: body\n\nGET {{{{a}}}}/x"), 6, "http://"),
        (format!("{get}HTTP 200\n[Captures]\na: body\n\nGET http://{{{{a}}}}/x"), 6, "host"),
        ("GET localhost:8000/hello".to_owned(), 1, "http://"),
        ("GET http://me:secret@127.0.0.1/".to_owned(), 1, "Authorization"),
        ("get http://127.0.0.1/".to_owned(), 1, "no request"),
        (format!("# truetail: dance\n{get}"), 1, "dance"),
        (format!("{get}\n\n# truetail: name x\n"), 4, "no request"),
        (String::new(), 1, "no request"),
        (format!("{get}[Options]\nskip: true"), 1, "skipped"),
        (format!("{get}[Query]\na: b\n[Query]\nc: d"), 4, "second [Query]"),
        (format!("{get}HTTP 200\n[Asserts]\n[Captures]\n[Asserts]\nstatus == 200"), 5, "second [Asserts]"),
        (format!("{get}[Options]\nvariable: newUuid=1"), 3, "newUuid"),
        (format!("{get}HTTP 200\n[Captures]\ngetEnv: body"), 4, "getEnv"),
        (format!("{get}HTTP 200\n[Asserts]\nbody startsWith 1"), 4, "startsWith"),
        (format!("{get}HTTP 200\n[Asserts]\nbody not endsWith true"), 4, "endsWith"),
        (format!("{get}{{\"a\":\n\"\\uf64\"}}"), 3, "uf64"),
        (format!("{get}{{\"\\ud800\": 1}}"), 2, "ud800"),
        (format!("# @cookie_storage_clear\n{get}"), 1, "@cookie_storage_clear"),
        (format!("{get}\n# @cookie_storage_set: localhost a b\n\n{get}"), 3, "@cookie_storage_set"),
    ] {
        let error = flow(&text).map(|_| ()).expect_err(&text);
        assert!(error.line == line && error.problem.contains(says), "{text:?}: {error}");
        assert!(!error.to_string().contains('\n') && !error.problem.contains("secret"), "{error}");
    }
}

#[test]
fn a_step_for_another_http_version_is_refused_with_its_line() {
    let get = "GET http://127.0.0.1/\n";
    for (text, version, line, says) in [
        (format!("{get}HTTP/2 200"), HttpVersion::Http1, 2, "--http2"),
        (format!("{get}HTTP/1.1 200"), HttpVersion::Http2, 2, "HTTP/1.1 is asked for here, not HTTP/2"),
        (format!("{get}HTTP 200\n\n{get}[Options]\nhttp2: true"), HttpVersion::Http1, 4, "--http2"),
        (format!("{get}[Options]\nhttp1.1: true"), HttpVersion::Http2, 1, "HTTP/1.1"),
        (format!("{get}Connection: close"), HttpVersion::Http2, 1, "the header Connection"),
        (format!("{get}TE: {{{{te}}}}"), HttpVersion::Http2, 1, "the first request cannot be made"),
    ] {
        let te = ("te".to_owned(), "gzip".to_owned());
        let flow = Flow::parse("a.hurl", &text, &[te], &|_| Ok(Vec::new())).unwrap();
        let other = if version == HttpVersion::Http1 { HttpVersion::Http2 } else { HttpVersion::Http1 };
        assert!(flow.clone().over(other).is_ok(), "{text:?}");
        let error = flow.over(version).map(|_| ()).expect_err(&text);
        assert!(error.line == line && error.problem.contains(says), "{text:?}: {error}");
    }
    let harmless =
        format!("{get}Connection: Keep-Alive\nTE: trailers\n[Options]\nhttp2: false\nhttp1.1: false\nHTTP/* 200");
    for version in [HttpVersion::Http1, HttpVersion::Http2] {
        let flow = Flow::parse("a.hurl", &harmless, &[], &|_| Ok(Vec::new())).unwrap();
        flow.over(version).unwrap_or_else(|error| panic!("{version}: {error}"));
    }
}

#[test]
fn an_empty_section_is_none() {
    for sections in
        ["[Form]\n[Multipart]\n", "[Multipart]\n[Form]\na: b\n", "[Query]\n[Cookies]\n[BasicAuth]\n[Options]\n"]
    {
        let text = format!("POST {{{{host}}}}/\n{sections}HTTP 200\n[Captures]\n[Asserts]\n");
        assert!(flow(&text).is_ok(), "{text}: {:?}", flow(&text).err());
    }
}

#[test]
fn the_type_of_a_file_in_a_form_follows_from_its_name() {
    let text = "POST {{host}}/\n[Multipart]\na: file,a.html;\nb: file,b;\nc: file,c/d.jpeg;\nd: file,e.txt; text/csv\n";
    let flow = flow(text).unwrap();
    let requests = flow.requests();
    let first = String::from_utf8_lossy(requests.bytes(requests.choose(0))).into_owned();
    let types: Vec<&str> = first.lines().filter_map(|line| line.strip_prefix("Content-Type: ")).skip(1).collect();
    assert_eq!(types, ["text/html", "application/octet-stream", "image/jpeg", "text/csv"]);
}

/// Found by the fuzzer: an escape can put a line break into a URL.
#[test]
fn an_error_is_one_line_whatever_the_flow_holds() {
    let error = flow("POST To\u{3}h some: a\\n1").unwrap_err();
    assert!(error.problem.contains("the URL 'To\\u{3}h some: a\\n1' does not begin with http"), "{error}");
    assert!(!error.problem.contains(char::is_control), "{error:?}");
}

/// After a variable with a whole origin, only a path or a port may follow, because other text would change the host.
#[test]
fn what_follows_a_host_in_a_variable_does_not_change_it() {
    for behind in ["@evil.test/", ".evil.test/", ":81@evil.test/", "evil/", "1/"] {
        let error = flow(&format!("GET {{{{host}}}}{behind}\n")).unwrap_err();
        assert!(error.problem.contains("a slash has to follow it"), "{behind}: {error}");
    }
    for behind in ["", "/", "/@evil.test", "//evil.test/", "?a=@b", "\\\\@evil.test/"] {
        let flow = flow(&format!("GET {{{{host}}}}{behind}\n")).unwrap();
        assert!(format!("{flow:?}").contains("127.0.0.1") && flow.origins().count() == 1, "{behind}");
    }
}
