//! Tests of the requests that templates make.

use proptest::prelude::*;

use super::*;
use crate::Location;

fn spec(url: &str, headers: &[&str], body: &[u8]) -> TargetSpec {
    TargetSpec {
        method: Method::Other("PUT".to_owned()),
        headers: headers.iter().map(|header| (*header).to_owned()).collect(),
        body: body.to_vec(),
        ..TargetSpec::new(Location::at("f", 7), url)
    }
}

/// Returns the request of `spec` for a row of these fields.
fn rendered(spec: &TargetSpec, row: &[(&str, &str)]) -> String {
    let mut names = Names::default();
    let template = Template::new(spec, &mut names).unwrap_or_else(|problem| panic!("{problem}"));
    let value = |field: &NamedField| row.iter().find(|(name, _)| *name == field.name).expect("a field").1;
    let row: Vec<&str> = names.fields.iter().map(value).collect();
    let mut out = RequestParts::message(b"left over");
    template.render(&row, &mut ArrivalValues::sample(), &mut out).unwrap();
    text(&out)
}

fn text(request: &RequestParts) -> String {
    String::from_utf8(request.view().http1_bytes().to_vec()).unwrap()
}

const AGENT: &str = concat!("User-Agent: truetail/", env!("CARGO_PKG_VERSION"), "\r\nAccept: */*\r\n");

#[test]
fn a_header_cannot_state_the_length_of_a_filled_in_body() {
    let refused = |headers: &[&str], body: &[u8]| {
        Template::new(&spec("http://a/{{id}}", headers, body), &mut Names::default())
            .err()
            .map(|error| error.to_string())
    };
    let problem = refused(&["Content-Length: 6"], b"{{id}}").unwrap();
    assert!(problem.starts_with("f:7: 'Content-Length' cannot be set"), "{problem}");
    let problem = refused(&["Content-Length: {{id}}"], b"12").unwrap();
    assert!(problem.contains("'Content-Length: {{id}}' contradicts the body, which has 2 bytes"), "{problem}");
    assert_eq!(refused(&["Content-Length: 2"], b"12"), None);
}

#[test]
fn each_spot_is_written_in_its_way() {
    let spec = spec("http://a/x/{{id}}?q={{ q }}&{{id}}", &["X: <{{q}}>"], b"{\"a\":{{{q}}}}");
    assert_eq!(
        rendered(&spec, &[("id", "../é"), ("q", "a b&\"c\"")]),
        format!(
            "PUT /x/..%2F%C3%A9?q=a%20b%26%22c%22&..%2F%C3%A9 HTTP/1.1\r\nHost: a\r\n{AGENT}Content-Length: 15\r\n\
             X: <a b&\"c\">\r\n\r\n{{\"a\":{{a b&\"c\"}}}}"
        )
    );
}

#[test]
fn in_a_text_of_a_json_body_a_field_stays_a_text() {
    const BODY: &[u8] = b"{\"p\": \"<{{p}}> \\\" {{p}}\", \"n\": {{n}}, {{p}}: 1}";
    let odd = "say \"hi\"\\\n\u{1}\u{e9}";
    let of = |headers: &[&str]| rendered(&spec("http://a/", headers, BODY), &[("p", odd), ("n", "[1]")]);
    let json = of(&["Content-Type: application/json; charset=utf-8"]);
    let escaped = "say \\\"hi\\\"\\\\\\n\\u0001\u{e9}";
    let expected = format!("{{\"p\": \"<{escaped}> \\\" {escaped}\", \"n\": [1], {odd}: 1}}");
    assert!(json.ends_with(&format!("\r\n\r\n{expected}")), "{json}");
    for headers in [&[][..], &["Content-Type: text/plain"]] {
        assert!(of(headers).ends_with(&format!("\"<{odd}> \\\" {odd}\", \"n\": [1], {odd}: 1}}")), "{headers:?}");
    }
}

#[test]
fn a_path_is_not_shortened_by_what_is_filled_in() {
    let text = rendered(&spec("http://a/x/{{id}}/y", &[], b""), &[("id", "..")]);
    assert!(text.starts_with("PUT /x/../y HTTP/1.1\r\n"), "{text}");
}

#[test]
fn built_in_values_are_written_for_their_position() {
    let spec = spec(
        "http://a/{{randomChoice é/b}}?n={{seq}}",
        &["X: {{randomChoice a\"b}}", "Content-Type: application/json"],
        b"{\"s\": \"{{randomChoice a\"b}}\", \"n\": {{randomInt 7 7}}}",
    );
    let text = rendered(&spec, &[]);
    assert!(text.starts_with("PUT /%C3%A9%2Fb?n=0 HTTP/1.1\r\n"), "{text}");
    assert!(text.contains("\r\nX: a\"b\r\n") && text.contains("\r\nContent-Length: 21\r\n"), "{text}");
    assert!(text.ends_with("\r\n\r\n{\"s\": \"a\\\"b\", \"n\": 7}"), "{text}");
    let template = Template::new(&spec, &mut Names::default()).unwrap();
    assert_eq!((template.has_values(), template.is_fixed()), (true, true));
    assert_eq!(template.url, "http://a/{{randomChoice é/b}}?n={{seq}}");
}

#[test]
fn a_column_hides_a_built_in_value() {
    let mut names = Names::with_columns(vec!["seq".to_owned()]);
    let template = Template::new(&spec("http://a/{{seq}}/{{now}}", &[], b""), &mut names).unwrap();
    assert_eq!(names.fields.len(), 1);
    assert!(template.has_values() && !template.is_fixed());
}

#[test]
fn marks_are_not_mistaken() {
    let url = "http://a/placeholder0x0z/{{a}}/placeholder1xlz";
    let text = rendered(&spec(url, &["X: Placeholder2x0z{{b}}"], b"placeholder3x0z"), &[("a", "1"), ("b", "2")]);
    assert!(text.starts_with("PUT /placeholder0x0z/1/placeholder1xlz HTTP/1.1\r\n"), "{text}");
    assert!(text.contains("X: Placeholder2x0z2\r\n") && text.ends_with("\r\n\r\nplaceholder3x0z"), "{text}");
    let many: String = (0..12).map(|n| format!("/{{{{f{n}}}}}")).collect();
    let names: Vec<String> = (0..12).map(|n| format!("f{n}")).collect();
    let row: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), &name[1..])).collect();
    let text = rendered(&spec(&format!("http://a{many}"), &[], b""), &row);
    assert!(text.starts_with("PUT /0/1/2/3/4/5/6/7/8/9/10/11 HTTP"), "{text}");
    let mut names = Names::default();
    let template = Template::new(&spec(&format!("http://a{many}"), &[], b""), &mut names).unwrap();
    assert_eq!(template.url, format!("http://a{many}"));
}

#[test]
fn a_header_takes_no_line_break() {
    let mut names = Names::default();
    let template = Template::new(&spec("http://a/", &["X: {{a}}", "Y: {{b}}"], b"{{b}}"), &mut names).unwrap();
    let mut out = RequestParts::default();
    for bad in ["a\r\nZ: c", "a\nb", "a\0"] {
        assert_eq!(template.render(&["x", bad], &mut ArrivalValues::sample(), &mut out), Err(RenderError::Header(1)));
    }
    assert_eq!(template.render(&["x", "\té"], &mut ArrivalValues::sample(), &mut out), Ok(()));
}

#[test]
fn what_is_refused_is_told_as_it_was_written() {
    for (spec, part) in [
        (
            spec("http://{{host}}/", &[], b""),
            "f:7: 'http://{{host}}/': a placeholder can stand in the path and the query",
        ),
        (spec("{{url}}", &[], b""), "a placeholder can stand"),
        (spec("http://a:{{port}}", &[], b""), "a placeholder can stand"),
        (spec("http:/{{x}}/y?://", &[], b""), "a placeholder can stand"),
        (spec("http:///{{x}}/y", &[], b""), "a placeholder can stand"),
        (spec("http:\\\\{{x}}/y?a=://", &[], b""), "a placeholder can stand"),
        (spec("ftp://a/{{x}}", &[], b""), "f:7: 'ftp://a/{{x}}': unknown scheme"),
        (spec("http://a/", &["{{x}}: y"], b""), "f:7: '"),
        (spec("http://a/", &["no {{x}}"], b""), "f:7: 'no …' is not a header"),
    ] {
        let problem = Template::new(&spec, &mut Names::default()).map(|template| template.url).unwrap_err().to_string();
        assert!(problem.contains(part), "{problem}");
    }
}

proptest! {
    /// No row adds a line to the head or a word to the first line, and the length is right.
    #[test]
    fn a_row_changes_values_and_nothing_else(a in any::<String>(), b in any::<String>()) {
        let mut names = Names::default();
        let spec = spec("http://a/{{a}}?x={{b}}", &["X: y{{b}}"], b"<{{a}}{{b}}>");
        let template = Template::new(&spec, &mut names).unwrap();
        let mut out = RequestParts::default();
        if template.render(&[&a, &b], &mut ArrivalValues::sample(), &mut out).is_ok() {
            let text = text(&out);
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            prop_assert_eq!(body, format!("<{a}{b}>"));
            prop_assert_eq!(head.split("\r\n").count(), 6);
            prop_assert_eq!(head.split("\r\n").next().unwrap().split(' ').count(), 3);
            let length = format!("\r\nContent-Length: {}\r\n", body.len());
            prop_assert!(head.contains(&length));
        } else {
            prop_assert!(!is_header_value(b.as_bytes()));
        }
    }

    #[test]
    fn any_draft_is_taken_apart_or_refused(
        url in "(http://a)?(/|\\{\\{|\\}\\}|a|\\PC){0,8}",
        header in "X?:?(\\{\\{|\\}\\}|a|\\PC){0,8}",
        body: Vec<u8>,
    ) {
        let mut names = Names::default();
        if let Ok(template) = Template::new(&spec(&url, &[&header], &body), &mut names) {
            let row = vec!["v"; names.fields.len()];
            let mut out = RequestParts::default();
            prop_assert_eq!(template.render(&row, &mut ArrivalValues::sample(), &mut out), Ok(()));
            prop_assert_eq!(template.is_fixed(), names.fields.is_empty());
        }
    }
}
