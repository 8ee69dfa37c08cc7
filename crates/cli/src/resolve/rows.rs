//! Rows of data: the columns that a flow uses, and the end of a load that runs out of rows.

use truetail_flow::{Flow, Flows, SessionRows, variables_of};
use truetail_model::time::Nanos;
use truetail_model::workload::{LoadModel, Workload};

use super::load::DEFAULT_SEED;
use super::request::{self, DataFile};
use crate::args::run::{FeedName, RunArgs};
use crate::error::{CliError, Result, usage_error};

/// Returns the rows of `--data-from` for the flow in `text`; `None` without rows, or if one of several flows uses none.
///
/// # Errors
/// If the rows are not valid, `--variable` also sets a column, or the only flow uses no column.
pub(crate) fn for_flow(args: &RunArgs, data: Option<&DataFile>, text: &str) -> Result<Option<SessionRows>> {
    // Errors in the flow are reported when it is read.
    let (Some(data), Ok(used)) = (data, variables_of(text)) else { return Ok(None) };
    let rows = data.rows();
    let there = rows.column_names().map_err(request::wrong)?;
    let columns: Vec<String> = there.into_iter().filter(|column| used.contains(column)).collect();
    match (columns.is_empty(), args.flow.flow.len()) {
        // Refused here: otherwise the error would be about a variable without a value.
        (true, 1) => return Err(unused(data, "the flow uses")?),
        (true, _) => return Ok(None),
        (false, _) => {}
    }
    if let Some(twice) = args.flow.given.variable.iter().find(|variable| columns.contains(&variable.name)) {
        let name = &twice.name;
        let file = &data.name;
        let option = if args.flow.setup.is_some() { "--variable or --setup," } else { "--variable" };
        return Err(usage_error(format!("{option} {name} and the column {name} of {file} contradict each other")));
    }
    let values = rows.values_of(&columns).map_err(request::wrong)?;
    let seed = args.seed.unwrap_or(DEFAULT_SEED);
    Ok(Some(SessionRows { columns, values, order: request::order(args), seed }))
}

/// Returns the rows of `--data-from` with all columns, for the sessions of a script; `None` without rows.
///
/// # Errors
/// If the rows are not valid.
#[cfg(feature = "script")]
pub(crate) fn for_script(args: &RunArgs) -> Result<Option<SessionRows>> {
    let Some(data) = request::data(args)? else { return Ok(None) };
    let rows = data.rows();
    let columns = rows.column_names().map_err(request::wrong)?;
    let values = rows.values_of(&columns).map_err(request::wrong)?;
    let seed = args.seed.unwrap_or(DEFAULT_SEED);
    Ok(Some(SessionRows { columns, values, order: request::order(args), seed }))
}

/// Refuses rows if no flow uses a column.
pub(crate) fn refuse_unused(data: Option<&DataFile>, flows: &Flows) -> Result<()> {
    match data.filter(|_| !flows.iter().any(Flow::uses_rows)) {
        Some(data) => Err(unused(data, "the flows use")?),
        None => Ok(()),
    }
}

fn unused(data: &DataFile, who_uses: &str) -> Result<CliError> {
    let there = data.rows().column_names().map_err(request::wrong)?.join(", ");
    let file = &data.name;
    let help = "write {{NAME}} where one belongs";
    Ok(usage_error(format!("{file}: {who_uses} none of its columns ({there}); {help}")))
}

/// Refuses `--feed once` for a verb that makes several runs, because each would start with the first row again.
pub(crate) fn refuse_once(feed: Option<FeedName>, verb: &str) -> Result<()> {
    match feed {
        Some(FeedName::Once) => Err(usage_error(format!(
            "--feed once has no meaning in 'truetail {verb}', which makes several runs; use truetail run"
        ))),
        Some(FeedName::InOrder | FeedName::Random) | None => Ok(()),
    }
}

/// With `--feed once`, ends the load at the last of `rows`. Each is for a session if `has_flow`. Returns a note if rows
/// run out.
///
/// # Errors
/// With `--feed once` in a partly open load without a flow, or with users over time.
pub(crate) fn use_up(args: &RunArgs, rows: u32, has_flow: bool, workload: &mut Workload) -> Result<Option<String>> {
    let is_once = args.feed == Some(FeedName::Once);
    if rows == 0 || args.feed == Some(FeedName::Random) {
        return Ok(None);
    }
    if is_once && !has_flow && matches!(workload.model, LoadModel::PartlyOpen { .. }) {
        let help = "write the session as a flow, in which a row belongs to a session (--flow)";
        return Err(usage_error(format!("--feed once and --model partly-open contradict each other: {help}")));
    }
    if let Some(users) = workload.model.users().filter(|users| is_once && !users.is_constant()) {
        return Err(usage_error(format!(
            "--feed once and --users {users} contradict each other: rows are dealt out to users, and one who leaves could not use \
             up the rest; leave --feed once out: the load ends with the stages, or after -d TIME"
        )));
    }
    let unit = if args.streams.agents.is_some() { "recorded session" } else { "row" };
    // Distinct prompts are in no cache.
    let may_be_cached = args.streams.reads_llm() && !args.streams.cache_bust;
    let note = match &workload.model {
        LoadModel::Closed { horizon, .. } if may_be_cached && !is_once => {
            let may_repeat = horizon.requests.is_none_or(|requests| requests > u64::from(rows));
            may_repeat.then(|| format!("there are {rows} rows: after the last row, the first one is used again"))
        }
        _ => ended_by(u64::from(rows), unit, is_once, has_flow || may_be_cached, workload),
    };
    // A flow says its prompts itself.
    let bust = if has_flow { "" } else { "--cache-bust makes each prompt different, and " };
    let cached = format!(
        "; a server may have them in its cache by then, which makes answers faster: {bust}--feed once ends the load with the last {unit}"
    );
    Ok(note.map(|note| if may_be_cached && !is_once { note + &cached } else { note }))
}

/// Ends the load at the last row, if each is used once. Returns a note if rows run out, and `says_again` or this is an
/// end.
fn ended_by(rows: u64, unit: &str, is_once: bool, says_again: bool, workload: &mut Workload) -> Option<String> {
    let (schedule, what) = match &mut workload.model {
        LoadModel::Open(schedule) => (schedule, "requests"),
        LoadModel::PartlyOpen { sessions, .. } => (sessions, "sessions"),
        LoadModel::Closed { horizon, .. } if is_once => {
            horizon.requests = Some(horizon.requests.map_or(rows, |requests| requests.min(rows)));
            return Some(format!(
                "each of {rows} rows is used at most once: the load ends with the last one at the latest"
            ));
        }
        LoadModel::Closed { .. } => return None,
    };
    let planned = schedule.count().filter(|planned| *planned > rows)?;
    if !is_once {
        // For plain requests, this is expected.
        let again =
            || format!("{planned} {what} for {rows} {unit}s: after the last {unit}, the first one is used again");
        return says_again.then(again);
    }
    schedule.horizon.requests = Some(rows);
    schedule.horizon.duration = schedule.last_arrival().map(|last| last.intended_start.since_origin() + Nanos(1));
    Some(format!("{planned} {what} were to arrive, and there are {rows} {unit}s: the load ends with the last {unit}"))
}
