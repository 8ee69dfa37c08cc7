//! Evidence of a run about a time.

use truetail_model::record::{Cause, Metric, rank_of};
use truetail_run::{EndClock, Findings, GeneratorStats, Quantile, Run, RunSource};

use super::bounds::Bounds;
use super::doubt::Doubt;
use super::evidence::{Evidence, Measured};
use super::load_effects::LoadEffects;
use super::metric::{Statistic, TimeKind};
use super::scope::Scope;
use crate::targets;

/// Evidence about a time of the whole run or of one target.
pub(super) fn evidence(run: &Run, findings: &Findings, scope: Scope, kind: TimeKind, statistic: Statistic) -> Evidence {
    let effects = LoadEffects::from_findings(findings);
    let generator = Generator::new(run, kind, effects);
    let known = match statistic {
        Statistic::Quantile(q) => {
            quantile_evidence(run, &quantile(run, findings, scope, kind, q), scope, kind, generator)
        }
        Statistic::Mean => mean_evidence(run, scope, kind, generator),
    };
    // Requests that a slow generator never sent count among the slowest, and say nothing about the service.
    let never_sent = effects.lower_load && run.snapshot.tally.never_issued > 0;
    let known = if never_sent { known.down_to(0.0, Doubt::LowerLoad) } else { known };
    known.with_load_effects(effects, f64::INFINITY)
}

/// Possible effect of the generator on the times of a late run without a bracket. It is at most the largest lag, or
/// more if answers lay unread.
#[derive(Clone, Copy)]
struct Generator {
    /// True if the generator may have been late: a reason in the verdict says so, or the time begins at the intended
    /// start and includes any lag.
    late: bool,
    /// Largest possible excess of a time.
    longer_by: f64,
    /// Largest possible shortfall of a time. A service time lacks the wait that a late request avoided.
    shorter_by: f64,
}

impl Generator {
    fn new(run: &Run, kind: TimeKind, effects: LoadEffects) -> Generator {
        let lag = run.snapshot.metric(Metric::GeneratorLag).max().map_or(0.0, |max| max.0 as f64);
        let shorter_by = match kind {
            TimeKind::Service => lag,
            TimeKind::Response | TimeKind::FirstByte => 0.0,
        };
        let longer_by = if ends_on_time(run) { lag } else { f64::INFINITY };
        Generator { late: effects.late || kind != TimeKind::Service, longer_by, shorter_by }
    }

    /// Extends evidence about `value` by the possible effect of the generator.
    fn around(self, known: Evidence, value: f64) -> Evidence {
        if !self.late {
            return known;
        }
        let known = known.down_to(value - self.longer_by, Doubt::Late);
        if self.shorter_by > 0.0 { known.up_to(value + self.shorter_by, Doubt::Late) } else { known }
    }
}

/// Returns true if no time includes a wait until the generator read the answer.
pub(crate) fn ends_on_time(run: &Run) -> bool {
    let stamped = |generator: &GeneratorStats| generator.end_clock == EndClock::Kernel && generator.unstamped == 0;
    match &run.facts.source {
        RunSource::Simulator | RunSource::Callable | RunSource::Import { .. } => true,
        RunSource::Sockets => run.facts.generator.as_ref().is_none_or(stamped),
    }
}

fn quantile(run: &Run, findings: &Findings, scope: Scope, kind: TimeKind, q: f64) -> Quantile {
    let table = match (scope, kind) {
        (Scope::Whole, TimeKind::Response) => &findings.response_time.quantiles[..],
        (Scope::Whole, kind) => &findings.metrics[kind.metric()].quantiles[..],
        (Scope::Target(_), _) => &[],
    };
    let found = table.iter().find(|quantile| quantile.q == q).copied();
    found.unwrap_or_else(|| match scope {
        Scope::Whole => crate::quantile(run, kind.metric(), q),
        Scope::Target(number) => targets::quantile(run, number, kind.metric(), q),
    })
}

fn quantile_evidence(run: &Run, quantile: &Quantile, scope: Scope, kind: TimeKind, generator: Generator) -> Evidence {
    if let Some(needs_n) = quantile.needs_n.filter(|_| !quantile.supported) {
        return Evidence::nothing(match arrivals(run, scope, kind) {
            0 => Doubt::NotMeasured,
            arrivals => Doubt::FewArrivals { arrivals, needs_n },
        });
    }
    let Some(value) = quantile.value_ns.map(|value| value as f64) else {
        return Evidence::nothing(Doubt::NotMeasured);
    };
    let known = match quantile {
        Quantile { no_answer: true, .. } => Evidence::new(Measured::NoAnswer, Bounds::exactly(f64::INFINITY)),
        Quantile { at_least: true, .. } => {
            Evidence::new(Measured::AtLeast(value), Bounds::exactly(value)).up_to(f64::INFINITY, Doubt::Censored)
        }
        _ => Evidence { interval: interval(quantile), ..Evidence::exactly(value) },
    };
    let known = without_own_failures(run, quantile.q, scope, kind, known);
    if quantile.no_answer {
        return known;
    }
    match quantile.without_generator_ns {
        Some(without) => {
            let without = without as f64;
            Evidence { without_generator: Some(without), ..known.down_to(without, Doubt::Late) }
        }
        None => generator.around(known, value),
    }
}

fn arrivals(run: &Run, scope: Scope, kind: TimeKind) -> u64 {
    match (scope, kind) {
        (Scope::Whole, TimeKind::Response) => run.snapshot.tally.planned,
        (Scope::Whole, kind) => run.snapshot.metric(kind.metric()).count(),
        (Scope::Target(number), kind) => targets::count(run, number, kind.metric()),
    }
}

fn interval(quantile: &Quantile) -> Option<(f64, f64)> {
    Some((quantile.low_ns? as f64, quantile.high_ns? as f64))
}

/// Extends the bounds if requests failed because this machine ran out of ports or files. These k requests may have been
/// the fastest of all, so the true quantile may be as low as the value k ranks below.
fn without_own_failures(run: &Run, q: f64, scope: Scope, kind: TimeKind, known: Evidence) -> Evidence {
    let own = own_failures(run);
    if own == 0 || kind != TimeKind::Response {
        return known;
    }
    let why = Doubt::GeneratorFailures { arrivals: own };
    let n = arrivals(run, scope, kind);
    let rank = rank_of(q, n).saturating_sub(own);
    if rank == 0 {
        return known.down_to(0.0, why);
    }
    let lower_q = rank as f64 / n as f64;
    let lower = match scope {
        Scope::Whole => crate::quantile(run, Metric::ResponseTime, lower_q),
        Scope::Target(number) => targets::quantile(run, number, Metric::ResponseTime, lower_q),
    };
    match lower {
        Quantile { no_answer: true, .. } => known,
        Quantile { value_ns, .. } => known.down_to(value_ns.map_or(0.0, |value| value as f64), why),
    }
}

/// Number of arrivals that failed because this machine ran out of ports or files.
pub(super) fn own_failures(run: &Run) -> u64 {
    let count = |cause| run.snapshot.causes.get(&cause).copied().unwrap_or(0);
    count(Cause::NoLocalPort) + count(Cause::NoFileDescriptor)
}

/// Evidence about a mean: over all planned arrivals for the response time, otherwise over answers. Arrivals without an
/// answer count with their waiting time, which is a lower bound.
fn mean_evidence(run: &Run, scope: Scope, kind: TimeKind, generator: Generator) -> Evidence {
    let sums = Sums::new(run, scope, kind);
    if sums.count == 0 {
        return Evidence::nothing(Doubt::NotMeasured);
    }
    let mean = sums.sum_ns / sums.count as f64;
    let known = match sums.unanswered {
        0 => Evidence::exactly(mean),
        arrivals => Evidence::new(Measured::AtLeast(mean), Bounds::exactly(mean))
            .up_to(f64::INFINITY, Doubt::MeanOfUnanswered { arrivals }),
    };
    match sums.without_generator_ns {
        Some(sum_ns) => {
            let without = sum_ns / sums.count as f64;
            Evidence { without_generator: Some(without), ..known.down_to(without, Doubt::Late) }
        }
        None => generator.around(known, mean),
    }
}

struct Sums {
    count: u64,
    sum_ns: f64,
    /// Sum without what the generator added to each time, if known.
    without_generator_ns: Option<f64>,
    unanswered: u64,
}

impl Sums {
    fn new(run: &Run, scope: Scope, kind: TimeKind) -> Sums {
        let of = |metric: Metric| match scope {
            Scope::Whole => (run.snapshot.metric(metric).count(), run.snapshot.metric(metric).sum_ns()),
            Scope::Target(number) => targets::count_and_sum(run, number, metric),
        };
        let (answered, sum) = of(kind.metric());
        match kind {
            TimeKind::Service | TimeKind::FirstByte => {
                Sums { count: answered, sum_ns: sum as f64, without_generator_ns: None, unanswered: 0 }
            }
            TimeKind::Response => {
                let [censored, failed, without] = [Metric::Censored, Metric::Failed, Metric::WithoutGenerator].map(of);
                let unanswered = censored.0 + failed.0;
                let waited = censored.1 + failed.1;
                Sums {
                    count: answered + unanswered,
                    sum_ns: (sum + waited) as f64,
                    without_generator_ns: (without.0 == answered).then(|| (without.1 + waited) as f64),
                    unanswered,
                }
            }
        }
    }
}
