//! The section `[service]`.

use super::bounds::WorkloadBounds;
use super::fields::{Field, Section};
use super::{faults, routes, stream};
use crate::service::{FaultKind, Gate, ReplyOrder, Service, Variation};
use crate::time::Nanos;
use crate::toml_file::TomlError;

const VARIATIONS: [(&str, Variation); 2] = [("constant", Variation::Constant), ("exponential", Variation::Exponential)];

const REPLIES: [(&str, ReplyOrder); 2] = [("in-order", ReplyOrder::InOrder), ("as-ready", ReplyOrder::AsReady)];

pub(super) fn read(section: &Section<'_>, bounds: &WorkloadBounds) -> Result<Service, TomlError> {
    let baseline = section.require("baseline", "for example baseline = \"10ms\"")?.duration()?;
    let mut service = Service::healthy(baseline);
    if let Some(variation) = section.get("variation") {
        service.variation = variation.choice(&VARIATIONS)?;
        if service.variation == Variation::Exponential && baseline == Nanos::ZERO {
            return Err(variation.error("a baseline of zero cannot vary"));
        }
    }
    if let Some(concurrency) = section.get("concurrency") {
        let wanted = "a whole number from 1; leave it out for no limit";
        service.concurrency = Some(concurrency.whole(1..=u32::MAX, wanted)?);
    }
    if let Some(bytes) = section.get("body-bytes") {
        service.body_bytes = bytes.whole(0..=u32::MAX, "a whole number of bytes")?;
    }
    if let Some(seed) = section.get("seed") {
        service.seed = seed.whole(0..=u64::MAX, "a whole number from 0")?;
    }
    read_replies(section, &mut service, bounds)?;
    read_stream(section, &mut service)?;
    let faults = section.get("fault");
    let routes = section.get("route");
    section.no_more_keys()?;
    if let Some(faults) = &faults {
        service.faults = faults::read(&faults.sections("[[service.fault]]")?, bounds)?;
        check_faults(faults, &service, bounds)?;
    }
    if let Some(routes) = &routes {
        service.routes = routes::read(routes, &service)?;
        check_faults(routes, &service, bounds)?;
    }
    Ok(service)
}

fn read_replies(section: &Section<'_>, service: &mut Service, bounds: &WorkloadBounds) -> Result<(), TomlError> {
    if !bounds.has_channels {
        return section.refuse(&["replies"], "only replies on channels have an order; add channels = 20 to [workload]");
    }
    if let Some(replies) = section.get("replies") {
        service.replies = replies.choice(&REPLIES)?;
    }
    let carries = "a channel carries messages, and no streams; leave it out, or leave out channels in [workload]";
    section.refuse(&["stream", "batch"], carries)
}

fn read_stream(section: &Section<'_>, service: &mut Service) -> Result<(), TomlError> {
    let called = |key, title| section.get(key).map(|field: Field<'_>| field.section_called(title)).transpose();
    let stream = called("stream", "[service.stream]")?;
    let batch = called("batch", "[service.batch]")?;
    if stream.is_none() && batch.is_none() {
        return Ok(());
    }
    let holds = "does not hold streams; leave it out, and write cap = N in [service.batch] for a server that works on N at once";
    section.refuse(&["concurrency"], holds)?;
    service.stream = Some(stream::read(stream.as_ref(), batch.as_ref())?);
    Ok(())
}

/// Returns true for a fault that ends its channel, or whose half of a reply no other reply can pass.
fn concerns_others(kind: FaultKind, replies: ReplyOrder) -> bool {
    match kind {
        FaultKind::Reset | FaultKind::ShortBody | FaultKind::Garbage => true,
        FaultKind::SlowBody => replies == ReplyOrder::AsReady,
        FaultKind::Stall
        | FaultKind::RecurringStall
        | FaultKind::Ramp
        | FaultKind::EveryNth
        | FaultKind::ErrorStatus
        | FaultKind::BlackHole
        | FaultKind::Queue => false,
    }
}

/// Refuses stalls of events without streams, and stalls that never let anything through.
fn check_faults(faults: &Field<'_>, service: &Service, bounds: &WorkloadBounds) -> Result<(), TomlError> {
    let mut kinds = service.all_faults().map(|fault| fault.kind()).filter(|_| bounds.has_channels);
    if let Some(kind) = kinds.find(|kind| concerns_others(*kind, service.replies)) {
        let others = "concerns the other messages of its channel too, and is not simulated";
        let help = "use error-status or black-hole, or leave out channels in [workload]";
        return Err(faults.error(format!("a fault of the kind {} {others}; {help}", kind.name())));
    }
    let stalls = service.all_faults().filter_map(|fault| fault.stall_schedule());
    if service.stream.is_none() && stalls.into_iter().any(|stall| stall.gate == Gate::Events) {
        let needs = "a stall with gate = \"events\" needs a service whose answers are streams; add [service.stream] or \
                     [service.batch]";
        return Err(faults.error(needs));
    }
    if service.never_reopens() {
        return Err(faults.error("the recurring stalls leave no gap between them, so no request is ever answered"));
    }
    Ok(())
}
