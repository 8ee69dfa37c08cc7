//! Tests of the texts that are checks, and of the answers that pass them.

use proptest::prelude::*;
use truetail_checks::{Answer, Body, Check, Failure};
use truetail_engine::FieldList;

fn check(text: &str) -> Check {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn fields(fields: &[(&str, &str)]) -> FieldList {
    let mut list = FieldList::default();
    fields.iter().for_each(|(name, value)| list.push(name.as_bytes(), value.as_bytes()));
    list
}

/// Judges an answer with this status, these fields and this body.
fn judged(text: &str, status: u16, list: &[(&str, &str)], body: &[u8]) -> Result<(), Failure> {
    check(text).judge(&Answer::new(status, &fields(list), Body::Whole(body)))
}

fn assert_judged(cases: &[(&str, Result<(), Failure>)], list: &[(&str, &str)], body: &str) {
    for (text, expected) in cases {
        assert_eq!(judged(text, 204, list, body.as_bytes()), *expected, "{text}");
    }
}

const PASSES: Result<(), Failure> = Ok(());
const DIFFERS: Result<(), Failure> = Err(Failure::Differs);
const MISSING: Result<(), Failure> = Err(Failure::Missing);
const CANNOT_COMPARE: Result<(), Failure> = Err(Failure::CannotCompare);

#[test]
fn a_status_is_compared() {
    let cases = [
        ("status == 204", PASSES),
        ("status==204", PASSES),
        ("status == 200", DIFFERS),
        ("status != 200", PASSES),
        ("status not == 204", DIFFERS),
        ("status < 205", PASSES),
        ("status<204", DIFFERS),
        ("status <= 204", PASSES),
        ("status > 203", PASSES),
        ("status >= 205", DIFFERS),
        ("status in 200..204", PASSES),
        ("status in 205..299", DIFFERS),
        ("status not in 400..599", PASSES),
    ];
    assert_judged(&cases, &[], "");
}

#[test]
fn an_answer_without_a_status_fails_checks_of_it_and_no_others() {
    let none = fields(&[]);
    let answer = Answer::new(None, &none, Body::Whole(b"ok"));
    for text in ["status == 200", "status != 200", "status not == 200", "status < 400"] {
        assert_eq!(check(text).judge(&answer), MISSING, "{text}");
        assert_eq!(check(text).explain(Failure::Missing, &answer), "it has no status");
    }
    assert_eq!(check("body contains ok").judge(&answer), PASSES);
}

#[test]
fn a_header_is_compared_whatever_the_case_of_its_name() {
    let list = [("Content-Type", "application/json; charset=utf-8"), ("set-cookie", "a=1"), ("Set-Cookie", "b=2")];
    let cases = [
        ("header content-type contains json", PASSES),
        ("header CONTENT-TYPE == application/json; charset=utf-8", PASSES),
        ("header \"Content-Type\" == \"application/json\"", DIFFERS),
        ("header content-type not contains html", PASSES),
        ("header content-type startsWith 'application/'", PASSES),
        ("header content-type endsWith utf-8", PASSES),
        ("header content-type matches /^application\\/(json|xml)\\b/", PASSES),
        ("header content-type exists", PASSES),
        ("header content-type not exists", DIFFERS),
        ("header set-cookie == b=2", PASSES),
        ("header set-cookie != b=2", DIFFERS),
        ("header set-cookie != c=3", PASSES),
        ("header x-none exists", MISSING),
        ("header x-none not exists", PASSES),
        ("header x-none == 1", MISSING),
        ("header x-none != 1", MISSING),
        ("header x-none not contains 1", MISSING),
    ];
    assert_judged(&cases, &list, "");
}

#[test]
fn a_body_is_compared() {
    let cases = [
        ("body == {\"state\":\"ok\"}", PASSES),
        (r#"body == "{\"state\":\"ok\"}""#, PASSES),
        ("body != ''", PASSES),
        ("body == \"\"", DIFFERS),
        ("body contains \"ok\"", PASSES),
        ("body contains ok", PASSES),
        ("body not contains error", PASSES),
        ("body contains error", DIFFERS),
        ("body startsWith {", PASSES),
        ("body endsWith }", PASSES),
        ("body matches /\"state\": ?\"(ok|fine)\"/", PASSES),
        ("body matches /(?i)STATE/", PASSES),
        ("body not matches /(?i)STATE/", DIFFERS),
        ("body matches '^.state'", DIFFERS),
    ];
    assert_judged(&cases, &[], "{\"state\":\"ok\"}");
    // These bytes are not a text.
    assert_eq!(judged("body contains ok", 200, &[], b"\xff\xfeok\0"), PASSES);
    assert_eq!(judged("body matches /ok\\x00$/", 200, &[], b"\xff\xfeok\0"), PASSES);
}

#[test]
fn what_is_at_a_path_is_compared() {
    let body =
        r#"{"items": [{"id": 7, "name": "seven", "tags": ["odd", "prime"]}, {"id": 8.0, "name": null}], "a b": true}"#;
    let cases = [
        ("jsonpath $.items[0].id == 7", PASSES),
        ("jsonpath $.items[0].id==7.0", PASSES),
        ("jsonpath $.items[1].id == 8", PASSES),
        ("jsonpath $.items[0].id == \"7\"", DIFFERS),
        ("jsonpath $.items[0].id != 8", PASSES),
        ("jsonpath $.items[0].id > 6", PASSES),
        ("jsonpath $.items[0].id in 0..6.5", DIFFERS),
        ("jsonpath $.items[0].id contains 7", CANNOT_COMPARE),
        ("jsonpath $.items[0].id not matches /7/", CANNOT_COMPARE),
        ("jsonpath $.items[0].name == seven", PASSES),
        ("jsonpath $.items[0].name contains eve", PASSES),
        ("jsonpath $.items[0].name startsWith se", PASSES),
        ("jsonpath $.items[0].name matches /^s.*n$/", PASSES),
        ("jsonpath $.items[0].name < 3", CANNOT_COMPARE),
        ("jsonpath $.items[0].tags contains prime", PASSES),
        ("jsonpath $.items[0].tags == [\"odd\", \"prime\"]", PASSES),
        ("jsonpath $.items[1].name == null", PASSES),
        ("jsonpath $.items[1].name exists", PASSES),
        ("jsonpath $.items[2] exists", MISSING),
        ("jsonpath $.items[2] not exists", PASSES),
        ("jsonpath $.items[2].id != 7", MISSING),
        ("jsonpath $.items[*].id contains 8", PASSES),
        ("jsonpath $.items[*].id == [7, 8]", PASSES),
        ("jsonpath $.items[*].id == 7", DIFFERS),
        ("jsonpath $.items[*].id > 6", CANNOT_COMPARE),
        ("jsonpath $.items[?(@.id == 7)].name == seven", PASSES),
        ("jsonpath $['a b'] == true", PASSES),
        ("jsonpath \"$['a b']\" == true", PASSES),
        ("jsonpath $.items[?@.name == 'seven' && @.id < 9].id == 7", PASSES),
    ];
    assert_judged(&cases, &[], body);
    let not_json = Err(Failure::NotJson);
    assert_judged(&[("jsonpath $ exists", not_json), ("jsonpath $.a not exists", not_json)], &[], "<html>");
    let deep = "[".repeat(100_000);
    assert_judged(&[("jsonpath $ exists", not_json)], &[], &deep);
}

#[test]
fn a_body_that_cannot_be_looked_at_fails_and_says_so() {
    let none = fields(&[]);
    let gzip = fields(&[("Content-Encoding", "gzip")]);
    for text in ["body contains a", "body not contains a", "jsonpath $ exists", "jsonpath $ not exists"] {
        let check = check(text);
        let too_long = Answer::new(200, &none, Body::TooLong);
        assert_eq!(check.judge(&too_long), Err(Failure::BodyTooLong));
        assert!(check.explain(Failure::BodyTooLong, &too_long).contains("1 MiB"));
        let compressed = Answer::new(200, &gzip, Body::Whole(b"a"));
        assert_eq!(check.judge(&compressed), Err(Failure::BodyCompressed));
        assert!(check.explain(Failure::BodyCompressed, &compressed).contains("gzip"));
    }
    assert_eq!(judged("body contains a", 200, &[("content-encoding", "identity")], b"a"), PASSES);
    assert_eq!(judged("status == 200", 200, &[("content-encoding", "gzip")], b""), PASSES);
}

#[test]
fn a_failure_is_explained_with_what_was_seen() {
    let list = [("content-type", "text/html")];
    for (text, body, why) in [
        ("status == 200", "", "it is 503"),
        ("header content-type contains json", "", "it is text/html"),
        ("header x-id exists", "", "there is no header x-id"),
        ("body == ok", "", "it is empty"),
        ("body == ok", "no", "it is no"),
        ("jsonpath $.a == 1", "{\"a\": [2]}", "it is [2]"),
        ("jsonpath $.a > 1", "{\"a\": \"x\"}", "it is \"x\", which cannot be compared like this"),
        ("jsonpath $.b == 1", "{}", "there is nothing at this path"),
        ("jsonpath $.b == 1", "<html>", "the body is not JSON: expected value at line 1 column 1"),
    ] {
        let check = check(text);
        let list = fields(&list);
        let answer = Answer::new(503, &list, Body::Whole(body.as_bytes()));
        let failure = check.judge(&answer).unwrap_err();
        assert_eq!(check.explain(failure, &answer), why, "{text}");
    }
    let list = fields(&[]);
    let long = "é".repeat(5000);
    let answer = Answer::new(200, &list, Body::Whole(long.as_bytes()));
    assert!(check("body == a").explain(Failure::Differs, &answer).chars().count() < 220);
}

#[test]
fn statuses_and_messages_of_calls() {
    let none = fields(&[]);
    let judged = |text: &str, call: Option<&str>, body: &'static [u8]| {
        let call = call.and_then(truetail_model::record::GrpcStatus::from_name);
        check(text).judge(&Answer::new(200, &none, Body::Whole(body)).of_call(call))
    };
    assert_eq!(judged("grpc-status == OK", Some("OK"), b""), PASSES);
    assert_eq!(judged("grpc-status == OK", Some("ABORTED"), b""), DIFFERS);
    assert_eq!(judged("grpc-status != OK", Some("ABORTED"), b""), PASSES);
    assert_eq!(judged("grpc-status not == OK", Some("OK"), b""), DIFFERS);
    assert_eq!(judged("grpc-status == OK", None, b""), Err(Failure::Missing));
    assert_eq!(judged("message.a.b[1] == 7", Some("OK"), b"{\"a\":{\"b\":[1,7]}}"), PASSES);
    assert_eq!(judged("message.a contains \"x y\"", Some("OK"), b"{\"a\":\"-x y-\"}"), PASSES);
    assert_eq!(judged("message.b exists", Some("OK"), b"{\"a\":1}"), Err(Failure::Missing));
    assert_eq!(check("message.a == 1").to_string(), "jsonpath \"$.a\" == 1");
    assert_eq!(check("grpc-status != OK"), check("grpc-status not == OK"));
}

#[test]
fn what_is_no_check_is_told_in_one_line() {
    for (text, part) in [
        ("", "begins with status"),
        ("latency < 5", "begins with status"),
        ("status", "a comparison follows status"),
        ("status = 200", "write == to compare"),
        ("status == ok", "'ok' is not a status"),
        ("status == 99", "'99' is not a status"),
        ("status == 200 or so", "is not a status"),
        ("status contains 2", "a status is compared with"),
        ("status in 299..200", "write the smaller one first"),
        ("status in 200", "is not a range"),
        ("status < nan", "is not a number"),
        ("status is 200", "'is' is no comparison"),
        ("header == a", "the name of a header follows"),
        ("header a:b == c", "no header can be called"),
        ("header a < 3", "a text is compared with"),
        ("header a exists always", "nothing follows 'exists'"),
        ("header a", "a comparison follows header NAME"),
        ("body exists", "goes with header and jsonpath"),
        ("body contains", "a value follows"),
        ("body contains \"ok", "has no end"),
        ("body contains \"ok\" and more", "nothing follows the quoted text"),
        ("body contains \"\\d\"", "write \\\\ for a backslash"),
        ("body matches /(/", "is not a regular expression: unclosed group"),
        ("body matches /a", "the second is missing"),
        ("body matches /a/i", "nothing follows the closing /"),
        ("grpc-status == ok", "'ok' is not a status of gRPC"),
        ("grpc-status == 14", "is not a status of gRPC"),
        ("grpc-status > OK", "is compared with == or !="),
        ("grpc-stat == OK", "begins with status"),
        ("message. == 1", "is not a JSONPath"),
        ("jsonpath items == 1", "begins with $"),
        ("jsonpath $.items[ == 1", "is not a JSONPath"),
        ("jsonpath $.a < x", "is not a number"),
        ("body\nmatches /(?x)\n(/", "is not a regular expression"),
    ] {
        let error = text.parse::<Check>().expect_err(text).to_string();
        assert!(error.contains(part) && !error.contains('\n'), "{text}: {error}");
    }
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[ -~]{1,12}", "\\PC{1,8}", Just("\"/\\'".to_owned()), Just("in not == /".to_owned())]
}

/// A check of any form, generated by rule.
fn texts() -> impl Strategy<Value = String> {
    let quoted = || word().prop_map(|word| serde_json::Value::from(word).to_string());
    let text_test = || {
        (prop::sample::select(vec!["==", "!=", "contains", "startsWith", "endsWith"]), quoted())
            .prop_map(|(name, value)| format!("{name} {value}"))
    };
    let number_test = || {
        (prop::sample::select(vec!["<", "<=", ">", ">="]), -1000i32..1000)
            .prop_map(|(name, value)| format!("{name} {}", f64::from(value) / 8.0))
    };
    let regex = || word().prop_map(|word| format!("matches {}", serde_json::Value::from(regex::escape(&word))));
    let not = || prop::sample::select(vec!["", "not "]);
    prop_oneof![
        (not(), number_test()).prop_map(|(not, test)| format!("status {not}{test}")),
        (not(), prop_oneof![text_test(), regex()]).prop_map(|(not, test)| format!("body {not}{test}")),
        (not(), prop_oneof![text_test(), Just("exists".to_owned())])
            .prop_map(|(not, test)| format!("header x-name {not}{test}")),
        (not(), prop_oneof![text_test(), number_test(), regex()])
            .prop_map(|(not, test)| format!("jsonpath $.a[?@.b == 'c d'] {not}{test}")),
    ]
}

proptest! {
    #[test]
    fn a_check_is_displayed_as_a_check_that_asks_for_the_same(text in texts(), body in word()) {
        let first = check(&text);
        let again = check(&first.to_string());
        prop_assert_eq!(first.to_string(), again.to_string());
        let list = fields(&[("x-name", &body)]);
        let answer = Answer::new(200, &list, Body::Whole(body.as_bytes()));
        prop_assert_eq!(first.judge(&answer), again.judge(&answer));
    }

    #[test]
    fn no_text_makes_parsing_panic(text in "(status|header|body|jsonpath|) ?(not )?(\\$|==|in|matches /|contains|)\\PC{0,30}") {
        if let Err(error) = text.parse::<Check>() {
            prop_assert!(!error.to_string().contains('\n'));
        }
    }

    #[test]
    fn a_text_holds_what_it_is_made_of(before in word(), part in word(), after in word()) {
        let body = format!("{before}{part}{after}");
        let quoted = serde_json::Value::from(part.clone());
        for text in [format!("body contains {quoted}"), format!("body matches {}", serde_json::Value::from(regex::escape(&part)))] {
            prop_assert_eq!(judged(&text, 200, &[], body.as_bytes()), PASSES, "{}", text);
        }
    }
}
