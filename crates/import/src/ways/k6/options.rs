//! Options of a script: its scenarios as runs, and its thresholds as service level objectives.

use truetail_model::time::Nanos;

use super::value::Value;
use crate::ways::load::entry::{Load, Users};
use crate::ways::load::text::{duration, number_text, plain_name, unused};

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
        if let Some(start) = text("startTime").filter(|start| seconds(&Value::text(start.as_str())) != Some(0.0)) {
            load.remarks.push(format!("not read: it starts {} after the beginning", shown(&start)));
        }
        let variables = match scenario.member("env") {
            Some(Value::Map(env)) => {
                env.iter().filter_map(|(key, value)| Some((plain_name(key), value.literal()?))).collect()
            }
            _ => Vec::new(),
        };
        let name = unused(plain_name(name), |name| self.scenarios.iter().any(|other| other.name == name));
        self.scenarios.push(Scenario { name, exec: text("exec"), load, variables });
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

/// A scenario's members, with its load as far as it is read.
struct Reader<'a> {
    members: &'a Members,
    load: Load,
}

impl Reader<'_> {
    /// Returns a member. One that cannot be read is a remark.
    fn read<T>(&mut self, key: &str, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let (_, value) = self.members.iter().find(|(known, _)| known == key)?;
        let result = read(value);
        if result.is_none() && *value != Value::Undefined {
            self.load.remarks.push(format!("not read: {key}, whose value only a run knows or truetail cannot have"));
        }
        result
    }

    fn has(&self, key: &str) -> bool {
        self.members.iter().any(|(known, value)| known == key && *value != Value::Undefined)
    }

    /// Returns a number of users, 1 unless the script has one; `None` if it cannot be read, which is a remark.
    fn users_or_one(&mut self, key: &str) -> Option<f64> {
        if self.has(key) { self.users(key) } else { Some(1.0) }
    }

    fn users(&mut self, key: &str) -> Option<f64> {
        self.read(key, |value| value.number().filter(|users| *users >= 0.0 && users.fract() == 0.0))
    }

    fn time(&mut self, key: &'static str, of: &str) {
        if let Some(time) = self.read(of, seconds) {
            self.load.text(key, &duration(time));
        }
    }
}

/// Returns the load of an executor with its options.
fn load_of(executor: &str, members: &Members) -> Load {
    let mut reader = Reader { members, load: Load::default() };
    reader.time("duration", "duration");
    reader.time("drain", "gracefulStop");
    let has = |key: &str| members.iter().any(|(known, _)| known == key);
    let unit = if has("timeUnit") { reader.read("timeUnit", seconds) } else { Some(1.0) };
    match executor {
        "constant-arrival-rate" => {
            let rate = reader.read("rate", |rate| rate_text(rate.number()? / unit?));
            rate.into_iter().for_each(|rate| reader.load.text("rate", &rate));
        }
        "ramping-arrival-rate" => {
            let start = if has("startRate") { reader.read("startRate", Value::number) } else { Some(0.0) };
            let profile = reader.read("stages", |stages| profile(start?, stages, unit?));
            profile.into_iter().for_each(|profile| reader.load.text("profile", &profile));
        }
        "ramping-vus" => {
            let count = reader.users_or_one(if reader.has("startVUs") { "startVUs" } else { "vus" });
            let stages = members.iter().find(|(key, _)| key == "stages").map(|(_, stages)| stages);
            let over_time = stages.and_then(|stages| profile(count?, stages, 1.0)?.parse().ok());
            if let Some(listed) = stages.and_then(entries).filter(|listed| listed.len() > MAX_ENTRIES) {
                let remark = format!("not read: {} stages; a load has at most {MAX_ENTRIES} here", listed.len());
                reader.load.remarks.push(remark);
            }
            reader.load.users = Some(Users { count, stages: Some(stages_text(stages)), over_time });
            let length = stages.and_then(length).into_iter();
            length.for_each(|length| reader.load.text("duration", &duration(length)));
        }
        "constant-vus" | "shared-iterations" | "per-vu-iterations" => {
            let count = reader.users_or_one("vus").map(|users| users.max(1.0));
            let iterations = reader.users("iterations");
            let is_once = !has("iterations") && (!has("duration") || executor != "constant-vus");
            let each = if executor == "per-vu-iterations" { count } else { Some(1.0) };
            if let Some((iterations, each)) = iterations.or(is_once.then_some(1.0)).zip(each) {
                reader.load.keys.push(("requests", number_text(iterations * each)));
            }
            reader.load.users = Some(Users { count, stages: None, over_time: None });
        }
        other => reader.load.remarks.push(format!("not read: the executor '{}'", shown(other))),
    }
    reader.load
}

/// Returns the values of a list.
fn entries(list: &Value) -> Option<&[Value]> {
    if let Value::List(entries) = list { Some(entries) } else { None }
}

/// Returns the stages of a rate, or of a number of users, as a profile: `5..30/5s,30/15s`. Too many stages are none,
/// because the last one would stay.
fn profile(start: f64, stages: &Value, unit: f64) -> Option<String> {
    let stages = entries(stages).filter(|stages| stages.len() <= MAX_ENTRIES)?;
    let rate = |number: f64| Some(number / unit).filter(|rate| rate.is_finite() && *rate >= 0.0);
    let mut from = rate(start)?;
    let mut parts = Vec::new();
    for stage in stages {
        let to = rate(stage.member("target")?.number()?)?;
        let length = stage.member("duration").and_then(seconds)?;
        // A stage of no length is a step.
        if length > 0.0 {
            let rates =
                if from == to { number_text(to) } else { format!("{}..{}", number_text(from), number_text(to)) };
            parts.push(format!("{rates}/{}", duration(length)));
        }
        from = to;
    }
    match parts.as_slice() {
        [] => None,
        // A single stage that stays is no list of stages.
        [stage] if !stage.contains("..") => Some(format!("steps:{stage}")),
        _ => Some(parts.join(",")),
    }
}

/// Returns the seconds that all stages last.
fn length(stages: &Value) -> Option<f64> {
    let Value::List(stages) = stages else { return None };
    let lengths = stages.iter().map(|stage| stage.member("duration").and_then(seconds));
    lengths.sum::<Option<f64>>().filter(|length| *length > 0.0)
}

fn stages_text(stages: Option<&Value>) -> String {
    let Some(Value::List(stages)) = stages else { return String::new() };
    let stage = |stage: &Value| {
        let target = stage.member("target").and_then(Value::number).map_or_else(|| "?".to_owned(), number_text);
        let length = stage.member("duration").and_then(seconds);
        format!("to {target} in {}", length.map_or_else(|| "?".to_owned(), duration))
    };
    stages.iter().take(MAX_ENTRIES).map(stage).collect::<Vec<_>>().join(", ")
}

/// Returns the shortest text of a rate: per second, per minute or per hour.
fn rate_text(per_second: f64) -> Option<String> {
    let units = [(1.0, "s"), (60.0, "m"), (3600.0, "h")];
    let whole = units
        .iter()
        .map(|(seconds, unit)| (per_second * seconds, unit))
        .find(|(rate, _)| (rate - rate.round()).abs() < 1e-9 * rate.abs());
    let (rate, unit) = whole.map_or((per_second, "s"), |(rate, unit)| (rate.round(), *unit));
    (rate > 0.0 && rate.is_finite()).then(|| format!("{}/{unit}", number_text(rate)))
}

/// Returns the seconds of a duration such as `1m30s`, or of a number of milliseconds.
fn seconds(value: &Value) -> Option<f64> {
    match value {
        Value::Number(ms) => Some(ms / 1000.0).filter(|seconds| *seconds >= 0.0),
        text => text.literal()?.parse().ok().map(|Nanos(ns)| ns as f64 / 1e9),
    }
}

/// Returns a threshold as a service level objective.
fn objective(metric: &str, expression: &str) -> Option<String> {
    let operator = ["<=", ">=", "<", ">"].into_iter().find(|operator| expression.contains(operator))?;
    let (left, right) = expression.split_once(operator)?;
    let limit = right.trim().parse().ok().filter(|limit: &f64| limit.is_finite() && *limit >= 0.0)?;
    let left = left.trim();
    match (metric, left, operator) {
        ("http_req_duration", left, "<" | "<=") => {
            let aggregate = match left {
                "avg" => "mean".to_owned(),
                "max" | "p(100)" => "max".to_owned(),
                "med" => "p50".to_owned(),
                left => {
                    let percent: f64 = left.strip_prefix("p(")?.strip_suffix(')')?.parse().ok()?;
                    (percent > 0.0 && percent < 100.0).then(|| format!("p{}", number_text(percent)))?
                }
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
    fn durations_are_texts_or_milliseconds() {
        let read = |text: &str| seconds(&Value::text(text));
        assert_eq!([read("1m30s"), read("500ms"), read("1.5s"), read("0s")], [90.0, 0.5, 1.5, 0.0].map(Some));
        assert_eq!([read(""), read("5"), read("5 years"), read("-1s")], [None; 4]);
        assert_eq!([Value::Number(250.0), Value::Number(-1.0)].map(|ms| seconds(&ms)), [Some(0.25), None]);
    }

    #[test]
    fn rates_have_the_shortest_unit() {
        assert_eq!(rate_text(200.0).as_deref(), Some("200/s"));
        assert_eq!(rate_text(1.0 / 60.0).as_deref(), Some("1/m"));
        assert_eq!([0.0, -1.0, f64::NAN, f64::INFINITY].map(rate_text), [None, None, None, None]);
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
            ("http_req_duration", "p(NaN)<500", None),
            ("http_req_duration", "p(101)<500", None),
            ("http_req_duration", "p(95)<inf", None),
            ("http_req_failed", "rate<NaN", None),
        ] {
            assert_eq!(objective(metric, expression).as_deref(), slo, "{metric} {expression}");
        }
    }
}
