//! Links in the documents: each leads to an existing file and heading, and the table of contents lists every page.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::documented::{pages, root};

/// Returns the page without code, whose brackets are no links.
fn prose(page: &str) -> String {
    let mut fenced = false;
    let mut kept = String::new();
    for line in page.lines() {
        fenced ^= line.starts_with("```");
        if !fenced && !line.starts_with("    ") {
            let text = line.split('`').enumerate().filter(|(place, _)| place % 2 == 0).map(|(_, text)| text);
            kept += &text.collect::<String>();
        }
        kept.push('\n');
    }
    kept
}

/// Returns the targets of links inside the repository.
fn links(page: &str) -> Vec<String> {
    let prose = prose(page);
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    targets.filter(|target| !target.contains("://")).map(str::to_owned).collect()
}

/// Returns the anchors of a page's headings: lower case, '-' for blanks, no punctuation.
fn headings(page: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let mut names = BTreeSet::new();
    for line in page.lines() {
        fenced ^= line.starts_with("```");
        if let Some(heading) = line.strip_prefix('#').filter(|_| !fenced) {
            let text = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            names.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
        }
    }
    names
}

/// Returns the path of a link's target, from the root of the repository.
fn resolved(page: &Path, target: &str) -> PathBuf {
    let mut path = page.parent().expect("a folder").to_owned();
    for part in target.split('/') {
        match part {
            "." => {}
            ".." => assert!(path.pop(), "{target} in {}", page.display()),
            name => path.push(name),
        }
    }
    path
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut found = 0;
    for (path, page) in pages() {
        for link in links(&page) {
            found += 1;
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let linked = if file.is_empty() { path.clone() } else { resolved(&path, file) };
            assert!(linked.is_file(), "{} links to {link}, and {} is no file", path.display(), linked.display());
            if !heading.is_empty() {
                let text = std::fs::read_to_string(&linked).expect("a page");
                assert!(headings(&text).contains(heading), "{} links to {link}: no such heading", path.display());
            }
        }
    }
    assert!(found > 200, "{found} links");
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let summary = root().join("docs/SUMMARY.md");
    let text = std::fs::read_to_string(&summary).expect("a table of contents");
    let listed: Vec<_> = links(&text).iter().map(|link| resolved(&summary, link)).collect();
    let distinct: BTreeSet<_> = listed.iter().collect();
    assert_eq!(distinct.len(), listed.len(), "a page is listed twice");
    let elsewhere = [summary, root().join("bindings/python/README.md")];
    for (path, _) in pages() {
        assert!(elsewhere.contains(&path) || listed.contains(&path), "docs/SUMMARY.md lacks {}", path.display());
    }
}

#[test]
fn headings_and_links_are_found() {
    let page = "# One: `--two`\n[a](b.md#c) `[x](no)` and [d](https://e.test)\n```\n# no\n[n](no)\n```\n    [n](no)\n";
    assert_eq!(links(page), ["b.md#c"]);
    assert_eq!(headings(page).into_iter().collect::<Vec<_>>(), ["one---two"]);
}
