//! A histogram of a log as text: Base64 of a deflated HdrHistogram V2.
//!
//! Inflated, it is a head of [`HEAD_BYTES`] and then the counts of all buckets, lowest first. Each is a variable-length
//! number: a count, or if negative, the number of empty buckets.
//!
//! It is decoded here and not by `hdrhistogram`, for two reasons. The `Histogram` of that crate has 270 kB of counts
//! that are cleared and searched for each line, and a long run has thousands of lines, most of them with a few values.
//! For lines with times of up to an hour, a line took 9 µs here and 96 µs there with 8 values, 48 and 138 µs with 200,
//! and 218 and 247 µs with 25,000. And its deserializer allocates as many bytes as the head states, up to 4 GiB, before
//! it reads them.

use std::io::Read;

use base64::Engine;
use flate2::read::ZlibDecoder;
use truetail_model::record::{BUCKETS, lowest_in_bucket};
use truetail_model::time::Nanos;

/// Significant decimal digits of every histogram.
pub(super) const DIGITS: u8 = 3;

/// First bytes of a deflated histogram, and of an inflated one.
const DEFLATED: [u8; 4] = 0x1c84_9314_u32.to_be_bytes();
const INFLATED: u32 = 0x1c84_9313;
/// Bytes before the counts: kind, length of the counts, and fields that are equal in every histogram of a run.
const HEAD_BYTES: usize = 40;
/// Bytes of the longest variable-length number.
const MAX_NUMBER_BYTES: usize = 9;
/// Upper bound of the inflated length of a histogram with three digits: each count has at most nine bytes.
const MAX_INFLATED_BYTES: usize = 1 << 19;

const _: () = assert!(HEAD_BYTES + BUCKETS * MAX_NUMBER_BYTES <= MAX_INFLATED_BYTES);

/// Returns the non-empty buckets of an encoded histogram: (lowest value, count), ascending.
pub(super) fn buckets(text: &str) -> Result<Vec<(Nanos, u64)>, String> {
    let payload = base64::engine::general_purpose::STANDARD
        .decode(text)
        .map_err(|error| format!("the histogram is not valid base64: {error}"))?;
    let inflated = inflate(&payload).map_err(cannot_be_decoded)?;
    let head = Head::read(&inflated).ok_or_else(|| cannot_be_decoded("its head is too short".to_owned()))?;
    head.check()?;
    read_counts(&inflated[HEAD_BYTES..][..head.length]).map_err(cannot_be_decoded)
}

fn cannot_be_decoded(problem: String) -> String {
    format!("the histogram cannot be decoded: {problem}")
}

/// Inflates a histogram. It reads no more than a histogram can have, even if the head states a larger length.
fn inflate(payload: &[u8]) -> Result<Vec<u8>, String> {
    let is_deflated = |(head, _): &(&[u8; 8], &[u8])| head.starts_with(&DEFLATED);
    let Some((_, deflated)) = payload.split_first_chunk().filter(is_deflated) else {
        return Err("it is no deflated histogram of version 2".to_owned());
    };
    let mut inflated = Vec::new();
    let read = ZlibDecoder::new(deflated).take(MAX_INFLATED_BYTES as u64 + 1).read_to_end(&mut inflated);
    read.map_err(|error| error.to_string())?;
    let said = inflated.get(4..8).and_then(|length| length.try_into().ok()).map(u32::from_be_bytes);
    let counts = inflated.len().saturating_sub(HEAD_BYTES);
    match said {
        _ if inflated.len() > MAX_INFLATED_BYTES => {
            Err(format!("it is longer than {MAX_INFLATED_BYTES} bytes, which no histogram of a run is"))
        }
        Some(said) if said as usize <= counts => Ok(inflated),
        _ => Err(format!("it says that {} bytes of counts follow, but {counts} do", said.unwrap_or(0))),
    }
}

/// Head of an inflated histogram, without the highest trackable value, which is not needed.
struct Head {
    kind: u32,
    /// Bytes of the counts.
    length: usize,
    offset: u32,
    digits: u32,
    low: u64,
    ratio: f64,
}

impl Head {
    fn read(bytes: &[u8]) -> Option<Head> {
        let word = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes);
        let long = |at: usize| bytes.get(at..at + 8)?.try_into().ok().map(u64::from_be_bytes);
        Some(Head {
            kind: word(0)?,
            length: word(4)? as usize,
            offset: word(8)?,
            digits: word(12)?,
            low: long(16)?,
            ratio: f64::from_bits(long(32)?),
        })
    }

    fn check(&self) -> Result<(), String> {
        let low = self.low;
        let digits = self.digits;
        if self.kind != INFLATED {
            return Err(cannot_be_decoded("it is no histogram of version 2".to_owned()));
        }
        if self.offset != 0 || self.ratio != 1.0 {
            return Err(cannot_be_decoded("its values are shifted or scaled".to_owned()));
        }
        if (low, digits) != (1, u32::from(DIGITS)) {
            return Err(format!(
                "the histogram counts from {low} with {digits} digits; a run counts from 1 with {DIGITS}"
            ));
        }
        Ok(())
    }
}

fn read_counts(mut bytes: &[u8]) -> Result<Vec<(Nanos, u64)>, String> {
    let mut buckets = Vec::new();
    let mut bucket = 0usize;
    while !bytes.is_empty() {
        let (number, rest) = read_number(bytes).ok_or("its last count is cut off")?;
        bytes = rest;
        let here = bucket;
        let count = u64::try_from(number).unwrap_or(0);
        // A negative number is a number of empty buckets.
        let passed = if number < 0 { number.unsigned_abs() } else { 1 };
        bucket = usize::try_from(passed).ok().and_then(|passed| bucket.checked_add(passed)).unwrap_or(usize::MAX);
        if bucket > BUCKETS {
            return Err("it counts values that are longer than any time".to_owned());
        }
        if count > 0 {
            buckets.push((lowest_in_bucket(here), count));
        }
    }
    Ok(buckets)
}

/// Splits off the first variable-length number; `None` if it is cut off. Each byte has seven bits, lowest first, and an
/// eighth bit if more bytes follow. The ninth byte has eight bits. The lowest bit of the number is the sign.
fn read_number(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let mut number = 0u64;
    for (i, byte) in bytes.iter().take(MAX_NUMBER_BYTES).enumerate() {
        let is_last_possible = i + 1 == MAX_NUMBER_BYTES;
        let bits = if is_last_possible { *byte } else { byte & 0x7f };
        number |= u64::from(bits) << (7 * i);
        if is_last_possible || byte & 0x80 == 0 {
            return Some(((number >> 1) as i64 ^ -((number & 1) as i64), &bytes[i + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
    use proptest::prelude::*;

    use super::*;

    fn encoded(histogram: &Histogram<u64>) -> String {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(histogram, &mut bytes).unwrap();
        base64::engine::general_purpose::STANDARD.encode(bytes)
    }

    /// Values of every magnitude, and counts from 1 to the largest signed number.
    fn counted() -> impl Strategy<Value = Vec<(u64, u64)>> {
        let value = (0u32..62, any::<u64>()).prop_map(|(bits, value)| value & ((1 << (bits + 1)) - 1));
        let count = (0u32..55, any::<u64>()).prop_map(|(bits, count)| (count & ((1 << (bits + 1)) - 1)).max(1));
        proptest::collection::vec((value, count), 0..60)
    }

    proptest! {
        #[test]
        fn what_hdrhistogram_writes_is_read(values in counted()) {
            let mut histogram = Histogram::<u64>::new_with_bounds(1, 1 << 62, DIGITS).unwrap();
            values.iter().for_each(|(value, count)| histogram.record_n(*value, *count).unwrap());
            let recorded = histogram.iter_recorded();
            let of_hdr: Vec<_> = recorded
                .map(|b| (Nanos(histogram.lowest_equivalent(b.value_iterated_to())), b.count_at_value()))
                .collect();
            prop_assert_eq!(buckets(&encoded(&histogram)), Ok(of_hdr));
        }
    }

    #[test]
    fn other_histograms_are_refused() {
        let mut fine = Histogram::<u64>::new_with_bounds(1, 1 << 40, 2).unwrap();
        fine.record(5).unwrap();
        let problem = buckets(&encoded(&fine)).unwrap_err();
        assert_eq!(problem, "the histogram counts from 1 with 2 digits; a run counts from 1 with 3");
        for (counts, says) in [
            (&[0x80][..], "its last count is cut off"),
            (&[0xff; 9], "longer than any time"),
            (&[0xff, 0xff, 0xff, 0x0f, 0x02], "longer than any time"),
        ] {
            let problem = super::read_counts(counts).unwrap_err();
            assert!(problem.contains(says), "{counts:?}: {problem}");
        }
    }
}
