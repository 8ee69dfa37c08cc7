//! Values that a message gets when it begins: `{{seq}}`, the index of its arrival in the whole schedule, from 0.

use memchr::memmem;
use truetail_model::arrival::Arrival;

use super::framing::{Framing, redis_command};
use crate::target::request_set::{RequestId, RequestSet};

const SEQ: &[u8] = b"{{seq}}";

/// The targets whose messages have built-in values.
#[derive(Clone, Debug)]
pub(super) struct BuiltIns {
    by_target: Vec<bool>,
    is_redis: bool,
}

impl BuiltIns {
    pub(super) fn new(requests: &RequestSet, framing: &Framing) -> BuiltIns {
        let has_some = |target: &crate::target::target_requests::TargetRequests| {
            target.iter().any(|message| memmem::find(message, SEQ).is_some())
        };
        let by_target = requests.targets().iter().map(has_some).collect();
        BuiltIns { by_target, is_redis: *framing == Framing::Redis }
    }

    /// Returns the message with its values; `None` if it has none.
    #[inline]
    pub(super) fn filled(&self, id: RequestId, message: &[u8], arrival: Arrival) -> Option<Vec<u8>> {
        if !self.by_target[id.target as usize] {
            return None;
        }
        let seq = arrival.index.to_string();
        Some(match self.is_redis {
            true => redis_command(&words(message).map(|word| fill(word, &seq)).collect::<Vec<_>>()),
            false => fill(message, &seq),
        })
    }
}

/// Returns the message that `{{seq}}` makes of a text for the arrival of this index.
pub fn with_sequence_number(text: &[u8], index: u64) -> Vec<u8> {
    fill(text, &index.to_string())
}

fn fill(text: &[u8], seq: &str) -> Vec<u8> {
    let mut filled = Vec::with_capacity(text.len() + seq.len());
    let mut from = 0;
    for at in memmem::find_iter(text, SEQ) {
        filled.extend_from_slice(&text[from..at]);
        filled.extend_from_slice(seq.as_bytes());
        from = at + SEQ.len();
    }
    filled.extend_from_slice(&text[from..]);
    filled
}

/// Returns the words of a command that [`redis_command`] made.
fn words(command: &[u8]) -> impl Iterator<Item = &[u8]> {
    let line = |bytes: &[u8]| memmem::find(bytes, b"\r\n").unwrap_or(bytes.len());
    let mut rest = command.get(line(command) + 2..).unwrap_or_default();
    std::iter::from_fn(move || {
        let end = line(rest);
        let length: usize = std::str::from_utf8(rest.get(1..end)?).ok()?.parse().ok()?;
        let word = rest.get(end + 2..end + 2 + length)?;
        rest = rest.get(end + 4 + length..).unwrap_or_default();
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_is_filled_in_wherever_it_stands() {
        assert_eq!(fill(b"{{seq}}-a-{{seq}}", "12"), b"12-a-12");
        assert_eq!(fill(b"{{seq}", "12"), b"{{seq}");
        let command = redis_command(&["SET", "key:{{seq}}", "a\r\n{{seq}}"]);
        let filled: Vec<_> = words(&command).map(|word| fill(word, "100")).collect();
        assert_eq!(redis_command(&filled), redis_command(&["SET", "key:100", "a\r\n100"]));
    }
}
