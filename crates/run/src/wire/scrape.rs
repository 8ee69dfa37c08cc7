//! The field `scrapes` of `run.json`.

use serde::{Deserialize, Serialize};

use crate::{Facts, Findings, HistogramFinding, Scrape, ServiceHistogram};

/// Numbers that a service published, as `run.json` describes them. Its counters and gauges are in another file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ScrapeFile {
    /// The service, and how it was read.
    #[serde(flatten)]
    pub facts: Scrape,
    /// Request times that it counted, and how they compare with the times of its users.
    pub histograms: Vec<HistogramFile>,
}

/// A histogram or summary with its comparison.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HistogramFile {
    /// What it counted.
    #[serde(flatten)]
    pub facts: ServiceHistogram,
    /// How that compares.
    #[serde(flatten)]
    pub finding: HistogramFinding,
}

impl ScrapeFile {
    /// Returns the facts, which do not have the counters and gauges.
    pub fn into_facts(self) -> Scrape {
        Scrape { histograms: self.histograms.into_iter().map(|histogram| histogram.facts).collect(), ..self.facts }
    }
}

/// Combines facts and findings about services.
pub(super) fn scrape_files(facts: &Facts, findings: &Findings) -> Vec<ScrapeFile> {
    let with_finding = |(facts, finding): (&ServiceHistogram, &HistogramFinding)| HistogramFile {
        facts: facts.clone(),
        finding: finding.clone(),
    };
    let files = facts.scrapes.iter().zip(&findings.scrapes).map(|(scrape, findings)| ScrapeFile {
        facts: Scrape { histograms: Vec::new(), series: Vec::new(), ..scrape.clone() },
        histograms: scrape.histograms.iter().zip(findings).map(with_finding).collect(),
    });
    files.collect()
}
