//! Draws all pictures of every scenario as PNG, and of a run with every kind of event: `cargo run -p truetail-report
//! --example pictures -- FOLDER`.

use std::path::Path;
use std::{env, fs};

use truetail_analysis::findings;
use truetail_analysis::series::series;
use truetail_model::arrival::{Horizon, Schedule, ScheduleHash, Spacing};
use truetail_model::record::{Cause, Outcome, Recorder, RecorderOptions};
use truetail_model::scenario::{Scenario, builtin};
use truetail_model::service::{Service, Variation};
use truetail_model::time::Nanos;
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_report::plot::pictures_of_run;
use truetail_run::{GeneratorStats, Pause, Run};
use truetail_sim::{GeneratorFlaws, SimOptions, simulate};

fn main() {
    let folder = env::args().nth(1).expect("usage: pictures FOLDER");
    for scenario in builtin::all() {
        let run = simulate(&scenario, SimOptions::default()).expect("the simulator takes every scenario");
        draw(&Path::new(&folder).join(&scenario.name), &run);
    }
    draw(&Path::new(&folder).join("everything"), &everything());
}

fn draw(folder: &Path, run: &Run) {
    let found = findings(run);
    fs::create_dir_all(folder).expect("a folder that can be written");
    for (name, picture) in pictures_of_run(run, &found, &series(run, &found)) {
        println!("{} {name}: {} bytes", folder.display(), picture.svg().len());
        fs::write(folder.join(format!("{name}.png")), picture.png().expect("memory for its pixels")).expect("written");
    }
}

/// Returns a run with a rate in steps, a queue, a late generator with pauses, and errors of every kind.
fn everything() -> Run {
    let flaws = GeneratorFlaws {
        seed: 1,
        mean_lag: Nanos::from_micros(600),
        mean_between_pauses: Nanos::from_secs(15),
        pause: Nanos::from_millis(400),
    };
    let horizon = Horizon { duration: Some(Nanos::from_secs(80)), requests: None };
    let profile = "steps:200/20s,400/20s,600/20s,800/20s".parse().expect("a profile");
    let schedule = Schedule { profile, spacing: Spacing::Poisson, seed: 1, horizon };
    let service =
        Service { variation: Variation::Exponential, concurrency: Some(4), ..Service::healthy(Nanos::from_millis(4)) };
    let workload = Workload { model: LoadModel::Open(schedule), limits: Limits::default(), warmup: Nanos::ZERO };
    let scenario = Scenario { name: "everything".into(), about: String::new(), service, workload, path: "/".into() };
    let mut run =
        simulate(&scenario, SimOptions { flaws: Some(flaws), ..SimOptions::default() }).expect("it has an end");
    let mut records = run.snapshot.samples.even().to_vec();
    for record in &mut records {
        record.outcome = match record.index {
            i if i % 400 == 7 => Outcome::TimedOut,
            i if i % 700 == 8 => Outcome::Reset(Cause::ResetByPeer),
            i if i % 900 == 9 => Outcome::ConnectFailed(Cause::Refused),
            i if i % 30 == 3 => Outcome::response(503),
            i if i % 70 == 3 => Outcome::response(404),
            _ => record.outcome,
        };
        if record.outcome == Outcome::TimedOut {
            record.end = record.intended_start + Nanos::from_secs(2);
        }
    }
    let mut recorder = Recorder::new(RecorderOptions::default());
    records.iter().for_each(|record| recorder.plan(record.intended_start));
    records.iter().for_each(|record| recorder.record(record));
    run.snapshot = recorder.finish(ScheduleHash::default());
    let late = |record: &&truetail_model::record::RequestRecord| record.delay.generator_lag > Nanos::from_millis(390);
    let pause = |record: &truetail_model::record::RequestRecord| Pause {
        worker: 0,
        at_ns: record.intended_start.0,
        length_ns: record.delay.generator_lag.0,
    };
    let pauses = records.iter().filter(late).map(pause).collect();
    run.facts.generator = Some(GeneratorStats { threads: 1, pauses, ..GeneratorStats::default() });
    run
}
