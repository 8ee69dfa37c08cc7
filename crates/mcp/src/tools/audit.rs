//! `audit`: tell whether a load tool left out requests, from its result file.

use serde::Deserialize;
use serde_json::{Value, json};
use truetail_model::time::Nanos;

use super::tool::{Plan, Tool};
use crate::arguments::{self, option};
use crate::job::{Job, JobOutput};
use crate::limits::{Files, Limits, time};
use crate::schema::{self, array, one_of, optional, value};

pub(super) const TOOL: Tool = Tool {
    name: "audit",
    title: "Audit the result file of a load tool",
    about: "Tells whether a load tool (k6, JMeter, Gatling, Locust, Vegeta, wrk2 and others) left out the requests that would \
            have been slow, from its result file, and estimates the percentiles with them.",
    arguments: schema,
    result,
    offers_load: false,
    saves: false,
    plan,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AuditArguments {
    file: String,
    expected_interval: Option<String>,
}

fn schema(_: &Limits) -> Value {
    schema::arguments(
        &[
            ("file", value("string", "Result file of a load tool, or an access log")),
            (
                "expected_interval",
                value("string", "Time between two requests of a user, such as 10ms, if the file hides it"),
            ),
        ],
        &["file"],
    )
}

fn result() -> Value {
    let quantile = schema::object(&[("q", value("number", "")), ("value_ns", optional("integer", ""))], &["q"]);
    let quantiles = schema::object(&[("quantiles", array(&quantile, ""))], &["quantiles"]);
    let nullable = json!({"anyOf": [quantiles, {"type": "null"}]});
    let evidence = schema::object(&[("code", value("string", "")), ("message", value("string", ""))], &["code"]);
    schema::object(
        &[
            ("finding", one_of(&["none_seen", "likely", "certain", "cannot_tell"], "Whether requests were left out")),
            ("evidence", array(&evidence, "")),
            ("format", value("string", "")),
            ("requests", value("integer", "")),
            ("missing_arrivals", optional("integer", "Requests that were left out")),
            ("reported", nullable.clone()),
            ("corrected", nullable),
            ("notes", array(&value("string", ""), "")),
        ],
        &["finding", "evidence", "format", "requests"],
    )
}

fn plan(given: &Value, limits: &Limits, files: &dyn Files) -> Result<Plan, String> {
    let given: AuditArguments = arguments::read(given)?;
    let file = limits.readable(&given.file, files)?;
    let mut words = vec!["audit".to_owned(), file.display().to_string(), "--json".to_owned()];
    if let Some(text) = &given.expected_interval {
        option(&mut words, "expected-interval", time("expected_interval", text)?);
    }
    Ok(Plan { job: Job { words, load: Nanos::ZERO }, read: Box::new(read) })
}

fn read(output: &JobOutput) -> Result<Value, String> {
    let mut result = output.json()?;
    result["notes"] = json!(output.notes());
    Ok(result)
}
