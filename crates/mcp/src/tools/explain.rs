//! `explain`: say what the verdict of a saved run means, by which rule, and what its marked percentiles are.

use serde::Deserialize;
use serde_json::{Value, json};
use truetail_model::time::Nanos;

use super::reasons;
use super::tool::{Plan, Tool, members};
use crate::arguments;
use crate::job::{Job, JobOutput};
use crate::limits::{Files, Limits};
use crate::schema::{self, array, one_of, value};

pub(super) const TOOL: Tool = Tool {
    name: "explain",
    title: "Explain the verdict of a saved run",
    about: "Says why a saved run is VALID, SUSPECT or INVALID: each reason with its numbers, the rule behind it with its limit, \
            and the meaning of each percentile that is no plain number.",
    arguments: schema,
    result,
    offers_load: false,
    saves: false,
    plan,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExplainArguments {
    run: String,
}

fn schema(_: &Limits) -> Value {
    schema::arguments(&[("run", value("string", "Folder of a saved run"))], &["run"])
}

fn result() -> Value {
    let rule = schema::object(
        &[("when", value("string", "")), ("state", value("string", "")), ("why", value("string", "Why this limit"))],
        &["when", "state", "why"],
    );
    let reason = schema::object(
        &[
            ("code", value("string", "")),
            ("message", value("string", "What happened, with numbers, and what helps")),
            ("rules", array(&rule, "When this reason is given")),
        ],
        &["code", "message", "rules"],
    );
    let mark = schema::object(&[("q", value("number", "")), ("meaning", value("string", ""))], &["q", "meaning"]);
    schema::object(
        &[
            ("state", one_of(&["VALID", "SUSPECT", "INVALID"], "")),
            ("meaning", value("string", "")),
            ("reasons", array(&reason, "")),
            ("marks", array(&mark, "Percentiles of response time that are no plain number")),
            ("gates", schema::gates()),
            ("tally", value("object", "")),
        ],
        &["state", "meaning", "reasons", "marks"],
    )
}

fn plan(given: &Value, limits: &Limits, files: &dyn Files) -> Result<Plan, String> {
    let given: ExplainArguments = arguments::read(given)?;
    let folder = limits.readable(&given.run, files)?;
    let words = vec!["report".to_owned(), folder.display().to_string(), "--json".to_owned()];
    Ok(Plan { job: Job { words, load: Nanos::ZERO }, read: Box::new(read) })
}

fn read(output: &JobOutput) -> Result<Value, String> {
    let run = output.json()?;
    let all = run["verdict"]["reasons"].as_array().cloned().unwrap_or_default();
    let mut result = members(&run, &["gates", "tally"]);
    result["state"] = run["verdict"]["state"].clone();
    result["meaning"] = json!(meaning(&run["verdict"]["state"]));
    result["reasons"] = all.into_iter().map(with_rules).collect();
    let quantiles = run["response_time"]["quantiles"].as_array().cloned().unwrap_or_default();
    result["marks"] = quantiles.iter().filter_map(mark).collect();
    Ok(result)
}

fn meaning(state: &Value) -> &'static str {
    match state.as_str() {
        Some("VALID") => "no problem found",
        Some("SUSPECT") => "usable, with the stated doubt",
        _ => "the load was not the requested one, or the numbers mean nothing; do not use them",
    }
}

fn with_rules(mut reason: Value) -> Value {
    let code = reason["code"].as_str().unwrap_or_default();
    reason["rules"] = reasons::rules(code).iter().map(|rule| json!(rule)).collect();
    reason
}

/// Returns the meaning of a percentile that is no plain number.
fn mark(quantile: &Value) -> Option<Value> {
    let is = |name: &str| quantile[name] == json!(true);
    let meaning = if quantile["supported"] == json!(false) {
        format!("the run has too few requests for it: it needs {}", quantile["needs_n"])
    } else if is("no_answer") {
        "it falls among requests that failed: no answer would ever have come".to_owned()
    } else if is("at_least") {
        "it falls among requests that were not answered in time; the true value is this or more".to_owned()
    } else if is("unresolved") {
        "truetail itself may have added more than a tenth of it; the truth is between without_generator_ns and value_ns"
            .to_owned()
    } else {
        return None;
    };
    Some(json!({"q": quantile["q"], "value_ns": quantile["value_ns"],
        "without_generator_ns": quantile["without_generator_ns"], "meaning": meaning}))
}
