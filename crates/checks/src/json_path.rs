//! JSONPaths with a limit on the steps of a search, because a server may send a body that makes a search endless.

use std::fmt;

use serde_json::Value;
use serde_json_path::JsonPath;

/// Maximum number of steps of a search, which take some tens of milliseconds. A step looks at one value of the body.
const MAX_STEPS: u64 = 1 << 20;
/// Number of steps that a regular expression counts as, because it is compiled for each value.
const STEPS_OF_A_REGEX: u64 = 40;

/// A JSONPath (RFC 9535) whose searches are bounded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BoundedPath {
    path: JsonPath,
    shape: Shape,
}

/// Error for a search that would take too many steps on a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooManySteps;

impl fmt::Display for TooManySteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the path may take more than {MAX_STEPS} steps on this body, and no more are tried; use fewer '..'")
    }
}

impl BoundedPath {
    /// Parses a path.
    ///
    /// # Errors
    /// Why `text` is not a JSONPath, in one line.
    pub fn parse(text: &str) -> Result<BoundedPath, String> {
        let first_line = |error: String| error.lines().next().unwrap_or_default().to_owned();
        let path = JsonPath::parse(text).map_err(|error| first_line(error.to_string()))?;
        Ok(BoundedPath { shape: Shape::classify(text), path })
    }

    /// Returns all values at the path.
    ///
    /// # Errors
    /// If the search may take too many steps on this value.
    pub fn query<'a>(&self, json: &'a Value) -> Result<Vec<&'a Value>, TooManySteps> {
        if self.shape.steps(json) > MAX_STEPS {
            return Err(TooManySteps);
        }
        Ok(self.path.query(json).all())
    }

    /// Copies all values at the path. The copies may have at most as many parts as a search may have steps, because
    /// each value that `..` finds may contain the next one.
    ///
    /// # Errors
    /// If the search may take too many steps, or the copies have too many parts.
    pub fn copied(&self, json: &Value) -> Result<Vec<Value>, TooManySteps> {
        let found = self.query(json)?;
        let mut parts = 0_u64;
        for value in &found {
            parts = parts.saturating_add(values_in(value, MAX_STEPS - parts));
            if parts > MAX_STEPS {
                return Err(TooManySteps);
            }
        }
        Ok(found.into_iter().cloned().collect())
    }
}

/// The properties of a path that determine the number of steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shape {
    /// Number of `..` in the path and its filters.
    descents: u32,
    /// Number of queries in filters that begin at the root and find several values. Each is repeated for each value.
    from_root: u32,
    has_regex: bool,
    /// The path finds at most one value, by names and indices.
    is_singular: bool,
}

impl Shape {
    fn classify(text: &str) -> Shape {
        let bare = without_texts(text);
        let roots = bare.match_indices('$').skip(1).map(|(at, _)| &bare[at + 1..]);
        Shape {
            descents: bare.matches("..").count() as u32,
            from_root: roots.filter(|rest| !is_singular(rest)).count() as u32,
            has_regex: ["match", "search"].iter().any(|name| bare.contains(name)),
            is_singular: is_singular(bare.trim_start().strip_prefix('$').unwrap_or(&bare)),
        }
    }

    /// Returns the maximum number of values that a search looks at. A path with k descents reaches a value at depth d
    /// in several ways: one for each choice, with repetition, of k - 1 of its d ancestors.
    fn steps(&self, json: &Value) -> u64 {
        if self.is_singular {
            return 1;
        }
        let each = if self.has_regex { STEPS_OF_A_REGEX } else { 1 };
        let mut once = 0;
        ways(json, 0, self.descents.saturating_sub(1), &mut once);
        // A query from the root is repeated for each value.
        (0..self.from_root).fold(once.saturating_mul(each), |steps, _| steps.saturating_mul(once))
    }
}

/// Adds the ways to all values in `json` to `sum`, up to the budget.
fn ways(json: &Value, depth: u64, more: u32, sum: &mut u64) {
    // C(depth + more, more), one factor after the other: each product is divisible.
    let ways = (1..=u64::from(more)).fold(1_u64, |ways, nth| ways.saturating_mul(depth + nth) / nth);
    *sum = sum.saturating_add(ways);
    if *sum > MAX_STEPS {
        return;
    }
    match json {
        Value::Array(items) => items.iter().for_each(|item| ways_below(item, depth, more, sum)),
        Value::Object(fields) => fields.values().for_each(|field| ways_below(field, depth, more, sum)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn ways_below(json: &Value, depth: u64, more: u32, sum: &mut u64) {
    if *sum <= MAX_STEPS {
        ways(json, depth + 1, more, sum);
    }
}

/// Counts the values in `json`, itself included, up to a little more than `most`.
fn values_in(json: &Value, most: u64) -> u64 {
    let mut sum = 0;
    let mut left = vec![json];
    while let Some(value) = left.pop() {
        sum += 1;
        if sum > most {
            break;
        }
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => left.extend(fields.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    sum
}

/// Empties every quoted text of a path.
fn without_texts(path: &str) -> String {
    let mut bare = String::new();
    let mut quote = None;
    let mut is_escaped = false;
    for c in path.chars() {
        match quote {
            Some(_) if is_escaped => is_escaped = false,
            Some(_) if c == '\\' => is_escaped = true,
            Some(open) if c == open => {
                quote = None;
                bare.push(c);
            }
            Some(_) => {}
            None => {
                quote = Some(c).filter(|c| "'\"".contains(*c));
                bare.push(c);
            }
        }
    }
    bare
}

/// Returns true if only names and indices follow `$`, up to the end of this query.
fn is_singular(rest: &str) -> bool {
    let mut rest = rest.trim_start();
    loop {
        if let Some(inside) = rest.strip_prefix('[') {
            let Some((selector, after)) = inside.split_once(']') else { return false };
            let is_index = |text: &str| text.parse::<i64>().is_ok();
            if !(["''", "\"\""].contains(&selector.trim()) || is_index(selector.trim())) {
                return false;
            }
            rest = after.trim_start();
        } else if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_' || !c.is_ascii())).unwrap_or(name.len());
            if end == 0 {
                return false;
            }
            rest = name[end..].trim_start();
        } else {
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn nested(depth: usize, leaves: usize) -> Value {
        let text = format!(
            "{}[{}]{}",
            r#"{"a":"#.repeat(depth),
            vec![r#"{"a":{"a":[1]}}"#; leaves].join(","),
            "}".repeat(depth)
        );
        serde_json::from_str(&text).expect("JSON")
    }

    fn path(text: &str) -> BoundedPath {
        BoundedPath::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn a_body_that_is_made_for_it_takes_no_time() {
        let deep = nested(60, 60_000);
        let wide = nested(0, 60_000);
        for text in [
            "$..a..a",
            "$..a..a..a..a",
            "$..[?@..a]",
            "$..[?count(@..*) > 1]..a",
            "$..*..*..*..*..*..*..*..*",
            "$..[?match(@.a, '(a*)*b')]",
        ] {
            let began = Instant::now();
            assert_eq!(path(text).query(&deep), Err(TooManySteps), "{text}");
            assert!(began.elapsed() < Duration::from_secs(5), "{text}");
        }
        assert_eq!(path("$[?count($[*].a) > 1]").query(&wide), Err(TooManySteps));
        // Each of the 60 objects contains the next one.
        assert!(path("$..a").query(&deep).is_ok());
        assert_eq!(path("$..a").copied(&deep), Err(TooManySteps));
    }

    #[test]
    fn paths_on_usual_bodies_are_searched() {
        let item = r#"{"id": 7, "name": "x", "tags": ["a", "b"], "owner": {"id": 9, "teams": [{"id": 1}]}}"#;
        let text = format!(r#"{{"wanted": 7, "items": [{}]}}"#, vec![item; 2_000].join(","));
        let body: Value = serde_json::from_str(&text).expect("JSON");
        for (text, found) in [
            ("$.wanted", 1),
            ("$['wanted']", 1),
            ("$.items[0].owner.teams[-1].id", 1),
            ("$.items[*].id", 2_000),
            ("$..id", 6_000),
            ("$..owner..id", 4_000),
            ("$..items..owner..teams..id", 2_000),
            ("$.items[?@.id == $.wanted].name", 2_000),
            ("$.items[?@.name == '$..*..*'].name", 0),
            ("$.items[?match(@.name, 'x')].id", 2_000),
        ] {
            assert_eq!(path(text).query(&body).map(|values| values.len()), Ok(found), "{text}");
        }
    }

    /// No search looks at more values than its bound.
    #[test]
    fn steps_are_no_fewer_than_what_is_found() {
        for (depth, leaves) in [(0, 3), (1, 2), (4, 3), (9, 2)] {
            let body = nested(depth, leaves);
            for text in ["$..*", "$..*..*", "$..*..*..*", "$..a..a", "$[*][*]", "$..[*]..[*]", "$[*]..*"] {
                let path = path(text);
                let found = path.path.query(&body).all().len() as u64;
                assert!(path.shape.steps(&body) >= found, "{text}, {depth}: {found} > {}", path.shape.steps(&body));
            }
        }
    }
}
