//! Facts about this machine and its processes, from `/proc`.

use std::fs;

const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0";

/// Returns the number of files that this process has open.
pub fn open_files() -> Option<u64> {
    fs::read_dir("/proc/self/fd").ok().map(|entries| entries.count() as u64)
}

/// Returns the lowest and the highest local port that the system assigns.
pub fn local_port_range() -> Option<(u16, u16)> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut ends = text.split_whitespace().map(|n| n.parse::<u16>().ok());
    let low = ends.next()??;
    let high = ends.next()??;
    (low <= high).then_some((low, high))
}

/// Returns the release of the kernel.
pub fn kernel() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/osrelease").ok().map(|text| text.trim().to_owned())
}

/// Returns the model of the processors.
pub fn cpu_model() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, model)| model.trim().to_owned())
}

/// Returns the source of the system's time.
pub fn clock_source() -> Option<String> {
    fs::read_to_string(format!("{CLOCK_SOURCE}/current_clocksource")).ok().map(|text| text.trim().to_owned())
}

/// Returns the sources of time that could be chosen.
pub fn clock_sources() -> Vec<String> {
    let text = fs::read_to_string(format!("{CLOCK_SOURCE}/available_clocksource")).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// Returns the governor of the first processor's frequency.
pub fn governor() -> Option<String> {
    let text = fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").ok()?;
    Some(text.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Returns the number of processors that are in use.
pub fn online_cpus() -> Option<u32> {
    count_of(fs::read_to_string("/sys/devices/system/cpu/online").ok()?.trim())
}

/// Returns how many numbers a list such as `0-3,6` has.
fn count_of(list: &str) -> Option<u32> {
    let length = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        last.parse::<u32>().ok()?.checked_sub(first.parse().ok()?)?.checked_add(1)
    };
    list.split(',').map(length).sum()
}

/// Returns the memory of this machine, in bytes.
pub fn memory_bytes() -> Option<u64> {
    kibibytes_of(&fs::read_to_string("/proc/meminfo").ok()?, "MemTotal:")
}

/// Returns the peak resident memory of a process, in bytes; `None` for `pid`: of this one.
pub fn peak_memory_bytes(pid: Option<u32>) -> Option<u64> {
    let process = pid.map_or_else(|| "self".to_owned(), |pid| pid.to_string());
    kibibytes_of(&fs::read_to_string(format!("/proc/{process}/status")).ok()?, "VmHWM:")
}

/// Returns the ids of the processes in a process group.
pub fn members_of(group: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| group_of(*pid) == Some(group)).collect()
}

/// Returns true if this process ignores `signal`: bit n - 1 of `SigIgn`.
pub fn ignores(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}

/// Returns the number after `key` in a file of `key  N kB` lines, converted to bytes.
fn kibibytes_of(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(key))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Returns the fifth field of `/proc/<pid>/stat`. The second field is a name in parentheses that may contain anything.
fn group_of(pid: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.rsplit_once(')')?.1.split_whitespace().nth(2)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_counted() {
        for (list, count) in [("0", Some(1)), ("0-15", Some(16)), ("0,2-3,8-9", Some(5)), ("", None), ("3-1", None)] {
            assert_eq!(count_of(list), count, "{list}");
        }
        let usable = std::thread::available_parallelism().unwrap().get() as u32;
        assert!(online_cpus().is_some_and(|count| count >= usable));
    }

    #[test]
    fn this_process_has_memory_and_a_group() {
        let pid = std::process::id();
        let peaks = [Some(pid), None].map(peak_memory_bytes);
        assert!(peaks.iter().all(|bytes| bytes.is_some_and(|bytes| bytes > 100_000)), "{peaks:?}");
        let group = group_of(pid).expect("a group");
        assert!(members_of(group).contains(&pid));
        assert!(!ignores(rustix::process::Signal::TERM.as_raw()));
    }

    #[test]
    fn the_machine_is_described() {
        assert!(open_files().is_some_and(|files| files >= 3));
        assert!(kernel().is_some_and(|release| release.starts_with(|c: char| c.is_ascii_digit())));
        assert!(memory_bytes() > peak_memory_bytes(None));
        assert_eq!(kibibytes_of("MemTotal:  2 kB\n", "MemTotal:"), Some(2048));
        assert_eq!(kibibytes_of("MemFree:  2 kB\n", "MemTotal:"), None);
    }
}
