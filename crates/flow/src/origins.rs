//! The origins that the requests of sessions go to: all of them are named before the run.

use truetail_engine::Origin;
use url::{Position, Url};

use crate::cookies::Site;

/// An origin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FlowOrigin {
    pub(crate) origin: Origin,
    /// A URL of it.
    pub(crate) root: Url,
    /// As cookies see it.
    pub(crate) site: Site,
}

impl FlowOrigin {
    pub(crate) fn new(origin: Origin, root: Url) -> FlowOrigin {
        let site = Site { host: root.host_str().unwrap_or_default().to_owned(), is_secure: origin.is_https() };
        FlowOrigin { origin, root, site }
    }

    /// What `Host` says.
    pub(crate) fn host_field(&self) -> &str {
        &self.root[Position::BeforeHost..Position::AfterPort]
    }
}

/// The origins of a flow, by their number. At least one in a flow that was read.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Origins(Vec<FlowOrigin>);

impl Origins {
    /// The number of this one, which is added if it is new.
    pub(crate) fn add(&mut self, new: FlowOrigin) -> u32 {
        let known = self.0.iter().position(|known| known.origin == new.origin);
        let nth = known.unwrap_or_else(|| {
            self.0.push(new);
            self.0.len() - 1
        });
        nth as u32
    }

    pub(crate) fn get(&self, nth: u32) -> &FlowOrigin {
        &self.0[nth as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &FlowOrigin> {
        self.0.iter()
    }

    /// The number of the origin of this URL, if it is one of them.
    pub(crate) fn of(&self, url: &Url) -> Option<u32> {
        let nth = self.0.iter().position(|known| known.root.origin() == url.origin())?;
        Some(nth as u32)
    }
}
