//! Trace ids of the requests of a run.

use serde::{Deserialize, Serialize};
use truetail_model::trace::{TraceFormat, TraceIds};

/// Place of the id in a link to a trace.
pub const TRACE_ID_IN_LINK: &str = "{id}";

/// Trace ids of the requests of a run: enough to compute the id of each request from its index.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TraceFacts {
    /// Header that carried the ids: `traceparent` or `b3`.
    pub header: String,
    /// First half of each id: 16 hexadecimal digits.
    pub key: String,
    /// Share of the requests that asked for a trace to be recorded, from 0 to 1.
    pub sampled: f64,
    /// Address of the page that shows a trace, with `{id}` in place of the trace id; `None` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

impl TraceFacts {
    /// Creates the facts of a run.
    pub fn new(key: u64, format: TraceFormat, sampled: f64, link: Option<String>) -> TraceFacts {
        TraceFacts { header: format.header().to_owned(), key: format!("{:016x}", key.max(1)), sampled, link }
    }

    /// Returns the ids; `None` if the facts were damaged.
    pub fn ids(&self) -> Option<TraceIds> {
        let format = [TraceFormat::W3c, TraceFormat::B3].into_iter().find(|format| format.header() == self.header)?;
        let key = u64::from_str_radix(&self.key, 16).ok()?;
        Some(TraceIds::new(key, format, self.sampled))
    }

    /// Returns the address of the page about a trace, if the run was given one over http or https.
    pub fn link_to(&self, trace_id: &str) -> Option<String> {
        let link = self.link.as_ref().filter(|link| link.starts_with("http://") || link.starts_with("https://"));
        link.map(|link| link.replace(TRACE_ID_IN_LINK, trace_id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ids_of_a_run_follow_from_its_facts() {
        let ids = TraceIds::new(0xfeed, TraceFormat::B3, 0.25);
        let link = Some("http://127.0.0.1:16686/trace/{id}?of={id}".to_owned());
        let facts = TraceFacts::new(0xfeed, TraceFormat::B3, 0.25, link);
        assert_eq!(facts.ids(), Some(ids));
        assert_eq!(facts.link_to("0a").as_deref(), Some("http://127.0.0.1:16686/trace/0a?of=0a"));
        let damaged = TraceFacts { key: "no number".to_owned(), link: Some("javascript:x{id}".to_owned()), ..facts };
        assert_eq!((damaged.ids(), damaged.link_to("0a")), (None, None));
    }
}
