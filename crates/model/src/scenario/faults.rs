//! The tables `[[service.fault]]`: reads and writes faults. A fault that can never happen is an error.

use super::bounds::WorkloadBounds;
use super::fields::{Field, Section};
use super::keys::Keys;
use crate::service::{Fault, FaultKind, Gate, Selector};
use crate::time::{Nanos, Timestamp};
use crate::toml_file::TomlError;

type Result<T> = std::result::Result<T, TomlError>;

const NTH: &str = "a whole number from 1";

pub(super) fn read(sections: &[Section<'_>], bounds: &WorkloadBounds) -> Result<Vec<Fault>> {
    let mut faults: Vec<Fault> = Vec::with_capacity(sections.len());
    for section in sections {
        let fault = read_fault(section, bounds)?;
        if let Some(earlier) = faults.iter().find(|earlier| shadows(earlier, &fault)) {
            let kind = fault.kind().name();
            let earlier = earlier.kind().name();
            return Err(section.error(format!(
                "this {kind} fault never happens: the {earlier} fault before it matches every request; narrow the earlier \
                 one with share, every, at or for"
            )));
        }
        faults.push(fault);
    }
    Ok(faults)
}

/// Returns true if `first` decides every answer, so that `second` can never decide one.
fn shadows(first: &Fault, second: &Fault) -> bool {
    second.selector().is_some() && first.selector().is_some_and(|select| select == Selector::default())
}

fn read_fault(section: &Section<'_>, bounds: &WorkloadBounds) -> Result<Fault> {
    let kinds = FaultKind::ALL.map(|kind| (kind.name(), kind));
    let kinds: Vec<_> = kinds.into_iter().filter(|(_, kind)| *kind != FaultKind::Queue).collect();
    let kind = section.require("kind", "for example kind = \"stall\"")?.choice(&kinds)?;
    let fault = match kind {
        FaultKind::Stall => stall(section, bounds)?,
        FaultKind::RecurringStall => recurring_stall(section, bounds)?,
        FaultKind::Ramp => ramp(section, bounds)?,
        FaultKind::EveryNth => every_nth(section, bounds)?,
        FaultKind::ErrorStatus => error_status(section, bounds)?,
        FaultKind::SlowBody => {
            let over = section.require("over", "for example over = \"2s\"")?.length()?;
            Fault::SlowBody { over, select: select(section, bounds)? }
        }
        FaultKind::Reset => Fault::Reset { select: select(section, bounds)? },
        FaultKind::BlackHole => Fault::BlackHole { select: select(section, bounds)? },
        FaultKind::ShortBody => Fault::ShortBody { select: select(section, bounds)? },
        FaultKind::Garbage => Fault::Garbage { select: select(section, bounds)? },
        FaultKind::Queue => unreachable!("not among the kinds a file may name"),
    };
    section.no_more_keys()?;
    Ok(fault)
}

fn stall(section: &Section<'_>, bounds: &WorkloadBounds) -> Result<Fault> {
    Ok(Fault::Stall {
        at: within(&section.require("at", "for example at = \"30s\"")?, bounds)?,
        length: section.require("for", "for example for = \"1s\"")?.length()?,
        gate: gate(section)?,
    })
}

fn recurring_stall(section: &Section<'_>, bounds: &WorkloadBounds) -> Result<Fault> {
    let first = within(&section.require("first", "for example first = \"5s\"")?, bounds)?;
    let every = section.require("every", "for example every = \"10s\"")?.length()?;
    let length_field = section.require("for", "for example for = \"200ms\"")?;
    let length = length_field.length()?;
    if length >= every {
        let problem =
            format!("a stall of {length} every {every} never lets an answer through; make it shorter than 'every'");
        return Err(length_field.error(problem));
    }
    let times = section.get("times").map(|n| n.whole(1..=u64::MAX, "a whole number from 1; leave it out for no end"));
    Ok(Fault::RecurringStall { first, every, length, times: times.transpose()?, gate: gate(section)? })
}

fn gate(section: &Section<'_>) -> Result<Gate> {
    section.get("gate").map_or(Ok(Gate::Answers), |field| field.choice(&Gate::ALL.map(|gate| (gate.name(), gate))))
}

fn ramp(section: &Section<'_>, bounds: &WorkloadBounds) -> Result<Fault> {
    let from = within(&section.require("from", "for example from = \"20s\"")?, bounds)?;
    let to_field = section.require("to", "for example to = \"50s\"")?;
    let to = to_field.instant()?;
    if to <= from {
        let from = from.since_origin();
        let to = to.since_origin();
        return Err(to_field.error(format!("a ramp from {from} to {to} takes no time; 'to' must be later than 'from'")));
    }
    let target = section.require("target", "for example target = \"100ms\"")?.duration()?;
    Ok(Fault::Ramp { from, to, target })
}

fn every_nth(section: &Section<'_>, bounds: &WorkloadBounds) -> Result<Fault> {
    Ok(Fault::EveryNth {
        every: nth(&section.require("every", "for example every = 500")?, bounds)?,
        pause: section.require("pause", "for example pause = \"200ms\"")?.length()?,
    })
}

fn error_status(section: &Section<'_>, bounds: &WorkloadBounds) -> Result<Fault> {
    let status = section.require("status", "for example status = 503")?;
    Ok(Fault::ErrorStatus {
        status: status.whole(400..=599u16, "an error status, 400 to 599")?,
        immediately: section.get("immediately").map_or(Ok(false), |immediately| immediately.flag())?,
        select: select(section, bounds)?,
    })
}

fn select(section: &Section<'_>, bounds: &WorkloadBounds) -> Result<Selector> {
    Ok(Selector {
        every: section.get("every").map(|every| nth(&every, bounds)).transpose()?,
        share: section.get("share").map(|share| read_share(&share)).transpose()?,
        at: section.get("at").map(|at| within(&at, bounds)).transpose()?,
        length: section.get("for").map(|length| length.length()).transpose()?,
    })
}

fn read_share(field: &Field<'_>) -> Result<f64> {
    let share = field.number()?;
    if share > 0.0 && share <= 1.0 {
        return Ok(share);
    }
    Err(field.error(format!("{share} is not a share; use a number above 0 and at most 1, such as 0.05 for 5 %")))
}

/// Reads an instant before the end of the workload.
fn within(field: &Field<'_>, bounds: &WorkloadBounds) -> Result<Timestamp> {
    let instant = field.instant()?;
    match bounds.end {
        Some(end) if instant >= end => {
            let given = field.string()?;
            let end = rounded_up(end);
            Err(field.error(format!("{given} is not before the end of the workload ({end}), so it never happens")))
        }
        _ => Ok(instant),
    }
}

/// Rounds up an end that a count gives: an instant just after an arrival is too precise to read.
fn rounded_up(end: Timestamp) -> Nanos {
    Nanos(end.0.checked_next_multiple_of(1_000).unwrap_or(end.0))
}

/// Reads n of "every n-th request", at most the number of requests.
fn nth(field: &Field<'_>, bounds: &WorkloadBounds) -> Result<u64> {
    let n = field.whole(1..=u64::MAX, NTH)?;
    match bounds.max_arrivals {
        Some(most) if n > most => {
            Err(field.error(format!("request {n} never comes: the workload has at most {most} requests")))
        }
        _ => Ok(n),
    }
}

/// Returns the keys of each fault, as [`read`] reads them.
pub(super) fn all_keys(faults: &[Fault]) -> Vec<Keys> {
    faults.iter().map(keys).collect()
}

fn keys(fault: &Fault) -> Keys {
    let mut keys = Keys::default();
    keys.put("kind", fault.kind().name());
    match fault {
        Fault::Stall { at, length, gate } => {
            keys.put("at", *at);
            keys.put("for", *length);
            keys.put("gate", gate.name());
        }
        Fault::RecurringStall { first, every, length, times, gate } => {
            keys.put("first", *first);
            keys.put("every", *every);
            keys.put("for", *length);
            keys.put_if_any("times", *times);
            keys.put("gate", gate.name());
        }
        Fault::Ramp { from, to, target } => {
            keys.put("from", *from);
            keys.put("to", *to);
            keys.put("target", *target);
        }
        Fault::EveryNth { every, pause } => {
            keys.put("every", *every);
            keys.put("pause", *pause);
        }
        Fault::ErrorStatus { status, immediately, select } => {
            keys.put("status", *status);
            keys.put("immediately", *immediately);
            select_keys(&mut keys, select);
        }
        Fault::SlowBody { over, select } => {
            keys.put("over", *over);
            select_keys(&mut keys, select);
        }
        Fault::Reset { select }
        | Fault::BlackHole { select }
        | Fault::ShortBody { select }
        | Fault::Garbage { select } => select_keys(&mut keys, select),
    }
    keys
}

fn select_keys(keys: &mut Keys, select: &Selector) {
    keys.put_if_any("every", select.every);
    keys.put_if_any("share", select.share);
    keys.put_if_any("at", select.at);
    keys.put_if_any("for", select.length);
}
