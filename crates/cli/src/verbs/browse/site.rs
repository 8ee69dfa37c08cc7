//! Answers to requests.
//!
//! | address | answer |
//! |---|---|
//! | `/?target=…&page=2` | a page of the list |
//! | `/run/FOLDER` | the page of a run, drawn from its data. A stored page is never served: it may hold any script |
//! | `/compare?run=FOLDER&run=FOLDER` | two runs compared |
//! | `/series?of=NAME` | the runs of a name or URL |
//! | `/events?…`, `/events/run/FOLDER` | updates of the list, and of a run in progress |
//!
//! | `/remove?run=FOLDER` | with `--allow-remove`: asks whether to remove runs; a POST with its token does |
//!
//! Nothing else can be written. A folder counts only if it is in the list.

use std::sync::Arc;

use percent_encoding::percent_decode_str;
use truetail_page::SitePlace;
use truetail_page::browse::{Links, ListPage, RunQuery, list_page, pairs};
use truetail_page::run_page;
use truetail_page::web::{Handler, Request, Response};

use super::archive::{Answer, Archive, Problem};
use super::desk::Desk;
use super::events::{ListEvents, RunEvents};
use super::listing::page_of_list;
use super::message::message;
use super::pages::{Anyway, ReadRun, page_of_pair, page_of_run, place_of_run, read_series};
use super::removal;

/// The site.
pub(super) struct Site(Arc<Desk>);

impl Site {
    /// Creates the site. With a secret `token`, its pages can remove runs.
    pub(super) fn new(archive: Archive, token: Option<String>) -> Site {
        Site(Arc::new(Desk::new(archive, token)))
    }

    fn archive(&self) -> &Archive {
        &self.0.archive
    }

    fn drawn(&self, address: &str, version: u64, draw: impl FnOnce() -> Answer<String>) -> Answer<Response> {
        self.0.drawn(address, version, draw).map(Response::html)
    }

    fn answer(&self, request: &Request) -> Answer<Response> {
        let query = request.query.as_str();
        match request.path.as_str() {
            "/" => self.list(query),
            "/events" => self.list_events(query),
            "/compare" => self.compare(query),
            "/series" => self.series(query),
            "/remove" => removal::page(&self.0, query),
            path => match (path.strip_prefix("/run/"), path.strip_prefix("/events/run/")) {
                (Some(folder), _) => self.run(&decoded(folder)),
                (None, Some(folder)) => self.run_events(decoded(folder)),
                (None, None) => Err(Problem(404, "there is nothing at this address".to_owned())),
            },
        }
    }

    fn list(&self, query: &str) -> Answer<Response> {
        let archive = self.archive();
        let listing = archive.listing()?;
        let mut query = RunQuery::parse(query);
        let page = page_of_list(archive, &listing, &mut query, Links::Served);
        let page = ListPage { can_remove: self.0.token.is_some(), ..page };
        let events = format!("/events?seen={}&{}", listing.version, page.query.to_query());
        let site = SitePlace { events: Some(events), has_forms: true, ..SitePlace::default() };
        Ok(Response::html(list_page(&page, &site)).with_forms())
    }

    fn list_events(&self, query: &str) -> Answer<Response> {
        let seen = pairs(query).iter().find(|(name, _)| name == "seen").and_then(|(_, seen)| seen.parse().ok());
        let query = RunQuery::parse(query);
        Ok(Response::events(ListEvents { desk: Arc::clone(&self.0), query, seen: seen.unwrap_or(0) }))
    }

    fn run(&self, folder: &str) -> Answer<Response> {
        let archive = self.archive();
        let listing = archive.listing()?;
        let saved = listing.run(folder)?;
        if archive.is_in_progress(saved) {
            return self.run_in_progress(folder);
        }
        let draw = || page_of_run(archive, &listing, saved, Links::Served);
        self.drawn(&format!("run {folder}"), listing.version, draw)
    }

    fn run_in_progress(&self, folder: &str) -> Answer<Response> {
        let archive = self.archive();
        let listing = archive.listing()?;
        let saved = listing.run(folder)?;
        let draw = || {
            let mut place = place_of_run(&listing, saved, Links::Served);
            place.events = Links::Served.run(folder).map(|address| format!("/events{address}"));
            let read = ReadRun::read(archive, saved)?;
            Ok(run_page(&read.page().live(true).on(&place)))
        };
        self.drawn(&format!("live {folder}"), listing.version, draw)
    }

    fn run_events(&self, folder: String) -> Answer<Response> {
        let listing = self.archive().listing()?;
        let seen = listing.run(&folder)?.clone();
        Ok(Response::events(RunEvents { desk: Arc::clone(&self.0), folder, seen, has_ended: false }))
    }

    fn compare(&self, query: &str) -> Answer<Response> {
        let fields = pairs(query);
        let picked: Vec<&str> =
            fields.iter().filter(|(name, _)| name == "run").map(|(_, folder)| folder.as_str()).collect();
        let [one, other] = picked[..] else {
            let picked = picked.len();
            return Err(Problem(400, format!("a comparison needs two runs, and {picked} are picked")));
        };
        let listing = self.archive().listing()?;
        let runs = [listing.run(one)?, listing.run(other)?];
        let is_chosen = fields.iter().any(|(name, value)| name == "anyway" && value == "yes");
        let address = Links::Served.compare(one, other).map(|address| format!("{address}&anyway=yes"));
        let anyway = Anyway { is_chosen, address: address.as_deref() };
        let draw = || page_of_pair(self.archive(), runs, anyway, Links::Served);
        self.drawn(&format!("compare {query}"), listing.version, draw)
    }

    fn series(&self, query: &str) -> Answer<Response> {
        let fields = pairs(query);
        let key = fields.iter().find(|(name, _)| name == "of").map_or("", |(_, key)| key);
        let listing = self.archive().listing()?;
        let draw = || Ok(read_series(self.archive(), &listing, key)?.page(Links::Served));
        self.drawn(&format!("series {key}"), listing.version, draw)
    }
}

impl Handler for Site {
    fn handle(&self, request: &Request) -> Response {
        if is_part_of_a_foreign_page(request) {
            return Response::error(403, "this server answers its own pages only");
        }
        let answer = match (request.method.as_str(), request.path.as_str()) {
            ("GET" | "HEAD", _) => self.answer(request),
            ("POST", "/remove") => removal::remove(&self.0, request),
            _ => return Response::error(405, "only GET and HEAD are answered"),
        };
        answer.unwrap_or_else(|Problem(status, sentence)| message(title_of(status), &sentence).with_status(status))
    }
}

fn title_of(status: u16) -> &'static str {
    match status {
        400 => "That is no question",
        403 => "That is not allowed",
        404 => "No such page",
        _ => "That did not work",
    }
}

/// Returns true if a page of another origin loads something from here. A link from elsewhere may lead here.
fn is_part_of_a_foreign_page(request: &Request) -> bool {
    let is_foreign = request.header("sec-fetch-site").is_some_and(|site| matches!(site, "cross-site" | "same-site"));
    is_foreign && request.header("sec-fetch-mode") != Some("navigate")
}

fn decoded(path: &str) -> String {
    percent_decode_str(path).decode_utf8_lossy().into_owned()
}
