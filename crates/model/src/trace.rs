//! Ids that find a request again in the traces of the services behind it.
//!
//! The id of a request follows from the key of the run and from the request's index, so a run keeps only its key. All
//! ids of a run begin with the key, and the rest differs between any two requests.

use crate::random::{mix64, unmix64};

/// Header that carries an id.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum TraceFormat {
    /// `traceparent` of the W3C's Trace Context, version 00.
    #[default]
    W3c,
    /// `b3`, the single header of Zipkin's B3.
    B3,
}

impl TraceFormat {
    /// Returns the name of the header.
    pub const fn header(self) -> &'static str {
        match self {
            TraceFormat::W3c => "traceparent",
            TraceFormat::B3 => "b3",
        }
    }

    /// Returns the text that a request has until the value of its header is written over it. The text is as long as the
    /// value. A service ignores it, because an id of zeros is not valid.
    pub const fn placeholder(self) -> &'static str {
        match self {
            TraceFormat::W3c => "00-00000000000000000000000000000000-0000000000000000-00",
            TraceFormat::B3 => "00000000000000000000000000000000-0000000000000000-0",
        }
    }
}

/// The trace ids of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceIds {
    key: u64,
    /// Digits of the key.
    key_digits: [u8; 16],
    /// The key, mixed with the index of a request.
    mixed_key: u64,
    format: TraceFormat,
    /// A request is sampled if its number is not above this.
    sampled_up_to: u64,
}

impl TraceIds {
    /// Creates the ids of a run. `sampled`, from 0 to 1, is the share of requests whose header asks for a trace to be
    /// recorded.
    pub fn new(key: u64, format: TraceFormat, sampled: f64) -> TraceIds {
        // The conversion rounds to the nearest representable number and saturates.
        let sampled_up_to = if sampled >= 1.0 { u64::MAX } else { (sampled * u64::MAX as f64) as u64 };
        let key = key.max(1);
        TraceIds { key, key_digits: hexadecimal(key), mixed_key: mix64(key), format, sampled_up_to }
    }

    /// Returns the header.
    pub const fn format(self) -> TraceFormat {
        self.format
    }

    /// Returns the second half of a trace id, which is also the id of its first span; never 0.
    #[inline]
    const fn own_half(self, index: u64) -> u64 {
        let own = mix64(index ^ self.mixed_key);
        if own == 0 { 1 } else { own }
    }

    /// Returns true if the header asks for the trace of this request to be recorded.
    #[inline]
    pub const fn is_sampled(self, index: u64) -> bool {
        self.is_own_half_sampled(self.own_half(index))
    }

    #[inline]
    const fn is_own_half_sampled(self, own: u64) -> bool {
        mix64(own) <= self.sampled_up_to
    }

    /// Returns the id of the span that is the request itself.
    pub const fn own_id(self, index: u64) -> u64 {
        self.own_half(index)
    }

    /// Returns the trace id of the request with this index: 32 hexadecimal digits.
    pub fn trace_id(self, index: u64) -> String {
        format!("{:016x}{:016x}", self.key, self.own_half(index))
    }

    /// Returns the index of the request with this trace id; `None` if it is not an id of this run.
    pub const fn index_of(self, trace_id: u128) -> Option<u64> {
        let own = trace_id as u64;
        let index = unmix64(own) ^ self.mixed_key;
        if (trace_id >> 64) as u64 == self.key && self.own_half(index) == own { Some(index) } else { None }
    }

    /// Writes the value of the header over the placeholder.
    ///
    /// # Panics
    /// If `place` is not as long as the placeholder.
    #[inline]
    pub fn write(self, index: u64, place: &mut [u8]) {
        let (id, span, flag) = match self.format {
            TraceFormat::W3c => (3, 36, 54),
            TraceFormat::B3 => (0, 33, 50),
        };
        let own_half = self.own_half(index);
        let own = hexadecimal(own_half);
        assert_eq!(place.len(), flag + 1, "the length of the placeholder");
        place[id..id + 16].copy_from_slice(&self.key_digits);
        place[id + 16..id + 32].copy_from_slice(&own);
        place[span..span + 16].copy_from_slice(&own);
        place[flag] = b'0' + u8::from(self.is_own_half_sampled(own_half));
    }
}

/// Returns the 16 lower-case hexadecimal digits of a number.
#[inline]
fn hexadecimal(number: u64) -> [u8; 16] {
    let mut digits = [0; 16];
    digits[..8].copy_from_slice(&eight_digits((number >> 32) as u32));
    digits[8..].copy_from_slice(&eight_digits(number as u32));
    digits
}

/// Returns eight digits, computed side by side in the bytes of one number.
#[inline]
fn eight_digits(number: u32) -> [u8; 8] {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let mut digits = u64::from(number);
    for (shift, mask) in [(16, 0x0000_FFFF_0000_FFFF), (8, 0x00FF_00FF_00FF_00FF), (4, 0x0F0F_0F0F_0F0F_0F0F)] {
        digits = (digits | digits << shift) & mask;
    }
    let are_letters = (digits + 6 * EACH) >> 4 & EACH;
    let to_letters = u64::from(b'a' - 10 - b'0');
    (digits + u64::from(b'0') * EACH + are_letters * to_letters).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn value(ids: TraceIds, index: u64) -> String {
        let mut place = ids.format().placeholder().as_bytes().to_vec();
        ids.write(index, &mut place);
        String::from_utf8(place).unwrap()
    }

    #[test]
    fn every_request_of_a_run_has_an_id_of_its_own() {
        let ids = TraceIds::new(7, TraceFormat::W3c, 1.0);
        let all: HashSet<String> = (0..100_000).map(|index| ids.trace_id(index)).collect();
        assert_eq!(all.len(), 100_000);
        assert!(all.iter().all(|id| id.starts_with("0000000000000007") && id.len() == 32));
        let other = TraceIds::new(8, TraceFormat::W3c, 1.0);
        assert!((0..1_000).all(|index| !all.contains(&other.trace_id(index))));
    }

    #[test]
    fn about_the_share_is_sampled_that_was_asked_for() {
        for (share, low, high) in [(0.0, 0, 0), (0.01, 850, 1_150), (0.5, 49_000, 51_000), (1.0, 100_000, 100_000)] {
            let ids = TraceIds::new(1, TraceFormat::W3c, share);
            let sampled = (0..100_000).filter(|index| ids.is_sampled(*index)).count();
            assert!((low..=high).contains(&sampled), "{share}: {sampled}");
        }
    }

    proptest! {
        #[test]
        fn a_value_is_in_the_form_of_its_standard(key: u64, index: u64, share in 0.0..1.0) {
            for format in [TraceFormat::W3c, TraceFormat::B3] {
                let ids = TraceIds::new(key, format, share);
                let value = value(ids, index);
                let parts: Vec<&str> = value.split('-').collect();
                let sampled = if ids.is_sampled(index) { "1" } else { "0" };
                let trace = ids.trace_id(index);
                let (id, span) = match format {
                    TraceFormat::W3c => {
                        prop_assert_eq!((parts[0], parts[3], parts.len()), ("00", &*format!("0{sampled}"), 4));
                        (parts[1], parts[2])
                    }
                    TraceFormat::B3 => {
                        prop_assert_eq!((parts[2], parts.len()), (sampled, 3));
                        (parts[0], parts[1])
                    }
                };
                prop_assert_eq!(id, &trace);
                let number = u128::from_str_radix(id, 16).unwrap();
                prop_assert_eq!((ids.index_of(number), ids.index_of(number ^ (1 << 64))), (Some(index), None));
                prop_assert_eq!(span, &trace[16..]);
                prop_assert!(span.bytes().any(|digit| digit != b'0') && trace[..16].bytes().any(|digit| digit != b'0'));
            }
        }
    }
}
