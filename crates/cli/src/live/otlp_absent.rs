//! `--otlp` in a truetail that was built without it.

use std::convert::Infallible;
use std::time::Duration;

use super::states::LiveStates;
use crate::error::{Result, usage_error};

/// Cannot be constructed without the feature `otlp`.
#[derive(Debug)]
pub(super) struct OtlpEndpoint(Infallible);

impl OtlpEndpoint {
    pub(super) fn parse(_: &str) -> Result<OtlpEndpoint> {
        Err(usage_error(
            "--otlp needs a truetail that was built with it: cargo install --features otlp, or cargo build --release \
             --features otlp",
        ))
    }
}

/// Cannot be constructed without the feature `otlp`.
#[derive(Debug)]
pub(super) struct OtlpSender(Infallible);

impl OtlpSender {
    pub(super) fn start(endpoint: OtlpEndpoint, _: LiveStates) -> OtlpSender {
        match endpoint.0 {}
    }

    pub(super) fn end(self, _: Duration) {
        match self.0 {}
    }
}
