//! The generator: timing, CPU time and lag.

use truetail_model::record::Metric;
use truetail_run::{Findings, Http2Stats, Run, RunSource, Timing};

use super::labelled::LabelledText;
use crate::number;

/// Returns timing, threads, CPU time and lag. `None` if no sockets were used or no request was issued.
pub fn generator(run: &Run, findings: &Findings) -> Option<LabelledText> {
    let generator = run.facts.generator.as_ref().filter(|_| run.facts.source == RunSource::Sockets)?;
    let issued = run.snapshot.all_arrivals().issued;
    if issued == 0 {
        return None;
    }
    let cpu_ns = generator.cpu.total_ns();
    let lag = |q: f64| {
        let quantiles = &findings.metrics[Metric::GeneratorLag].quantiles;
        let found = quantiles.iter().find(|quantile| quantile.q == q).and_then(|quantile| quantile.value_ns);
        found.map_or("–".to_owned(), number::time)
    };
    let threads = match generator.threads {
        1 => "1 thread".to_owned(),
        n => format!("{} threads", number::count(n.into())),
    };
    let text = format!(
        "{} timing{}, {threads}, {} of CPU time per request · lag p50 {}, p99 {}",
        generator.timing.name(),
        if generator.realtime { ", real-time priority" } else { "" },
        number::time(cpu_ns / issued),
        lag(0.5),
        lag(0.99),
    );
    Some(("Generator", text + &streams(generator.streams)))
}

/// Describes how long requests were held back to be sent together; `None` if each was sent separately.
pub fn ticks(run: &Run) -> Option<LabelledText> {
    let generator = run.facts.generator.as_ref().filter(|_| run.facts.source == RunSource::Sockets)?;
    let (timing, longest_ns) = match (generator.timing, generator.ticks) {
        (Timing::Cheap, _) => (Timing::Cheap, Timing::TICK_NS),
        (timing @ (Timing::Auto | Timing::Balanced | Timing::Precise), Some(ticks)) => (timing, ticks.longest_ns),
        (Timing::Auto | Timing::Balanced | Timing::Precise, None) => return None,
    };
    let name = timing.name();
    let longest = number::round_time(longest_ns);
    Some(("Timing", format!("{name}: sends in ticks of up to {longest} to save processor time")))
}

/// Describes HTTP/2 streams: the highest number at once, and the number of requests that were sent again.
fn streams(streams: Option<Http2Stats>) -> String {
    let Some(Http2Stats { peak, allowed, sent_again }) = streams else { return String::new() };
    let allowed =
        allowed.map_or("sets no limit".to_owned(), |n| format!("allows {} per connection", number::count(n.into())));
    let again = match sent_again {
        0 => String::new(),
        n => format!(" · {} sent again after the server had closed their connection unprocessed", number::count(n)),
    };
    format!(" · at most {} streams at once, the server {allowed}{again}", number::count(peak))
}
