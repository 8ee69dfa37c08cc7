//! Random faults on real sockets: server faults, limits, timeouts, servers that go away. In all cases every planned
//! arrival has one outcome, and the client's counts agree with the server's log.
//!
//! `TRUETAIL_SOAK=N` sets the number of runs, and `TRUETAIL_SOAK_SEED` the first seed. Each run takes 1.5 s plus its
//! drain.

use std::thread;
use std::time::Duration;

use truetail_engine::{Control, Plan, RunOutput};
use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::random::{Random, mix64};
use truetail_model::service::{Fault, Gate, Selector, Service};
use truetail_model::time::{Nanos, Rate, Timestamp};
use truetail_model::users::Users;
use truetail_model::workload::{Limits, LoadModel};
use truetail_run::EndClock;
use truetail_server::{Ending, Server, ServerOptions, ServerTruth};

/// Duration of the arrivals.
const LENGTH: Nanos = Nanos::from_millis(1500);

/// Draws one random scenario.
struct RandomScenario(Random);

impl RandomScenario {
    fn below(&mut self, n: u64) -> u64 {
        self.0.next_u64() % n
    }

    fn likely(&mut self, share: f64) -> bool {
        self.0.uniform() < share
    }

    fn select(&mut self) -> Selector {
        Selector { share: Some(0.005 + 0.05 * self.0.uniform()), ..Selector::default() }
    }

    fn fault(&mut self) -> Fault {
        let length = Nanos::from_millis(20 + self.below(300));
        let gate = if self.likely(0.5) { Gate::Answers } else { Gate::Arrivals };
        match self.below(9) {
            0 => Fault::Stall { at: Timestamp(self.below(LENGTH.0)), length, gate },
            1 => {
                let first = Timestamp(self.below(LENGTH.0 / 2));
                Fault::RecurringStall { first, every: length + Nanos::from_millis(100), length, times: None, gate }
            }
            2 => Fault::EveryNth { every: 20 + self.below(80), pause: length },
            3 => Fault::ErrorStatus { status: 503, immediately: self.likely(0.5), select: self.select() },
            4 => Fault::Reset { select: self.select() },
            5 => Fault::BlackHole { select: self.select() },
            6 => Fault::SlowBody { over: length, select: self.select() },
            7 => Fault::ShortBody { select: self.select() },
            _ => Fault::Garbage { select: self.select() },
        }
    }

    fn service(&mut self, seed: u64) -> Service {
        let faults = (0..1 + self.below(5)).map(|_| self.fault()).collect();
        let concurrency = self.likely(0.3).then(|| 2 + self.below(20) as u32);
        Service { faults, concurrency, seed, ..Service::healthy(Nanos::from_micros(200 + self.below(5_000))) }
    }

    fn model(&mut self, seed: u64) -> LoadModel {
        let horizon = Horizon { duration: Some(LENGTH), requests: None };
        if self.likely(0.25) {
            let users = Users::constant(1 + self.below(20) as u32);
            return LoadModel::Closed { users, think_time: Nanos::from_millis(5), horizon };
        }
        let profile = Profile::constant(Rate::per_second(50.0 + self.below(700) as f64).unwrap());
        let spacing = if self.likely(0.5) { Spacing::Even } else { Spacing::Poisson };
        LoadModel::Open(Schedule { profile, spacing, seed, horizon })
    }

    fn limits(&mut self) -> Limits {
        Limits {
            connections: self.likely(0.5).then(|| 1 + self.below(60) as u32),
            timeout: self.likely(0.8).then(|| Nanos::from_millis(100 + self.below(900))),
            drain: Nanos::from_millis(self.below(1_000)),
            ..Limits::default()
        }
    }
}

fn one(seed: u64) {
    let mut random = RandomScenario(Random::new(mix64(seed), 0));
    let service = random.service(seed);
    let server = Server::start(ServerOptions::new(service, "127.0.0.1:0".parse().unwrap())).unwrap();
    let mut plan = crate::support::plan(&format!("http://{}/api", server.addr()), random.model(seed));
    plan.workload.limits = random.limits();
    plan.threads = Some(1 + random.below(2) as u32);
    plan.precision.end_clock = if random.likely(0.5) { EndClock::Kernel } else { EndClock::User };
    let goes_away = random.likely(0.2);
    println!("seed {seed}, the server goes away: {goes_away}, {:?}", plan.workload);
    let (measured, truth) = if goes_away { run_while_it_goes_away(&plan, server) } else { run(&plan, server) };
    check(&measured, &truth, goes_away);
}

fn run(plan: &Plan, server: Server) -> (RunOutput, ServerTruth) {
    let measured = crate::support::run(plan);
    (measured, server.stop())
}

fn run_while_it_goes_away(plan: &Plan, server: Server) -> (RunOutput, ServerTruth) {
    thread::scope(|scope| {
        let truth = scope.spawn(|| {
            thread::sleep(Duration::from_nanos(LENGTH.0 / 2));
            server.stop()
        });
        (crate::support::run_with(plan, &Control::new()), truth.join().unwrap())
    })
}

/// Checks that each request admitted by the server was issued by the client, and that the outcomes on both sides agree.
/// Only for requests that the client gave up may they differ.
fn check(measured: &RunOutput, truth: &ServerTruth, goes_away: bool) {
    let tally = measured.snapshot.tally;
    tally.check().unwrap();
    let ended = |endings: &[Ending]| truth.rows.iter().filter(|row| endings.contains(&row.ending)).count() as u64;
    let admitted = truth.rows.len() as u64;
    assert!(tally.responses <= ended(&[Ending::Answered]), "{tally:?}");
    assert!(
        tally.malformed
            <= ended(&[Ending::ShortBody, Ending::Garbage, Ending::ClientGone]) + u64::from(goes_away) * tally.issued
    );
    assert!(admitted <= tally.issued - tally.connect_failed, "{admitted} {tally:?}");
    if goes_away {
        return;
    }
    assert_eq!(tally.connect_failed, 0, "{tally:?}");
    assert!(tally.reset <= ended(&[Ending::Reset, Ending::Dropped]), "{tally:?}");
    let gave_up = tally.timed_out + tally.in_flight_at_end;
    // Requests that were given up while sending or connecting never reached the server.
    assert!(admitted + gave_up >= tally.issued, "{admitted} {tally:?}");
    assert!(ended(&[Ending::BlackHole]) <= gave_up, "{tally:?}");
    assert!(ended(&[Ending::Answered]) <= tally.responses + gave_up, "{tally:?}");
    assert!(ended(&[Ending::Reset]) <= tally.reset + gave_up, "{tally:?}");
    assert!(ended(&[Ending::ShortBody, Ending::Garbage]) <= tally.malformed + gave_up, "{tally:?}");
}

fn number(name: &str, usual: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

#[test]
fn the_books_balance_and_agree_with_the_server_whatever_happens() {
    let first = number("TRUETAIL_SOAK_SEED", 1);
    (first..first + number("TRUETAIL_SOAK", 8)).for_each(one);
}
