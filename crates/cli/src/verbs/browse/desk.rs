//! Drawn pages.

use std::sync::{Arc, Mutex, PoisonError};

use super::archive::{Answer, Archive};

/// Limit on the pages that are kept, and on the bytes of each.
const KEPT: usize = 8;
const LONGEST_KEPT: usize = 8 << 20;

/// The runs, and the pages that were drawn last. Pages that need a whole run are drawn one at a time, so that their
/// memory is bounded.
pub(super) struct Desk {
    pub(super) archive: Archive,
    /// Secret that a page sends to remove runs; `None` if nothing can be removed.
    pub(super) token: Option<String>,
    drawn: Mutex<Vec<Drawn>>,
}

/// A page as it was drawn for a version of the listing.
struct Drawn {
    address: String,
    version: u64,
    page: Arc<str>,
}

impl Desk {
    pub(super) fn new(archive: Archive, token: Option<String>) -> Desk {
        Desk { archive, token, drawn: Mutex::default() }
    }

    /// Returns the page at an address for a version of the listing, and draws it if necessary.
    pub(super) fn drawn(&self, address: &str, version: u64, draw: impl FnOnce() -> Answer<String>) -> Answer<Arc<str>> {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        drawn.retain(|one| one.version == version);
        if let Some(known) = drawn.iter().find(|one| one.address == address) {
            return Ok(Arc::clone(&known.page));
        }
        let page: Arc<str> = draw()?.into();
        if page.len() <= LONGEST_KEPT {
            drawn.truncate(KEPT - 1);
            drawn.insert(0, Drawn { address: address.to_owned(), version, page: Arc::clone(&page) });
        }
        Ok(page)
    }
}
