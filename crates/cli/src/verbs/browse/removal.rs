//! Removal of runs, with `--allow-remove`.
//!
//! A run is removed if a page of this site asks for it: other origins are refused, and only that page has the token.

use std::path::Path;

use truetail_page::SitePlace;
use truetail_page::browse::{pairs, removal_page};
use truetail_page::web::{Request, Response};
use truetail_run::catalog::SavedRun;
use truetail_run::folder::load_run_file;

use super::archive::{Answer, Archive, Listing, Problem};
use super::desk::Desk;
use super::message::message;
use crate::verbs::runs::removed;

/// Limit on the runs that are removed at once: a query has few fields.
const MOST: usize = 50;

/// Returns the page that asks whether to remove the runs that a query names.
pub(super) fn page(desk: &Desk, query: &str) -> Answer<Response> {
    let token = token_of(desk)?;
    let listing = desk.archive.listing()?;
    let runs = picked(&listing, query)?;
    let links = vec![("All runs".to_owned(), "/".to_owned())];
    let site = SitePlace { links, has_forms: true, ..SitePlace::default() };
    Ok(Response::html(removal_page(&runs, token, &site)).with_forms())
}

/// Removes the runs that the body of a request names.
pub(super) fn remove(desk: &Desk, request: &Request) -> Answer<Response> {
    let token = token_of(desk)?;
    let form = std::str::from_utf8(&request.body).unwrap_or_default();
    let is_token = |(name, value): (String, String)| name == "token" && value == token;
    if !pairs(form).into_iter().any(is_token) {
        return Err(Problem(403, "only a page that this server gave out may remove runs".to_owned()));
    }
    let listing = desk.archive.listing()?;
    let runs = picked(&listing, form)?;
    let lines: Vec<String> = runs.iter().map(|run| line(run, remove_one(&desk.archive, run))).collect();
    desk.archive.look_again();
    Ok(message("Removal", &lines.join("; ")))
}

fn token_of(desk: &Desk) -> Answer<&str> {
    desk.token.as_deref().ok_or_else(|| Problem(404, "runs can be removed here only with --allow-remove".to_owned()))
}

/// Returns the runs that a query names, all of them in the list.
fn picked<'a>(listing: &'a Listing, query: &str) -> Answer<Vec<&'a SavedRun>> {
    let fields = pairs(query).into_iter().filter(|(name, _)| name == "run");
    let runs = fields.map(|(_, folder)| listing.run(&folder)).collect::<Answer<Vec<_>>>()?;
    match runs.len() {
        1..=MOST => Ok(runs),
        0 => Err(Problem(400, "no run is picked".to_owned())),
        _ => Err(Problem(400, format!("more than {MOST} runs are picked; 'truetail runs rm' removes any number"))),
    }
}

/// Removes a run that is still as the list says. Returns the name of a file that stays, if one does.
fn remove_one(archive: &Archive, run: &SavedRun) -> Answer<Option<String>> {
    let path = archive.path(run)?;
    if !is_still(&path, run) {
        return Err(Problem(409, "it has changed since".to_owned()));
    }
    removed(&path).map_err(|error| Problem(409, error.message))
}

fn is_still(path: &Path, run: &SavedRun) -> bool {
    load_run_file(path).is_ok_and(|file| SavedRun::new(run.folder.clone(), &file) == *run)
}

fn line(run: &SavedRun, result: Answer<Option<String>>) -> String {
    match result {
        Ok(None) => format!("{} is removed", run.folder),
        Ok(Some(left)) => format!("{} is removed, but its folder has the file '{left}' and stays", run.folder),
        Err(Problem(_, why)) => format!("{} is not removed: {why}", run.folder),
    }
}
