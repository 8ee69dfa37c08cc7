//! Measures how often one probe is right, wrong, or open at rates near the limit, by its length.

use truetail_analysis::capacity::{Answer, ProbeJudge, ProbeSpec, ProbeState, Purpose};
use truetail_model::random::Random;
use truetail_model::time::Nanos;

use super::servers::{Queue, Server};

const LEVEL: f64 = 0.015;
const RATES: [f64; 5] = [0.95, 0.97, 1.0, 1.03, 1.05];
const LENGTHS: [u64; 4] = [120, 240, 480, 960];

pub fn table(server: Server, probes: u64) {
    println!(
        "\n{server:?}: meets / misses, of {probes} probes at a level of {LEVEL}\n\n| rate / limit | 120 s | 240 s | 480 s | 960 s |\n|---|---|---|---|---|"
    );
    for part in RATES {
        let cells = LENGTHS.map(|seconds| {
            let answers: Vec<Answer> =
                (0..probes).map(|seed| answer(server, server.truth() * part, seconds, seed)).collect();
            let count = |of: Answer| answers.iter().filter(|answer| **answer == of).count();
            format!("{} / {}", count(Answer::Meets), count(Answer::Misses))
        });
        println!("| {part} | {} |", cells.join(" | "));
    }
}

fn answer(server: Server, rate: f64, seconds: u64, seed: u64) -> Answer {
    let length = Nanos::from_secs(seconds);
    let trial = ProbeSpec { rate, purpose: Purpose::Refine, level: LEVEL, shortest: length, longest: length };
    let objective = server.objective();
    let mut judge = ProbeJudge::new(std::slice::from_ref(&objective), &trial);
    let mut queue = Queue::new(server, 40_000 + seed);
    let mut random = Random::new(40_000 + seed, seconds);
    let mut now = 0.0;
    let mut times = Vec::new();
    while now < seconds as f64 {
        now += random.exponential() / rate;
        times.push(queue.serve(now));
    }
    let look = ProbeState { elapsed: length, samples: vec![objective.sample_of_times(&times)], backlog_grows: false };
    judge.look(look).unwrap_or(Answer::Open)
}
