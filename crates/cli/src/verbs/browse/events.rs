//! Updates of pages: of the list, and of a run in progress.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use truetail_page::browse::{Links, ListPage, RunQuery, list_update};
use truetail_page::web::{Event, EventSource, NextEvent};
use truetail_page::{live_update, run_page};
use truetail_run::catalog::SavedRun;

use super::archive::Answer;
use super::desk::Desk;
use super::listing::page_of_list;
use super::pages::{ReadRun, place_of_run};

/// Events of a page of the list.
pub(super) struct ListEvents {
    pub(super) desk: Arc<Desk>,
    pub(super) query: RunQuery,
    /// Version of the listing on the page.
    pub(super) seen: u64,
}

impl ListEvents {
    fn update(&mut self) -> Answer<Option<Event>> {
        let listing = self.desk.archive.listing()?;
        if listing.version == self.seen {
            return Ok(None);
        }
        self.seen = listing.version;
        let mut query = self.query.clone();
        let page = page_of_list(&self.desk.archive, &listing, &mut query, Links::Served);
        let page = ListPage { can_remove: self.desk.token.is_some(), ..page };
        Ok(Some(Event { name: "update", data: list_update(&page).into() }))
    }
}

impl EventSource for ListEvents {
    fn next(&mut self, patience: Duration) -> NextEvent {
        after(self.update(), patience)
    }
}

/// Events of the page of a run in progress, until it has ended.
pub(super) struct RunEvents {
    pub(super) desk: Arc<Desk>,
    pub(super) folder: String,
    /// The run on the page.
    pub(super) seen: SavedRun,
    pub(super) has_ended: bool,
}

impl RunEvents {
    fn update(&mut self) -> Answer<Option<Event>> {
        let archive = &self.desk.archive;
        let listing = archive.listing()?;
        let saved = listing.run(&self.folder)?;
        let is_in_progress = archive.is_in_progress(saved);
        if is_in_progress && *saved == self.seen {
            return Ok(None);
        }
        let draw = || {
            let read = ReadRun::read(archive, saved)?;
            if is_in_progress {
                return Ok(live_update(&read.page().live(true)));
            }
            let place = place_of_run(&listing, saved, Links::Served);
            Ok(serde_json::json!({ "html": run_page(&read.page().on(&place)) }).to_string())
        };
        // The process may end before the next look at the folder, so both kinds of events can have one version.
        let name = if is_in_progress { "update" } else { "end" };
        let data = self.desk.drawn(&format!("{name} {}", self.folder), listing.version, draw)?;
        self.seen = saved.clone();
        self.has_ended = !is_in_progress;
        Ok(Some(Event { name, data }))
    }
}

impl EventSource for RunEvents {
    fn next(&mut self, patience: Duration) -> NextEvent {
        if self.has_ended {
            return NextEvent::End;
        }
        after(self.update(), patience)
    }
}

/// Returns the event, or waits. A run that cannot be read at this moment may be readable later.
fn after(update: Answer<Option<Event>>, patience: Duration) -> NextEvent {
    match update {
        Ok(Some(event)) => NextEvent::Event(event),
        Ok(None) | Err(_) => {
            thread::sleep(patience);
            NextEvent::NotYet
        }
    }
}
