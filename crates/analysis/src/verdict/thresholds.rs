//! Every number that a verdict depends on, and why it is that number.

/// A quantile is marked unresolved when the generator's lag at the same quantile is more than this share of it. A tenth
/// is what people read as "about the same" on a latency plot, and the width of a good interval for p99.9: a smaller
/// error would not change a decision, a larger one could.
pub const UNRESOLVED_SHARE: f64 = 0.10;

/// SUSPECT when the generator's lag is more than this share of p50 or p99 of the response time: the same tenth.
pub const LAG_SUSPECT_SHARE: f64 = UNRESOLVED_SHARE;
/// INVALID when it is more than this: from here on, the larger part of the number may be the generator.
pub const LAG_INVALID_SHARE: f64 = 0.50;

/// A pause of the generator is long when it is at least this share of p99 of the response time: shorter ones cannot
/// carry a request beyond p99 by themselves. The p99 may itself be the work of the pause, and is then at most the
/// pause and a normal answer; so a half finds it and a whole might not.
pub const PAUSE_LONG_SHARE: f64 = 0.50;
/// INVALID when long pauses hit at least this share of all arrivals: half of the 1 % that lies beyond p99.
pub const PAUSE_INVALID_ARRIVALS: f64 = 0.005;
/// INVALID also when a single pause was this many times p99, and hit [`PAUSE_HUGE_ARRIVALS`]. The scheduler of a busy
/// machine takes a worker away for tens of milliseconds; this is a process that was stopped, swapped out or suspended,
/// and everything beyond p99 describes that.
pub const PAUSE_HUGE_TIMES: f64 = 50.0;
/// See [`PAUSE_HUGE_TIMES`]: what lies beyond p99.99.
pub const PAUSE_HUGE_ARRIVALS: f64 = 0.000_1;
/// SUSPECT when long pauses hit this share of all arrivals: half of the 0.1 % that lies beyond p99.9.
pub const PAUSE_SUSPECT_ARRIVALS: f64 = 0.000_5;

/// SUSPECT when the wait for the user's own cap on connections is more than this share of p50, p90 or p99 of the
/// response time: then the number is about the cap as well as about the server.
pub const CONNECTION_WAIT_SHARE: f64 = 0.10;

/// Fewest stretches of the later half of a run from which growth can be told.
pub const SATURATED_STRETCHES: usize = 5;
/// The backlog must have risen in this share of the stretches: a stall makes it rise for a while and then fall.
pub const SATURATED_RISING_SHARE: f64 = 0.75;
/// By its slope it must grow by this share of what is offered. A server that slows down from 10 to 100 ms over 30 s lets
/// it grow by 0.3 %, and then it stops.
pub const SATURATED_GROWTH_SHARE: f64 = 0.02;
/// It must have grown by this many standard deviations of a Poisson count of the arrivals in that time.
pub const SATURATED_NOISE: f64 = 3.0;
/// The middle response time of what is being answered must have risen by this factor from the first to the last third of
/// the later half. Arrivals that are never answered let the backlog grow too, but the answers do not get older.
pub const SATURATED_SLOWER: f64 = 1.2;
/// A queue that grows until requests time out in it: at least this share of what ends does so without an answer, in
/// [`SATURATED_RISING_SHARE`] of the stretches from the first of them on. A black hole that takes fewer is no queue.
pub const TIMED_OUT_SHARE: f64 = 0.05;
/// … and the answers before that had grown this old, as a share of the timeout. A queue reaches the timeout from below;
/// answers that were lost, or a server that died, leave the others as fast as they were.
pub const NEAR_TIMEOUT_SHARE: f64 = 0.50;
/// … from an age that was at most this share of it.
pub const GROWN_FROM_SHARE: f64 = 0.50;

/// When at least this share of the mean response time is generator lag, the backlog is the generator's and the server is
/// not called saturated.
pub const BACKLOG_IS_OURS_SHARE: f64 = 0.50;

/// The rate was not reached when fewer than this share of the arrivals was sent before the schedule ended.
pub const SENT_IN_TIME_SHARE: f64 = 0.95;
/// Schedules shorter than this many seconds are not judged by it: 5 % of them is less than 100 ms, which one hiccup of the
/// machine just before the end would use up.
pub const SENT_IN_TIME_SHORTEST_S: f64 = 2.0;

/// INVALID when the generator's own limits (ports, files) failed at least this share of the arrivals: half of what lies
/// beyond p99. SUSPECT for any.
pub const GENERATOR_LIMIT_INVALID: f64 = 0.005;

/// SUSPECT when the control group was over its CPU quota for this share of the run. A quota takes the processor away for
/// the rest of a period of usually 100 ms: at 1 % of the run, that is a tenth of a second every ten.
pub const THROTTLED_SHARE: f64 = 0.01;
/// SUSPECT when a worker of an open-loop run used this share of the elapsed time: queueing theory makes the wait at 90 %
/// of capacity nine times the work, so that the generator is the queue that is measured.
pub const GENERATOR_BUSY_SHARE: f64 = 0.90;

/// SUSPECT when the generator displaced this share of the arrivals by more than the mean gap between two, and by more than
/// 1 ms: then it was another load, in bursts. The same 5 % as [`SENT_IN_TIME_SHARE`] leaves.
pub const OFF_SCHEDULE_SHARE: f64 = 0.05;
/// See [`OFF_SCHEDULE_SHARE`]: what a scheduler with nothing to do may take, and no server notices.
pub const DISPLACED_NS: u64 = 1_000_000;
