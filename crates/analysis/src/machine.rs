//! What about a machine will disturb a measurement on it, by facts that were read before (`truetail doctor`).

use serde::Serialize;
use truetail_run::{ClockFacts, MachineFacts, MachineLook};

/// What a fact means for a measurement, from best to worst.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MachineState {
    /// It disturbs no measurement.
    Fine,
    /// The system does not tell.
    Unknown,
    /// It limits a load, or disturbs a demanding measurement.
    Limits,
    /// It disturbs most measurements.
    Disturbs,
}

/// Result of looking at one property of a machine.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MachineFinding {
    /// The property.
    pub name: &'static str,
    /// Its meaning for a measurement.
    pub state: MachineState,
    /// What was found.
    pub found: String,
    /// Consequence for a measurement; null if it has no consequence.
    pub effect: Option<String>,
    /// What mends it: a command if there is one; null if nothing needs mending.
    pub remedy: Option<String>,
}

/// Connections that a load may need: enough for most, and fewer are told.
const MANY_FILES: u64 = 65_536;
const FEW_FILES: u64 = 4_096;
/// Ports of Linux without any setting, from 32768 to 60999.
const USUAL_PORTS: u32 = 28_232;
/// A reading of the clock beyond this is a system call.
const SLOW_READING_NS: u64 = 300;
/// Sources that are read without a system call.
const FAST_SOURCES: [&str; 6] =
    ["tsc", "kvm-clock", "xen", "hyperv_clocksource_tsc_page", "arch_sys_counter", "riscv_clocksource"];
const SLIGHTLY_LATE_NS: u64 = 200_000;
const VERY_LATE_NS: u64 = 1_000_000;
/// Shares of time that are lost.
const SLIGHT_LOSS: f64 = 0.001;
const GREAT_LOSS: f64 = 0.01;
const SLIGHT_PRESSURE: f64 = 0.02;
const GREAT_PRESSURE: f64 = 0.2;

/// Returns a finding for each property, in a fixed order.
pub fn findings(facts: &MachineFacts) -> Vec<MachineFinding> {
    vec![
        processors(facts),
        quota(facts),
        throttled(&facts.look),
        steal(facts),
        pressure(&facts.look),
        timer(facts),
        clock(&facts.clock),
        governor(facts),
        open_files(facts),
        local_ports(facts),
        stamps(facts),
        real_time(facts),
    ]
}

fn fine(name: &'static str, found: String) -> MachineFinding {
    MachineFinding { name, state: MachineState::Fine, found, effect: None, remedy: None }
}

fn unknown(name: &'static str) -> MachineFinding {
    MachineFinding { state: MachineState::Unknown, ..fine(name, "this system does not tell".to_owned()) }
}

impl MachineFinding {
    fn but(self, state: MachineState, effect: &str, remedy: &str) -> MachineFinding {
        MachineFinding { state, effect: Some(effect.to_owned()), remedy: Some(remedy.to_owned()), ..self }
    }
}

fn processors(facts: &MachineFacts) -> MachineFinding {
    let found = fine("processors", facts.cpus.to_string());
    match facts.cpus {
        0 | 1 => found.but(
            MachineState::Disturbs,
            "truetail shares its only processor with everything else here, and is late when that runs",
            "use a machine with two processors or more",
        ),
        _ => found,
    }
}

fn quota(facts: &MachineFacts) -> MachineFinding {
    match facts.quota {
        None => unknown("quota"),
        Some(quota) if quota < f64::from(facts.cpus) => fine(
            "quota",
            format!("{quota:.2} of {} processors", facts.cpus),
        )
        .but(
            MachineState::Disturbs,
            "once the share of a period is used up, everything here stops until the next one, often for 10 ms and more",
            "raise the limit: resources.limits.cpu in Kubernetes, --cpus of docker run, or CPUQuota of systemd",
        ),
        Some(_) => fine("quota", "none".to_owned()),
    }
}

fn throttled(look: &MachineLook) -> MachineFinding {
    match look.throttled_ns {
        None => unknown("throttling"),
        Some(0) => fine("throttling", "none during the look".to_owned()),
        Some(ns) => fine("throttling", format!("{} ms during the look", milliseconds(ns))).but(
            MachineState::Disturbs,
            "the quota is used up already, before any load",
            "raise the quota, or end the other programs of this group",
        ),
    }
}

fn steal(facts: &MachineFacts) -> MachineFinding {
    let Some(ns) = facts.look.steal_ns else { return unknown("steal") };
    let share = ns as f64 / (facts.look.length_ns.max(1) as f64 * f64::from(facts.cpus.max(1)));
    let found = fine("steal", format!("{:.1} % of the look", share * 100.0));
    let effect = "the hypervisor gives the processors to other machines, and requests go out late meanwhile";
    let remedy = "use a machine with processors of its own, or measure at a quieter time";
    judged(found, share, [SLIGHT_LOSS, GREAT_LOSS], effect, remedy)
}

fn pressure(look: &MachineLook) -> MachineFinding {
    let Some(ns) = look.pressure_ns else { return unknown("other work") };
    let share = ns as f64 / look.length_ns.max(1) as f64;
    let found = fine("other work", format!("a task waited for a processor in {:.0} % of the look", share * 100.0));
    let effect = "other programs compete for the processors, and requests go out late meanwhile";
    let remedy = "end them; ps -eo pcpu,pid,comm --sort=-pcpu | head shows which";
    judged(found, share, [SLIGHT_PRESSURE, GREAT_PRESSURE], effect, remedy)
}

fn timer(facts: &MachineFacts) -> MachineFinding {
    let late = &facts.look.late_ns;
    let at = |q: f64| late[((late.len() as f64 * q) as usize).min(late.len() - 1)];
    let half = at(0.5);
    let p99 = at(0.99);
    let found = fine("timer", format!("wakes {} µs late (p50), {} µs (p99)", half / 1_000, p99 / 1_000));
    let effect = "requests go out this late; truetail counts it as generator lag, and its percentiles become ranges";
    let remedy = match facts.may_run_at_real_time {
        true => "run with --realtime, and mend what else is found here",
        false => "mend what else is found here, or allow real-time priority and run with --realtime",
    };
    judged(found, p99 as f64, [SLIGHTLY_LATE_NS as f64, VERY_LATE_NS as f64], effect, remedy)
}

fn judged(
    found: MachineFinding,
    value: f64,
    [limits, disturbs]: [f64; 2],
    effect: &str,
    remedy: &str,
) -> MachineFinding {
    match value {
        value if value >= disturbs => found.but(MachineState::Disturbs, effect, remedy),
        value if value >= limits => found.but(MachineState::Limits, effect, remedy),
        _ => found,
    }
}

fn clock(clock: &ClockFacts) -> MachineFinding {
    let source = clock.source.as_deref().unwrap_or("unknown source");
    let found = fine("clock", format!("{source}, {} ns a reading", clock.reading_ns));
    let is_fast = clock.source.as_deref().is_none_or(|source| FAST_SOURCES.contains(&source));
    if is_fast && clock.reading_ns < SLOW_READING_NS {
        return found;
    }
    let better = FAST_SOURCES.into_iter().find(|source| clock.available.iter().any(|other| other == source));
    let remedy = match better.filter(|better| Some(*better) != clock.source.as_deref()) {
        Some(better) => {
            format!("echo {better} | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource")
        }
        None => "use a machine with a clock that programs can read themselves".to_owned(),
    };
    let effect = "each reading of the clock is a system call, and a request takes several: the highest rate is lower";
    found.but(MachineState::Limits, effect, &remedy)
}

fn governor(facts: &MachineFacts) -> MachineFinding {
    match facts.governor.as_deref() {
        None => unknown("governor"),
        Some(name @ ("powersave" | "ondemand" | "conservative")) => fine("governor", name.to_owned()).but(
            MachineState::Limits,
            "processors are slow until they were busy for a while, so low rates measure slower answers than high ones",
            "sudo cpupower frequency-set -g performance",
        ),
        Some(name) => fine("governor", name.to_owned()),
    }
}

fn open_files(facts: &MachineFacts) -> MachineFinding {
    let Some(limit) = facts.open_files else { return unknown("open files") };
    let found = fine("open files", format!("at most {limit}"));
    let effect = "each connection is an open file, so no more can be open at a time";
    let remedy = "sudo prlimit --pid $$ --nofile=1048576, in the shell that starts truetail";
    match limit {
        MANY_FILES.. => found,
        FEW_FILES.. => found.but(MachineState::Limits, effect, remedy),
        _ => found.but(MachineState::Disturbs, effect, remedy),
    }
}

fn local_ports(facts: &MachineFacts) -> MachineFinding {
    let Some(ports) = facts.local_ports else { return unknown("local ports") };
    let found = fine("local ports", ports.to_string());
    match ports {
        USUAL_PORTS.. => found,
        _ => found.but(
            MachineState::Limits,
            "each connection to one address and port takes a local port, so no more can be open at a time",
            "sudo sysctl -w net.ipv4.ip_local_port_range='1024 65535'",
        ),
    }
}

fn stamps(facts: &MachineFacts) -> MachineFinding {
    match facts.has_stamps {
        true => fine("kernel stamps", "answers end when their last byte arrives".to_owned()),
        false => fine("kernel stamps", "not on this system".to_owned()).but(
            MachineState::Limits,
            "an answer ends when truetail reads it, so its own delay in reading is a part of the response time",
            "measure on Linux where microseconds matter",
        ),
    }
}

fn real_time(facts: &MachineFacts) -> MachineFinding {
    let found = if facts.may_run_at_real_time { "permitted" } else { "not permitted; needed only for --realtime" };
    let finding = fine("real-time priority", found.to_owned());
    match facts.may_run_at_real_time {
        true => finding,
        false => MachineFinding {
            remedy: Some("sudo setcap cap_sys_nice=ep \"$(command -v truetail)\"".to_owned()),
            ..finding
        },
    }
}

fn milliseconds(ns: u64) -> u64 {
    ns.div_ceil(1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> MachineFacts {
        MachineFacts {
            cpus: 4,
            quota: Some(f64::INFINITY),
            open_files: Some(1 << 20),
            local_ports: Some(USUAL_PORTS),
            clock: ClockFacts { source: Some("tsc".to_owned()), available: Vec::new(), reading_ns: 30 },
            governor: Some("performance".to_owned()),
            has_stamps: true,
            may_run_at_real_time: true,
            look: MachineLook {
                length_ns: 1_000_000_000,
                late_ns: vec![4_000; 200],
                steal_ns: Some(0),
                throttled_ns: Some(0),
                pressure_ns: Some(1_000_000),
            },
        }
    }

    /// Returns the name and the state of each finding that is not fine.
    fn odd(change: impl FnOnce(&mut MachineFacts)) -> Vec<(&'static str, MachineState)> {
        let mut facts = good();
        change(&mut facts);
        let all = findings(&facts);
        let needs_remedy = |finding: &&MachineFinding| finding.state > MachineState::Unknown;
        assert!(all.iter().filter(needs_remedy).all(|finding| finding.effect.is_some() && finding.remedy.is_some()));
        let is_odd = |finding: &MachineFinding| finding.state != MachineState::Fine;
        all.into_iter().filter(is_odd).map(|finding| (finding.name, finding.state)).collect()
    }

    #[test]
    fn each_property_is_judged_by_itself() {
        use MachineState::{Disturbs, Limits, Unknown};
        assert_eq!(odd(|_| {}), []);
        assert_eq!(odd(|facts| facts.cpus = 1), [("processors", Disturbs)]);
        assert_eq!(odd(|facts| facts.quota = Some(1.5)), [("quota", Disturbs)]);
        assert_eq!(odd(|facts| facts.quota = Some(4.0)), []);
        assert_eq!(odd(|facts| facts.look.throttled_ns = Some(1)), [("throttling", Disturbs)]);
        assert_eq!(odd(|facts| facts.look.steal_ns = Some(8_000_000)), [("steal", Limits)]);
        assert_eq!(odd(|facts| facts.look.steal_ns = Some(80_000_000)), [("steal", Disturbs)]);
        assert_eq!(odd(|facts| facts.look.pressure_ns = Some(300_000_000)), [("other work", Disturbs)]);
        assert_eq!(odd(|facts| facts.look.late_ns[197..].fill(300_000)), [("timer", Limits)]);
        assert_eq!(odd(|facts| facts.look.late_ns = vec![2_000_000]), [("timer", Disturbs)]);
        assert_eq!(odd(|facts| facts.governor = Some("powersave".to_owned())), [("governor", Limits)]);
        assert_eq!(odd(|facts| facts.open_files = Some(20_000)), [("open files", Limits)]);
        assert_eq!(odd(|facts| facts.open_files = Some(1_024)), [("open files", Disturbs)]);
        assert_eq!(odd(|facts| facts.local_ports = Some(100)), [("local ports", Limits)]);
        assert_eq!(odd(|facts| facts.has_stamps = false), [("kernel stamps", Limits)]);
        assert_eq!(odd(|facts| facts.may_run_at_real_time = false), []);
        assert_eq!(odd(|facts| facts.governor = None), [("governor", Unknown)]);
    }

    #[test]
    fn a_slow_clock_has_a_remedy_if_a_better_one_is_there() {
        let remedy = |source: &str, available: &[&str]| {
            let available = available.iter().map(|name| (*name).to_owned()).collect();
            let clock = ClockFacts { source: Some(source.to_owned()), available, reading_ns: 900 };
            findings(&MachineFacts { clock, ..good() })
                .into_iter()
                .find(|finding| finding.name == "clock")
                .unwrap()
                .remedy
        };
        assert!(remedy("hpet", &["tsc", "hpet"]).unwrap().starts_with("echo tsc | sudo tee /sys"));
        assert!(remedy("hpet", &["hpet"]).unwrap().starts_with("use a machine"));
        assert!(remedy("tsc", &["tsc"]).unwrap().starts_with("use a machine"));
    }
}
