//! A search for capacity, as text.

use serde::Serialize;
use truetail_analysis::capacity::{Answer, LimitEstimate, Purpose, SearchState};

use crate::number;
use crate::style::{Emphasis, Style};
use crate::table::{Align, TextTable};

/// Results of a search for capacity.
#[derive(Clone, PartialEq, Debug)]
pub struct CapacityReport {
    /// The objectives.
    pub slo: Vec<String>,
    /// State at the end of the search.
    pub state: SearchState,
    /// Cause of an early end, if there was one.
    pub stopped_by: Option<&'static str>,
    /// The highest rate that met the objectives, and true if it was probed again at full length.
    pub proven: Option<(f64, bool)>,
    /// The lowest rate that missed an objective, and true if it was probed again at full length.
    pub refuted: Option<(f64, bool)>,
    /// Estimate of the limit, which the probes suggest but do not prove.
    pub estimate: Option<LimitEstimate>,
    /// Accepted relative difference between `proven` and `refuted`.
    pub resolution: f64,
    /// Confidence of the result.
    pub confidence: f64,
    /// Name of the probes' figures, such as `p99`.
    pub time_name: String,
    /// Folder of the saved search.
    pub folder: String,
    /// True if an objective limits requests with an error status.
    pub counts_errors: bool,
    /// The probes, in the order of the search.
    pub probes: Vec<ProbeLine>,
}

/// A probe.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProbeLine {
    /// Requests per second.
    pub rate: f64,
    /// Reason for probing this rate.
    pub purpose: Purpose,
    /// Result for this rate.
    pub answer: Answer,
    /// Duration of the probe, seconds.
    pub seconds: f64,
    /// Number of requests.
    pub requests: u64,
    /// Number of requests without an answer, or with an error status.
    pub errors: u64,
    /// Percentile of the first objective with a percentile.
    #[serde(flatten)]
    pub figures: ProbeFigures,
    /// Evidence by objective.
    pub objectives: Vec<ObjectiveLine>,
    /// Folder of the run.
    pub run: Option<String>,
    /// True if the time limit ended the probe before it had a result.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut_off: bool,
    /// Note on the probe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Percentile of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct ProbeFigures {
    /// Value, nanoseconds.
    pub value_ns: Option<u64>,
    /// Lower end of its 95 % confidence interval.
    pub low_ns: Option<u64>,
    /// Upper end of its 95 % confidence interval.
    pub high_ns: Option<u64>,
}

/// Evidence of a probe about one objective.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ObjectiveLine {
    /// The objective.
    pub slo: String,
    /// Result for this objective alone.
    pub answer: Answer,
    /// Number of requests, streams or gaps that count.
    pub counted: u64,
    /// Number of bad ones among them.
    pub bad: u64,
    /// Share that may be bad.
    pub allowed: f64,
    /// The percentile in nanoseconds, if the objective limits one.
    pub value_ns: Option<u64>,
}

impl ObjectiveLine {
    /// The evidence in words: `ttft p99 < 200ms: 4.1 % of 812 were not, and 1 % may be`.
    fn in_words(&self) -> String {
        let share = self.bad as f64 / self.counted.max(1) as f64;
        format!(
            "{}: {} of {} missed it, and {} may",
            self.slo,
            number::share(share),
            number::count(self.counted),
            number::share(self.allowed)
        )
    }
}

impl ProbeLine {
    /// Returns the objectives that the probe refuted. A single objective needs no name.
    fn broken(&self) -> impl Iterator<Item = &ObjectiveLine> {
        let several = self.objectives.len() > 1;
        self.objectives.iter().filter(move |objective| several && objective.answer == Answer::Misses)
    }
}

impl CapacityReport {
    /// Returns the rates that met and missed until now, in a few words. The result of a single probe is not proven.
    pub fn so_far(&self) -> String {
        let rate = |end: Option<(f64, bool)>| match end {
            None => "nothing".to_owned(),
            Some((rate, true)) => number::rate(rate),
            Some((rate, false)) => format!("{} (not probed again)", number::rate(rate)),
        };
        format!("met so far: {}, missed: {}", rate(self.proven), rate(self.refuted))
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        let fails = |probe: &&ProbeLine| probe.answer == Answer::Meets && probe.errors > 0;
        let share = |probe: &ProbeLine| probe.errors as f64 / probe.requests.max(1) as f64;
        let met_with_errors = self.probes.iter().filter(fails).filter(|_| !self.counts_errors);
        let worst = met_with_errors.max_by(|a, b| share(a).total_cmp(&share(b)));
        let said = worst.map(|probe| {
            format!(
                "At {}, where the objective was met, {} of the requests had an error status or no answer: add --slo \
                 'error-rate < 0.1%' if these shall count.",
                number::rate(probe.rate),
                number::share(share(probe))
            )
        });
        said.into_iter().collect()
    }

    pub(crate) fn requests(&self) -> u64 {
        self.probes.iter().map(|probe| probe.requests).sum()
    }

    fn seconds(&self) -> f64 {
        self.probes.iter().map(|probe| probe.seconds).sum()
    }
}

/// Returns the text for the terminal.
pub fn capacity_text(report: &CapacityReport, style: Style) -> String {
    let mut text = String::new();
    push_lines(&mut text, &headline(report), style);
    for sentence in
        [about(report), what_broke(report), ends(report), doubt(report)].into_iter().flatten().chain(report.notes())
    {
        push_lines(&mut text, &sentence, style);
    }
    if !report.probes.is_empty() {
        text.push('\n');
        text.push_str(&table(report, style));
        text.push('\n');
    }
    let cost = format!(
        "{}, {}, {} of load. Saved in {}",
        number::counted(report.probes.len() as u64, "probe"),
        number::counted(report.requests(), "request"),
        number::time((report.seconds() * 1e9) as u64),
        report.folder
    );
    push_lines(&mut text, &cost, style);
    text
}

/// Returns one line for a finished probe.
pub fn capacity_line(probe: &ProbeLine, style: Style) -> String {
    let value = probe.figures.value_ns.map_or(String::new(), |ns| format!(", {}", number::time(ns)));
    let note = probe.broken().map(ObjectiveLine::in_words).chain(probe.note.clone()).collect::<Vec<_>>().join("; ");
    let note = if note.is_empty() { note } else { format!(": {note}") };
    let line = format!(
        "{} {}{value} after {}{note}",
        number::rate(probe.rate),
        answer_word(probe.answer),
        number::time((probe.seconds * 1e9) as u64)
    );
    style.printable(&line)
}

fn push_lines(text: &mut String, words: &str, style: Style) {
    for line in style.wrap(words, style.columns()) {
        text.push_str(&line);
        text.push('\n');
    }
}

fn headline(report: &CapacityReport) -> String {
    let slo = report.slo.join(" and ");
    match (report.state, report.proven, report.refuted) {
        (SearchState::Found, Some((proven, _)), Some((refuted, _))) => format!(
            "{slo}: proven at {}, refuted at {} ({:.0} % confidence)",
            number::rate(proven),
            number::rate(refuted),
            report.confidence * 100.0
        ),
        (SearchState::BelowRange, ..) => format!("{slo}: refuted even at the lowest rate; lower it with --min-rate"),
        (SearchState::AboveRange, ..) => format!("{slo}: proven even at the highest rate; raise it with --max-rate"),
        (SearchState::GeneratorLimit, ..) => {
            format!("{slo}: truetail is the limit on this machine, so the capacity of the server is not known")
        }
        (SearchState::OutOfTime | SearchState::Found, ..) => format!("{slo}: not proven yet: {}", why_not(report)),
    }
}

fn why_not(report: &CapacityReport) -> &'static str {
    match report.stopped_by {
        Some("user") => "the search was stopped; the same command continues it",
        Some("service_gone") => "the server no longer answers; the same command continues the search",
        Some("error") => "a probe could not be made",
        Some("time_too_short") => "--max-time is too short for the next probe; give it more",
        _ => "the time is up; the same command continues the search, or give it more with --max-time",
    }
}

fn about(report: &CapacityReport) -> Option<String> {
    let LimitEstimate { rate, low, high } = report.estimate?;
    Some(format!(
        "The limit is probably about {} ({} … {}).",
        number::rate(rate),
        number::rate(low),
        number::rate(high)
    ))
}

/// Names the objectives that the refuted rate broke, if there are several, with the evidence.
fn what_broke(report: &CapacityReport) -> Option<String> {
    let (rate, _) = report.refuted?;
    let probes = report.probes.iter().rev().filter(|probe| probe.rate == rate && probe.answer == Answer::Misses);
    let broken: Vec<String> = probes.flat_map(ProbeLine::broken).map(ObjectiveLine::in_words).collect();
    let broken = broken.first().map(|_| broken.join("; "))?;
    Some(format!("Refuted at {} by {broken}.", number::rate(rate)))
}

/// Names the ends of the search, unless the headline does.
fn ends(report: &CapacityReport) -> Option<String> {
    if report.state == SearchState::Found {
        return None;
    }
    if report.proven.is_none() && report.refuted.is_none() {
        return (report.state == SearchState::OutOfTime).then(|| match report.probes.len() {
            0 => "No rate was probed.".to_owned(),
            _ => "No rate that was probed could be decided.".to_owned(),
        });
    }
    let mut sentences = Vec::new();
    if let Some((rate, again)) = report.proven {
        let how = if again { "" } else { ", not probed again yet" };
        sentences.push(format!("The highest rate that met: {}{how}.", number::rate(rate)));
    }
    if let Some((rate, again)) = report.refuted {
        let how = if again { "" } else { ", not probed again yet" };
        sentences.push(format!("The lowest rate that missed: {}{how}.", number::rate(rate)));
    }
    Some(sentences.join(" "))
}

/// Names rates with another answer when they were probed again.
fn doubt(report: &CapacityReport) -> Option<String> {
    let changed = |probe: &&ProbeLine| match (probe.purpose, probe.answer) {
        (Purpose::ConfirmUpper, Answer::Meets) | (Purpose::ConfirmLower, Answer::Misses) => true,
        (Purpose::ConfirmUpper | Purpose::ConfirmLower | Purpose::Bracket | Purpose::Refine, _) => false,
    };
    let rates: Vec<String> = report.probes.iter().filter(changed).map(|probe| number::rate(probe.rate)).collect();
    let rates = rates.join(", ");
    (!rates.is_empty()).then(|| {
        format!(
            "{rates} had another answer when probed again: by chance, or because it matters where the load comes from."
        )
    })
}

fn table(report: &CapacityReport, style: Style) -> String {
    let heads = [
        ("rate", Align::Right),
        ("", Align::Left),
        (report.time_name.as_str(), Align::Right),
        ("95 % interval", Align::Right),
        ("requests", Align::Right),
        ("", Align::Left),
    ];
    let mut table = TextTable::new(&heads);
    let mut probes: Vec<&ProbeLine> = report.probes.iter().collect();
    probes.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    probes.into_iter().for_each(|probe| table.row(row(probe, style)));
    table.lines(0, style).into_iter().map(|line| line + "\n").collect()
}

fn row(probe: &ProbeLine, style: Style) -> Vec<String> {
    let emphasis = match probe.answer {
        Answer::Meets => Emphasis::Good,
        Answer::Misses => Emphasis::Bad,
        Answer::Open | Answer::GeneratorLimit => Emphasis::Doubt,
    };
    let again = match probe.purpose {
        Purpose::Bracket | Purpose::Refine => "",
        Purpose::ConfirmUpper => "again, from above",
        Purpose::ConfirmLower => "again, from below",
    };
    let how = if probe.cut_off { "cut off by the time" } else { again };
    let broken = probe.broken().map(|objective| objective.slo.as_str());
    vec![
        number::rate(probe.rate),
        style.emphasize(emphasis, answer_word(probe.answer)),
        probe.figures.value_ns.map_or("–".to_owned(), number::time),
        number::time_range(probe.figures.low_ns, probe.figures.high_ns),
        number::count(probe.requests),
        broken.chain([how]).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; "),
    ]
}

fn answer_word(answer: Answer) -> &'static str {
    match answer {
        Answer::Meets => "meets",
        Answer::Misses => "misses",
        Answer::Open => "open",
        Answer::GeneratorLimit => "generator limit",
    }
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::capacity_json;

    fn report() -> CapacityReport {
        CapacityReport {
            slo: vec!["p99 < 50ms".to_owned()],
            state: SearchState::OutOfTime,
            stopped_by: Some("time"),
            proven: Some((200.0, false)),
            refuted: Some((400.0, true)),
            estimate: Some(LimitEstimate { rate: 290.0, low: 240.0, high: 340.0 }),
            resolution: 0.05,
            confidence: 0.95,
            time_name: "p99".to_owned(),
            folder: "search".to_owned(),
            counts_errors: false,
            probes: Vec::new(),
        }
    }

    fn probe() -> ProbeLine {
        ProbeLine {
            rate: 200.0,
            purpose: Purpose::Bracket,
            answer: Answer::Meets,
            seconds: 10.0,
            requests: 2_000,
            errors: 900,
            figures: ProbeFigures::default(),
            objectives: Vec::new(),
            run: None,
            cut_off: false,
            note: None,
        }
    }

    #[test]
    fn errors_where_the_objective_was_met_are_told() {
        let told = CapacityReport { probes: vec![probe()], ..report() };
        let text = capacity_text(&told, Style::default());
        assert!(text.contains("\n1 probe, 2000 requests, 10.00s of load."), "{text}");
        assert!(text.contains("45% of the requests had an error status"), "{text}");
        assert!(capacity_json(&told).contains("45% of the requests"));
        let counted = CapacityReport { counts_errors: true, ..told };
        assert_eq!(counted.notes(), Vec::<String>::new());
    }

    #[test]
    fn what_one_probe_showed_is_not_proven() {
        assert_eq!(report().so_far(), "met so far: 200/s (not probed again), missed: 400/s");
        let json: serde_json::Value = serde_json::from_str(&capacity_json(&report())).expect("JSON");
        let ends = ["proven_rate", "refuted_rate", "met_rate", "missed_rate"].map(|name| json[name].as_f64());
        assert_eq!(ends, [None, Some(400.0), Some(200.0), Some(400.0)]);
        let estimate = ["estimate_rate", "estimate_low", "estimate_high"].map(|name| json[name].as_f64());
        assert_eq!(estimate, [Some(290.0), Some(240.0), Some(340.0)]);
    }

    #[test]
    fn out_of_time_says_what_is_known() {
        let text = capacity_text(&report(), Style::default());
        for part in
            ["not proven yet: the time is up", "The limit is probably about 290/s (240/s … 340/s).", "200/s, not"]
        {
            assert!(text.replace('\n', " ").contains(part), "{text}");
        }
        let cut = ProbeLine { cut_off: true, answer: Answer::Open, ..probe() };
        let with_cut = CapacityReport { probes: vec![cut], ..report() };
        let text = capacity_text(&with_cut, Style::default());
        assert!(text.lines().any(|line| line.contains("open") && line.ends_with("cut off by the time")), "{text}");
        assert!(capacity_json(&with_cut).contains("\"cut_off\": true"));
        let nothing = CapacityReport { proven: None, refuted: None, estimate: None, ..report() };
        assert!(capacity_text(&nothing, Style::default()).contains("No rate was probed."));
    }
}
