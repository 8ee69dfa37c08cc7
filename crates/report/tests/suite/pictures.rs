//! Example pictures: one of each kind with a distinct appearance.

use truetail_model::arrival::Horizon;
use truetail_model::scenario::{Scenario, builtin};
use truetail_model::service::{Fault, Selector};
use truetail_model::time::Nanos;
use truetail_model::workload::{LoadModel, Workload};
use truetail_report::plot::{
    Curve, IntervalPlot, IntervalSeries, Picture, Role, Shade, intervals, run_spectrum, spectrum,
};
use truetail_run::Run;
use truetail_sim::labs::{every_nth, order_router};
use truetail_sim::{SimOptions, simulate};

pub fn all() -> Vec<(&'static str, Picture)> {
    vec![
        ("freeze-p99", intervals(&freeze_p99())),
        ("freeze-throughput", intervals(&freeze_throughput())),
        ("freeze-long", intervals(&freeze_long())),
        ("hiccup", hiccup()),
        ("every-nth", every_nth()),
        ("order-router", order_router()),
        ("unanswered", run_spectrum(&unanswered())),
        ("healthy", run_spectrum(&simulated(&scenario("01")))),
        ("nothing", nothing()),
        ("crowded", crowded()),
    ]
}

fn series(name: &str, role: Role, values: &[f64], whole_run: Option<f64>) -> IntervalSeries {
    IntervalSeries { name: name.to_owned(), role, values: values.iter().copied().map(Some).collect(), whole_run }
}

fn freeze(quantity: &str, series: Vec<IntervalSeries>) -> IntervalPlot {
    IntervalPlot {
        title: "A freeze of 500 ms, seen three ways".to_owned(),
        subtitle: "The closed loop has one user; the open loop sends every 10 ms.".to_owned(),
        quantity: quantity.to_owned(),
        ends: vec![1.0, 2.0, 3.0, 4.0, 5.0],
        series,
        shade: Some(Shade { from: 2.5, to: 3.0, label: "freeze".to_owned() }),
    }
}

pub fn freeze_p99() -> IntervalPlot {
    let series = vec![
        series("closed-loop-raw", Role::Closed, &[10.0, 10.0, 510.0, 10.0, 10.0], Some(10.0)),
        series("closed-loop-corrected", Role::Corrected, &[10.0, 10.0, 500.0, 10.0, 10.0], Some(460.0)),
        series("open-loop", Role::Open, &[10.0, 10.0, 500.0, 10.0, 10.0], Some(460.0)),
    ];
    freeze("p99 of each second, ms", series)
}

fn freeze_throughput() -> IntervalPlot {
    let of_closed = [100.0, 100.0, 51.0, 99.0, 100.0];
    let series = vec![
        series("closed-loop-raw", Role::Closed, &of_closed, None),
        series("closed-loop-corrected", Role::Corrected, &of_closed, None),
        series("open-loop", Role::Open, &[100.0; 5], None),
    ];
    freeze("requests sent per second", series)
}

fn freeze_long() -> IntervalPlot {
    let closed: Vec<f64> = (0..100).map(|i| if i / 5 % 4 == 2 { 51.0 } else { 100.0 }).collect();
    let mut plot = freeze_throughput();
    plot.ends = (1..=100).map(f64::from).collect();
    plot.series = vec![
        series("open-loop", Role::Open, &[100.0; 100], None),
        series("closed-loop-raw", Role::Closed, &closed, None),
        series("closed-loop-corrected", Role::Corrected, &closed, None),
    ];
    plot.series[1].values[60..70].fill(None);
    plot.shade = Some(Shade { from: 98.0, to: 100.0, label: "the service stands still".to_owned() });
    plot
}

fn scenario(name: &str) -> Scenario {
    builtin::find(name).unwrap()
}

fn simulated(scenario: &Scenario) -> Run {
    simulate(scenario, SimOptions::default()).unwrap()
}

fn closed(scenario: &Scenario) -> Scenario {
    let horizon = scenario.workload.model.horizon();
    let model = LoadModel::Closed { users: 10.into(), think_time: Nanos::ZERO, horizon };
    Scenario { workload: Workload { model, ..scenario.workload.clone() }, ..scenario.clone() }
}

fn hiccup() -> Picture {
    let open = scenario("02");
    let curves = [
        Curve::from_run("closed loop", Role::Closed, &simulated(&closed(&open))),
        Curve::from_run("open loop", Role::Open, &simulated(&open)),
    ];
    spectrum("Response time of 02-single-hiccup", "The service stands still for one second in a minute.", &curves)
}

fn every_nth() -> Picture {
    let lab = every_nth::run(&every_nth::EveryNthOptions::default()).unwrap();
    let curves = [
        Curve::from_run("closed-loop", Role::Closed, &lab.closed.run),
        Curve::from_run("open-loop", Role::Open, &lab.open.run),
        Curve::from_run("truth", Role::Truth, &lab.open.run),
    ];
    spectrum("A pause of 200 ms at every 500th request", "1 ms of work, 450 requests a second.", &curves)
}

fn order_router() -> Picture {
    let lab = order_router::run(&order_router::OrderRouterOptions::default()).unwrap();
    let curves = [
        Curve::from_run("naive", Role::Closed, &lab.naive.run),
        Curve::from_run("corrected", Role::Corrected, &lab.corrected.run),
        Curve::from_run("open-loop", Role::Open, &lab.open.run),
    ];
    spectrum("The order router", "Pauses of 10 ms every 800 ms, 20 000 requests a second.", &curves)
}

/// Returns a run with two unanswered arrivals in a hundred.
fn unanswered() -> Run {
    let mut scenario = scenario("04");
    scenario.service.faults.push(Fault::BlackHole { select: Selector { every: Some(50), ..Selector::default() } });
    scenario.workload.limits.timeout = Some(Nanos::from_secs(1));
    simulated(&scenario)
}

fn nothing() -> Picture {
    let mut scenario = scenario("01");
    scenario.service.faults = vec![Fault::BlackHole { select: Selector::default() }];
    scenario.workload.limits.timeout = Some(Nanos::from_secs(1));
    let LoadModel::Open(schedule) = &mut scenario.workload.model else { unreachable!() };
    schedule.horizon = Horizon { duration: None, requests: Some(1000) };
    run_spectrum(&simulated(&scenario))
}

/// Draws more series with longer names than fit in a row, and markup in one name.
fn crowded() -> Picture {
    let run = simulated(&scenario("04"));
    let names = ["ab", "wrk2 <&> friends", "k6 constant-arrival-rate", "JMeter precise throughput timer", "vegeta"];
    let roles = [Role::Open, Role::Closed, Role::Other(0), Role::Other(1), Role::Other(2)];
    let curves: Vec<_> = names.iter().zip(roles).map(|(name, role)| Curve::from_run(*name, role, &run)).collect();
    spectrum(&"A title that is much too long for its place ".repeat(4), "", &curves)
}
