//! Address of a page of metrics.

use std::time::Duration;

use truetail_scrape::{Exposition, MAX_BYTES};
use ureq::Agent;

/// The older format is asked for first: it is simpler, and every library has it.
const ACCEPT: &str = "text/plain;version=0.0.4, application/openmetrics-text;version=1.0.0;q=0.5, */*;q=0.1";

#[derive(Debug)]
pub(super) struct Endpoint {
    pub url: String,
    agent: Agent,
}

impl Endpoint {
    pub(super) fn new(url: String) -> Endpoint {
        // Only the host that the user named is asked: no proxy, no redirect.
        let config = Agent::config_builder().max_redirects(0).proxy(None).user_agent("truetail").build();
        Endpoint { url, agent: config.new_agent() }
    }

    /// Reads the page within this time. Fails with the reason in a line.
    pub(super) fn read(&self, timeout: Duration) -> Result<Exposition, String> {
        let request = self.agent.get(&self.url).header("Accept", ACCEPT);
        let request = request.config().timeout_global(Some(timeout)).build();
        let mut response = request.call().map_err(|error| error.to_string())?;
        if !response.status().is_success() {
            return Err(format!("it answers with status {}", response.status().as_u16()));
        }
        let body = response.body_mut().with_config().limit(MAX_BYTES as u64).read_to_vec();
        let page = body.map_err(|error| match error {
            ureq::Error::BodyExceedsLimit(_) => truetail_scrape::ExpositionError::TooLong.to_string(),
            error => error.to_string(),
        })?;
        Exposition::parse(&page).map_err(|error| error.to_string())
    }
}
