//! A request with its assertions and extractors.

use super::element::Element;
use super::scope::Scope;
use super::text::Variables;
use crate::ways::hurl;
use crate::ways::load::step::{Body, Checks, Step, query};
use crate::ways::load::text::{Of, Part, duration, joined, plain_name};
use crate::ways::shown;

/// Redirects that JMeter follows, and the limit on the characters of a step's name.
const MAX_REDIRECTS: u64 = 20;
const MAX_NAME_CHARS: usize = 60;
/// Bits of the kind of a response assertion.
const CONTAINS: u32 = 2;
const EQUALS: u32 = 8;
const SUBSTRING: u32 = 16;

/// A sampler as a step, with what has no counterpart.
pub(super) struct Read {
    pub(super) step: Step,
    pub(super) unread: Vec<String>,
}

/// Reads a sampler. Returns none if it has no URL that can be sent.
pub(super) fn read(sampler: &Element, scope: &Scope, variables: &mut Variables) -> Option<Read> {
    let mut unread = Vec::new();
    let method = match sampler.text("HTTPSampler.method") {
        "" => "GET",
        method => method,
    };
    let (query, body) = content(sampler, method, variables, &mut unread);
    let follows = sampler.is("HTTPSampler.follow_redirects") || sampler.is("HTTPSampler.auto_redirects");
    let mut step = Step {
        name: name(scope, sampler),
        method: method.to_owned(),
        url: url(sampler, scope, variables, query),
        headers: headers(scope, variables, &mut unread),
        cookies: Vec::new(),
        body,
        timeout: variables
            .number(sampler.text("HTTPSampler.response_timeout"))
            .filter(|ms| *ms > 0.0)
            .map(|ms| duration(ms / 1000.0)),
        redirects: Some(if follows { MAX_REDIRECTS } else { 0 }),
        variables: Vec::new(),
        delay: None,
        checks: Checks::default(),
        marks: Vec::new(),
    };
    for timer in &scope.timers {
        let read = delay(timer, variables).filter(|_| step.delay.is_none());
        match read {
            Some(delay) => step.delay = Some(delay),
            None => unread.push(format!("the timer '{}'", timer.name)),
        }
    }
    for assertion in &scope.assertions {
        if !check(&mut step.checks, assertion, variables) {
            unread.push(format!("{} '{}'", assertion.class, assertion.name));
        }
    }
    if sampler.is("HTTPSampler.image_parser") {
        unread.push("embedded resources, which are requested too".to_owned());
    }
    step.can_be_sent().then_some(Read { step, unread })
}

/// Returns a property of a sampler, or of the nearest defaults around it.
fn property<'e>(sampler: &'e Element, scope: &'e Scope, name: &str) -> &'e str {
    let mut found = std::iter::once(sampler).chain(scope.defaults.iter().rev()).map(|element| element.text(name));
    found.find(|text| !text.is_empty()).unwrap_or("")
}

fn url(sampler: &Element, scope: &Scope, variables: &mut Variables, query: Vec<Part>) -> Vec<Part> {
    let path = variables.parts(property(sampler, scope, "HTTPSampler.path").trim());
    let is_whole = |part: Option<&Part>| match part {
        Some(Part::Literal(text)) => text.starts_with("http://") || text.starts_with("https://"),
        _ => false,
    };
    let mut parts = Vec::new();
    if !is_whole(path.first()) {
        let scheme = match property(sampler, scope, "HTTPSampler.protocol") {
            "" => "http",
            scheme => scheme,
        };
        parts.extend(variables.parts(scheme));
        parts.push(Part::Literal("://".to_owned()));
        parts.extend(variables.parts(property(sampler, scope, "HTTPSampler.domain").trim()));
        let port = property(sampler, scope, "HTTPSampler.port").trim();
        if !port.is_empty() {
            parts.push(Part::Literal(":".to_owned()));
            parts.extend(variables.parts(port));
        }
        let has_slash = matches!(path.first(), Some(Part::Literal(text)) if text.starts_with('/'));
        parts.extend((!has_slash).then(|| Part::Literal("/".to_owned())));
    }
    let has_query = path.iter().any(|part| part.literal().is_some_and(|text| text.contains('?')));
    parts.extend(path);
    if !query.is_empty() {
        parts.push(Part::Literal(if has_query { "&" } else { "?" }.to_owned()));
        parts.extend(query);
    }
    joined(parts)
}

/// Returns the query and the body that the arguments of a sampler become.
fn content(sampler: &Element, method: &str, variables: &mut Variables, unread: &mut Vec<String>) -> (Vec<Part>, Body) {
    let arguments: Vec<&Element> = sampler
        .parts("HTTPsampler.Arguments")
        .iter()
        .flat_map(|arguments| arguments.parts("Arguments.arguments"))
        .collect();
    if !sampler.parts("HTTPsampler.Files").is_empty() {
        unread.push("files that are sent".to_owned());
    }
    if arguments.is_empty() {
        return (Vec::new(), Body::Nothing);
    }
    if sampler.is("HTTPSampler.postBodyRaw") {
        let text: String = arguments.iter().map(|argument| argument.text("Argument.value")).collect();
        return (Vec::new(), Body::Text(variables.parts(&text)));
    }
    if ["POST", "PUT", "PATCH"].contains(&method) {
        let mut field = |argument: &Element| {
            let name = argument.text("Argument.name").to_owned();
            let value = variables.parts(argument.text("Argument.value"));
            let mut texts = value.iter().filter_map(Part::literal).chain([name.as_str()]);
            let changes = texts.any(|text| encoded(text) != text);
            drop(texts);
            // A flow encodes each field.
            if changes && !is_encoded(argument) {
                unread.push(format!("the field {}, which is sent without being encoded", shown(&name)));
            }
            (name, value)
        };
        return (Vec::new(), Body::Form(arguments.into_iter().map(&mut field).collect()));
    }
    let mut query = Vec::new();
    for argument in arguments {
        let encode = |text: &str| if is_encoded(argument) { encoded(text) } else { text.to_owned() };
        let and = if query.is_empty() { "" } else { "&" };
        query.push(Part::Literal(format!("{and}{}=", encode(argument.text("Argument.name")))));
        let value = variables.parts(argument.text("Argument.value"));
        query.extend(value.into_iter().map(|part| match part {
            Part::Literal(text) => Part::Literal(encode(&text)),
            part => part,
        }));
    }
    (query, Body::Nothing)
}

/// Returns true if JMeter encodes an argument. Otherwise, it sends the argument as it is written.
fn is_encoded(argument: &Element) -> bool {
    argument.is("HTTPArgument.always_encode")
}

fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

fn headers(scope: &Scope, variables: &mut Variables, unread: &mut Vec<String>) -> Vec<(String, Vec<Part>)> {
    let mut headers: Vec<(String, Vec<Part>)> = Vec::new();
    for header in scope.headers.iter().flat_map(|manager| manager.parts("HeaderManager.headers")) {
        let name = header.text("Header.name").trim();
        if !hurl::is_header_name(name) {
            unread.push(format!("the header {}", shown(name)));
            continue;
        }
        headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        headers.push((name.to_owned(), variables.parts(header.text("Header.value").trim())));
    }
    headers
}

fn delay(timer: &Element, variables: &mut Variables) -> Option<String> {
    let ms = variables.number(timer.text("ConstantTimer.delay"))?;
    if timer.class == "ConstantTimer" {
        return (ms >= 0.0).then(|| duration(ms / 1000.0));
    }
    let range = variables.number(timer.text("RandomTimer.range"))?;
    (ms >= 0.0 && range >= 0.0)
        .then(|| format!("uniform {}..{}", duration(ms / 1000.0), duration((ms + range) / 1000.0)))
}

/// Adds an assertion or an extractor. Returns false if it has no counterpart.
fn check(checks: &mut Checks, element: &Element, variables: &mut Variables) -> bool {
    match element.class.as_str() {
        "ResponseAssertion" => response(checks, element, variables),
        "JSONPathAssertion" => json(checks, element, variables),
        "DurationAssertion" => match variables.number(element.text("DurationAssertion.duration")) {
            Some(ms) => {
                checks.asserts.push(format!("duration <= {ms}"));
                true
            }
            None => false,
        },
        "JSONPostProcessor" => {
            let path = element.text("JSONPostProcessor.jsonPathExprs");
            let name = element.text("JSONPostProcessor.referenceNames");
            let is_first = ["", "1"].contains(&element.text("JSONPostProcessor.match_numbers"));
            capture(checks, name, path.strip_prefix('$').filter(|_| is_first).map(|path| Of::Member(path.to_owned())))
        }
        "RegexExtractor" => {
            let is_body = ["", "false"].contains(&element.text("RegexExtractor.useHeaders"));
            let is_first =
                element.text("RegexExtractor.template") == "$1$" && element.text("RegexExtractor.match_number") == "1";
            let regex = element.text("RegexExtractor.regex").to_owned();
            capture(checks, element.text("RegexExtractor.refname"), (is_body && is_first).then_some(Of::Regex(regex)))
        }
        _ => false,
    }
}

fn capture(checks: &mut Checks, name: &str, of: Option<Of>) -> bool {
    let is_plain = |text: &str| !text.contains(['\n', ';']) && !text.contains("${");
    match of {
        Some(of) if !name.is_empty() && is_plain(name) && is_plain(&query(&of)) => {
            checks.captures.push((plain_name(name), of));
            true
        }
        _ => false,
    }
}

fn response(checks: &mut Checks, element: &Element, variables: &mut Variables) -> bool {
    let kind: u32 = element.text("Assertion.test_type").parse().unwrap_or(0);
    // JMeter spells it so.
    let texts = element.parts("Asserion.test_strings").iter().map(|part| variables.parts(part.text("")));
    let texts: Vec<Vec<Part>> = texts.collect();
    let literals: Option<Vec<String>> =
        texts.iter().map(|parts| is_literal(parts).then(|| parts.iter().filter_map(Part::literal).collect())).collect();
    let Some(literals) = literals.filter(|literals| !literals.is_empty()) else { return false };
    let quoted = |text: &String| format!("\"{}\"", hurl::string_part(text));
    match (element.text("Assertion.test_field"), kind, literals.as_slice()) {
        ("Assertion.response_code", EQUALS | SUBSTRING | CONTAINS, [status]) => {
            let status: Option<u16> = status.parse().ok().filter(|status| (100..600).contains(status));
            checks.status = status.or(checks.status);
            status.is_some()
        }
        ("Assertion.response_data", SUBSTRING, texts) => {
            checks.asserts.extend(texts.iter().map(|text| format!("body contains {}", quoted(text))));
            true
        }
        ("Assertion.response_data", EQUALS, [text]) => {
            checks.asserts.push(format!("body == {}", quoted(text)));
            true
        }
        ("Assertion.response_data", CONTAINS, texts) => {
            checks.asserts.extend(texts.iter().map(|text| format!("body matches {}", quoted(text))));
            true
        }
        _ => false,
    }
}

fn json(checks: &mut Checks, element: &Element, variables: &mut Variables) -> bool {
    let Some(path) = element.text("JSON_PATH").strip_prefix('$') else { return false };
    if element.is("INVERT") || element.is("EXPECT_NULL") {
        return false;
    }
    let query = query(&Of::Member(path.to_owned()));
    if !element.is("JSONVALIDATION") {
        checks.asserts.push(format!("{query} exists"));
        return true;
    }
    let Some(expected) = variables.literal(element.text("EXPECTED_VALUE")) else { return false };
    let operator = if element.is("ISREGEX") { "matches" } else { "==" };
    let anchored = if element.is("ISREGEX") { format!("^(?:{expected})$") } else { expected };
    // JMeter compares the text of a value.
    checks.asserts.push(format!("{query} toString {operator} \"{}\"", hurl::string_part(&anchored)));
    true
}

fn is_literal(parts: &[Part]) -> bool {
    parts.iter().all(|part| part.literal().is_some())
}

fn name(scope: &Scope, sampler: &Element) -> String {
    let whole = scope.path.iter().chain([&sampler.name]).cloned().collect::<Vec<_>>().join("/");
    hurl::step_name(&whole, MAX_NAME_CHARS)
}
