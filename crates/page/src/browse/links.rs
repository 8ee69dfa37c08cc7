//! Addresses of pages.

use std::collections::{HashMap, HashSet};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

const PLAIN: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Percent-encodes a text, so that none of its characters has a meaning in an address.
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, &PLAIN).to_string()
}

/// The pages that an export has.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ExportedPages {
    /// Folders of the runs with a page.
    pub runs: HashSet<String>,
    /// Series with a page, and the number of each.
    pub series: HashMap<String, usize>,
    /// Pairs of folders with a page, and the number of each.
    pub pairs: HashMap<(String, String), usize>,
}

/// Addresses of the pages of a site.
#[derive(Clone, Copy, Debug)]
pub enum Links<'a> {
    /// Absolute paths on a server that has every page.
    Served,
    /// Relative paths among exported files.
    Exported {
        /// The pages that exist.
        pages: &'a ExportedPages,
        /// Path from the page with the link to the top folder: empty, or `../` once or more.
        up: &'a str,
    },
}

impl Links<'_> {
    /// Returns the address of a page of the list, counted from 0, with the query of a [`super::RunQuery`].
    pub fn list(&self, page: usize, query: &str) -> String {
        match self {
            Links::Served if query.is_empty() => "/".to_owned(),
            Links::Served => format!("/?{query}"),
            Links::Exported { up, .. } => format!("{up}{}", ExportedPages::list_file(page)),
        }
    }

    /// Returns the address of the page of the run in `folder`, below the folder of the site.
    pub fn run(&self, folder: &str) -> Option<String> {
        let parts: Vec<String> = folder.split('/').map(encoded).collect();
        let path = parts.join("/");
        match self {
            Links::Served => Some(format!("/run/{path}")),
            Links::Exported { pages, up } => pages.runs.contains(folder).then(|| format!("{up}run/{path}/index.html")),
        }
    }

    /// Returns the address of the page of a series.
    pub fn series(&self, key: &str) -> Option<String> {
        match self {
            Links::Served => Some(format!("/series?of={}", encoded(key))),
            Links::Exported { pages, up } => {
                pages.series.get(key).map(|number| format!("{up}{}", ExportedPages::series_file(*number)))
            }
        }
    }

    /// Returns the address of the comparison of two runs.
    pub fn compare(&self, a: &str, b: &str) -> Option<String> {
        match self {
            Links::Served => Some(format!("/compare?run={}&run={}", encoded(a), encoded(b))),
            Links::Exported { pages, up } => {
                let number = pages.pairs.get(&(a.to_owned(), b.to_owned()))?;
                Some(format!("{up}{}", ExportedPages::pair_file(*number)))
            }
        }
    }

    pub(super) fn are_served(&self) -> bool {
        matches!(self, Links::Served)
    }
}

impl ExportedPages {
    /// Returns the file of a page of the list, counted from 0.
    pub fn list_file(page: usize) -> String {
        if page == 0 { "index.html".to_owned() } else { format!("page-{}.html", page + 1) }
    }

    /// Returns the file of the series with this number.
    pub fn series_file(number: usize) -> String {
        format!("series/{number}.html")
    }

    /// Returns the file of the pair with this number.
    pub fn pair_file(number: usize) -> String {
        format!("compare/{number}.html")
    }

    /// Returns the file of the run in `folder`.
    pub fn run_file(folder: &str) -> String {
        format!("run/{folder}/index.html")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_of_a_folder_has_a_meaning() {
        let links = Links::Served;
        assert_eq!(links.run("a b/<c>?#%").as_deref(), Some("/run/a%20b/%3Cc%3E%3F%23%25"));
        assert_eq!(links.series("a&of=b").as_deref(), Some("/series?of=a%26of%3Db"));
        assert_eq!(links.compare("a&", "b").as_deref(), Some("/compare?run=a%26&run=b"));
        assert_eq!([links.list(3, ""), links.list(3, "page=4")], ["/", "/?page=4"]);
    }

    #[test]
    fn an_export_links_only_to_files_that_it_has() {
        let pages = ExportedPages {
            runs: HashSet::from(["a/b".to_owned()]),
            series: HashMap::from([("x".to_owned(), 2)]),
            pairs: HashMap::from([(("a".to_owned(), "b".to_owned()), 5)]),
        };
        let links = Links::Exported { pages: &pages, up: "../" };
        assert_eq!(links.run("a/b").as_deref(), Some("../run/a/b/index.html"));
        assert_eq!(links.series("x").as_deref(), Some("../series/2.html"));
        assert_eq!(links.compare("a", "b").as_deref(), Some("../compare/5.html"));
        assert_eq!([links.run("c"), links.series("y"), links.compare("b", "a")], [None, None, None]);
        assert_eq!([links.list(0, "x"), links.list(1, "x")], ["../index.html", "../page-2.html"]);
    }
}
