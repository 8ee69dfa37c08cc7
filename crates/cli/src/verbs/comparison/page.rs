//! Page of a comparison: overlaid curves, heat maps side by side, and the ratios.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, percent_encode};
use truetail_analysis::series::{RunSeries, series};
use truetail_page::{ComparedRun, ComparisonPage, FurtherTable, SitePlace, comparison_page};
use truetail_report::plot::heat_map;
use truetail_report::{CompareReport, CompareWords, compare_words};
use truetail_run::folder::REPORT;

use crate::error::Result;
use crate::output;
use crate::verbs::named_run::Named;

/// Limit on the runs of each side that are drawn. More curves could not be told apart.
pub(in crate::verbs) const DRAWN: usize = 3;

/// Writes the page of a comparison of A and B.
pub(super) fn write(file: &Path, report: &CompareReport, sides: [&[Named]; 2], command: &str) -> Result<()> {
    let link_to = |named: &Named| link(file, Path::new(&named.name));
    output::write_file(file, html(report, sides, &Surroundings { link: &link_to, command, site: None }))
}

/// Surroundings of a comparison on its page.
pub(in crate::verbs) struct Surroundings<'a> {
    /// Returns the address of the page of a run.
    pub(in crate::verbs) link: &'a dyn Fn(&Named) -> Option<String>,
    /// The command line that makes the comparison.
    pub(in crate::verbs) command: &'a str,
    /// Place of the page in a site.
    pub(in crate::verbs) site: Option<SitePlace>,
}

/// Returns the page of a comparison of A and B.
pub(in crate::verbs) fn html(report: &CompareReport, sides: [&[Named]; 2], around: &Surroundings<'_>) -> String {
    let drawn: Vec<(char, &Named, RunSeries)> = ['A', 'B']
        .into_iter()
        .zip(sides)
        .flat_map(|(side, runs)| runs.iter().take(DRAWN).map(move |named| (side, named)))
        .map(|(side, named)| (side, named, series(&named.run, &named.findings)))
        .collect();
    let CompareWords { heads, rows, stream_heads, stream_rows, mut remarks } = compare_words(report);
    let further = FurtherTable { caption: "Streams beside each other", heads: stream_heads, rows: stream_rows };
    if sides.iter().any(|runs| runs.len() > DRAWN) {
        remarks.push(format!("The first {DRAWN} runs of each side are drawn; all of them are in the table."));
    }
    let first_of = |side: char| drawn.iter().find(|(of, ..)| *of == side);
    let picture = |(side, named, series): &(char, &Named, RunSeries)| {
        (heat_map(series), format!("{side}: {}. Compare the axes: each picture has its own.", named.name))
    };
    let run = |(side, named, series)| {
        let (named, series): (&&Named, _) = (named, series);
        let name = format!("{side}: {}", named.name);
        ComparedRun { name, findings: &named.findings, series, page: (around.link)(named), measured: true }
    };
    comparison_page(&ComparisonPage {
        title: "Is B slower than A?",
        about: &format!("A: {}. B: {}.", report.a.join(", "), report.b.join(", ")),
        result: "",
        heads,
        rows,
        further: Some(further),
        remarks,
        runs: drawn.iter().map(|(side, named, series)| run((side, named, series))).collect(),
        pictures: ['A', 'B'].into_iter().filter_map(first_of).map(picture).collect(),
        side_by_side: true,
        command: Some(around.command.to_owned()),
        site: around.site.clone(),
    })
}

/// Returns the link from this page to the page of a run; `None` without a page in or below the folder of this one.
fn link(file: &Path, run: &Path) -> Option<String> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let page = fs::canonicalize(run.join(REPORT)).ok()?;
    let path = page.strip_prefix(fs::canonicalize(folder).ok()?).ok()?;
    let parts = path.components().map(|part| encoded(part.as_os_str().as_bytes()).to_string());
    Some(format!("./{}", parts.collect::<Vec<_>>().join("/")))
}

/// Percent-encodes a part of a path, so that none of its characters has a meaning in a link.
fn encoded(part: &[u8]) -> PercentEncode<'_> {
    const PLAIN: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    percent_encode(part, &PLAIN)
}
