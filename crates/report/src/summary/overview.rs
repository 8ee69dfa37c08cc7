//! The first and the last section: verdict, offered load, and notes.

use truetail_model::workload::LoadModelKind;
use truetail_run::{Findings, Mix, OfferedLoad, Reason, Run, RunSource, Verdict, VerdictState};

use super::labelled::{labelled, labelled_text};
use crate::number;
use crate::style::{Emphasis, Style};

/// The verdict and its reasons, worst first.
pub(super) fn verdict(verdict: &Verdict, style: Style) -> Vec<String> {
    let (name, ink, says) = match verdict.state {
        VerdictState::Valid => ("VALID", Emphasis::Good, "nothing speaks against these numbers"),
        VerdictState::Suspect => ("SUSPECT", Emphasis::Doubt, "these numbers come with a doubt"),
        VerdictState::Invalid => ("INVALID", Emphasis::Bad, "do not use these numbers"),
    };
    let mut lines = vec![format!("{}  {says}", style.emphasize(ink, name))];
    for why in &verdict.reasons {
        lines.extend(reason(why, style));
    }
    lines
}

fn reason(reason: &Reason, style: Style) -> Vec<String> {
    let (mark, ink) = match reason.state {
        VerdictState::Valid => ("-", Emphasis::Faint),
        VerdictState::Suspect => ("?", Emphasis::Doubt),
        VerdictState::Invalid => ("!", Emphasis::Bad),
    };
    let text = format!("{}: {}", reason.code, reason.message);
    let lines = style.wrap(&text, style.columns().saturating_sub(4));
    let before = |i: usize| if i == 0 { format!("  {} ", style.emphasize(ink, mark)) } else { "    ".to_owned() };
    lines.iter().enumerate().map(|(i, line)| format!("{}{line}", before(i))).collect()
}

/// What was asked for, under which load model, and at which rates.
pub(super) fn offered(run: &Run, findings: &Findings, style: Style) -> Vec<String> {
    let offered = &run.facts.offered;
    let mut lines = Vec::new();
    if let Some(target) = target(offered, &run.facts.source) {
        lines.extend(labelled_text("Target", &target, style));
    }
    let limits = limits(offered);
    lines.extend(labelled_text("Load", &format!("{}{limits}", load(offered)), style));
    let rates = format!(
        "{} offered · {} answered",
        number::rate_if_any(findings.offered_per_second),
        number::rate_if_any(findings.throughput_per_second)
    );
    lines.extend(labelled_text("Rate", &rates, style));
    lines
}

fn target(offered: &OfferedLoad, source: &RunSource) -> Option<String> {
    let what = match (&offered.method, &offered.url) {
        (Some(method), Some(url)) => Some(format!("{method} {url}")),
        (None, Some(url)) => Some(url.clone()),
        _ => None,
    };
    let how = match source {
        RunSource::Sockets => None,
        RunSource::Simulator => Some("simulated, in virtual time".to_owned()),
        RunSource::Callable => Some("a callable in this process".to_owned()),
        RunSource::Import { tool, version } => {
            Some(format!("imported from {tool} {}", version.as_deref().unwrap_or("")).trim_end().to_owned())
        }
    };
    let parts: Vec<String> =
        [what, offered.mix.as_ref().map(mix), offered.name.clone(), how].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// The number of targets, and of rows that fill them in.
fn mix(mix: &Mix) -> String {
    let targets = (mix.targets.len() > 1).then(|| format!("{} targets", number::count(mix.targets.len() as u64)));
    let order = if mix.order.as_deref() == Some("random") { "drawn at random" } else { "in order" };
    let rows = (mix.rows > 0).then(|| format!("{} rows {order}", number::count(mix.rows.into())));
    [targets, rows].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn load(offered: &OfferedLoad) -> String {
    let think = offered.think_time_ns.filter(|ns| *ns > 0).map(|ns| format!(", think time {}", number::time(ns)));
    let think = think.unwrap_or_default();
    let what = match offered.model {
        LoadModelKind::Open => format!("open loop: {}", schedule(offered)),
        LoadModelKind::Closed => format!("closed loop: {} users{think}", offered.users.unwrap_or(0)),
        LoadModelKind::PartlyOpen => format!(
            "partly open: sessions of {} requests{think}, {}",
            offered.requests_per_session.unwrap_or(1),
            schedule(offered)
        ),
    };
    let ends = [
        offered.duration_ns.map(|ns| format!("for {}", number::round_time(ns))),
        offered.requests.map(|n| format!("{} requests", number::count(n))),
        (offered.warmup_ns > 0).then(|| format!("the first {} are warm-up", number::round_time(offered.warmup_ns))),
    ];
    ends.into_iter().flatten().fold(what, |text, end| format!("{text}, {end}"))
}

fn schedule(offered: &OfferedLoad) -> String {
    let profile = offered.profile.as_deref().unwrap_or("unknown rate");
    let spacing = match (offered.spacing.as_deref(), offered.seed) {
        (Some("poisson"), Some(seed)) => format!(", poisson arrivals (seed {seed})"),
        (Some(spacing), _) => format!(", {spacing} spacing"),
        (None, _) => String::new(),
    };
    format!("{profile}{spacing}")
}

fn limits(offered: &OfferedLoad) -> String {
    let streams = offered.http2.and_then(|http2| http2.max_streams);
    let streams = streams.map_or(String::new(), |n| format!(" of {} streams", number::count(n.into())));
    let cap = match (offered.http2, offered.connections) {
        (None, None) => None,
        (None, Some(n)) => Some(format!(" · at most {} connections", number::count(n.into()))),
        (Some(_), None) => Some(format!(" · HTTP/2{streams}")),
        (Some(_), Some(1)) => Some(format!(" · HTTP/2 on one connection{streams}")),
        (Some(_), Some(n)) => Some(format!(" · HTTP/2 on at most {} connections{streams}", number::count(n.into()))),
    };
    let timeout = offered.timeout_ns.map(|ns| format!(" · timeout {}", number::round_time(ns)));
    cap.unwrap_or_default() + &timeout.unwrap_or_default()
}

/// Notes, how an interrupted run ended, and where it was saved.
pub(super) fn notes(run: &Run, saved: Option<&str>, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    if run.facts.interrupted {
        let early = match run.facts.cut_short {
            Some(true) => "ended before its time: arrivals after that were not planned",
            Some(false) => "asked to end when all arrivals were planned: at most the wait for answers was shorter",
            None => "ended before its time",
        };
        lines.extend(labelled_text("Note", early, style));
    }
    for note in &run.facts.notes {
        lines.extend(labelled_text("Note", note, style));
    }
    if let Some(saved) = saved {
        lines.push(labelled("Saved", &style.printable(saved), style));
    }
    lines
}
