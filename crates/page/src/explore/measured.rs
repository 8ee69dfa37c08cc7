//! A run on real sockets on the page: its progress, and later its curves next to the simulated ones.

use serde::Serialize;
use truetail_analysis::series::{CurveKind, PercentileCurve, series};
use truetail_analysis::{exact_times, omission};
use truetail_model::time::Nanos;
use truetail_report::number;
use truetail_report::plot::CurveSource;
use truetail_run::{Quantile, Run};

use super::answer::{NamedCurve, TextTable, VerdictText};
use super::backend::{Backend, MeasuredLoop, MeasuredRun, RealProgress, RealState, SimulatedLoops};
use super::settings::Settings;

/// State of the runs on real sockets, for the script.
#[derive(Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(super) enum RealAnswer {
    Idle,
    Running {
        progress: String,
        /// Progress of the current loop in [0, 1]; `None` if a number of requests ends it.
        done: Option<f64>,
    },
    Done {
        /// The settings of the run, as in a link.
        settings: String,
        loops: Vec<MeasuredText>,
    },
    Cancelled,
    Failed {
        message: String,
    },
}

#[derive(Serialize)]
pub(super) struct MeasuredText {
    name: &'static str,
    /// Requests that were planned or sent.
    requests: u64,
    verdict: VerdictText,
    table: TextTable,
    quantiles: Vec<Quantile>,
}

impl RealAnswer {
    /// Converts a state. `backend` simulates the measured settings again for comparison.
    pub(super) fn new(state: RealState, backend: &dyn Backend) -> RealAnswer {
        match state {
            RealState::Idle => RealAnswer::Idle,
            RealState::Running(progress) => {
                let part = progress.sends_for_s.map(|seconds| (progress.elapsed_s / seconds).min(1.0));
                RealAnswer::Running { progress: progress_text(&progress), done: part }
            }
            RealState::Cancelled => RealAnswer::Cancelled,
            RealState::Failed(message) => RealAnswer::Failed { message },
            RealState::Done(settings, loops) => match backend.simulate(&settings.simulation()) {
                Ok(simulated) => RealAnswer::done(&settings, &loops, &simulated),
                Err(message) => RealAnswer::Failed { message },
            },
        }
    }

    fn done(settings: &Settings, loops: &[MeasuredRun], simulated: &SimulatedLoops) -> RealAnswer {
        let loops = loops.iter().map(|measured| measured_text(measured, simulated)).collect();
        RealAnswer::Done { settings: settings.to_query(), loops }
    }

    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).expect("every key is a text and every value has a JSON form")
    }
}

fn progress_text(progress: &RealProgress) -> String {
    let of = progress.sends_for_s.map(|seconds| format!(" of {seconds:.0} s")).unwrap_or_default();
    format!(
        "{}: {:.0}{of}{}, {} requests sent, {} answered",
        loop_name(progress.measured),
        progress.elapsed_s,
        if of.is_empty() { " s" } else { "" },
        number::count(progress.sent),
        number::count(progress.answered)
    )
}

const fn loop_name(measured: MeasuredLoop) -> &'static str {
    match measured {
        MeasuredLoop::Open => "Open loop",
        MeasuredLoop::Closed => "Closed loop",
    }
}

fn measured_text(measured: &MeasuredRun, simulated: &SimulatedLoops) -> MeasuredText {
    let simulated = match measured.measured {
        MeasuredLoop::Open => &simulated.open,
        MeasuredLoop::Closed => &simulated.closed,
    };
    let quantiles = measured.findings.response_time.quantiles.clone();
    MeasuredText {
        name: loop_name(measured.measured),
        requests: measured.findings.response_time.count,
        verdict: VerdictText::new(&measured.findings.verdict),
        table: table(&quantiles, simulated),
        quantiles,
    }
}

/// Returns the curves of the last run if it was measured with `settings`.
pub(super) fn measured_curves(state: &RealState, settings: &Settings) -> Vec<NamedCurve> {
    let RealState::Done(measured_with, loops) = state else { return Vec::new() };
    let named = |measured: &MeasuredRun| match measured.measured {
        MeasuredLoop::Open => ("open loop, measured", CurveSource::MeasuredOpen, carried_curve(measured)),
        MeasuredLoop::Closed => ("closed loop, measured", CurveSource::MeasuredClosed, carried_curve(measured)),
    };
    if **measured_with == *settings { loops.iter().map(named).collect() } else { Vec::new() }
}

/// Returns the curve of a measured run, up to the percentiles that its sample supports; possibly without points.
fn carried_curve(measured: &MeasuredRun) -> PercentileCurve {
    let curves = series(&measured.run, &measured.findings).curves;
    let found = curves.into_iter().find(|curve| curve.kind == CurveKind::ResponseTime);
    let count = measured.findings.response_time.count;
    found.unwrap_or(PercentileCurve { kind: CurveKind::ResponseTime, points: Vec::new(), count, unanswered_share: 0.0 })
}

fn table(quantiles: &[Quantile], simulated: &Run) -> TextTable {
    let exact = exact_times(CurveKind::ResponseTime, simulated).quantiles;
    let row = |(measured, simulated): (&Quantile, &Quantile)| {
        let known =
            |quantile: &Quantile| quantile.value_ns.filter(|_| quantile.supported && !quantile.at_least).map(Nanos);
        let ratio = known(measured).zip(known(simulated)).and_then(|(one, other)| omission::factor(one, other));
        let difference = ratio.map_or("–".to_owned(), |ratio| format!("{:+.1}%", (ratio - 1.0) * 100.0));
        vec![number::quantile_name(measured.q), number::bracketed(measured), number::quantile(simulated), difference]
    };
    let rows = quantiles.iter().zip(&exact).map(row).collect();
    TextTable { heads: vec!["", "measured", "simulated", "difference"], rows }
}
