//! Causes of lost processor time: the hypervisor (steal), a quota (throttling) and other work (pressure).

use std::fs;
use std::path::Path;

/// Length of a tick of `/proc/stat`. Linux reports these times to user space in hundredths of a second.
const TICK_NS: u64 = 10_000_000;

/// Returns the time that the hypervisor took from this machine, in nanoseconds since it started.
pub fn steal_ns() -> Option<u64> {
    steal_of(&fs::read_to_string("/proc/stat").ok()?)
}

/// Returns the time that a quota took from this process's control group (version 2), in nanoseconds since it began.
pub fn throttled_ns() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    throttled_of(&fs::read_to_string(format!("/sys/fs/cgroup/{path}/cpu.stat")).ok()?)
}

/// Returns the processors that this process's control groups (version 2) may use at a time on average; infinite without
/// a quota.
pub fn cpu_quota() -> Option<f64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    // The group at the top, which has no such file, has no quota.
    let limits = Path::new(path).ancestors().map(|group| Path::new("/sys/fs/cgroup").join(group).join("cpu.max"));
    let quotas = limits.filter_map(|file| fs::read_to_string(file).ok()).filter_map(|text| quota_of(&text));
    Some(quotas.fold(f64::INFINITY, f64::min))
}

/// Returns the time while at least one task waited for a processor, in nanoseconds since the machine started.
pub fn cpu_pressure_ns() -> Option<u64> {
    pressure_of(&fs::read_to_string("/proc/pressure/cpu").ok()?)
}

/// Returns the steal time: the eighth figure in the line of all processors.
fn steal_of(stat: &str) -> Option<u64> {
    let line = stat.lines().find(|line| line.starts_with("cpu "))?;
    line.split_whitespace().nth(8)?.parse::<u64>().ok().map(|ticks| ticks * TICK_NS)
}

/// Returns the quota in `cpu.max`: a time and the length of a period, in microseconds, or `max` for no quota.
fn quota_of(limit: &str) -> Option<f64> {
    let (quota, period) = limit.trim().split_once(' ')?;
    Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok().filter(|period| *period > 0.0)?)
}

fn throttled_of(stat: &str) -> Option<u64> {
    let value = stat.lines().find_map(|line| line.strip_prefix("throttled_usec "))?;
    value.trim().parse::<u64>().ok().map(|micros| micros * 1_000)
}

fn pressure_of(pressure: &str) -> Option<u64> {
    let line = pressure.lines().find(|line| line.starts_with("some "))?;
    let total = line.split_whitespace().find_map(|field| field.strip_prefix("total="))?;
    total.parse::<u64>().ok().map(|micros| micros * 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counters_are_where_the_kernel_puts_them() {
        assert_eq!(steal_of("cpu  538083 0 94691 412676 1975 0 1850 783 0 0\ncpu0 1 2\n"), Some(7_830_000_000));
        assert_eq!(throttled_of("usage_usec 5\nnr_throttled 2\nthrottled_usec 1500\n"), Some(1_500_000));
        assert_eq!([quota_of("50000 100000\n"), quota_of("max 100000\n"), quota_of("")], [Some(0.5), None, None]);
        assert!(cpu_quota().is_none_or(|quota| quota > 0.0));
        let pressure =
            "some avg10=97.17 avg60=98.50 avg300=97.86 total=2662\nfull avg10=0.00 avg60=0 avg300=0 total=1\n";
        assert_eq!(pressure_of(pressure), Some(2_662_000));
        for absent in ["", "cpu0 1 2 3\n", "cpu  1 2\n", "some avg10=1\n"] {
            assert_eq!((steal_of(absent), throttled_of(absent), pressure_of(absent)), (None, None, None));
        }
    }
}
