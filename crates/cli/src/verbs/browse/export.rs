//! The site as files.

use std::collections::HashMap;
use std::path::Path;

use truetail_page::SitePlace;
use truetail_page::browse::{ExportedPages, Links, RunQuery, list_page, message_page};
use truetail_run::catalog::SavedRun;

use super::archive::{Archive, Listing, Problem};
use super::files::Files;
use super::listing::{ROWS, page_of_list};
use super::pages::{Anyway, ReadSeries, page_of_pair, page_of_run, read_series};
use crate::error::{ExitCode, Result, runtime_error};
use crate::output;

/// Limit on the series with a page: those with the newest runs.
const MAX_SERIES: usize = 200;
/// Path from the pages of series and comparisons to the top folder.
const ONE_UP: &str = "../";

/// The pages of an export, and the series that they need.
struct Plan<'a> {
    listing: &'a Listing,
    series: Vec<ReadSeries>,
    pages: ExportedPages,
}

/// Writes the list, the pages of the newest `last` runs, the series, and comparisons around their changes.
///
/// # Errors
/// If a file of the folder is not of an earlier export, or cannot be written.
pub(super) fn export(archive: &Archive, folder: &Path, last: usize) -> Result<ExitCode> {
    let listing = archive.listing().map_err(|Problem(_, why)| runtime_error(why))?;
    let plan = Plan::of(archive, &listing, last);
    let names = plan.names();
    let mut files = Files::prepare(folder, names.iter().map(String::as_str))?;
    plan.write_runs(archive, &mut files)?;
    plan.write_series(&mut files)?;
    plan.write_pairs(archive, &mut files)?;
    // The list comes last: it leads to pages that exist.
    plan.write_list(archive, &mut files)?;
    let megabytes = files.bytes as f64 / 1e6;
    output::print(&format!(
        "{}\n",
        output::stdout_style().printable(&folder.join("index.html").display().to_string())
    ))?;
    output::note(&format!("wrote {} pages, {megabytes:.1} MB", names.len()));
    Ok(ExitCode::Success)
}

impl<'a> Plan<'a> {
    fn of(archive: &Archive, listing: &'a Listing, last: usize) -> Plan<'a> {
        let all: Vec<&SavedRun> = listing.runs.iter().collect();
        let keys = Listing::series(&all).into_iter().filter(|(_, runs)| runs.len() > 1).take(MAX_SERIES);
        let mut series = Vec::new();
        let newest = all.iter().take(last).map(|run| run.folder.clone());
        let mut pages = ExportedPages { runs: newest.collect(), ..ExportedPages::default() };
        for (key, runs) in keys {
            match read_series(archive, listing, key) {
                Ok(read) => {
                    pages.series.insert(key.to_owned(), series.len() + 1);
                    add_pairs(&mut pages.pairs, listing, &read, runs[0]);
                    series.push(read);
                }
                Err(Problem(_, why)) => output::note(&format!("the series {key} is left out: {why}")),
            }
        }
        Plan { listing, series, pages }
    }

    fn list_pages(&self) -> usize {
        self.listing.runs.len().div_ceil(ROWS).max(1)
    }

    /// Returns the names of all files.
    fn names(&self) -> Vec<String> {
        let ExportedPages { runs, series, pairs } = &self.pages;
        let lists = (0..self.list_pages()).map(ExportedPages::list_file);
        let runs = runs.iter().map(|folder| ExportedPages::run_file(folder));
        let series = series.values().map(|number| ExportedPages::series_file(*number));
        lists.chain(runs).chain(series).chain(pairs.values().map(|number| ExportedPages::pair_file(*number))).collect()
    }

    fn links(&'a self, up: &'a str) -> Links<'a> {
        Links::Exported { pages: &self.pages, up }
    }

    fn write_runs(&self, archive: &Archive, files: &mut Files) -> Result<()> {
        for run in self.listing.runs.iter().filter(|run| self.pages.runs.contains(&run.folder)) {
            let up = ONE_UP.repeat(2 + run.folder.matches('/').count());
            let links = self.links(&up);
            let page = page_of_run(archive, self.listing, run, links);
            files.write(
                &ExportedPages::run_file(&run.folder),
                &page.unwrap_or_else(|problem| instead(&problem, links)),
            )?;
        }
        Ok(())
    }

    fn write_series(&self, files: &mut Files) -> Result<()> {
        for read in &self.series {
            let Some(number) = self.pages.series.get(&read.key) else { continue };
            files.write(&ExportedPages::series_file(*number), &read.page(self.links(ONE_UP)))?;
        }
        Ok(())
    }

    fn write_pairs(&self, archive: &Archive, files: &mut Files) -> Result<()> {
        let links = self.links(ONE_UP);
        for ((a, b), number) in &self.pages.pairs {
            let runs = self.listing.run(a).and_then(|a| Ok([a, self.listing.run(b)?]));
            let page = runs.and_then(|runs| page_of_pair(archive, runs, Anyway::default(), links));
            files
                .write(&ExportedPages::pair_file(*number), &page.unwrap_or_else(|problem| instead(&problem, links)))?;
        }
        Ok(())
    }

    fn write_list(&self, archive: &Archive, files: &mut Files) -> Result<()> {
        for page in (0..self.list_pages()).rev() {
            let mut query = RunQuery { page, ..RunQuery::default() };
            let list = page_of_list(archive, self.listing, &mut query, self.links(""));
            files.write(&ExportedPages::list_file(page), &list_page(&list, &SitePlace::default()))?;
        }
        Ok(())
    }
}

/// Adds the runs around each change of a series, and its newest run with the one before.
fn add_pairs(pairs: &mut HashMap<(String, String), usize>, listing: &Listing, read: &ReadSeries, newest: &SavedRun) {
    let runs = &read.history.runs;
    let changes = read.history.percentiles.iter().flat_map(|found| &found.changes);
    let around = changes.map(|change| (runs[change.before].folder.clone(), runs[change.after].folder.clone()));
    let last = listing.before(newest).map(|before| (before.folder.clone(), newest.folder.clone()));
    for pair in around.chain(last) {
        let number = pairs.len() + 1;
        pairs.entry(pair).or_insert(number);
    }
}

/// Returns a page in place of one that cannot be drawn.
fn instead(Problem(_, why): &Problem, links: Links<'_>) -> String {
    let site = SitePlace { links: vec![("All runs".to_owned(), links.list(0, ""))], ..SitePlace::default() };
    message_page("No such page", &format!("{why}."), &site)
}
