//! What targets are called.

use std::collections::{HashMap, HashSet};

use super::mix::MixTarget;
use super::offered::OfferedLoad;

impl OfferedLoad {
    /// The name of each target, by which gates and findings call it: its own, or method and path with its query, such as
    /// `GET /items`; where they have several origins, with the whole URL. The second of the same name is `GET /items #2`. Empty
    /// where nothing has a URL.
    pub fn target_names(&self) -> Vec<String> {
        let by_path = |method: &str, url: &str| format!("{method} {}", split_origin(url).1);
        let called = |target: &MixTarget, has_one_origin: bool| match &target.name {
            Some(name) => name.clone(),
            None if has_one_origin => by_path(&target.method, &target.url),
            None => format!("{} {}", target.method, target.url),
        };
        let several: Vec<String> = match &self.mix {
            Some(mix) => {
                let mut origins = mix.targets.iter().map(|target| split_origin(&target.url).0);
                let first = origins.next();
                let has_one_origin = origins.all(|origin| Some(origin) == first);
                mix.targets.iter().map(|target| called(target, has_one_origin)).collect()
            }
            None => self.method.iter().zip(&self.url).map(|(method, url)| by_path(method, url)).collect(),
        };
        let mut names = UniqueNames::default();
        several.into_iter().map(|name| names.unique(name)).collect()
    }
}

/// Gives each name once: the second `GET /items` is `GET /items #2`.
#[derive(Default, Debug)]
pub struct UniqueNames {
    taken: HashSet<String>,
    /// The number of the last of each name, so that many of one name take no time.
    used: HashMap<String, usize>,
}

impl UniqueNames {
    /// This name, or the next one of it that is not taken.
    pub fn unique(&mut self, name: String) -> String {
        let number = self.used.entry(name.clone()).or_insert(0);
        loop {
            *number += 1;
            let candidate = if *number == 1 { name.clone() } else { format!("{name} #{number}") };
            if self.taken.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}

/// The two parts of a URL, which may have placeholders: `http://host:8080` and `/items?page={{n}}`. Without a path it is `/`.
pub fn split_origin(url: &str) -> (&str, &str) {
    let host = url.find("://").map_or(0, |at| at + 3);
    match url[host..].find('/') {
        Some(at) => url.split_at(host + at),
        None => (url, "/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_given_once() {
        let mut names = UniqueNames::default();
        let given = ["a", "a", "a #2", "b", "a"].map(|name| names.unique(name.to_owned()));
        assert_eq!(given, ["a", "a #2", "a #2 #2", "b", "a #3"]);
    }

    #[test]
    fn a_path_begins_after_the_host() {
        for (url, origin, path) in [
            ("http://127.0.0.1:8080/api/{{id}}?x=1", "http://127.0.0.1:8080", "/api/{{id}}?x=1"),
            ("https://host", "https://host", "/"),
            ("http://[::1]:80/", "http://[::1]:80", "/"),
            ("/items", "", "/items"),
        ] {
            assert_eq!(split_origin(url), (origin, path), "{url}");
        }
    }
}
