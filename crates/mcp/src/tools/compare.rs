//! `compare`: tell whether response times differ between saved runs.

use serde::Deserialize;
use serde_json::{Value, json};
use truetail_model::time::Nanos;

use super::tool::{OUTCOMES, Plan, Tool, outcome};
use crate::arguments::{self, option};
use crate::job::{Job, JobOutput};
use crate::limits::{Files, Limits};
use crate::schema::{self, array, one_of, optional, value};

pub(super) const TOOL: Tool = Tool {
    name: "compare",
    title: "Compare saved runs",
    about: "Tells for each percentile whether runs B are slower or faster than runs A: the ratio of B to A with its 95 % \
            confidence interval. Several runs on a side are repetitions; with one on each, chance between runs is unknown.",
    arguments: schema,
    result,
    offers_load: false,
    saves: false,
    plan,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CompareArguments {
    a: Vec<String>,
    b: Vec<String>,
    #[serde(default)]
    fail_if: Vec<String>,
    #[serde(default)]
    hosts_differ: bool,
}

fn schema(_: &Limits) -> Value {
    let text = value("string", "");
    let mut runs = array(&text, "Folders of runs");
    runs["minItems"] = json!(1);
    schema::arguments(
        &[
            ("a", runs.clone()),
            ("b", runs),
            (
                "fail_if",
                array(
                    &text,
                    "Conditions that fail the comparison, such as 'p99 worse than 5%' or 'ttft p99 worse than 10%'",
                ),
            ),
            ("hosts_differ", value("boolean", "The runs had different servers on purpose")),
        ],
        &["a", "b"],
    )
}

fn result() -> Value {
    let quantile = schema::object(
        &[
            ("q", value("number", "")),
            ("a_ns", optional("integer", "")),
            ("b_ns", optional("integer", "")),
            ("ratio", optional("number", "b / a")),
            ("ratio_low", optional("number", "")),
            ("ratio_high", optional("number", "")),
            ("finding", one_of(&["slower", "faster", "no_difference_shown", "cannot_tell"], "B beside A")),
        ],
        &["q", "ratio", "finding"],
    );
    let time = schema::object(
        &[("metric", value("string", "such as ttft, itl, tpot or event-gap")), ("quantiles", array(&quantile, ""))],
        &["metric", "quantiles"],
    );
    let streams = schema::object(
        &[
            ("times", array(&time, "")),
            ("output_tokens_per_second", optional("object", "a, b, ratio and its interval, finding")),
            ("goodput", optional("object", "a, b, difference and its interval, finding")),
        ],
        &["times"],
    );
    schema::object(
        &[
            ("outcome", one_of(&OUTCOMES, "gate_failed: a condition of fail_if holds; undecided: it stays open")),
            ("comparable", value("boolean", "false: the runs had different loads, and there are no ratios")),
            ("reasons", array(&json!({}), "Why they are not comparable")),
            ("quantiles", array(&quantile, "Of the response time")),
            ("streams", streams),
            ("notes", array(&value("string", ""), "")),
        ],
        &["outcome", "comparable", "quantiles", "notes"],
    )
}

fn plan(given: &Value, limits: &Limits, files: &dyn Files) -> Result<Plan, String> {
    let given: CompareArguments = arguments::read(given)?;
    let folders = |side: &str, runs: &[String]| {
        if runs.is_empty() {
            return Err(format!("'{side}' must name a run"));
        }
        runs.iter()
            .map(|run| Ok(limits.readable(run, files)?.display().to_string()))
            .collect::<Result<Vec<_>, String>>()
    };
    let mut words = vec!["compare".to_owned()];
    words.extend(folders("a", &given.a)?);
    words.push("--against".to_owned());
    words.extend(folders("b", &given.b)?);
    words.push("--json".to_owned());
    given.fail_if.iter().for_each(|condition| option(&mut words, "fail-if", condition));
    if given.hosts_differ {
        option(&mut words, "as", "hosts");
    }
    Ok(Plan { job: Job { words, load: Nanos::ZERO }, read: Box::new(read) })
}

fn read(output: &JobOutput) -> Result<Value, String> {
    let mut result = output.json()?;
    result["outcome"] = json!(outcome(output));
    result["notes"] = json!(output.notes());
    Ok(result)
}
