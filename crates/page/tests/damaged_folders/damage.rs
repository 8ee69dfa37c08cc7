//! Damage to the files of a run folder.

use proptest::prelude::*;
use proptest::sample::Index;
use truetail_run::folder;

const EDGES: [u64; 15] = [
    0,
    1,
    2,
    9,
    1_000_000_000,
    1 << 31,
    (1 << 32) - 1,
    (1 << 47) - 1,
    1 << 48,
    (1 << 53) + 1,
    1 << 60,
    (1 << 60) + 1,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

#[derive(Clone, Debug)]
pub enum Damage {
    /// Replaces a byte.
    Byte(Index, u8),
    /// Cuts off the end.
    Cut(Index),
    /// Replaces a number by one of [`EDGES`].
    Number(Index, Index),
    /// Increments or decrements a number.
    Step(Index, bool),
    /// Removes a line.
    Lose(Index),
    /// Duplicates a line.
    Double(Index),
    /// Swaps two lines.
    Swap(Index, Index),
}

/// Returns damage of any kind, most often to numbers.
pub fn damages() -> impl Strategy<Value = Damage> {
    let place = any::<Index>;
    prop_oneof![
        1 => (place(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        1 => place().prop_map(Damage::Cut),
        8 => (place(), place()).prop_map(|(at, number)| Damage::Number(at, number)),
        3 => (place(), any::<bool>()).prop_map(|(at, up)| Damage::Step(at, up)),
        1 => place().prop_map(Damage::Lose),
        1 => place().prop_map(Damage::Double),
        1 => (place(), place()).prop_map(|(a, b)| Damage::Swap(a, b)),
    ]
}

/// Returns a file of a folder, most often one with independent numbers: damage to other files is nearly always refused.
pub fn names() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        5 => Just(folder::RUN),
        4 => Just(folder::SAMPLES),
        4 => Just(folder::STREAMS),
        4 => Just(folder::SESSIONS),
        1 => Just(folder::TIMELINE),
        1 => Just(folder::HISTOGRAMS),
    ]
}

impl Damage {
    pub fn apply(&self, text: Vec<u8>) -> Vec<u8> {
        if text.is_empty() {
            return text;
        }
        match self {
            Damage::Byte(at, byte) => {
                let mut text = text;
                let at = at.index(text.len());
                text[at] = *byte;
                text
            }
            Damage::Cut(at) => text[..at.index(text.len())].to_vec(),
            Damage::Number(at, number) => replaced(text, at, |_| EDGES[number.index(EDGES.len())]),
            Damage::Step(at, up) => {
                replaced(text, at, |number| if *up { number.saturating_add(1) } else { number.saturating_sub(1) })
            }
            Damage::Lose(_) | Damage::Double(_) | Damage::Swap(..) => self.apply_to_lines(&text),
        }
    }

    fn apply_to_lines(&self, text: &[u8]) -> Vec<u8> {
        let mut lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let n = lines.len();
        match self {
            Damage::Lose(at) => drop(lines.remove(at.index(n))),
            Damage::Double(at) => lines.insert(at.index(n), lines[at.index(n)]),
            Damage::Swap(a, b) => lines.swap(a.index(n), b.index(n)),
            Damage::Byte(..) | Damage::Cut(_) | Damage::Number(..) | Damage::Step(..) => {}
        }
        lines.concat()
    }
}

fn replaced(text: Vec<u8>, at: &Index, number: impl Fn(u64) -> u64) -> Vec<u8> {
    let is_digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    let begins: Vec<usize> = (0..text.len()).filter(|at| is_digit(*at) && (*at == 0 || !is_digit(at - 1))).collect();
    if begins.is_empty() {
        return text;
    }
    let begin = begins[at.index(begins.len())];
    let end = (begin..).find(|at| !is_digit(*at)).unwrap_or(text.len());
    let old = std::str::from_utf8(&text[begin..end]).ok().and_then(|digits| digits.parse().ok()).unwrap_or(0);
    [&text[..begin], number(old).to_string().as_bytes(), &text[end..]].concat()
}
