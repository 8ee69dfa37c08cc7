//! `truetail simulate every-nth --real-time`: the same experiment on the wall clock, through the harness for callables.

use std::thread;

use truetail_engine::Control;
use truetail_engine::callable::{CallPlan, bench};
use truetail_model::arrival::Horizon;
use truetail_model::record::Metric;
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModel;
use truetail_report::number;
use truetail_report::plot::Role;
use truetail_run::{Run, Source};
use truetail_sim::labs::QUANTILES;
use truetail_sim::labs::every_nth::{EveryNthOptions, EveryNthResult};

use super::every_nth::{self, NAME};
use super::lab::{Column, Lab, Line, Slow};
use super::spin::{SAMPLES, Spin};
use crate::measure::stop_on_signal;
use crate::outcome::{Result, could_not};
use crate::output;
use crate::progress::Teller;

/// Measures the closed loop and then the open one, and puts what virtual time says beside them.
pub fn run(options: &EveryNthOptions, quiet: bool) -> Result<Lab> {
    let truth = every_nth::find(options)?;
    let experiment = Experiment { options, spin: Spin::calibrated(options.work), quiet };
    let requests = truth.closed.count();
    if !quiet {
        output::note(&format!("{NAME}: about {:.0} s of real time", seconds(options, requests)));
    }
    let (closed, stopped) = experiment.measure("closed-loop", closed(requests), false)?;
    let (open, _) = experiment.measure("open-loop", CallPlan::at_rate(options.rate, options.duration), stopped)?;
    // What was never begun has books and no verdict.
    let open = Line { measured: !stopped, ..line("open-loop", Role::Open, open, &truth) };
    let lines = vec![line("closed-loop", Role::Closed, closed, &truth), open];
    Ok(Lab {
        name: NAME,
        title: every_nth::title(options),
        subtitle: every_nth::subtitle(options),
        columns: columns(&lines, &truth),
        figures: figures(&experiment, &lines),
        lines,
        truth: every_nth::lines(truth),
        files: Box::new(Ok),
    })
}

struct Experiment<'a> {
    options: &'a EveryNthOptions,
    spin: Spin,
    quiet: bool,
}

impl Experiment<'_> {
    /// One series; of one that is `stopped` already only the books. Says whether the user wants no more.
    fn measure(&self, name: &'static str, plan: CallPlan, stopped: bool) -> Result<(Run, bool)> {
        let control = Control::new();
        if stopped {
            control.stop_now();
        }
        let watch = stop_on_signal(&control)?;
        let teller = (!self.quiet).then(|| Teller::of(plan.workload.model.clone(), control.clone()));
        let measured = bench(&plan, &control, |_| self.service());
        drop(teller);
        drop(watch);
        measured.snapshot.tally.check().map_err(could_not)?;
        let mut run = measured.into_run(Source::Callable, plan.offered());
        run.facts.offered.name = Some(format!("{NAME}/{name}"));
        run.facts.interrupted = control.was_stopped();
        run.facts.notes.push(self.calibration());
        Ok((run, control.was_stopped()))
    }

    /// One server: a spin for most requests, a sleep for every n-th.
    fn service(&self) -> impl FnMut() -> u64 + use<> {
        let (spin, every, pause) = (self.spin, self.options.pause_every, self.options.pause);
        let mut requests = 0_u64;
        move || {
            requests += 1;
            if requests.is_multiple_of(every) {
                thread::sleep(pause.into());
                return requests;
            }
            spin.work()
        }
    }

    fn calibration(&self) -> String {
        format!(
            "{} of work are {} rounds of arithmetic on this machine, calibrated beforehand (median of {SAMPLES} samples)",
            number::round_time(self.options.work.0),
            number::count(self.spin.rounds())
        )
    }
}

/// As many requests as the open loop plans, one after the other.
fn closed(requests: u64) -> CallPlan {
    let horizon = Horizon { duration: None, requests: Some(requests) };
    CallPlan::new(LoadModel::Closed { users: 1, think_time: Nanos::ZERO, horizon })
}

/// What both loops take together when all goes well.
fn seconds(options: &EveryNthOptions, requests: u64) -> f64 {
    let closed = options.utilisation() / options.rate.as_per_second() * requests as f64;
    let open = options.duration.as_secs_f64();
    closed + open.max(closed)
}

fn line(name: &'static str, role: Role, run: Run, truth: &EveryNthResult) -> Line {
    let answers = run.snapshot.metric(Metric::ResponseTime);
    let slow = Slow { limit: truth.slow_from, requests: answers.count() - answers.count_at_or_below(truth.slow_from) };
    let findings = truetail_analysis::findings(&run);
    Line { name, role, run, findings, measured: true, slow: Some(slow) }
}

/// Both loops, how many times the one is the other, and the same three columns of the truth.
fn columns(lines: &[Line], truth: &EveryNthResult) -> Vec<Column> {
    let quantiles = |run: &Run| QUANTILES.map(|q| truetail_analysis::quantile(run, Metric::ResponseTime, q));
    let of_lines: Vec<_> = lines.iter().map(|line| quantiles(&line.run)).collect();
    let measured = lines.iter().zip(&of_lines).map(|(line, quantiles)| {
        let requests = number::count(line.run.snapshot.tally.planned);
        Column { head: line.name.to_owned(), cells: quantiles.iter().map(number::quantile).chain([requests]).collect() }
    });
    let ratios = of_lines[0].iter().zip(&of_lines[1]).map(|(closed, open)| {
        let values = (closed.value_ns.filter(|ns| *ns > 0), open.value_ns);
        let known = !(closed.at_least || open.at_least || closed.no_answer || open.no_answer);
        match values {
            (Some(closed), Some(open)) if known => number::factor(open as f64 / closed as f64),
            _ => "–".to_owned(),
        }
    });
    let ratio = Column { head: "ratio".to_owned(), cells: ratios.collect() };
    let truth = every_nth::columns(truth, ["truth: closed", "open", "ratio"]);
    measured.chain([ratio]).chain(truth).collect()
}

fn figures(experiment: &Experiment<'_>, lines: &[Line]) -> Vec<String> {
    let of = |line: &Line| {
        let slow = line.slow.map_or(0, |slow| slow.requests);
        format!("{} requests of the {}", number::count(slow), line.name)
    };
    let limit = number::round_time(experiment.options.work.0.saturating_mul(2));
    let slow = format!("slower than {limit}: {}", lines.iter().map(of).collect::<Vec<_>>().join(", "));
    let crowded = every_nth::crowded(experiment.options);
    crowded.into_iter().chain([slow, experiment.calibration()]).collect()
}
