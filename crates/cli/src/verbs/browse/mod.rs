//! `truetail browse`: saved runs as a site.
//!
//! | module | content |
//! |---|---|
//! | `archive` | the runs, listed and read within their folder |
//! | `conditions` | conditions of an address |
//! | `listing` | pages of the list |
//! | `pages` | pages of a run, a comparison and a series |
//! | `desk` | drawn pages |
//! | `site` | answers to requests |
//! | `removal` | removal of runs |
//! | `message` | a page with a sentence |
//! | `events` | updates of pages |
//! | `export`, `files` | the site as files, and their places |

mod archive;
mod conditions;
mod desk;
mod events;
mod export;
mod files;
mod listing;
mod message;
mod pages;
mod removal;
mod site;

use std::sync::Arc;

use truetail_engine::host;

use self::archive::Archive;
use self::site::Site;
use super::local_page::{PagePlace, token};
use super::serve::address;
use crate::args::browse::BrowseArgs;
use crate::error::{ExitCode, Result, usage_error};

/// Serves the site until SIGINT, SIGTERM or SIGHUP, or exports it.
///
/// # Errors
/// If the folder cannot be listed, the address cannot be bound, or a file cannot be written.
pub(super) fn browse(args: BrowseArgs) -> Result<ExitCode> {
    let archive = Archive::open(&args.place)?;
    if let Some(folder) = &args.export {
        return export::export(&archive, folder, args.last);
    }
    let listen = address(&args.listen)?;
    if args.allow_remove && !listen.ip().is_loopback() {
        return Err(usage_error(format!(
            "--allow-remove with --listen {}: everybody who reaches this address could remove runs; listen on 127.0.0.1",
            args.listen
        )));
    }
    let token = args.allow_remove.then(token).transpose()?;
    let place = PagePlace { listen: &listen.to_string(), open: args.open, others_can: "read these runs" };
    place.serve(Arc::new(Site::new(archive, token)), host::lower_thread_priority, || {})
}
