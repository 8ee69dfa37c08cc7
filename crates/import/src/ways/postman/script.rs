//! Scripts of a collection, as far as they can be read without running them.

use std::sync::LazyLock;

use regex::Regex;

use super::variables::Variables;

/// Result of reading the script that runs after an answer.
#[derive(Default)]
pub(super) struct Tests {
    /// The status that the answer must have.
    pub(super) status: Option<u16>,
    /// Captures in Hurl's notation.
    pub(super) captures: Vec<String>,
    /// Lines that are not read.
    pub(super) unread: Vec<String>,
}

const STATUS: &str = r"pm\.response\.to\.have\.status\((\d{3})\)|pm\.expect\(pm\.response\.code\)\.to\.(?:eql|equal|be\.equal)\((\d{3})\)";
const ANSWER: &str = r"^(?:const|let|var)\s+(\w+)\s*=\s*(?:pm\.response\.json\(\)|JSON\.parse\(responseBody\));?$";
const SET: &str = r#"^(?:pm\.(?:environment|globals|collectionVariables|variables)\.set|postman\.set(?:EnvironmentVariable|GlobalVariable))\(\s*["']([^"']+)["']\s*,\s*(pm\.response\.json\(\)|\w+)((?:\.\w+|\[\d+\]|\[["'][\w-]+["']\])+)\s*\);?$"#;
const HEADER: &str = r#"^pm\.(?:environment|globals|collectionVariables|variables)\.set\(\s*["']([^"']+)["']\s*,\s*pm\.response\.headers\.get\(\s*["']([\w-]+)["']\s*\)\s*\);?$"#;
/// Lines of the frame around a test.
const FRAME: &str = r#"^(?:pm\.test\(.*(?:\{|=>)\s*|\}\);?|\}|\);?|["']use strict["'];?)$"#;

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a valid pattern")
}

/// Reads the script line by line. A line that has no counterpart in a flow is kept as unread.
pub(super) fn read(lines: &[String], variables: &mut Variables) -> Tests {
    static PATTERNS: LazyLock<[Regex; 5]> = LazyLock::new(|| [STATUS, ANSWER, SET, HEADER, FRAME].map(pattern));
    let [status, answer, set, header, frame] = &*PATTERNS;
    let mut tests = Tests::default();
    let mut answers = vec!["pm.response.json()".to_owned()];
    for line in lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty() && !line.starts_with("//")) {
        if let Some(found) = status.captures(line) {
            tests.status = found.iter().skip(1).flatten().next().and_then(|digits| digits.as_str().parse().ok());
        } else if let Some(found) = answer.captures(line) {
            answers.push(found[1].to_owned());
        } else if let Some(found) = set.captures(line).filter(|found| answers.contains(&found[2].to_owned())) {
            let name = variables.capture(&found[1]);
            tests.captures.push(format!("{name}: jsonpath \"${}\"", path(&found[3])));
        } else if let Some(found) = header.captures(line) {
            let name = variables.capture(&found[1]);
            tests.captures.push(format!("{name}: header \"{}\"", &found[2]));
        } else if !frame.is_match(line) {
            tests.unread.push(line.to_owned());
        }
    }
    tests
}

/// Returns the members of JavaScript, such as `.a[0]['b-c']`, as those of a JSONPath.
fn path(members: &str) -> String {
    members.replace('"', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_counterpart_is_read_and_the_rest_kept() {
        let script = r#"
            // Login works.
            pm.test("status", function () {
                pm.response.to.have.status(201);
            });
            const data = pm.response.json();
            pm.environment.set("token", data.user.tokens[0]);
            pm.collectionVariables.set('my id', pm.response.json()["id"]);
            pm.globals.set("etag", pm.response.headers.get("ETag"));
            pm.environment.set("now", Date.now());
            pm.environment.set("other", unknown.id);
            if (data.ok) { postman.setNextRequest("x"); }
        "#;
        let lines: Vec<String> = script.lines().map(str::to_owned).collect();
        let tests = read(&lines, &mut Variables::default());
        assert_eq!(tests.status, Some(201));
        let captures =
            [r#"token: jsonpath "$.user.tokens[0]""#, r#"my_id: jsonpath "$['id']""#, r#"etag: header "ETag""#];
        assert_eq!(tests.captures, captures);
        assert_eq!(tests.unread.len(), 3, "{:?}", tests.unread);
    }
}
