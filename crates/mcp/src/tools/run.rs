//! `run`: offer load, measure, judge.

use serde::Deserialize;
use serde_json::{Value, json};
use truetail_model::arrival::Spacing;
use truetail_model::time::Nanos;

use super::request::{self, RequestArguments};
use super::tool::{OUTCOMES, Plan, Tool, members, outcome};
use crate::arguments::{self, option};
use crate::job::{Job, JobOutput};
use crate::limits::{Files, Limits};
use crate::schema::{self, array, one_of, value};

pub(super) const TOOL: Tool = Tool {
    name: "run",
    title: "Measure a service under load",
    about: "Sends HTTP requests at a fixed rate, which does not wait for the server, and returns response times from the \
            instant each request was due. Read 'verdict' before any number. With 'slo', each objective is decided: holds, fails \
            or open.",
    arguments: schema,
    result,
    offers_load: true,
    saves: false,
    plan,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunArguments {
    url: String,
    rate: f64,
    duration: String,
    spacing: Option<Spacing>,
    seed: Option<u64>,
    #[serde(default)]
    slo: Vec<String>,
    #[serde(default)]
    checks: Vec<String>,
    name: Option<String>,
    #[serde(default)]
    request: RequestArguments,
}

fn schema(limits: &Limits) -> Value {
    let highest = limits.highest.as_per_second();
    let text = value("string", "");
    schema::arguments(
        &[
            ("url", request::url_schema(limits)),
            (
                "rate",
                json!({"type": "number", "exclusiveMinimum": 0, "maximum": highest, "description": "Requests per second"}),
            ),
            ("duration", value("string", &format!("Such as 10s or 1m30s; at most {}", limits.longest))),
            (
                "spacing",
                value(
                    "string",
                    "even unless given; poisson is random, like independent users; gamma:SHAPE with a shape below 1, such \
                     as gamma:0.5, comes in bursts",
                ),
            ),
            ("seed", json!({"type": "integer", "minimum": 0, "description": "Seed of the spacing; 1 unless given"})),
            ("slo", array(&text, "Objectives that must hold, such as 'p99 < 50ms' or 'error-rate < 1%'")),
            ("checks", array(&text, "Checks of each answer, such as 'status == 200' or 'body contains \"ok\"'")),
            ("name", value("string", "Name of the folder of the saved run; chosen unless given")),
            ("request", request::schema(limits)),
        ],
        &["url", "rate", "duration"],
    )
}

fn result() -> Value {
    let check = schema::object(
        &[("text", value("string", "")), ("passed", value("integer", "")), ("failed", value("integer", ""))],
        &["text", "passed", "failed"],
    );
    schema::object(
        &[
            (
                "outcome",
                one_of(&OUTCOMES, "gate_failed: an objective or a check failed; undecided: the numbers decide nothing"),
            ),
            ("run", schema::optional("string", "Folder of the saved run, for 'compare' and 'explain'")),
            ("verdict", schema::verdict()),
            ("gates", schema::gates()),
            ("checks", array(&check, "Answers that passed and failed each check")),
            ("tally", value("object", "What became of each planned request")),
            ("statuses", value("object", "Number of answers with each status")),
            ("offered_per_second", schema::optional("number", "")),
            ("throughput_per_second", schema::optional("number", "Answers per second")),
            ("response_time", schema::distribution("From the instant each request was due")),
            ("service_time", schema::distribution("From the instant each request was sent")),
            ("notes", array(&value("string", ""), "Messages of the run")),
        ],
        &["outcome", "run", "verdict", "tally", "response_time", "notes"],
    )
}

fn plan(given: &Value, limits: &Limits, files: &dyn Files) -> Result<Plan, String> {
    let given: RunArguments = arguments::read(given)?;
    let mut words = vec!["run".to_owned(), limits.url(&given.url)?, "--json".to_owned(), "--quiet".to_owned()];
    let load = limits.time("duration", &given.duration)?;
    option(&mut words, "rate", limits.rate("rate", given.rate)?);
    option(&mut words, "duration", load);
    if let Some(spacing) = given.spacing {
        option(&mut words, "spacing", spacing);
    }
    if let Some(seed) = given.seed {
        option(&mut words, "seed", seed);
    }
    given.slo.iter().for_each(|objective| option(&mut words, "slo", objective));
    given.checks.iter().for_each(|check| option(&mut words, "check", check));
    words.extend(given.request.options(limits)?);
    let folder = request::folder(given.name.as_deref(), "run", limits, files)?;
    match &folder {
        Some(folder) => option(&mut words, "out", folder.display()),
        None => words.push("--no-save".to_owned()),
    }
    let folder = folder.map(|folder| folder.display().to_string());
    Ok(Plan { job: Job { words, load: load + DRAIN }, read: Box::new(move |output| read(output, folder.as_deref())) })
}

/// Longest time that a run waits for the last answers, by default.
const DRAIN: Nanos = Nanos::from_secs(30);

const MEMBERS: [&str; 9] = [
    "verdict",
    "gates",
    "checks",
    "tally",
    "statuses",
    "offered_per_second",
    "throughput_per_second",
    "response_time",
    "service_time",
];

fn read(output: &JobOutput, folder: Option<&str>) -> Result<Value, String> {
    let mut result = members(&output.json()?, &MEMBERS);
    result["outcome"] = json!(outcome(output));
    result["run"] = json!(folder);
    result["notes"] = json!(output.notes());
    Ok(result)
}
