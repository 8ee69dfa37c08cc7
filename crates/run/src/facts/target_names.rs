//! Names of targets.

use std::collections::{HashMap, HashSet};

use super::mix::MixTarget;
use super::offered::OfferedLoad;

impl OfferedLoad {
    /// Returns the name of each target, which gates and findings use: its own name, or else method and path with query,
    /// such as `GET /items`. If the targets have several origins, the name has the whole URL. The second target of the
    /// same name is `GET /items #2`. Empty if no target has a URL.
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

/// Makes names unique: the second `GET /items` becomes `GET /items #2`.
#[derive(Default, Debug)]
pub struct UniqueNames {
    taken: HashSet<String>,
    /// Last number of each name, so that many equal names take linear time.
    used: HashMap<String, usize>,
}

impl UniqueNames {
    /// Returns `name`, or with the next number that makes it unique.
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

/// Splits a URL, which may have placeholders, into origin and path: `http://host:8080` and `/items?page={{n}}`.
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
