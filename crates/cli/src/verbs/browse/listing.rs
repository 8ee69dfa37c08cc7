//! Pages of the list.

use truetail_page::browse::{Links, ListPage, ListedRow, ListedSeries, RunQuery};
use truetail_run::catalog::SavedRun;

use super::archive::{Archive, Listing};
use super::conditions::Conditions;

/// Runs on a page of the list.
pub(super) const ROWS: usize = 100;
/// Series beside the list, and runs in the line of each.
const MAX_SERIES: usize = 30;
const MAX_IN_LINE: usize = 60;

/// Returns the page of the list that the query names, or the last one if there are fewer. `query` is set to it.
pub(super) fn page_of_list<'a>(
    archive: &'a Archive,
    listing: &'a Listing,
    query: &'a mut RunQuery,
    links: Links<'a>,
) -> ListPage<'a> {
    let Conditions { filter, order, problems } = Conditions::of(query);
    let mut found: Vec<&SavedRun> = listing.runs.iter().filter(|run| filter.keeps(run)).collect();
    let mut series = Listing::series(&found);
    series.retain(|(_, runs)| runs.len() > 1);
    order.sort(&mut found);
    let pages = found.len().div_ceil(ROWS).max(1);
    query.page = query.page.min(pages - 1);
    let rows: Vec<&SavedRun> = found.iter().skip(query.page * ROWS).take(ROWS).copied().collect();
    let shapes = archive.shapes(&rows);
    let row = |(run, shape)| ListedRow { run, shape, in_progress: archive.is_in_progress(run) };
    ListPage {
        folder: &archive.shown,
        rows: rows.iter().copied().zip(shapes).map(row).collect(),
        found: found.len(),
        all: listing.runs.len(),
        pages,
        query,
        problems,
        more_series: series.len().saturating_sub(MAX_SERIES),
        series: series.iter().take(MAX_SERIES).map(|(key, runs)| line(key, runs)).collect(),
        unreadable: &listing.unreadable,
        links,
        can_remove: false,
    }
}

fn line(key: &str, runs: &[&SavedRun]) -> ListedSeries {
    let newest = runs.iter().take(MAX_IN_LINE).rev();
    ListedSeries { key: key.to_owned(), runs: runs.len(), p99: newest.map(|run| run.times.p99.known_ns()).collect() }
}
