//! Named settings of the page: every built-in scenario without streams, and every lab of `truetail simulate`.

use truetail_model::arrival::{Profile, Spacing};
use truetail_model::scenario::{Scenario, builtin};
use truetail_model::service::Service;
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::{Limits, LoadModel};
use truetail_page::explore::Preset;
use truetail_page::explore::settings::{ClosedEnd, Settings};
use truetail_sim::labs::Lab;

/// Preset that the page starts with.
const FIRST: &str = "02-single-hiccup";

/// Drain of the labs: a day, so that the whole backlog is served.
const LAB_DRAIN: Nanos = Nanos::from_secs(24 * 60 * 60);

/// Returns the presets: scenarios, with [`FIRST`] in front, then labs.
pub(super) fn presets() -> Vec<Preset> {
    let mut presets: Vec<Preset> = builtin::all().iter().filter_map(from_scenario).collect();
    presets.sort_by_key(|preset| preset.name != FIRST);
    presets.extend(Lab::NAMES.into_iter().filter_map(Lab::by_name).map(|lab| from_lab(&lab)));
    presets
}

/// Returns `None` if the page has no slider for a part of the scenario.
fn from_scenario(scenario: &Scenario) -> Option<Preset> {
    let LoadModel::Open(schedule) = &scenario.workload.model else { return None };
    let Profile::Constant(constant) = &schedule.profile else { return None };
    let users = Settings::users_for(constant.rate, scenario.service.baseline);
    let settings = Settings::from_scenario(scenario, users, ClosedEnd::Duration)?;
    Some(Preset { name: scenario.name.clone(), about: scenario.about.clone(), settings })
}

fn from_lab(lab: &Lab) -> Preset {
    let (about, settings) = match lab {
        Lab::Freeze(options) => {
            let rate = Rate::per_second(1.0 / options.expected_interval.as_secs_f64()).expect("an interval above zero");
            let load =
                LabLoad { rate, duration: options.duration, users: options.users, closed_end: ClosedEnd::Duration };
            ("Lab: one user meets one freeze of half a second", load.on(options.service()))
        }
        Lab::EveryNth(options) => {
            let load =
                LabLoad { rate: options.rate, duration: options.duration, users: 1, closed_end: ClosedEnd::Requests };
            ("Lab: one server with a queue pauses at every 500th request", load.on(options.service()))
        }
        Lab::OrderRouter(options) => {
            let load =
                LabLoad { rate: options.rate, duration: options.duration, users: 1, closed_end: ClosedEnd::Duration };
            ("Lab: a fast service that stops for 10 ms now and then", load.on(options.service()))
        }
    };
    Preset { name: lab.name().to_owned(), about: about.to_owned(), settings }
}

struct LabLoad {
    rate: Rate,
    duration: Nanos,
    users: u32,
    closed_end: ClosedEnd,
}

impl LabLoad {
    fn on(self, service: Service) -> Settings {
        let LabLoad { rate, duration, users, closed_end } = self;
        let limits = Limits { timeout: None, drain: LAB_DRAIN, ..Limits::default() };
        Settings { service, rate, spacing: Spacing::Even, duration, users, closed_end, limits }
    }
}

#[cfg(test)]
mod tests {
    use truetail_analysis::exact_times;
    use truetail_analysis::series::CurveKind;
    use truetail_page::explore::Backend;
    use truetail_run::Run;
    use truetail_sim::labs::LabSeries;
    use truetail_sim::{SimOptions, simulate};

    use super::super::backend::SimulatorAndEngine;
    use super::*;

    fn values(run: &Run) -> Vec<(f64, Option<u64>)> {
        let times = exact_times(CurveKind::ResponseTime, run);
        times.quantiles.iter().map(|quantile| (quantile.q, quantile.value_ns)).collect()
    }

    /// Returns the points of the drawn curve: quantile and value in nanoseconds.
    fn drawn(run: &Run) -> Vec<(f64, u64)> {
        exact_times(CurveKind::ResponseTime, run).curve.points.iter().map(|point| (point.q, point.value_ns)).collect()
    }

    #[test]
    fn every_scenario_without_streams_and_every_lab_is_a_preset() {
        let mut names: Vec<String> = presets().into_iter().map(|preset| preset.name).collect();
        assert_eq!(names[0], FIRST);
        let mut expected: Vec<String> = with_sliders().map(|scenario| scenario.name).collect();
        expected.extend(Lab::NAMES.map(str::to_owned));
        names.sort_unstable();
        expected.sort_unstable();
        assert_eq!(names, expected);
    }

    fn with_sliders() -> impl Iterator<Item = Scenario> {
        let has_sliders = |service: &Service| service.stream.is_none() && service.routes.is_empty();
        builtin::all().into_iter().filter(move |scenario| has_sliders(&scenario.service))
    }

    #[test]
    fn a_link_means_the_preset_and_nothing_is_cut_off() {
        for Preset { name, settings, .. } in presets() {
            assert_eq!(Settings::parse(&settings.to_query()), Ok(settings.clone()), "{name}");
            assert_eq!(settings.simulation().notes, [""; 0], "{name}");
            assert_eq!(settings.simulation().scenario.service, settings.service, "{name}");
        }
    }

    #[test]
    fn a_scenario_shows_what_simulate_prints() {
        for scenario in with_sliders() {
            let preset = from_scenario(&scenario).expect("it is a preset");
            let seen = SimulatorAndEngine::default().simulate(&preset.settings.simulation()).unwrap();
            let printed = simulate(&scenario, SimOptions::default()).unwrap();
            assert_eq!(seen.open.snapshot.tally, printed.snapshot.tally, "{}", scenario.name);
            let findings = truetail_analysis::findings(&printed);
            let expected: Vec<_> = findings.response_time.quantiles.iter().map(|q| (q.q, q.value_ns)).collect();
            assert_eq!(values(&seen.open), expected, "{}", scenario.name);
            let curve = drawn(&seen.open);
            for (q, value) in expected.into_iter().filter(|(q, _)| *q < 1.0) {
                assert!(curve.contains(&(q, value.unwrap())), "{} at {q}", scenario.name);
            }
        }
    }

    #[test]
    fn a_lab_shows_what_simulate_prints() {
        for lab in Lab::NAMES.into_iter().filter_map(Lab::by_name) {
            let seen = SimulatorAndEngine::default().simulate(&from_lab(&lab).settings.simulation()).unwrap();
            for series in lab.run().unwrap().into_series() {
                let run = match series.name {
                    "open-loop" => &seen.open,
                    "closed-loop" | "closed-loop-raw" | "naive" => &seen.closed,
                    "closed-loop-corrected" | "corrected" => &seen.corrected,
                    other => panic!("which loop is {other}?"),
                };
                assert_eq!(run.snapshot.tally, series.run.snapshot.tally, "{} {}", lab.name(), series.name);
                assert_eq!(values(run), printed(&series), "{} {}", lab.name(), series.name);
            }
        }
    }

    fn printed(series: &LabSeries) -> Vec<(f64, Option<u64>)> {
        series.quantiles.iter().map(|quantile| (quantile.q, Some(quantile.response_time.0))).collect()
    }
}
