//! Every number that a verdict depends on, with the reason for its value.

/// A quantile is marked unresolved, and printed as a range, if it differs from its lower partner (the same quantile
/// without what the generator added) by more than this share of it. A tenth is what people read as "about the same" on
/// a latency plot, and the width of a good interval for p99.9. Only a larger error could change a decision.
pub const UNRESOLVED_SHARE: f64 = 0.10;
/// The quantiles that a verdict weighs. Beyond p99 there are only a handful of requests, which one hiccup of the
/// machine moves. Such a quantile is printed as a range, which is sufficient.
pub const WEIGHED_QUANTILES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

/// A range is a reason against a run only if its ends, which could lead to two decisions, differ by this factor …
pub const RANGE_DOUBTED_FACTOR: f64 = 2.0;
/// … and by more than this: fractions of a millisecond do not decide about services that answer in microseconds.
pub const RANGE_DOUBTED_NS: u64 = 1_000_000;

/// Pauses of the generator explain a quantile that moved if they hit at least this share of the arrivals beyond it …
pub const PAUSE_EXPLAINS_SHARE: f64 = 0.50;
/// … and if the quantile moved by at most this many times the longest pause. A request waits for a paused generator no
/// longer than the pause and the catching up after it. A longer move has another cause, such as too few connections.
pub const PAUSE_EXPLAINS_LENGTHS: f64 = 2.0;
/// A pause this long is a standstill: a process that was stopped, swapped out or suspended. A busy machine takes a
/// worker away for tens of milliseconds, a crowded host for some hundred. One is SUSPECT: an unplanned burst follows.
pub const STANDSTILL_NS: u64 = 1_000_000_000;
/// INVALID if standstills hit this share of the arrivals: then they determine p99, and a burst follows.
pub const STANDSTILL_INVALID_ARRIVALS: f64 = 0.01;
/// Minimum length of a pause that leaves a burst behind that a server notices.
pub const BURST_PAUSE_NS: u64 = 100_000_000;
/// INVALID if such pauses hit this share of the arrivals: a tenth of the load came in bursts.
pub const BURST_INVALID_ARRIVALS: f64 = 0.10;
/// SUSPECT if the generator of a closed loop was paused for this share of the run: the throughput is too small by as
/// much. It is the 5 % that [`SENT_IN_TIME_SHARE`] leaves.
pub const CLOSED_PAUSED_SHARE: f64 = 0.05;

/// SUSPECT if waiting for the user's own cap on connections takes more than this share of p50, p90 or p99 of the
/// response time. The number then describes the cap as well as the server.
pub const CONNECTION_WAIT_SHARE: f64 = 0.10;

/// Minimum number of stretches, in the later half of a run, that show growth.
pub const SATURATED_STRETCHES: usize = 5;
/// The backlog must have risen in this share of the stretches. A stall makes it rise for a while and then fall.
pub const SATURATED_RISING_SHARE: f64 = 0.75;
/// The slope of the backlog must be at least this share of the offered rate. A server that slows down from 10 to 100 ms
/// over 30 s makes it grow by 0.3 %, and then it stops.
pub const SATURATED_GROWTH_SHARE: f64 = 0.02;
/// The backlog must have grown by this many standard deviations of a Poisson count of the arrivals in that time.
pub const SATURATED_NOISE: f64 = 3.0;
/// The median response time of the answers must have risen by this factor from the first to the last third of the later
/// half. Arrivals that are never answered let the backlog grow too, but the answers do not get older.
pub const SATURATED_SLOWER: f64 = 1.2;
/// A queue may grow until requests time out in it. Then at least this share of the arrivals that end have no answer, in
/// [`SATURATED_RISING_SHARE`] of the stretches since the first timeouts. Fewer may be lost in a black hole.
pub const TIMED_OUT_SHARE: f64 = 0.05;
/// … and the answers before that had grown this old, as a share of the timeout. A queue reaches the timeout from below.
/// After lost answers, or the death of a server, the remaining answers are as fast as before.
pub const NEAR_TIMEOUT_SHARE: f64 = 0.50;
/// … from an age that was at most this share of it.
pub const GROWN_FROM_SHARE: f64 = 0.50;

/// The user's cap on connections causes a backlog if all connections were busy: if the answers per second times the
/// mean service time (Little's law) equal the cap to within this share …
pub const CAP_BUSY_TOLERANCE: f64 = 0.20;
/// … and the service did not get slower as the connections filled up: the later median service time is at most this
/// many times that of the first requests (one for each connection). A server that handles one request at a time would
/// need a factor of two: while the connections fill up one by one, half of them are busy on average.
pub const CAP_SLOWER: f64 = 1.4;
/// Minimum number of requests that count as the first ones.
pub const CAP_FIRST: usize = 10;

/// If at least this share of the mean response time is generator lag, the server is not called saturated.
pub const BACKLOG_IS_OURS_SHARE: f64 = 0.50;

/// The rate was not reached if fewer than this share of the arrivals were sent in time.
pub const SENT_IN_TIME_SHARE: f64 = 0.95;
/// A request that starts at most this late was sent in time, even if the schedule has ended. So one hiccup of the
/// machine just before the end costs nothing. In schedules longer than 2 s, the limit is 5 % of the schedule.
pub const SENT_IN_TIME_NS: f64 = 100e6;

/// INVALID if the generator's limits (ports, files) failed this share of arrivals, half of p99's tail; else SUSPECT.
pub const GENERATOR_LIMIT_INVALID: f64 = 0.005;

/// SUSPECT if the control group was over its CPU quota for this share of the run, and a number shows it. A quota takes
/// the processor away for the rest of a period, usually 100 ms. 1 % of the run is one such period every ten seconds.
pub const THROTTLED_SHARE: f64 = 0.01;
/// A worker that used this share of the elapsed time had no time to spare: by queueing theory, the wait at 90 % of
/// capacity is nine times the work. SUSPECT on a schedule if a number or the load shows it. Always SUSPECT in a closed
/// loop, because the throughput is then the generator's and not the server's.
pub const GENERATOR_BUSY_SHARE: f64 = 0.90;

/// SUSPECT if the generator displaced this share of the arrivals by more than the mean gap and by more than
/// [`DISPLACED_NS`]: then the load was a different one, in bursts. It is the 5 % that [`SENT_IN_TIME_SHARE`] leaves.
pub const OFF_SCHEDULE_SHARE: f64 = 0.05;
/// See [`OFF_SCHEDULE_SHARE`]. An idle scheduler may take this long, and no server notices.
pub const DISPLACED_NS: u64 = 1_000_000;

/// Each level of the response time is uncertain by the time that the generator may have added to the median. Two levels
/// differ if they are further apart than this many times that time.
pub const LEVELS_RESOLVED: u64 = 2;
