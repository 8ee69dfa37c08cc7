use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher, Hasher};

/// Limit on the names. A larger number means that they are not users but, for example, identifiers of requests.
const MOST: usize = 1 << 20;

/// Numbers the names of threads, virtual users and connections in order of appearance. Only hashes are kept, so two of
/// a million names collide with a probability of 3 in 10⁸.
#[derive(Default, Debug)]
pub(crate) struct Workers {
    numbers: HashMap<u64, u32, BuildHasherDefault<Hashed>>,
    too_many: bool,
}

impl Workers {
    /// Returns the number of a name, or `None` if it is empty, or new and beyond the limit.
    pub(crate) fn number(&mut self, name: &[u8]) -> Option<u32> {
        if name.is_empty() {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        hasher.write(name);
        let hash = hasher.finish();
        let next = self.numbers.len();
        match self.numbers.get(&hash) {
            Some(number) => Some(*number),
            None if next < MOST => {
                self.numbers.insert(hash, next as u32);
                Some(next as u32)
            }
            None => {
                self.too_many = true;
                None
            }
        }
    }

    /// Returns a note if the names exceeded the limit.
    pub(crate) fn note(&self) -> Option<String> {
        self.too_many.then(|| format!("more than {MOST} workers are named; requests of further ones have no worker"))
    }
}

/// Hasher for values that are hashes already.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(self.0.rotate_left(8) ^ u64::from(*byte)));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_as_they_appear() {
        let mut workers = Workers::default();
        let numbers = ["users 1-2", "users 1-1", "", "users 1-2"].map(|name| workers.number(name.as_bytes()));
        assert_eq!(numbers, [Some(0), Some(1), None, Some(0)]);
        assert_eq!(workers.note(), None);
    }
}
