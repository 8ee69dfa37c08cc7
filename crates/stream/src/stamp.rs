//! Reads the sender's time in a push.

use serde_json::Value;
use truetail_run::StampUnit;

/// Largest push whose time is read: 1 MiB.
pub(crate) const MAX_PUSH: usize = 1 << 20;
/// Digits after the point that are read.
const MAX_DECIMALS: usize = 9;

/// A sender's time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    pub(crate) unix_ns: u64,
    /// The step of its last digit.
    pub(crate) step_ns: u64,
}

/// Returns the time at this pointer of a push that is JSON: a number, or a text of one.
pub(crate) fn stamp(push: &[u8], pointer: &str, unit: StampUnit) -> Option<Stamp> {
    let value: Value = serde_json::from_slice(push).ok()?;
    match value.pointer(pointer)? {
        Value::Number(number) => decimal(&number.to_string(), unit),
        Value::String(text) => decimal(text.trim(), unit),
        _ => None,
    }
}

fn decimal(text: &str, unit: StampUnit) -> Option<Stamp> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let decimals = decimals.trim_end_matches('0');
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !are_digits(whole) || !are_digits(decimals) || decimals.len() > MAX_DECIMALS {
        return None;
    }
    let scale = 10_u64.pow(decimals.len() as u32);
    let part = if decimals.is_empty() { 0 } else { decimals.parse::<u64>().ok()? };
    let fraction = u128::from(part) * u128::from(unit.ns()) / u128::from(scale);
    let unix_ns = whole.parse::<u64>().ok()?.checked_mul(unit.ns())?.checked_add(fraction as u64)?;
    Some(Stamp { unix_ns, step_ns: (unit.ns() / scale).max(1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_their_texts_are_times() {
        let read = |push: &str, unit| stamp(push.as_bytes(), "/a/ts", unit).map(|stamp| (stamp.unix_ns, stamp.step_ns));
        for (push, unit, expected) in [
            (r#"{"a":{"ts":1764237600012}}"#, StampUnit::Ms, Some((1_764_237_600_012_000_000, 1_000_000))),
            (r#"{"a":{"ts":1764237600.5}}"#, StampUnit::S, Some((1_764_237_600_500_000_000, 100_000_000))),
            (r#"{"a":{"ts":"1764237600.012345678"}}"#, StampUnit::S, Some((1_764_237_600_012_345_678, 1))),
            (r#"{"a":{"ts":1764237600012345678}}"#, StampUnit::Ns, Some((1_764_237_600_012_345_678, 1))),
            (r#"{"a":{"ts":12}}"#, StampUnit::Us, Some((12_000, 1_000))),
            (r#"{"a":{"ts":-1}}"#, StampUnit::Ms, None),
            (r#"{"a":{"ts":1e30}}"#, StampUnit::Ms, None),
            (r#"{"a":{"ts":18446744073709551615}}"#, StampUnit::Ms, None),
            (r#"{"a":{"ts":"soon"}}"#, StampUnit::Ms, None),
            (r#"{"a":{"ts":"1.0000000001"}}"#, StampUnit::S, None),
            (r#"{"a":{"ts":"."}}"#, StampUnit::S, None),
            (r#"{"a":{"ts":null}}"#, StampUnit::S, None),
            (r#"{"a":{}}"#, StampUnit::S, None),
            ("tick", StampUnit::S, None),
        ] {
            assert_eq!(read(push, unit), expected, "{push}");
        }
    }
}
