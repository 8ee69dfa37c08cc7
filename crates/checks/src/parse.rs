//! The parser of checks.
//!
//! ```text
//! check    = "status" number-test
//!          | "header" NAME  ( "exists" | text-test )
//!          | "body" text-test
//!          | "grpc-status" ( "==" | "!=" ) NAME
//!          | "message." NAMES ( "exists" | text-test | number-test )
//!          | "jsonpath" PATH ( "exists" | text-test | number-test )
//! each test may have "not" before it
//! text-test   = ( "==" | "!=" | "contains" | "startsWith" | "endsWith" ) VALUE | "matches" ( /regex/ | VALUE )
//! number-test = ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) NUMBER | "in" NUMBER ".." NUMBER
//! ```

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use regex::bytes::Regex;
use serde_json::Value;
use truetail_model::record::GrpcStatus;

use crate::check::{Check, Path, Subject};
use crate::conditions::{JsonTest, NumberTest, StatusTest, TextTest};
use crate::json_path::BoundedPath;
use crate::scanner::Scanner;

/// Error for a text that is not a check, with the problem in one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckError {
    text: String,
    problem: String,
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        write!(f, "'{}' is not a check: {}", one_line(&self.text), one_line(&self.problem))
    }
}

impl Error for CheckError {}

type Parsed<T> = Result<T, String>;

impl FromStr for Check {
    type Err = CheckError;

    fn from_str(text: &str) -> Result<Check, CheckError> {
        let error = |problem| CheckError { text: text.trim().to_owned(), problem };
        let (subject, negated) = subject(Scanner::new(text)).map_err(error)?;
        Ok(Check { text: text.trim().to_owned(), subject, negated })
    }
}

fn subject(mut scanner: Scanner<'_>) -> Parsed<(Subject, bool)> {
    match scanner.word() {
        "status" => {
            let (test, negated) = test(scanner, "status")?;
            Ok((Subject::Status(status_test(test)?), negated))
        }
        "header" => {
            let name = header_name(&mut scanner)?;
            let (test, negated) = test(scanner, "header NAME")?;
            let text_test = if test.name == TestName::Exists { None } else { Some(text_test(test)?) };
            Ok((Subject::Header(name, text_test), negated))
        }
        "body" => {
            let (test, negated) = test(scanner, "body")?;
            Ok((Subject::Body(text_test(test)?), negated))
        }
        "jsonpath" => {
            let path = json_path(&mut scanner)?;
            let (test, negated) = test(scanner, "jsonpath PATH")?;
            Ok((Subject::Json(Box::new(path), json_test(test)?), negated))
        }
        "grpc" if scanner.skip_word("-status") => {
            let (test, negated) = test(scanner, "grpc-status")?;
            Ok((Subject::GrpcStatus(grpc_status(test)?), negated))
        }
        "message" if scanner.rest().starts_with('.') => {
            let path = path_of(format!("${}", scanner.json_path()))?;
            let (test, negated) = test(scanner, "message.NAME")?;
            Ok((Subject::Json(Box::new(path), json_test(test)?), negated))
        }
        _ => Err("it begins with status, header, body or jsonpath, such as 'status == 200'".to_owned()),
    }
}

fn header_name(scanner: &mut Scanner<'_>) -> Parsed<String> {
    let name = match scanner.quoted()? {
        Some(name) => name,
        None => scanner.header_name().to_owned(),
    };
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() {
        return Err("the name of a header follows, such as 'header content-type contains json'".to_owned());
    }
    if !name.bytes().all(is_token) {
        return Err(format!("no header can be called '{name}'"));
    }
    Ok(name)
}

fn json_path(scanner: &mut Scanner<'_>) -> Parsed<Path> {
    let text = match scanner.quoted()? {
        Some(text) => text,
        None => scanner.json_path().to_owned(),
    };
    if !text.starts_with('$') {
        return Err("a JSONPath follows, which begins with $, such as 'jsonpath $.items[0].id == 7'".to_owned());
    }
    path_of(text)
}

fn path_of(text: String) -> Parsed<Path> {
    let parsed = BoundedPath::parse(&text).map_err(|error| format!("{text} is not a JSONPath: {error}"))?;
    Ok(Path { text, parsed })
}

#[derive(Clone, Copy, Debug)]
struct NamedTest<'a> {
    name: TestName,
    value: Scanner<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TestName {
    Equal,
    Order(Order),
    Contains,
    StartsWith,
    EndsWith,
    Matches,
    Exists,
}

/// Comparisons that only numbers have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    Less,
    AtMost,
    More,
    AtLeast,
    In,
}

/// Longer signs come first, because the shorter ones are prefixes of them. `true` inverts the test.
const SIGNS: [(&str, (TestName, bool)); 6] = [
    ("==", (TestName::Equal, false)),
    ("!=", (TestName::Equal, true)),
    ("<=", (TestName::Order(Order::AtMost), false)),
    (">=", (TestName::Order(Order::AtLeast), false)),
    ("<", (TestName::Order(Order::Less), false)),
    (">", (TestName::Order(Order::More), false)),
];

const WORDS: [(&str, TestName); 6] = [
    ("in", TestName::Order(Order::In)),
    ("contains", TestName::Contains),
    ("startsWith", TestName::StartsWith),
    ("endsWith", TestName::EndsWith),
    ("matches", TestName::Matches),
    ("exists", TestName::Exists),
];

fn test<'a>(mut scanner: Scanner<'a>, subject: &str) -> Parsed<(NamedTest<'a>, bool)> {
    let not = scanner.skip_word("not");
    let found = scanner.rest();
    let (name, negated) = match scanner.sign(&SIGNS) {
        Some((name, negated)) => (name, negated),
        None => {
            let named = WORDS.iter().find(|(word, _)| scanner.skip_word(word)).map(|(_, name)| (*name, false));
            named.ok_or_else(|| unknown_test(found, subject))?
        }
    };
    if name == TestName::Exists && !scanner.rest().is_empty() {
        return Err(format!("nothing follows 'exists', and here is '{}'", scanner.rest()));
    }
    Ok((NamedTest { name, value: scanner }, not != negated))
}

fn unknown_test(found: &str, subject: &str) -> String {
    let first = found.split_whitespace().next().unwrap_or_default();
    match first {
        "" => format!("a comparison follows {subject}, such as == or contains"),
        _ if first.starts_with('=') => "write == to compare".to_owned(),
        _ => format!(
            "'{first}' is no comparison; write ==, !=, <, <=, >, >=, in, contains, startsWith, endsWith, matches or exists"
        ),
    }
}

fn grpc_status(test: NamedTest<'_>) -> Parsed<GrpcStatus> {
    let name = test.value.rest();
    match test.name {
        TestName::Equal => GrpcStatus::from_name(name)
            .ok_or_else(|| format!("'{name}' is not a status of gRPC; write OK or a name such as UNAVAILABLE")),
        _ => Err("a status of gRPC is compared with == or !=, such as 'grpc-status == OK'".to_owned()),
    }
}

fn status_test(test: NamedTest<'_>) -> Parsed<StatusTest> {
    let text = test.value.rest();
    match test.name {
        TestName::Equal => {
            let status = text.parse().ok().filter(|status| (100..=999).contains(status));
            status.map(StatusTest::Equal).ok_or_else(|| format!("'{text}' is not a status; write a number such as 200"))
        }
        TestName::Order(order) => number_test(order, text).map(StatusTest::Number),
        TestName::Contains | TestName::StartsWith | TestName::EndsWith | TestName::Matches | TestName::Exists => {
            Err("a status is compared with ==, !=, <, <=, >, >= or in, such as 'status in 200..299'".to_owned())
        }
    }
}

fn number_test(order: Order, text: &str) -> Parsed<NumberTest> {
    Ok(match order {
        Order::Less => NumberTest::Less(number(text)?),
        Order::AtMost => NumberTest::AtMost(number(text)?),
        Order::More => NumberTest::More(number(text)?),
        Order::AtLeast => NumberTest::AtLeast(number(text)?),
        Order::In => range(text)?,
    })
}

fn number(text: &str) -> Parsed<f64> {
    let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| format!("'{text}' is not a number"))
}

fn range(text: &str) -> Parsed<NumberTest> {
    let (low, high) = text.split_once("..").ok_or_else(|| format!("'{text}' is not a range; write 200..299"))?;
    let low = number(low)?;
    let high = number(high)?;
    if low > high {
        return Err(format!("no number is in {low}..{high}; write the smaller one first"));
    }
    Ok(NumberTest::In(low, high))
}

fn text_test(test: NamedTest<'_>) -> Parsed<TextTest> {
    let value = test.value;
    match test.name {
        TestName::Equal => Ok(TextTest::Equal(text_value(value)?)),
        TestName::Contains => Ok(TextTest::contains(text_value(value)?)),
        TestName::StartsWith => Ok(TextTest::StartsWith(text_value(value)?)),
        TestName::EndsWith => Ok(TextTest::EndsWith(text_value(value)?)),
        TestName::Matches => Ok(TextTest::Matches(regex(value)?)),
        TestName::Order(_) => {
            Err("a text is compared with ==, !=, contains, startsWith, endsWith or matches".to_owned())
        }
        TestName::Exists => Err("'exists' goes with header and jsonpath".to_owned()),
    }
}

fn json_test(test: NamedTest<'_>) -> Parsed<JsonTest> {
    match test.name {
        TestName::Exists => Ok(JsonTest::Exists),
        TestName::Equal => Ok(JsonTest::Equal(json_value(test.value)?)),
        TestName::Contains => Ok(JsonTest::Contains(json_value(test.value)?)),
        TestName::StartsWith | TestName::EndsWith | TestName::Matches => Ok(JsonTest::Text(text_test(test)?)),
        TestName::Order(order) => number_test(order, test.value.rest()).map(JsonTest::Number),
    }
}

/// Parses a text in quotes, or takes all that is left.
fn text_value(mut value: Scanner<'_>) -> Parsed<String> {
    match value.quoted()? {
        Some(_) if !value.rest().is_empty() => {
            Err(format!("nothing follows the quoted text, and here is '{}'", value.rest()))
        }
        Some(text) => Ok(text),
        None if value.rest().is_empty() => Err("a value follows, such as \"ok\"".to_owned()),
        None => Ok(value.rest().to_owned()),
    }
}

/// Parses a JSON value. Anything else is a text.
fn json_value(value: Scanner<'_>) -> Parsed<Value> {
    match serde_json::from_str(value.rest()) {
        Ok(json) => Ok(json),
        Err(_) => text_value(value).map(Value::String),
    }
}

/// Parses `/regex/`, with `\/` for a slash, or a text.
fn regex(value: Scanner<'_>) -> Parsed<Regex> {
    let pattern = match value.rest().strip_prefix('/') {
        Some(rest) => between_slashes(rest)?,
        None => unescaped_slashes(&text_value(value)?),
    };
    Regex::new(&pattern).map_err(|error| {
        // The last line names the error. The lines before it point at the place.
        let message = error.to_string();
        let last = message.lines().last().unwrap_or_default();
        format!("/{pattern}/ is not a regular expression: {}", last.trim_start_matches("error: "))
    })
}

fn between_slashes(rest: &str) -> Parsed<String> {
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '/' if at + 1 == rest.len() => return Ok(unescaped_slashes(&rest[..at])),
            '/' => {
                return Err(format!(
                    "nothing follows the closing / of a regular expression, and here is '{}'; write \\/ for a slash in it, \
                     and (?i) at its beginning to pass over upper and lower case",
                    &rest[at + 1..]
                ));
            }
            _ => {}
        }
    }
    Err("a regular expression stands between two slashes, and the second is missing".to_owned())
}

/// Replaces `\/` in the pattern by `/`.
fn unescaped_slashes(pattern: &str) -> String {
    let mut result = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    while let Some(c) = letters.next() {
        match (c, letters.as_str().starts_with('/')) {
            ('\\', true) => {}
            ('\\', false) => {
                result.push(c);
                result.extend(letters.next());
            }
            _ => result.push(c),
        }
    }
    result
}
