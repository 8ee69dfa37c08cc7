//! The numbers that services published about themselves, beside the times of their users.

use truetail_analysis::figures::quantile_name;
use truetail_run::{Findings, HistogramFinding, Run, Scrape, ScrapeFinding, ServiceHistogram};

use crate::number;
use crate::style::{Emphasis, Style};

const INDENT: usize = 2;
/// Limit on the histograms on the screen.
const SHOWN: usize = 6;

/// Returns the comparison of the published request times with the users' times, and nothing else about the run.
pub fn scrape_text(run: &Run, findings: &Findings, style: Style) -> String {
    lines(run, findings, style).into_iter().map(|line| line + "\n").collect()
}

/// Returns a sentence for each histogram of request times, and what is odd about the reads.
pub(super) fn lines(run: &Run, findings: &Findings, style: Style) -> Vec<String> {
    if run.facts.scrapes.is_empty() {
        return Vec::new();
    }
    let wrap = |text: &str| style.wrap(&style.printable(text), style.columns() - INDENT);
    let mut lines = vec![format!("  {}", style.emphasize(Emphasis::Faint, "what the service publishes"))];
    let all = compared(run, findings);
    for (scrape, _, finding) in all.iter().take(SHOWN) {
        let text = format!("{}: {} {}", scrape.name, verdict_of(finding.finding), finding.message);
        lines.extend(wrap(&text).into_iter().map(|line| format!("  {line}")));
    }
    let more = all.len().saturating_sub(SHOWN);
    let more = (more > 0).then(|| format!("{more} more are in run.json and on the page."));
    for sentence in scrape_sentences(run).into_iter().chain(more) {
        lines.extend(wrap(&sentence).iter().map(|line| format!("  {}", style.emphasize(Emphasis::Faint, line))));
    }
    lines
}

/// Returns the result of a comparison as a word in capitals, or in small letters if there is nothing to look at.
pub(super) fn verdict_of(finding: ScrapeFinding) -> &'static str {
    match finding {
        ScrapeFinding::Agrees => "agrees:",
        ScrapeFinding::Understates => "UNDERSTATES:",
        ScrapeFinding::Overstates => "OVERSTATES:",
        ScrapeFinding::CannotTell => "open:",
    }
}

type Compared<'a> = (&'a Scrape, &'a ServiceHistogram, &'a HistogramFinding);

/// Returns each histogram with its comparison; differences come first.
fn compared<'a>(run: &'a Run, findings: &'a Findings) -> Vec<Compared<'a>> {
    let services = run.facts.scrapes.iter().zip(&findings.scrapes);
    let of = |(scrape, findings): (&'a Scrape, &'a Vec<HistogramFinding>)| {
        scrape.histograms.iter().zip(findings).map(move |(histogram, finding)| (scrape, histogram, finding))
    };
    let mut all: Vec<_> = services.flat_map(of).collect();
    all.sort_by_key(|(_, _, finding)| match finding.finding {
        ScrapeFinding::Understates => 0,
        ScrapeFinding::Overstates => 1,
        ScrapeFinding::Agrees => 2,
        ScrapeFinding::CannotTell => 3,
    });
    all
}

/// Column heads of [`scrape_rows`].
pub const SCRAPE_HEADS: [&str; 6] = ["metric", "percentile", "service says", "dashboard", "users waited", "finding"];

/// Returns a row for each percentile of each histogram.
pub fn scrape_rows(run: &Run, findings: &Findings) -> Vec<[String; 6]> {
    let mut rows = Vec::new();
    for (scrape, histogram, finding) in compared(run, findings) {
        for quantile in &finding.quantiles {
            let says = match quantile.high_ns {
                Some(high) if high == quantile.low_ns => number::time(high),
                high => number::time_range(Some(quantile.low_ns), high),
            };
            rows.push([
                format!("{}: {}", scrape.name, histogram.metric),
                quantile_name(quantile.q),
                says,
                number::time(quantile.dashboard_ns),
                quantile.users_ns.map_or("–".to_owned(), number::time),
                verdict_of(finding.finding).trim_end_matches(':').to_lowercase(),
            ]);
        }
    }
    rows
}

/// Returns the sentence of each histogram, after the name of its service.
pub fn scrape_messages(run: &Run, findings: &Findings) -> Vec<String> {
    compared(run, findings)
        .into_iter()
        .map(|(scrape, _, finding)| format!("{}: {}", scrape.name, finding.message))
        .collect()
}

/// Returns sentences about reads that failed, and about services without request times.
pub fn scrape_sentences(run: &Run) -> Vec<String> {
    let mut sentences = Vec::new();
    for scrape in &run.facts.scrapes {
        let name = &scrape.name;
        if scrape.histograms.is_empty() {
            sentences
                .push(format!("{name}: no histogram or summary of request times counted anything during the run."));
        }
        if let Some(problem) = scrape.problem.as_ref().filter(|_| scrape.failed > 0) {
            let all = scrape.reads.saturating_add(scrape.failed);
            let failed = number::count(scrape.failed);
            sentences
                .push(format!("{name}: {failed} of {} reads failed; the first because {problem}", number::count(all)));
        }
        if scrape.left_out > 0 {
            let left_out = number::count(scrape.left_out);
            sentences
                .push(format!("{name}: {left_out} series of request times were left out, because there are too many."));
        }
    }
    sentences
}
