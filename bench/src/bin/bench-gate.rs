//! Checks whether figures from this machine can be trusted at the moment. Prints one line of JSON: the round-trip
//! time of a cache line between two processors, which flips between two levels on shared hosts, and the share of time
//! that a loop that only reads the clock loses to stalls.

use std::io;
use std::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Release},
};
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

const ROUNDS: u32 = 100_000;
const WINDOW: Duration = Duration::from_millis(250);
const STALL: Duration = Duration::from_micros(100);

/// A value that has a cache line to itself.
#[repr(align(128))]
struct Line(AtomicU32);

fn main() -> io::Result<()> {
    if thread::available_parallelism()?.get() < 2 {
        return Err(io::Error::other("this takes two processors"));
    }
    let round_trip = round_trip_ns()?;
    let (lost, stalls) = stalls();
    println!("{{\"round_trip_ns\": {round_trip:.1}, \"lost_share\": {lost:.5}, \"stalls_per_second\": {stalls:.1}}}");
    Ok(())
}

fn pin(cpu: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu)?;
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}

fn round_trip_ns() -> io::Result<f64> {
    let line = Line(AtomicU32::new(0));
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            pin(0)?;
            for i in 0..ROUNDS {
                wait_for(&line, 2 * i + 1);
                line.0.store(2 * i + 2, Release);
            }
            io::Result::Ok(())
        });
        pin(1)?;
        let began = Instant::now();
        for i in 0..ROUNDS {
            line.0.store(2 * i + 1, Release);
            wait_for(&line, 2 * i + 2);
        }
        let took = began.elapsed();
        other.join().expect("it does not panic")?;
        Ok(took.as_nanos() as f64 / f64::from(ROUNDS))
    })
}

fn wait_for(line: &Line, value: u32) {
    while line.0.load(Acquire) != value {
        std::hint::spin_loop();
    }
}

/// Returns the share of time lost in gaps longer than [`STALL`], and the number of these gaps per second.
fn stalls() -> (f64, f64) {
    let began = Instant::now();
    let (mut last, mut lost, mut count) = (began, Duration::ZERO, 0);
    while last - began < WINDOW {
        let now = Instant::now();
        if now - last > STALL {
            lost += now - last;
            count += 1;
        }
        last = now;
    }
    (lost.as_secs_f64() / WINDOW.as_secs_f64(), f64::from(count) / WINDOW.as_secs_f64())
}
