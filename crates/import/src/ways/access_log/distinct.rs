use std::collections::HashMap;

use super::request::Asked;

/// Limit on the bytes of distinct requests. A run in `truetail_engine`, which this crate does not use, has the same.
const MAX_BYTES: u64 = 1 << 30;

/// Distinct requests of a log, with their numbers.
pub(super) struct Distinct {
    numbers: HashMap<Asked, u32>,
    bytes: u64,
    most: u64,
}

impl Distinct {
    pub(super) fn new() -> Distinct {
        Distinct { numbers: HashMap::new(), bytes: 0, most: MAX_BYTES }
    }

    pub(super) fn number(&mut self, asked: Asked) -> u32 {
        if let Some(number) = self.numbers.get(&asked) {
            return *number;
        }
        let number = self.numbers.len() as u32;
        self.bytes += bytes(&asked);
        self.numbers.insert(asked, number);
        number
    }

    /// Returns an error message if the requests exceed the limit.
    pub(super) fn too_many(&self) -> Option<String> {
        let help = "take a part of the log with --from and --to";
        (self.bytes > self.most)
            .then(|| format!("the different requests of the log need more than {} MiB; {help}", self.most >> 20))
    }

    pub(super) fn into_requests(self) -> Vec<Asked> {
        let mut all: Vec<(Asked, u32)> = self.numbers.into_iter().collect();
        all.sort_unstable_by_key(|(_, number)| *number);
        all.into_iter().map(|(asked, _)| asked).collect()
    }
}

/// Returns the memory of a request in bytes. Its host is also stored among all hosts.
fn bytes(asked: &Asked) -> u64 {
    let host = asked.host.as_ref().map_or(0, |host| 2 * host.len());
    (size_of::<Asked>() + asked.method.len() + asked.target.len() + host) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(target: String) -> Asked {
        Asked { method: "GET".to_owned(), target, host: None }
    }

    #[test]
    fn each_request_is_kept_once_and_not_too_many_are() {
        let mut distinct = Distinct { most: 4 << 20, ..Distinct::new() };
        let path = |n: usize| format!("/{n}{}", "x".repeat(1 << 20));
        let numbers: Vec<u32> = [0, 1, 0, 2, 1].map(|n| distinct.number(asked(path(n)))).to_vec();
        assert_eq!((numbers, distinct.too_many()), (vec![0, 1, 0, 2, 1], None));
        distinct.number(asked(path(3)));
        assert!(distinct.too_many().is_some_and(|why| why.contains("more than 4 MiB")));
        let all = distinct.into_requests();
        assert!(all.iter().enumerate().all(|(n, asked)| asked.target == path(n)), "by number");
    }
}
