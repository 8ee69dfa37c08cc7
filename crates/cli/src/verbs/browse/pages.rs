//! Pages of a run, a comparison and a series.

use std::path::Path;

use truetail_analysis::compare::ExpectedDifference;
use truetail_analysis::history::{History, HistoryRun, history};
use truetail_analysis::series::{RunSeries, series};
use truetail_page::browse::{Links, SeriesPage, SeriesRun, series_page};
use truetail_page::{RunPage, SitePlace, run_page};
use truetail_report::{CompareReport, run_words};
use truetail_run::catalog::SavedRun;
use truetail_run::folder::{self, load_run_file};
use truetail_run::{Findings, Run};

use super::archive::{Answer, Archive, Listing, Problem};
use crate::command_line;
use crate::gating::Gating;
use crate::verbs::compare::compared;
use crate::verbs::comparison::{Surroundings, html};
use crate::verbs::named_run::Named;

/// Limit on the runs of a series that are read: the newest.
const MAX_IN_SERIES: usize = 2_000;

/// A run with the data of its page.
pub(super) struct ReadRun {
    pub(super) run: Run,
    pub(super) findings: Findings,
    pub(super) series: RunSeries,
}

impl ReadRun {
    /// Reads a run in full and judges its saved gates again.
    pub(super) fn read(archive: &Archive, saved: &SavedRun) -> Answer<ReadRun> {
        let named = named(archive, saved)?;
        let series = series(&named.run, &named.findings);
        Ok(ReadRun { run: named.run, findings: named.findings, series })
    }

    pub(super) fn page(&self) -> RunPage<'_> {
        RunPage::new(&self.run, &self.findings, &self.series)
    }
}

fn named(archive: &Archive, saved: &SavedRun) -> Answer<Named> {
    let path = archive.path(saved)?;
    let loaded = folder::load(&path).map_err(|error| unreadable(saved, &error))?;
    let mut findings = truetail_analysis::findings(&loaded.run);
    Gating::default().judge(&loaded.run, &mut findings, &loaded.gates);
    Ok(Named { name: saved.folder.clone(), run: loaded.run, findings })
}

fn unreadable(saved: &SavedRun, error: &dyn std::fmt::Display) -> Problem {
    Problem(500, format!("the run {} cannot be read: {error}", saved.folder))
}

/// Returns the page of a run.
pub(super) fn page_of_run(archive: &Archive, listing: &Listing, saved: &SavedRun, links: Links<'_>) -> Answer<String> {
    let read = ReadRun::read(archive, saved)?;
    Ok(run_page(&read.page().on(&place_of_run(listing, saved, links))))
}

/// Returns the links of the page of a run.
pub(super) fn place_of_run(listing: &Listing, saved: &SavedRun, links: Links<'_>) -> SitePlace {
    let before = listing.before(saved).and_then(|before| links.compare(&before.folder, &saved.folder));
    let named = [
        ("All runs", Some(links.list(0, ""))),
        ("Series", saved.series().and_then(|key| links.series(key))),
        ("Compare with the run before", before),
    ];
    let named = named.into_iter().filter_map(|(text, address)| Some((text.to_owned(), address?)));
    SitePlace { links: named.collect(), here: Some(saved.folder.clone()), ..SitePlace::default() }
}

/// Returns the comparison of two runs, the older one as A.
pub(super) fn page_of_pair(
    archive: &Archive,
    [one, other]: [&SavedRun; 2],
    anyway: Anyway<'_>,
    links: Links<'_>,
) -> Answer<String> {
    let age = |run: &SavedRun| (run.started_at_unix_ns, run.folder.clone());
    let (a, b) = if age(one) <= age(other) { (one, other) } else { (other, one) };
    let a = [named(archive, a)?];
    let b = [named(archive, b)?];
    let report = compared([&a, &b], ExpectedDifference::Nothing, anyway.is_chosen, &[]);
    let mut site = SitePlace { links: vec![("All runs".to_owned(), links.list(0, ""))], ..SitePlace::default() };
    if let (None, Some(address)) = (&report.comparison, anyway.address) {
        site.links.push(("Compare them all the same".to_owned(), address.to_owned()));
    }
    let folder = |named: &Named| Path::new(&archive.shown).join(&named.name).display().to_string();
    let words = ["compare".to_owned(), folder(&a[0]), folder(&b[0])];
    let link = |named: &Named| links.run(&named.name);
    let around = Surroundings { link: &link, command: &command_line::from_words(&words), site: Some(site) };
    // Instead of the help of the command line, the page has a link.
    Ok(html(&CompareReport { help: None, ..report }, [&a, &b], &around))
}

/// Comparing runs that differ in more than the service.
#[derive(Clone, Copy, Default)]
pub(super) struct Anyway<'a> {
    pub(super) is_chosen: bool,
    /// Address of the page that does it.
    pub(super) address: Option<&'a str>,
}

/// A series of runs with its changes.
pub(super) struct ReadSeries {
    pub(super) key: String,
    pub(super) history: History,
    runs: Vec<SeriesRun>,
}

/// Reads the series called `key`.
pub(super) fn read_series(archive: &Archive, listing: &Listing, key: &str) -> Answer<ReadSeries> {
    let mut members: Vec<&SavedRun> = listing.runs.iter().filter(|run| run.series() == Some(key)).collect();
    if members.is_empty() {
        return Err(Problem(404, format!("no run has the name or URL '{key}'")));
    }
    members.truncate(MAX_IN_SERIES);
    members.reverse();
    let runs = members.iter().map(|run| in_history(archive, run)).collect::<Answer<Vec<_>>>()?;
    let history = history(&runs, ExpectedDifference::Nothing);
    let words = |run: &&SavedRun| {
        let words = run_words(run);
        SeriesRun { started: words.started, p50: words.p50, p99: words.p99 }
    };
    Ok(ReadSeries { key: key.to_owned(), history, runs: members.iter().map(words).collect() })
}

impl ReadSeries {
    /// Returns the page of the series.
    pub(super) fn page(&self, links: Links<'_>) -> String {
        let ReadSeries { key, history, runs } = self;
        let site = SitePlace { links: vec![("All runs".to_owned(), links.list(0, ""))], ..SitePlace::default() };
        series_page(&SeriesPage { key, history, runs: runs.clone(), links }, &site)
    }
}

fn in_history(archive: &Archive, saved: &SavedRun) -> Answer<HistoryRun> {
    let file = load_run_file(&archive.path(saved)?).map_err(|error| unreadable(saved, &error))?;
    Ok(HistoryRun::new(saved.folder.clone(), file))
}
