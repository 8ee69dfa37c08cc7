//! A suite for every rate profile × spacing, and cases of single ones.

use proptest::prelude::*;
use truetail_model::arrival::{Arrival, Horizon, Profile, RateProfile, Schedule, ScheduleHash, Spacing, Trace};
use truetail_model::time::{Nanos, Timestamp};

const S: u64 = 1_000_000_000;

/// Seeds of the schedules with random gaps, fixed so that no test depends on chance.
const SEEDS: [u64; 3] = [1, 42, u64::MAX];

fn profile(text: &str) -> Profile {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// Returns 4,000 arrivals over 40 s that are neither even nor random, at distinct instants.
fn recording() -> Profile {
    let instant = |k: u64| Timestamp(k * 10_000_000 + (k * k * 7_919) % 9_000_000);
    Profile::Trace(Trace::new((0..4_000).map(instant).collect()).unwrap())
}

fn schedule(profile: Profile, spacing: Spacing, seed: u64, duration: Option<u64>, requests: Option<u64>) -> Schedule {
    Schedule { profile, spacing, seed, horizon: Horizon { duration: duration.map(Nanos), requests } }
}

fn merged_hash(schedule: &Schedule, n: u64) -> ScheduleHash {
    let mut merged = ScheduleHash::default();
    for i in 0..n {
        let mut stripe = ScheduleHash::default();
        schedule.stripe(i, n).for_each(|arrival| stripe.add(arrival));
        merged.merge(stripe);
    }
    merged
}

fn dealt_and_gathered(schedule: &Schedule, n: u64) -> Vec<Arrival> {
    let mut gathered: Vec<Arrival> = (0..n).flat_map(|i| schedule.stripe(i, n)).collect();
    gathered.sort_by_key(|arrival| arrival.index);
    gathered
}

/// The suite. Within `seconds`, the profile has at least 1,000 arrivals, and a recording does not end.
mod suite {
    use super::*;

    pub fn time_never_turns_back(profile: &Profile, spacing: Spacing, seconds: f64) {
        for seed in SEEDS {
            let duration = Nanos::from_secs_f64(seconds).0;
            let arrivals: Vec<_> = schedule(profile.clone(), spacing, seed, Some(duration), None).arrivals().collect();
            assert!(arrivals.len() >= 1_000, "seed {seed}: {}", arrivals.len());
            assert!(arrivals.iter().enumerate().all(|(k, arrival)| arrival.index == k as u64), "seed {seed}");
            assert!(arrivals.windows(2).all(|pair| pair[0].intended_start <= pair[1].intended_start), "seed {seed}");
            assert!(arrivals.iter().all(|arrival| arrival.intended_start.0 < duration), "seed {seed}");
        }
    }

    /// Even spacing has an arrival at each whole number below L(T); random gaps have a Poisson number with that mean.
    pub fn the_count_is_that_of_the_integral(profile: &Profile, spacing: Spacing, seconds: f64) {
        for part in [0.137, 0.5, 0.731, 1.0] {
            let expected = profile.cumulative(seconds * part);
            for seed in SEEDS {
                let duration = Nanos::from_secs_f64(seconds * part).0;
                let schedule = schedule(profile.clone(), spacing, seed, Some(duration), None);
                let count = schedule.arrivals().count() as u64;
                match spacing {
                    Spacing::Even => assert_eq!(count, (expected - 1e-6).ceil() as u64, "to {seconds} * {part}"),
                    Spacing::Poisson | Spacing::Gamma(_) => {
                        let off = (count as f64 - expected).abs() / expected.sqrt();
                        assert!(off < 5.0, "seed {seed}: {count} for {expected}, {off} standard deviations");
                    }
                }
                assert_eq!(schedule.count(), Some(count));
                assert_eq!(schedule.last_arrival(), schedule.arrivals().last());
            }
        }
    }

    /// A longer horizon only adds arrivals at the end, and a count only cuts them off.
    pub fn the_horizon_cuts_and_moves_nothing(profile: &Profile, spacing: Spacing, seconds: f64) {
        let duration = Nanos::from_secs_f64(seconds).0;
        let cut = |duration, requests| -> Vec<Arrival> {
            schedule(profile.clone(), spacing, 7, duration, requests).arrivals().collect()
        };
        let all = cut(Some(duration), None);
        let n = all.len() as u64;
        for requests in [0, 1, n / 3, n - 1, n] {
            assert_eq!(cut(None, Some(requests)), all[..requests as usize], "first {requests}");
            assert_eq!(cut(Some(duration), Some(requests)), all[..requests as usize], "first {requests} of {n}");
        }
        assert_eq!(cut(Some(duration), Some(n + 1)), all);
        let half: Vec<_> = all.iter().copied().filter(|arrival| arrival.intended_start.0 < duration / 2).collect();
        assert_eq!(cut(Some(duration / 2), None), half);
        assert_eq!(cut(Some(duration / 2), Some(n)), half);
        let third = &all[..(n / 3) as usize];
        assert_eq!(cut(Some(duration), Some(n / 3)), third);
        assert_eq!(schedule(profile.clone(), spacing, 7, Some(duration), Some(n * 1_000)).count(), Some(n));
    }

    pub fn stripes_are_the_whole(profile: &Profile, spacing: Spacing, seconds: f64) {
        let duration = Nanos::from_secs_f64(seconds).0;
        let schedule = schedule(profile.clone(), spacing, 3, Some(duration), None);
        let all: Vec<_> = schedule.arrivals().collect();
        for n in [1, 2, 3, 7, 64, 5_000_000] {
            if n < 100 {
                assert_eq!(dealt_and_gathered(&schedule, n), all, "{n} stripes");
                assert_eq!(merged_hash(&schedule, n), schedule.hash(), "{n} stripes");
            }
            let last = schedule.stripe(n - 1, n).next();
            assert_eq!(last.as_ref(), all.get((n - 1) as usize), "the last of {n} stripes");
        }
    }

    /// A block up to an instant has the arrivals that a walk finds up to it, and the walk continues after it.
    pub fn blocks_are_the_arrivals_in_them(profile: &Profile, spacing: Spacing, seconds: f64) {
        let duration = Nanos::from_secs_f64(seconds).0;
        let schedule = schedule(profile.clone(), spacing, 3, Some(duration), None);
        for (i, n) in [(0, 1), (2, 3), (63, 64)] {
            let mut together = schedule.stripe(i, n);
            let mut one_by_one = schedule.stripe(i, n).peekable();
            for part in [0.0, 0.001, 0.2, 0.2, 0.201, 0.9, 1.0, 2.0] {
                let end = Timestamp((duration as f64 * part) as u64);
                let block = together.take_before(end);
                let walked: Vec<_> = std::iter::from_fn(|| one_by_one.next_if(|a| a.intended_start < end)).collect();
                assert_eq!(block.map_or(0, |block| block.count), walked.len() as u64, "stripe {i} of {n} to {part}");
                let Some(block) = block else { continue };
                assert_eq!((block.first, block.last_start), (walked[0], walked[walked.len() - 1].intended_start));
                assert!(block.indices().eq(walked.iter().map(|arrival| arrival.index)));
                assert_eq!(together.clone().next(), one_by_one.peek().copied());
            }
            assert_eq!(together.next(), None);
        }
    }

    pub fn a_seed_is_a_schedule(profile: &Profile, spacing: Spacing, seconds: f64) {
        let of = |seed| schedule(profile.clone(), spacing, seed, Some(Nanos::from_secs_f64(seconds).0), None);
        for seed in SEEDS {
            assert_eq!(of(seed).hash(), of(seed).hash());
            assert!(of(seed).arrivals().eq(of(seed).arrivals()), "seed {seed}");
        }
        let drawn = spacing == Spacing::Poisson;
        assert_eq!(of(1).hash() != of(2).hash(), drawn, "only random gaps depend on the seed");
        let mut shorter = of(1);
        shorter.horizon.requests = Some(999);
        assert_ne!(shorter.hash(), of(1).hash());
    }

    /// inverse and cumulative undo each other: L(L⁻¹(k)) = k always, L⁻¹(L(t)) = t if the rate is not near zero.
    pub fn inverse_and_integral_agree(profile: &Profile, _: Spacing, seconds: f64) {
        let most = profile.cumulative(seconds);
        for i in 0..2_000 {
            let count = most * f64::from(i) / 2_000.0;
            let t = profile.inverse(count).unwrap();
            let back = profile.cumulative(t);
            assert!((back - count).abs() <= 1e-9 * count.max(1.0), "L({t}) = {back}, not {count}");
        }
        let nanosecond = 1e-9;
        for i in 1..2_000 {
            let t = seconds * f64::from(i) / 2_000.0;
            let here = profile.cumulative(t);
            let after = (profile.cumulative(t + 1e-4) - here) / 1e-4;
            let rate = after.min((here - profile.cumulative(t - 1e-4)) / 1e-4);
            if rate > most / seconds / 10.0 {
                let back = profile.inverse(here).unwrap();
                assert!((back - t).abs() <= nanosecond, "{t} came back as {back}");
            }
        }
    }

    /// After the change of time t → L(t), the gaps of exponential spacing are exponential with mean 1. Then the
    /// Kolmogorov–Smirnov statistic D of n gaps is above 1.9495/√n with probability 0.001.
    pub fn gaps_are_exponential_in_the_time_of_the_integral(profile: &Profile, spacing: Spacing, seconds: f64) {
        for seed in SEEDS {
            let duration = Nanos::from_secs_f64(seconds).0;
            let schedule = schedule(profile.clone(), spacing, seed, Some(duration), None);
            let on_axis = |arrival: Arrival| profile.cumulative(arrival.intended_start.as_secs_f64());
            let points: Vec<f64> = schedule.arrivals().map(on_axis).collect();
            let gaps: Vec<f64> = points.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let critical = 1.9495 / (gaps.len() as f64).sqrt();
            let d = kolmogorov_smirnov(gaps);
            match spacing {
                Spacing::Poisson => assert!(d < critical, "seed {seed}: D = {d}, critical {critical}"),
                Spacing::Even | Spacing::Gamma(_) => assert!(d > 0.5, "gaps that are not exponential: D = {d}"),
            }
        }
    }

    fn kolmogorov_smirnov(mut values: Vec<f64>) -> f64 {
        values.sort_by(f64::total_cmp);
        let n = values.len() as f64;
        let off = |(i, value): (usize, &f64)| {
            let expected = 1.0 - (-value).exp();
            (expected - i as f64 / n).abs().max((expected - (i + 1) as f64 / n).abs())
        };
        values.iter().enumerate().map(off).fold(0.0, f64::max)
    }
}

macro_rules! every_profile_passes {
    ($($name:ident: $profile:expr, $seconds:expr;)*) => { $(mod $name { mod even { every_profile_passes!(@ $profile, $seconds, Even,
        time_never_turns_back, the_count_is_that_of_the_integral, the_horizon_cuts_and_moves_nothing, stripes_are_the_whole,
        blocks_are_the_arrivals_in_them,
        a_seed_is_a_schedule, inverse_and_integral_agree, gaps_are_exponential_in_the_time_of_the_integral); }
        mod poisson { every_profile_passes!(@ $profile, $seconds, Poisson,
        time_never_turns_back, the_count_is_that_of_the_integral, the_horizon_cuts_and_moves_nothing, stripes_are_the_whole,
        blocks_are_the_arrivals_in_them,
        a_seed_is_a_schedule, gaps_are_exponential_in_the_time_of_the_integral); } })* };
    (@ $profile:expr, $seconds:expr, $spacing:ident, $($test:ident),*) => { $(
        #[test]
        fn $test() {
            use super::super::*;
            suite::$test(&$profile, Spacing::$spacing, $seconds);
        }
    )* };
}

every_profile_passes! {
    constant: profile("1000"), 5.0;
    constant_of_an_odd_rate: profile("333.7/s"), 11.3;
    steps: profile("steps:100/10s,500/10s,50/5s"), 25.0;
    steps_with_pauses: profile("steps:0/1s,100/10s,0/5s,1.1/10s,0/1s,700/3s"), 40.0;
    ramp_up: profile("ramp:100..2000/6s"), 9.0;
    ramp_down: profile("ramp:2000..10/6s"), 9.0;
    ramp_from_zero: profile("ramp:0..300/10s"), 12.0;
    ramp_to_zero: profile("ramp:300..0/10s"), 10.0;
    stages: profile("5..300/5s,300/10s,300..0/5s,0/2s,0..100/3s,40..200/2s"), 30.0;
    stages_that_end_at_zero: profile("0..400/5s,400..0/5s"), 10.0;
    sine: profile("sine:50..350/4s"), 11.0;
    sine_that_touches_zero: profile("sine:0..400/4s"), 14.0;
    recorded: recording(), 39.0;
}

/// Asserts that arrival `k` is within a nanosecond of the solution of L(t) = k: a nanosecond before it, L is below k,
/// and a nanosecond after it, L is not. `scaled` gives L(t) − k times a positive factor, exactly, for t in nanoseconds.
fn within_a_nanosecond(profile: &Profile, k: u64, scaled: impl Fn(i128, i128) -> i128) {
    let schedule = schedule(profile.clone(), Spacing::Even, 0, None, None);
    let t = i128::from(schedule.stripe(k, k + 1).next().unwrap().intended_start.0);
    assert!(scaled(t - 1, i128::from(k)) <= 0, "{profile}: arrival {k} at {t} ns is late");
    assert!(scaled(t + 1, i128::from(k)) >= 0, "{profile}: arrival {k} at {t} ns is early");
}

const FAR: [u64; 6] = [1, 999, 123_456, 9_999_999, 10_000_000, 10_000_001];

#[test]
fn a_constant_rate_does_not_drift() {
    for (rate, numerator, seconds) in
        [("1000", 1_000, 1), ("3", 3, 1), ("7/m", 7, 60), ("999983", 999_983, 1), ("1/h", 1, 3600)]
    {
        let ns = i128::from(S) * seconds;
        for k in FAR.into_iter().filter(|k| *k < 1_000_000 || seconds == 1) {
            within_a_nanosecond(&profile(rate), k, |t, k| numerator * t - k * ns);
        }
    }
}

#[test]
fn a_ramp_does_not_drift() {
    for (text, from, to, over_s) in
        [("ramp:0..2000/6000s", 0i128, 2000i128, 6000i128), ("ramp:5000..1/5000s", 5000, 1, 5000)]
    {
        let over = over_s * i128::from(S);
        // L(t) = from·t + (to − from)·t²/(2·over) up to `over`, and (from + to)/2·over + to·(t − over) after it.
        let scaled = |t: i128, k: i128| {
            let twice = if t <= over {
                2 * over * from * t + (to - from) * t * t
            } else {
                over * (from + to) * over + 2 * over * to * (t - over)
            };
            twice - 2 * over * k * i128::from(S)
        };
        FAR.into_iter().for_each(|k| within_a_nanosecond(&profile(text), k, scaled));
    }
}

#[test]
fn steps_do_not_drift() {
    let first = 700i128;
    let length = 1_000 * i128::from(S);
    let then = 3_000i128;
    let scaled = |t: i128, k: i128| first * t.min(length) + then * (t - length).max(0) - k * i128::from(S);
    FAR.into_iter().for_each(|k| within_a_nanosecond(&profile("steps:700/1000s,3000/1h"), k, scaled));
}

/// Computed in f64: at 1,000/s a nanosecond is 1e-6 arrivals, and L is known to 1e-8 here.
#[test]
fn a_sine_does_not_drift() {
    let mean = 1_000.0;
    let amplitude = 900.0;
    let period = 60.0;
    let count = |t: f64| {
        let turn = std::f64::consts::TAU;
        mean * t + amplitude * period / turn * (1.0 - (turn * (t % period) / period).cos())
    };
    let schedule = schedule(profile("sine:100..1900/60s"), Spacing::Even, 0, None, None);
    for k in FAR {
        let t = schedule.stripe(k, k + 1).next().unwrap().intended_start.0;
        assert!(count((t - 1) as f64 / 1e9) < k as f64 && count((t + 1) as f64 / 1e9) > k as f64, "arrival {k} at {t}");
    }
}

#[test]
fn walking_and_jumping_find_the_same_arrivals() {
    let schedule = schedule(profile("997"), Spacing::Even, 0, None, Some(300_000));
    let walked = schedule.arrivals().last().unwrap();
    assert_eq!(schedule.stripe(299_999, 300_000).next(), Some(walked));
    assert_eq!(walked.intended_start.0, (299_999u128 * 1_000_000_000 + 997 / 2).div_euclid(997) as u64);
}

#[test]
fn a_recording_is_replayed_to_the_nanosecond() {
    let instants: Vec<_> = [0, 0, 1, 1_000_000_007, 1_000_000_007, 5_000_000_001, u64::MAX].map(Timestamp).to_vec();
    let trace = Profile::Trace(Trace::new(instants.clone()).unwrap());
    let all = schedule(trace.clone(), Spacing::Even, 0, None, Some(100));
    assert!(all.arrivals().map(|arrival| arrival.intended_start).eq(instants));
    assert_eq!(all.count(), Some(7));
    let natural = trace.natural_length().unwrap();
    assert_eq!(natural, Nanos(u64::MAX));
    assert_eq!(schedule(trace, Spacing::Even, 0, Some(5 * S), None).arrivals().count(), 5);
}

#[test]
fn a_recording_is_read_with_its_lines() {
    let read = Trace::parse("start,method\n0.0,GET\n\n# a remark\n1500us,GET\n2.000000001\n").unwrap();
    assert_eq!(read.instants(), [Timestamp(0), Timestamp(1_500_000), Timestamp(2_000_000_001)]);
    for (text, says) in [
        ("", "no arrivals"),
        ("start\n", "no arrivals"),
        ("1\nx\n", "line 2: neither"),
        ("1\n\n0.5\n", "line 3: earlier"),
        ("-1\n", "line 1: neither"),
        ("0\nNaN\n", "line 2: neither"),
    ] {
        let error = Trace::parse(text).unwrap_err().to_string();
        assert!(error.contains(says), "{text:?}: {error}");
    }
}

#[test]
fn a_recording_is_read_with_what_stands_behind_its_times() {
    let mut seen = Vec::new();
    let read = Trace::parse_with("start,what\n0, GET /a,b \n# no\n1.5,\n", |line, rest| {
        seen.push((line, rest.to_owned()));
        Ok(())
    });
    assert_eq!(seen, [(2, "GET /a,b".to_owned()), (4, String::new())]);
    assert_eq!(read.unwrap().at_speed(3.0).instants(), [Timestamp(0), Timestamp(500_000_000)]);
    let error = Trace::parse_with("0,a\n1,b", |_, rest| if rest == "a" { Ok(()) } else { Err("no a".to_owned()) });
    assert_eq!(error.unwrap_err().to_string(), "trace, line 2: no a");
}

fn instants_of(profile: &str, requests: u64) -> Vec<u64> {
    let schedule = schedule(self::profile(profile), Spacing::Even, 0, None, Some(requests));
    schedule.arrivals().map(|arrival| arrival.intended_start.0).collect()
}

#[test]
fn the_first_arrival_of_a_ramp_from_zero_is_at_zero() {
    // L(t) = 10 t²: arrival k at √(k/10) s.
    assert_eq!(instants_of("ramp:0..200/10s", 4), [0, 316_227_766, 447_213_595, 547_722_558]);
}

#[test]
fn a_ramp_to_zero_has_no_arrival_when_it_is_over() {
    let arrivals = instants_of("ramp:200..0/10s", u64::MAX);
    assert_eq!(arrivals.len(), 1_000);
    assert!(arrivals[999] < 10 * S);
}

#[test]
fn a_pause_holds_the_arrival_that_falls_on_its_beginning() {
    assert_eq!(instants_of("steps:0/1s,2/1s,0/3s,1/1s", 4), [S, S + S / 2, 5 * S, 6 * S]);
    // 0.14 × 50 is a little more than 7 in binary, but arrival 7 still lies on the border.
    assert_eq!(instants_of("steps:0.14/50s,0/5s,1/10s", 9)[7..], [55 * S, 56 * S]);
    assert_eq!(instants_of("steps:3/1s,0/1s", 100).len(), 3);
}

#[test]
fn a_schedule_without_limits_goes_on() {
    let endless = schedule(profile("1000"), Spacing::Even, 0, None, None);
    assert_eq!((endless.count(), endless.last_arrival()), (None, None));
    assert_eq!(endless.arrivals().nth(100_000).unwrap().intended_start.0, 100 * S);
    // A schedule ends after 292 years.
    assert!(endless.stripe(u64::MAX - 1, u64::MAX).next().is_none());
    let count = schedule(profile("1000"), Spacing::Even, 0, None, Some(u64::MAX)).count().unwrap();
    let years = count / 1_000 / 86_400 / 365;
    assert_eq!(years, 292);
}

#[test]
fn profiles_that_are_none_say_what_would_help() {
    for (text, says) in [
        ("fast", "unknown profile 'fast'"),
        ("zigzag:1", "unknown profile 'zigzag:1'"),
        ("steps:", "no duration"),
        ("steps:1/0s", "zero"),
        ("steps:0/1s", "every number is zero"),
        ("steps:-1/1s", "negative"),
        ("ramp:1..2", "no duration"),
        ("ramp:1/2s", "no two numbers"),
        ("ramp:0..0/2s", "both numbers are zero"),
        ("ramp:1..inf/2s", "not finite"),
        ("sine:9..5/2s", "low rate is above"),
        ("sine:1..5/2", "no unit"),
    ] {
        let error = text.parse::<Profile>().unwrap_err().to_string();
        assert!(error.contains(says) && !error.contains('\n'), "{text}: {error}");
    }
}

proptest! {
    #[test]
    fn a_profile_reads_back_as_it_was_written(profile in crate::any::profile()) {
        if !matches!(profile, Profile::Trace(_)) {
            prop_assert_eq!(profile.to_string().parse::<Profile>(), Ok(profile));
        }
    }

    #[test]
    fn stripes_of_any_profile_are_the_whole(
        profile in crate::any::profile(),
        poisson in any::<bool>(),
        seed in any::<u64>(),
        requests in 0u64..300,
        n in 1u64..40,
    ) {
        let spacing = if poisson { Spacing::Poisson } else { Spacing::Even };
        let schedule = schedule(profile, spacing, seed, Some(100_000 * S), Some(requests));
        let all: Vec<_> = schedule.arrivals().collect();
        prop_assert!(all.windows(2).all(|pair| pair[0].intended_start <= pair[1].intended_start));
        prop_assert_eq!(schedule.count(), Some(all.len() as u64));
        prop_assert_eq!(schedule.last_arrival(), all.last().copied());
        prop_assert_eq!(merged_hash(&schedule, n), schedule.hash());
        prop_assert_eq!(dealt_and_gathered(&schedule, n), all);
    }

    /// Schedules that differ in one arrival have different hashes.
    #[test]
    fn one_arrival_moves_the_hash(requests in 1u64..100, index in any::<prop::sample::Index>(), by in 1u64..1_000) {
        let schedule = schedule(profile("1000"), Spacing::Even, 0, None, Some(requests));
        let mut moved = ScheduleHash::default();
        let chosen = index.index(requests as usize) as u64;
        for mut arrival in schedule.arrivals() {
            arrival.intended_start.0 += if arrival.index == chosen { by } else { 0 };
            moved.add(arrival);
        }
        prop_assert_ne!(moved, schedule.hash());
    }
}
