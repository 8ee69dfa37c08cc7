//! Options of a script: its scenarios as runs, and its thresholds as service level objectives.

use super::value::Value;
use crate::ways::load::entry::{Load, Users};
use crate::ways::load::text::{duration, number_text, plain_name};

/// Limit on the stages of a scenario, and on scenarios and thresholds.
const MAX_ENTRIES: usize = 200;

/// A scenario: a function with its load.
#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) name: String,
    /// The function, if it is not the default one.
    pub(super) exec: Option<String>,
    pub(super) load: Load,
    pub(super) variables: Vec<(String, String)>,
}

/// Options that hold for all scenarios.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub(super) scenarios: Vec<Scenario>,
    pub(super) slo: Vec<String>,
    pub(super) shared: Vec<(&'static str, String)>,
    pub(super) max_redirects: Option<u64>,
    pub(super) remarks: Vec<String>,
}

type Members = [(String, Value)];

/// Options that change nothing in what is sent.
const WITHOUT_EFFECT: [&str; 11] = [
    "discardResponseBodies",
    "summaryTrendStats",
    "systemTags",
    "summaryTimeUnit",
    "setupTimeout",
    "teardownTimeout",
    "noUsageReport",
    "throw",
    "ext",
    "cloud",
    "tags",
];

/// Reads the options. `name` is that of a script whose load has no name.
pub(super) fn read(value: Option<&Value>, name: &str) -> Options {
    let mut options = Options::default();
    let members: &Members = match value {
        None => &[],
        Some(Value::Map(members)) => members,
        Some(_) => {
            options.remarks.push("not read: the options, whose values only a run knows".to_owned());
            &[]
        }
    };
    for (key, value) in members {
        options.option(key, value);
    }
    if options.scenarios.is_empty() {
        let load = load_of(plain_executor(members), members);
        options.scenarios.push(Scenario { name: plain_name(name), exec: None, load, variables: Vec::new() });
    }
    options
}

fn plain_executor(members: &Members) -> &'static str {
    let has = |key: &str| members.iter().any(|(known, _)| known == key);
    match () {
        () if has("stages") => "ramping-vus",
        () if has("iterations") => "shared-iterations",
        () => "constant-vus",
    }
}

impl Options {
    fn option(&mut self, key: &str, value: &Value) {
        match (key, value) {
            ("vus" | "duration" | "iterations" | "stages", _) => {}
            ("scenarios", Value::Map(scenarios)) => {
                for (name, scenario) in scenarios.iter().take(MAX_ENTRIES) {
                    self.scenario(name, scenario);
                }
            }
            ("thresholds", Value::Map(thresholds)) => {
                for (metric, conditions) in thresholds.iter().take(MAX_ENTRIES) {
                    self.threshold(metric, conditions);
                }
            }
            ("maxRedirects", Value::Number(redirects)) => self.max_redirects = Some(*redirects as u64),
            ("insecureSkipTLSVerify", Value::Bool(true)) => self.shared.push(("insecure", "true".to_owned())),
            ("noConnectionReuse", Value::Bool(true)) => self.shared.push(("no-keepalive", "true".to_owned())),
            ("noVUConnectionReuse", Value::Bool(true)) => {
                self.shared.push(("connection-per-session", "true".to_owned()));
            }
            (_, Value::Bool(false)) => {}
            (key, _) if WITHOUT_EFFECT.contains(&key) => {}
            (key, _) => self.remarks.push(format!("not read: the option {}", plain_name(key))),
        }
    }

    fn scenario(&mut self, name: &str, scenario: &Value) {
        let Value::Map(members) = scenario else {
            self.remarks.push(format!("not read: the scenario {}", plain_name(name)));
            return;
        };
        let text = |key: &str| scenario.member(key).and_then(Value::literal);
        let executor = text("executor").unwrap_or_default();
        let mut load = load_of(&executor, members);
        if let Some(start) = text("startTime").filter(|start| milliseconds(&Value::text(start.as_str())) != Some(0.0)) {
            load.remarks.push(format!("not read: it starts {} after the beginning", shown(&start)));
        }
        let variables = match scenario.member("env") {
            Some(Value::Map(env)) => {
                env.iter().filter_map(|(key, value)| Some((plain_name(key), value.literal()?))).collect()
            }
            _ => Vec::new(),
        };
        self.scenarios.push(Scenario { name: plain_name(name), exec: text("exec"), load, variables });
    }

    fn threshold(&mut self, metric: &str, conditions: &Value) {
        let single;
        let conditions = match conditions {
            Value::List(list) => list.as_slice(),
            one => {
                single = [one.clone()];
                &single
            }
        };
        for condition in conditions.iter().take(MAX_ENTRIES) {
            let expression = match condition {
                Value::Map(_) => condition.member("threshold").and_then(Value::literal),
                value => value.literal(),
            };
            let expression = expression.unwrap_or_else(|| "a value that only a run knows".to_owned());
            if condition.member("abortOnFail") == Some(&Value::Bool(true)) {
                self.remarks.push(format!("not read: the end of the run once {} fails", shown(&expression)));
            }
            match objective(metric, &expression) {
                Some(slo) => self.slo.push(slo),
                None => self.remarks.push(format!("not read: the threshold {}: {}", shown(metric), shown(&expression))),
            }
        }
    }
}

/// Returns the load of an executor with its options.
fn load_of(executor: &str, members: &Members) -> Load {
    let get = |key: &str| members.iter().find(|(known, _)| known == key).map(|(_, value)| value);
    let number = |key: &str| get(key).and_then(Value::number);
    let time = |key: &str| get(key).and_then(milliseconds);
    let mut load = Load::default();
    if let Some(ms) = time("duration") {
        load.text("duration", &duration(ms / 1000.0));
    }
    if let Some(ms) = time("gracefulStop") {
        load.text("drain", &duration(ms / 1000.0));
    }
    let unit = time("timeUnit").unwrap_or(1000.0) / 1000.0;
    match executor {
        "constant-arrival-rate" => match number("rate").and_then(|rate| rate_text(rate / unit)) {
            Some(rate) => load.text("rate", &rate),
            None => load.remarks.push("not read: its rate".to_owned()),
        },
        "ramping-arrival-rate" => match profile(number("startRate").unwrap_or(0.0), get("stages"), unit) {
            Some(profile) => load.text("profile", &profile),
            None => load.remarks.push("not read: its stages".to_owned()),
        },
        "ramping-vus" => {
            let start = number("startVUs").or_else(|| number("vus")).unwrap_or(1.0);
            load.users = Some(Users { count: start, stages: Some(stages_text(get("stages"))) });
            if let Some(ms) = length(get("stages")) {
                load.text("duration", &duration(ms / 1000.0));
            }
        }
        "constant-vus" | "shared-iterations" | "per-vu-iterations" => {
            let users = number("vus").unwrap_or(1.0);
            let is_endless = time("duration").is_some() && executor == "constant-vus";
            let iterations = number("iterations").or((!is_endless).then_some(1.0));
            let each = if executor == "per-vu-iterations" { users } else { 1.0 };
            if let Some(iterations) = iterations {
                load.keys.push(("requests", number_text(iterations * each)));
            }
            load.users = Some(Users { count: users, stages: None });
        }
        other => load.remarks.push(format!("not read: the executor '{}'", shown(other))),
    }
    load
}

/// Returns the stages of a rate as a profile: `5..30/5s,30..30/15s`.
fn profile(start: f64, stages: Option<&Value>, unit: f64) -> Option<String> {
    let Some(Value::List(stages)) = stages else { return None };
    let mut from = start / unit;
    let mut parts = Vec::new();
    for stage in stages.iter().take(MAX_ENTRIES) {
        let to = stage.member("target")?.number()? / unit;
        let ms = stage.member("duration").and_then(milliseconds)?;
        // A stage of no length is a step.
        if ms > 0.0 {
            let rates =
                if from == to { number_text(to) } else { format!("{}..{}", number_text(from), number_text(to)) };
            parts.push(format!("{rates}/{}", duration(ms / 1000.0)));
        }
        from = to;
    }
    (!parts.is_empty()).then(|| parts.join(","))
}

/// Returns the milliseconds that all stages last.
fn length(stages: Option<&Value>) -> Option<f64> {
    let Some(Value::List(stages)) = stages else { return None };
    let lengths = stages.iter().map(|stage| stage.member("duration").and_then(milliseconds));
    lengths.sum::<Option<f64>>().filter(|ms| *ms > 0.0)
}

fn stages_text(stages: Option<&Value>) -> String {
    let Some(Value::List(stages)) = stages else { return String::new() };
    let stage = |stage: &Value| {
        let target = stage.member("target").and_then(Value::number).map_or_else(|| "?".to_owned(), number_text);
        let ms = stage.member("duration").and_then(milliseconds);
        format!("to {target} in {}", ms.map_or_else(|| "?".to_owned(), |ms| duration(ms / 1000.0)))
    };
    stages.iter().take(MAX_ENTRIES).map(stage).collect::<Vec<_>>().join(", ")
}

/// Returns a rate a second in the unit in which it is shortest.
fn rate_text(per_second: f64) -> Option<String> {
    let units = [(1.0, "s"), (60.0, "m"), (3600.0, "h")];
    let whole = units
        .iter()
        .map(|(seconds, unit)| (per_second * seconds, unit))
        .find(|(rate, _)| (rate - rate.round()).abs() < 1e-9 * rate.abs());
    let (rate, unit) = whole.map_or((per_second, "s"), |(rate, unit)| (rate.round(), *unit));
    (rate > 0.0).then(|| format!("{}/{unit}", number_text(rate)))
}

/// Returns milliseconds of a duration such as `1m30s`, or of a number of milliseconds.
fn milliseconds(value: &Value) -> Option<f64> {
    if let Value::Number(ms) = value {
        return Some(*ms);
    }
    let text = value.literal()?;
    let mut rest = text.trim();
    let mut sum = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..end].parse().ok()?;
        let unit_end = rest[end..].find(|c: char| c.is_ascii_digit()).map_or(rest.len(), |at| end + at);
        sum += number
            * match &rest[end..unit_end] {
                "ms" => 1.0,
                "s" => 1e3,
                "m" => 60e3,
                "h" => 3600e3,
                "d" => 86_400e3,
                _ => return None,
            };
        rest = &rest[unit_end..];
    }
    (!text.trim().is_empty()).then_some(sum)
}

/// Returns a threshold as a service level objective.
fn objective(metric: &str, expression: &str) -> Option<String> {
    let operator = ["<=", ">=", "<", ">"].into_iter().find(|operator| expression.contains(operator))?;
    let (left, right) = expression.split_once(operator)?;
    let limit: f64 = right.trim().parse().ok()?;
    let left = left.trim();
    match (metric, left, operator) {
        ("http_req_duration", left, "<" | "<=") => {
            let aggregate = match left {
                "avg" => "mean".to_owned(),
                "max" | "p(100)" => "max".to_owned(),
                "med" => "p50".to_owned(),
                "p(0)" => return None,
                left => format!("p{}", left.strip_prefix("p(")?.strip_suffix(')')?),
            };
            Some(format!("{aggregate} {operator} {}ms", number_text(limit)))
        }
        ("http_req_failed", "rate", "<" | "<=") => Some(format!("error-rate {operator} {}%", percent(limit))),
        _ => None,
    }
}

fn percent(share: f64) -> String {
    number_text((share * 1e8).round() / 1e6)
}

/// Returns a text of the script for a comment.
fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_added_up() {
        let ms = |text: &str| milliseconds(&Value::text(text));
        assert_eq!([ms("1m30s"), ms("500ms"), ms("1.5s"), ms("0s")], [90e3, 500.0, 1500.0, 0.0].map(Some));
        assert_eq!([ms(""), ms("5"), ms("5 years")], [None; 3]);
    }

    #[test]
    fn rates_have_the_shortest_unit() {
        assert_eq!(rate_text(200.0).as_deref(), Some("200/s"));
        assert_eq!(rate_text(1.0 / 60.0).as_deref(), Some("1/m"));
        assert_eq!(rate_text(0.0), None);
    }

    #[test]
    fn thresholds_that_say_the_same_are_objectives() {
        for (metric, expression, slo) in [
            ("http_req_duration", "p(95)<500", Some("p95 < 500ms")),
            ("http_req_duration", "p(99.9) <= 1500", Some("p99.9 <= 1500ms")),
            ("http_req_duration", "avg<200", Some("mean < 200ms")),
            ("http_req_failed", "rate<0.01", Some("error-rate < 1%")),
            ("http_req_duration", "p(95)>500", None),
            ("http_req_waiting", "p(95)<500", None),
            ("checks", "rate>0.9", None),
        ] {
            assert_eq!(objective(metric, expression).as_deref(), slo, "{metric} {expression}");
        }
    }
}
