//! `truetail simulate freeze`, `every-nth` and `order-router`.

use std::fs;
use std::path::Path;

use truetail_report::number;
use truetail_sim::labs::freeze::Artifact;
use truetail_sim::labs::{LabError, QUANTILES, Series, every_nth, freeze, order_router};

use super::in_json;
use crate::args::simulate::SimulateArgs;
use crate::outcome::{Exit, Result, could_not};
use crate::output;
use crate::resolve::scenario::LABS;
use crate::target_folder::{Place, TargetFolder};

/// A lab that was run.
pub struct Lab {
    name: &'static str,
    series: Vec<Series>,
    /// What the table does not say.
    figures: Vec<String>,
    /// Files of its own.
    artifacts: Vec<Artifact>,
}

/// Runs the lab of that name; `None` where there is none.
pub fn find(name: &str) -> Option<Result<Lab>> {
    let lab = match LABS.iter().position(|known| *known == name)? {
        0 => run_freeze(),
        1 => run_every_nth(),
        _ => run_order_router(),
    };
    Some(lab.map_err(could_not))
}

fn run_freeze() -> std::result::Result<Lab, LabError> {
    let found = freeze::run(&freeze::FreezeOptions::default())?;
    let figure = |one: &freeze::FreezeSeries| {
        let p99 = one.whole_run_p99_ms.map_or("–".to_owned(), |p99| p99.to_string());
        format!("{}: {} requests were sent, p99 of the whole run {p99} ms", one.series.name, one.total_requests)
    };
    Ok(Lab {
        name: LABS[0],
        figures: found.series.iter().map(figure).collect(),
        artifacts: found.artifacts(),
        series: found.series.into_iter().map(|one| one.series).collect(),
    })
}

fn run_every_nth() -> std::result::Result<Lab, LabError> {
    let found = every_nth::run(&every_nth::EveryNthOptions::default())?;
    let ratios = found.ratios().filter(|ratio| ratio.q == 0.99);
    let at_p99 =
        ratios.map(|ratio| format!("p99: the open loop's is {} the closed loop's", number::times(ratio.ratio())));
    let slow = format!(
        "slower than {}: {} requests of the closed loop, {} of the open loop",
        number::time(found.slow_from.0),
        number::count(found.closed_slow),
        number::count(found.open_slow)
    );
    let figures = at_p99.chain([slow]).collect();
    Ok(Lab { name: LABS[1], figures, artifacts: Vec::new(), series: vec![found.closed, found.open] })
}

fn run_order_router() -> std::result::Result<Lab, LabError> {
    let found = order_router::run(&order_router::OrderRouterOptions::default())?;
    let series = vec![found.naive, found.corrected, found.open];
    Ok(Lab { name: LABS[2], figures: Vec::new(), artifacts: Vec::new(), series })
}

/// Saves a lab where asked, each series as a run, and prints it.
///
/// # Errors
/// When it cannot be saved or printed.
pub fn show(lab: &Lab, args: &SimulateArgs) -> Result<Exit> {
    if let Some(folder) = &args.out {
        save(lab, folder)?;
    }
    let runs = lab.series.iter().map(|series| (series.name, &series.run));
    output::print(&if args.json { in_json(lab.name, runs) } else { table(lab, args.out.as_deref()) })?;
    Ok(Exit::Done)
}

fn save(lab: &Lab, folder: &Path) -> Result<()> {
    for series in &lab.series {
        let place = Place::Chosen(folder.join(series.name));
        let findings = truetail_analysis::findings(&series.run);
        let target = TargetFolder::prepare(&place, lab.name)?;
        target.map(|target| target.save(&series.run, &findings)).transpose()?;
    }
    for artifact in &lab.artifacts {
        let path = folder.join(&artifact.name);
        fs::write(&path, &artifact.contents)
            .map_err(|error| could_not(format!("cannot write {}: {error}", path.display())))?;
    }
    Ok(())
}

/// The response time of each series, quantile by quantile.
fn table(lab: &Lab, saved: Option<&Path>) -> String {
    let width = lab.series.iter().map(|series| series.name.chars().count() + 3).max().unwrap_or_default();
    let row = |name: &str, cells: Vec<String>| {
        let cells: String = cells.iter().map(|cell| format!("{cell:>width$}")).collect();
        format!("  {name:<9}{cells}\n")
    };
    let each = |cell: &dyn Fn(&Series) -> String| lab.series.iter().map(cell).collect::<Vec<_>>();
    let mut text = row("", each(&|series| series.name.to_owned()));
    for q in QUANTILES {
        let value = |series: &Series| series.quantile(q).map_or("–".to_owned(), |time| number::time(time.0));
        text.push_str(&row(&number::quantile_name(q), each(&value)));
    }
    text.push_str(&row("requests", each(&|series| number::count(series.count()))));
    let saved = saved.map(|folder| format!("saved in {}", folder.display()));
    let below: Vec<_> = lab.figures.iter().cloned().chain(saved).map(|line| format!("  {line}\n")).collect();
    if below.is_empty() { text } else { format!("{text}\n{}", below.concat()) }
}
