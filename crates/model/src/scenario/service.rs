//! The section `[service]`.

use super::ScenarioError;
use super::bounds::WorkloadBounds;
use super::faults;
use super::fields::Section;
use crate::service::{Service, Variation};
use crate::time::Nanos;

const VARIATIONS: [(&str, Variation); 2] = [("constant", Variation::Constant), ("exponential", Variation::Exponential)];

pub(super) fn read(section: &Section<'_>, bounds: &WorkloadBounds) -> Result<Service, ScenarioError> {
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
    let faults = section.get("fault");
    section.no_more_keys()?;
    if let Some(faults) = faults {
        service.faults = faults::read(&faults.sections("[[service.fault]]")?, bounds)?;
        if service.never_reopens() {
            return Err(faults.error("the recurring stalls leave no gap between them, so no request is ever answered"));
        }
    }
    Ok(service)
}
