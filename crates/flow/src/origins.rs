use truetail_engine::Origin;
use url::{Position, Url};

use crate::cookies::Site;

/// An origin of requests, which is known before the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FlowOrigin {
    pub(crate) origin: Origin,
    pub(crate) root: Url,
    /// The origin as cookies see it.
    pub(crate) site: Site,
}

impl FlowOrigin {
    pub(crate) fn new(origin: Origin, root: Url) -> FlowOrigin {
        let site = Site { host: root.host_str().unwrap_or_default().to_owned(), is_secure: origin.uses_tls() };
        FlowOrigin { origin, root, site }
    }

    pub(crate) fn host_field(&self) -> &str {
        &self.root[Position::BeforeHost..Position::AfterPort]
    }
}

/// The origins of a flow, by number. A parsed flow has at least one.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Origins(Vec<FlowOrigin>);

impl Origins {
    /// Returns the number of an origin, and adds it if it is new.
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

    /// Returns the number of the origin of this URL, if it is known.
    pub(crate) fn index_of(&self, url: &Url) -> Option<u32> {
        let nth = self.0.iter().position(|known| known.root.origin() == url.origin())?;
        Some(nth as u32)
    }
}
