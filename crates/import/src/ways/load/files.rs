//! Flows with their truetail.toml as files.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::{Common, Entry};
use super::session::Session;
use crate::ImportError;
use crate::ways::{counted, listed, shown};
use crate::whole::file::place_of;

/// Files of a load: flows and their truetail.toml.
#[derive(Clone, Debug)]
pub struct LoadFiles {
    /// Names with contents.
    pub files: Vec<(String, String)>,
    /// Notes about them.
    pub notes: Vec<String>,
}

/// Everything that a script became.
#[derive(Debug)]
pub(in crate::ways) struct Converted {
    /// Name of the script.
    pub(in crate::ways) name: String,
    /// Comments about the whole.
    pub(in crate::ways) remarks: Vec<String>,
    /// Number of parts that are not read, besides those of sessions and of loads.
    pub(in crate::ways) marked: usize,
    /// The flow before the load.
    pub(in crate::ways) setup: Option<Session>,
    pub(in crate::ways) entries: Vec<Entry>,
    pub(in crate::ways) common: Common,
    pub(in crate::ways) max_redirects: Option<u64>,
}

impl Converted {
    /// Writes the files.
    ///
    /// # Errors
    /// [`ImportError`], if there is no request, or a flow is too long.
    pub(in crate::ways) fn files(self) -> Result<LoadFiles, ImportError> {
        let mut files = BTreeMap::new();
        let mut requests = 0;
        let mut marked = self.marked;
        for entry in &self.entries {
            if !files.contains_key(&entry.file) {
                requests += entry.session.steps.len();
                marked += entry.session.marked;
                files.insert(entry.file.clone(), entry.session.hurl(self.max_redirects)?);
            }
            marked += entry.load.remarks.len();
        }
        if requests == 0 {
            let mut comments = self.entries.iter().flat_map(|entry| &entry.session.comments).chain(&self.remarks);
            let first = comments.next().map_or_else(String::new, |comment| format!("; {comment}"));
            let problem = format!("none of its requests can be read without running it{first}");
            return Err(ImportError::content(place_of(&[], 0), problem));
        }
        let is_used = |file: &str| {
            let mut of_file = self.entries.iter().filter(|entry| entry.file == *file);
            of_file.any(|entry| entry.needs_flow() && !entry.session.steps.is_empty())
        };
        files.retain(|file, _| is_used(file));
        if let Some(setup) = &self.setup {
            marked += setup.marked;
            files.insert("setup.hurl".to_owned(), setup.hurl(self.max_redirects)?);
        }
        let mut notes = vec![format!("{} of {}", counted(requests as u64, "request"), shown(&self.name))];
        if marked > 0 {
            let parts = counted(marked as u64, "part");
            notes.push(format!("{parts} could not be read; comments in the files begin with 'not read'"));
        }
        let missing: BTreeSet<&str> = self.entries.iter().flat_map(Entry::missing).collect();
        if !missing.is_empty() {
            let names: Vec<String> = missing.into_iter().map(str::to_owned).collect();
            notes.push(format!("give these variables with --variable: {}", listed(names.into_iter())));
        }
        let without_rate: Vec<String> =
            self.entries.iter().filter(|entry| entry.needs_rate()).map(|entry| entry.name.clone()).collect();
        if !without_rate.is_empty() {
            let names = listed(without_rate.into_iter());
            notes.push(format!("choose a rate in truetail.toml, because users have none: {names}"));
        }
        let mut files: Vec<(String, String)> = files.into_iter().collect();
        files.push(("truetail.toml".to_owned(), self.toml()));
        Ok(LoadFiles { files, notes })
    }

    fn toml(&self) -> String {
        let mut out = format!(
            "# From {}, which was read and not run. In this folder: truetail run NAME\n\
             # A request counts from the instant at which it was due, and not from its sending: a limit that held before may fail.\n",
            self.name
        );
        if self.entries.len() > 1 {
            let count = self.entries.len();
            out.push_str(&format!(
                "# changed: these {count} loads ran at once; truetail run --all makes one after the other.\n"
            ));
        }
        self.remarks.iter().for_each(|remark| out.push_str(&format!("# {remark}\n")));
        for entry in &self.entries {
            out.push('\n');
            out.push_str(&entry.toml(&self.common));
        }
        out
    }
}
