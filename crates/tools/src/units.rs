//! Times and numbers as tools print them.

use truetail_model::time::Nanos;

/// `12.3us`, `12.3µs`, `4ms`, `1.2s`, `2m`, `1h`, with or without a space before the unit.
pub fn duration(text: &str) -> Option<Nanos> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic() || c == 'µ' || c == 'μ')?;
    let per_unit = match &text[end..] {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3_600e9,
        _ => return None,
    };
    scaled(&text[..end], per_unit)
}

/// A plain number of seconds.
pub fn seconds(text: &str) -> Option<Nanos> {
    scaled(text, 1e9)
}

/// A plain number of milliseconds.
pub fn millis(text: &str) -> Option<Nanos> {
    scaled(text, 1e6)
}

/// A plain number of microseconds.
pub fn micros(text: &str) -> Option<Nanos> {
    scaled(text, 1e3)
}

/// A number times `per_unit`, rounded to whole nanoseconds; `None` for what is no number, negative, or more than fits.
pub fn scaled(text: &str, per_unit: f64) -> Option<Nanos> {
    let ns = text.trim().parse::<f64>().ok()? * per_unit;
    (ns.is_finite() && (0.0..1.8e19).contains(&ns)).then(|| Nanos(ns.round() as u64))
}
