//! Simulated services whose capacity is known, as probes of a search.

use truetail_analysis::capacity::{
    Answer, Objective, ProbeJudge, ProbeSpec, ProbeState, Purpose, SearchLimits, SearchState,
};
use truetail_model::random::Random;
use truetail_model::time::{NANOS_PER_SECOND, Nanos};
use truetail_study::capacity::{
    CoolDown, Figures, Journal, Probe, ProbeError, ProbeResult, Question, SearchOutcome, search,
};

/// Time limit of a search, in virtual time: `truetail capacity --max-time 60m`.
pub const MAX_TIME: Nanos = Nanos::from_secs(3_600);
/// The full length of a probe that follows from the time limit.
pub const FULL_LENGTH: Nanos = Nanos::from_secs(120);

/// Number of requests that measure whether the service is as fast as without load.
const COOL_DOWN_REQUESTS: usize = 500;

/// A service. Requests arrive at random (Poisson) and wait in one queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Server {
    /// One at a time, exponential with a mean of 2 ms.
    MM1,
    /// Five at a time, 10 ms each.
    MD5,
    /// Four at a time, 8 ms each. Every 10 s on average, no request begins for 80 ms.
    Pauses,
    /// A pool of 20 threads, exponential with a mean of 20 ms: flat until shortly before its limit.
    Cliff,
    /// Four at a time, exponential, 8 ms. 1.6 times slower from 150 waiting requests until 20 s after an empty queue.
    Hysteresis,
}

impl Server {
    pub fn all() -> [Server; 5] {
        [Server::MM1, Server::MD5, Server::Pauses, Server::Cliff, Server::Hysteresis]
    }

    /// Returns the objective, which is missed above [`Server::truth`].
    pub fn objective(self) -> Objective {
        let text = match self {
            Server::MM1 | Server::MD5 | Server::Pauses | Server::Hysteresis => "p99 < 50ms",
            Server::Cliff => "p99 < 150ms",
        };
        text.parse().expect("an objective")
    }

    /// Returns the rate per second with exactly 1 % of bad requests.
    ///
    /// - M/M/1: by theory, the response time is exponential with the rate μ − λ.
    /// - Hysteresis: for a load from below. An M/M/4 queue (Erlang C), as 150 requests only wait above capacity.
    /// - Other services: by bisection over 40 million requests per rate (`capacity_study truth`).
    pub fn truth(self) -> f64 {
        match self {
            Server::MM1 => 500.0 - 100f64.ln() / 0.05,
            Server::MD5 => 447.4,
            Server::Pauses => 311.8,
            Server::Cliff => 961.9,
            Server::Hysteresis => 383.4,
        }
    }

    /// Returns the lowest rate that a search may refute. Usually that is [`Server::truth`]. With hysteresis it is the
    /// rate with 1 % of bad requests on average when the load comes from above, as in a probe that refutes.
    pub fn truth_from_above(self) -> f64 {
        match self {
            Server::Hysteresis => 373.8,
            Server::MM1 | Server::MD5 | Server::Pauses | Server::Cliff => self.truth(),
        }
    }

    /// Returns the number of requests at once, the mean time of one in seconds, and whether it varies.
    fn pool(self) -> (usize, f64, bool) {
        match self {
            Server::MM1 => (1, 0.002, true),
            Server::MD5 => (5, 0.010, false),
            Server::Pauses => (4, 0.008, false),
            Server::Cliff => (20, 0.020, true),
            Server::Hysteresis => (4, 0.008, true),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Queue {
    server: Server,
    free_at: Vec<f64>,
    /// Starts of requests that wait.
    starts: std::collections::VecDeque<f64>,
    slow_until: f64,
    pause: (f64, f64),
    random: Random,
}

impl Queue {
    pub fn new(server: Server, seed: u64) -> Queue {
        let mut queue = Queue {
            server,
            free_at: vec![0.0; server.pool().0],
            starts: std::collections::VecDeque::new(),
            slow_until: 0.0,
            pause: (0.0, 0.0),
            random: Random::new(seed, 0x5155),
        };
        queue.next_pause();
        queue
    }

    fn next_pause(&mut self) {
        let from = match self.server {
            Server::Pauses => self.pause.1 + 10.0 * self.random.exponential(),
            Server::MM1 | Server::MD5 | Server::Cliff | Server::Hysteresis => f64::INFINITY,
        };
        self.pause = (from, from + 0.080);
    }

    /// Returns the response time of a request that arrives at `now`, in nanoseconds. Requests must arrive in order.
    pub fn serve(&mut self, now: f64) -> u64 {
        let (_, mean, varies) = self.server.pool();
        let first = (0..self.free_at.len()).min_by(|a, b| self.free_at[*a].total_cmp(&self.free_at[*b])).unwrap_or(0);
        let mut start = self.free_at[first].max(now);
        while start >= self.pause.1 {
            self.next_pause();
        }
        if start >= self.pause.0 {
            start = self.pause.1;
        }
        let time = mean * if varies { self.random.exponential() } else { 1.0 } * self.slowness(now, start);
        self.free_at[first] = start + time;
        ((start + time - now) * 1e9) as u64
    }

    fn slowness(&mut self, now: f64, start: f64) -> f64 {
        if self.server != Server::Hysteresis {
            return 1.0;
        }
        while self.starts.front().is_some_and(|start| *start <= now) {
            self.starts.pop_front();
        }
        self.starts.push_back(start);
        // The server stays slow until the queue has been empty for 20 s.
        if self.starts.len() >= 150 || (now < self.slow_until && self.starts.len() > 1) {
            self.slow_until = now + 20.0;
        }
        if now < self.slow_until { 1.6 } else { 1.0 }
    }
}

#[derive(Clone, Debug)]
pub struct SimProbe {
    queue: Queue,
    objective: Objective,
    seed: u64,
    /// Seconds since the beginning.
    now: f64,
    unloaded: Option<u64>,
    dies_after: usize,
    made: usize,
    pub requests: u64,
}

impl SimProbe {
    pub fn new(server: Server, seed: u64) -> SimProbe {
        SimProbe {
            queue: Queue::new(server, seed),
            objective: server.objective(),
            seed,
            now: 0.0,
            unloaded: None,
            dies_after: usize::MAX,
            made: 0,
            requests: 0,
        }
    }

    /// Makes the service die after this number of probes.
    #[allow(dead_code, reason = "the example has no use for it")]
    pub fn dying_after(self, probes: usize) -> SimProbe {
        SimProbe { dies_after: probes, ..self }
    }

    /// Offers Poisson arrivals for `length`, and adds the response times to `times`.
    fn load(&mut self, rate: f64, length: f64, random: &mut Random, times: &mut Vec<u64>) {
        let end = self.now + length;
        loop {
            let next = self.now + random.exponential() / rate;
            // Gaps of a Poisson process have no memory, so a gap that is cut off here may begin anew.
            if next >= end {
                self.now = end;
                return;
            }
            self.now = next;
            times.push(self.queue.serve(next));
        }
    }
}

impl Probe for SimProbe {
    fn elapsed(&self) -> Nanos {
        Nanos((self.now * 1e9) as u64)
    }

    fn approach_time(&self, trial: &ProbeSpec) -> Nanos {
        match trial.purpose {
            Purpose::Bracket | Purpose::Refine => Nanos::ZERO,
            Purpose::ConfirmUpper | Purpose::ConfirmLower => Nanos(trial.shortest.0 / 10),
        }
    }

    fn cool_down(&mut self) -> Result<CoolDown, ProbeError> {
        if self.made >= self.dies_after {
            return Err(ProbeError::Gone("the service died".to_owned()));
        }
        for _ in 0..60 {
            let mut times: Vec<u64> = (0..COOL_DOWN_REQUESTS)
                .map(|_| {
                    self.now += 0.02;
                    self.queue.serve(self.now)
                })
                .collect();
            self.requests += COOL_DOWN_REQUESTS as u64;
            times.sort_unstable();
            let median = times[COOL_DOWN_REQUESTS / 2];
            let unloaded = *self.unloaded.get_or_insert(median);
            // Medians of this many exponential times almost always agree to 25 %. A factor of 1.6 is more.
            if median <= unloaded.saturating_mul(5) / 4 {
                return Ok(CoolDown::Done);
            }
        }
        Ok(CoolDown::StillSlow)
    }

    fn offer(&mut self, number: usize, trial: &ProbeSpec, mut judge: ProbeJudge) -> Result<ProbeResult, ProbeError> {
        let mut random = Random::new(self.seed, 1_000 + number as u64);
        let mut times = Vec::new();
        let mut before = Vec::new();
        let approach = match trial.purpose {
            Purpose::Bracket | Purpose::Refine => None,
            Purpose::ConfirmUpper => Some(trial.rate / 0.8),
            Purpose::ConfirmLower => Some(trial.rate * 0.8),
        };
        if let Some(rate) = approach {
            self.load(rate, self.approach_time(trial).as_secs_f64(), &mut random, &mut before);
            // The engine waits for the last answers before the probe begins.
            self.now += before.last().map_or(0.0, |last| *last as f64 / 1e9);
        }
        let began = self.now;
        let mut answer = None;
        while let (None, Some(next)) = (answer, judge.next_look()) {
            let length = next.as_secs_f64() - (self.now - began);
            self.load(trial.rate, length, &mut random, &mut times);
            let samples = vec![self.objective.sample_of_times(&times)];
            answer = judge.look(ProbeState { elapsed: next, samples, backlog_grows: false });
        }
        self.made += 1;
        self.requests += (times.len() + before.len()) as u64;
        Ok(ProbeResult {
            answer: answer.unwrap_or(Answer::Open),
            ratio: judge.ratio(),
            length: Nanos(((self.now - began) * NANOS_PER_SECOND as f64) as u64),
            requests: times.len() as u64,
            errors: 0,
            figures: Figures::default(),
            objectives: Vec::new(),
            run: None,
            note: None,
        })
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    pub state: SearchState,
    pub proven: Option<(f64, bool)>,
    pub refuted: Option<(f64, bool)>,
    pub probes: usize,
    pub requests: u64,
    pub seconds: f64,
}

impl Found {
    /// Returns true if the truth lies between the proven and the refuted rate, as far as they were probed again.
    pub fn holds(&self, server: Server) -> bool {
        self.proven.is_none_or(|(rate, again)| !again || rate <= server.truth())
            && self.refuted.is_none_or(|(rate, again)| !again || rate >= server.truth_from_above())
    }

    /// Returns true if the truth lies between the proven and the refuted rate, probed again or not.
    pub fn holds_so_far(&self, server: Server) -> bool {
        self.proven.is_none_or(|(rate, _)| rate <= server.truth())
            && self.refuted.is_none_or(|(rate, _)| rate >= server.truth_from_above())
    }
}

/// First rate of a search. Varies, so that the limit is not always at the same place of the search's grid.
pub fn first_rate(seed: u64) -> f64 {
    100.0 * Random::new(seed, 0x6669_7273).uniform().exp2()
}

pub fn limits(server: Server, seed: u64, resolution: f64) -> SearchLimits {
    SearchLimits {
        min_rate: 1.0,
        max_rate: 100_000.0,
        first_rate: first_rate(seed),
        resolution,
        confidence: 0.95,
        full_length: FULL_LENGTH,
        allowed: server.objective().allowed(),
    }
}

/// Searches the capacity of a simulated service, with a journal in `folder`.
pub fn search_in(folder: &std::path::Path, probe: &mut SimProbe, resolution: f64) -> (SearchOutcome, usize) {
    search_for(folder, probe, resolution, MAX_TIME)
}

/// Searches as [`search_in`] does, for this time.
pub fn search_for(
    folder: &std::path::Path,
    probe: &mut SimProbe,
    resolution: f64,
    time: Nanos,
) -> (SearchOutcome, usize) {
    let limits = limits(probe.queue.server, probe.seed, resolution);
    let question =
        Question::new(vec![probe.objective.to_string()], format!("{:?}", probe.queue.server), String::new(), limits);
    let mut journal = Journal::open(folder, &question).expect("a journal");
    let objectives = [probe.objective.clone()];
    let ended = search(probe, &objectives, limits, &mut journal, time, |_| ()).expect("a folder to write in");
    (ended, journal.records().len())
}

pub fn seeded_search(server: Server, seed: u64, resolution: f64) -> Found {
    let folder = tempfile::tempdir().expect("a folder");
    let mut probe = SimProbe::new(server, seed);
    let (ended, probes) = search_in(folder.path(), &mut probe, resolution);
    let finding = ended.finding;
    Found {
        state: finding.state,
        proven: finding.proven,
        refuted: finding.refuted,
        probes,
        requests: probe.requests,
        seconds: probe.now,
    }
}
