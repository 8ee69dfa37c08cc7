//! `capacity`: find the highest rate at which a service meets its objectives.

use serde::Deserialize;
use serde_json::{Value, json};
use truetail_model::time::Nanos;

use super::request::{self, RequestArguments};
use super::tool::{OUTCOMES, Plan, Tool, outcome};
use crate::arguments::{self, option};
use crate::job::{Job, JobOutput};
use crate::limits::{Files, Limits};
use crate::schema::{self, array, one_of, optional, value};

pub(super) const TOOL: Tool = Tool {
    name: "capacity",
    title: "Find the capacity of a service",
    about: "Finds the highest request rate at which a service meets its objectives: a rate that is proven, and one a little \
            higher that is refuted. A search takes minutes; with too little 'max_time' it ends as out_of_time, with what it knows \
            by then.",
    arguments: schema,
    result,
    offers_load: true,
    saves: true,
    plan,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CapacityArguments {
    url: String,
    slo: Vec<String>,
    min_rate: Option<f64>,
    max_rate: Option<f64>,
    max_time: Option<String>,
    resolution: Option<f64>,
    name: Option<String>,
    #[serde(default)]
    request: RequestArguments,
}

const STATES: [&str; 5] = ["found", "below_range", "above_range", "generator_limit", "out_of_time"];

fn schema(limits: &Limits) -> Value {
    let highest = limits.highest.as_per_second();
    let rate = |about: &str| json!({"type": "number", "exclusiveMinimum": 0, "maximum": highest, "description": about});
    let mut slo = array(&value("string", ""), "Objectives, such as 'p99 < 50ms' or 'error-rate < 0.1%'");
    slo["minItems"] = json!(1);
    schema::arguments(
        &[
            ("url", request::url_schema(limits)),
            ("slo", slo),
            ("min_rate", rate("Lowest rate; 1 unless given")),
            ("max_rate", rate("Highest rate; the limit unless given")),
            (
                "max_time",
                value("string", &format!("Time that the search may offer load; {} unless given", limits.longest)),
            ),
            ("resolution", value("number", "Largest gap between the two rates, as a share: 0.05 unless given")),
            ("name", value("string", "Name of the folder of the search; chosen unless given")),
            ("request", request::schema(limits)),
        ],
        &["url", "slo"],
    )
}

fn result() -> Value {
    schema::object(
        &[
            ("outcome", one_of(&OUTCOMES, "gate_failed: not even the lowest rate meets the objectives")),
            ("state", one_of(&STATES, "found: both rates are proven")),
            ("proven_rate", optional("number", "Highest rate that is shown to meet the objectives")),
            ("refuted_rate", optional("number", "Lowest rate that is shown to miss one")),
            ("met_rate", optional("number", "Highest rate that met them in one probe")),
            ("estimate_rate", optional("number", "Estimate, also if nothing is proven")),
            ("probes", array(&value("object", ""), "Each probe: rate, answer, and the folder of its run")),
            ("folder", value("string", "Folder of the search")),
            ("notes", array(&value("string", ""), "")),
        ],
        &["outcome", "state", "proven_rate", "refuted_rate", "probes", "folder"],
    )
}

fn plan(given: &Value, limits: &Limits, files: &dyn Files) -> Result<Plan, String> {
    let given: CapacityArguments = arguments::read(given)?;
    if given.slo.is_empty() {
        return Err("'slo' must name an objective, such as 'p99 < 50ms'".to_owned());
    }
    let folder = request::folder(given.name.as_deref(), "capacity", limits, files)?.ok_or_else(|| {
        "a search keeps a folder of its probes; the user can name one: truetail mcp --out-dir DIR".to_owned()
    })?;
    let mut words = vec!["capacity".to_owned(), limits.url(&given.url)?, "--json".to_owned(), "--quiet".to_owned()];
    let load = given.max_time.as_deref().map_or(Ok(limits.longest), |text| limits.time("max_time", text))?;
    given.slo.iter().for_each(|objective| option(&mut words, "slo", objective));
    if let Some(rate) = given.min_rate {
        option(&mut words, "min-rate", limits.rate("min_rate", rate)?);
    }
    let highest = given.max_rate.unwrap_or(limits.highest.as_per_second());
    option(&mut words, "max-rate", limits.rate("max_rate", highest)?);
    option(&mut words, "max-time", load);
    if let Some(share) = given.resolution {
        option(&mut words, "resolution", share);
    }
    option(&mut words, "out", folder.display());
    words.push("--".to_owned());
    words.extend(given.request.options(limits)?);
    let folder = folder.display().to_string();
    Ok(Plan {
        job: Job { words, load: Nanos(load.0.saturating_mul(2)) },
        read: Box::new(move |output| read(output, &folder)),
    })
}

fn read(output: &JobOutput, folder: &str) -> Result<Value, String> {
    let mut result = output.json()?;
    let notes: Vec<Value> = result["notes"].as_array().cloned().unwrap_or_default();
    result["outcome"] = json!(outcome(output));
    result["folder"] = json!(folder);
    result["notes"] = notes.into_iter().chain(output.notes().into_iter().map(Value::from)).collect();
    Ok(result)
}
