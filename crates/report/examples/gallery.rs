//! Draws what this crate draws, for the scenarios that come with truetail, in virtual time:
//! `cargo run -p truetail-report --example gallery [color|ascii] [WIDTH]`.

use truetail_analysis::{findings, omission, truth};
use truetail_model::scenario::builtin;
use truetail_model::service::Fault;
use truetail_model::workload::{LoadModel, LoadModelKind};
use truetail_report::{Style, comparison, explanation, summary};
use truetail_sim::{SimOptions, simulate};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let width = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(100);
    let style = Style { color: has("color"), width, unicode: !has("ascii") };
    for scenario in builtin::all() {
        let run = simulate(&scenario, SimOptions::default()).expect("a scenario with an end");
        let found = findings(&run);
        println!("{}", summary(&run, &found, Some("truetail-runs/example"), style));
        let Some(Fault::Stall { at, length, .. }) = scenario.service.faults.first() else { continue };
        let mut closed = scenario.clone();
        closed.workload.model =
            LoadModel::Closed { users: 10, think_time: Default::default(), horizon: scenario.workload.model.horizon() };
        assert_eq!(closed.workload.model.kind(), LoadModelKind::Closed);
        let closed = simulate(&closed, SimOptions::default()).expect("a scenario with an end");
        let truth = truth::truth(&scenario).expect("an open loop");
        let three = omission::comparison(
            (&closed, &findings(&closed)),
            (&run, &found),
            &truth,
            Some((*at, *length)),
        );
        println!("{}\n{}", comparison(&three, style), explanation(&three, style));
    }
}
