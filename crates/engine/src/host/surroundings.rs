//! Causes of lost processor time: the hypervisor (steal), a quota (throttling) and other work (pressure).

use truetail_reactor::contention;
use truetail_run::CpuContention;

/// Reads the counters of this machine and of this process's control group.
pub(crate) fn read() -> CpuContention {
    CpuContention {
        steal_ns: contention::steal_ns(),
        throttled_ns: contention::throttled_ns(),
        cpu_pressure_ns: contention::cpu_pressure_ns(),
    }
}

/// Returns the increase of the counters since `before`.
pub(crate) fn since(before: &CpuContention) -> CpuContention {
    let now = read();
    let difference = |now: Option<u64>, before: Option<u64>| Some(now?.saturating_sub(before?));
    CpuContention {
        steal_ns: difference(now.steal_ns, before.steal_ns),
        throttled_ns: difference(now.throttled_ns, before.throttled_ns),
        cpu_pressure_ns: difference(now.cpu_pressure_ns, before.cpu_pressure_ns),
    }
}
