//! A span as the formats have it.

use std::borrow::Cow;

/// Service of spans that do not name theirs, as OpenTelemetry calls it.
pub(crate) const UNKNOWN_SERVICE: &str = "unknown_service";

/// A span as it was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Span<'a> {
    /// `None` if the id has another length than 16 bytes.
    pub trace_id: Option<u128>,
    /// `None` if the id has another length than 8 bytes, or is 0.
    pub id: Option<u64>,
    /// Id of the parent; 0 without one.
    pub parent: Option<u64>,
    /// By the clock of the span's service.
    pub start_ns: u64,
    /// `None` if the span ends before its start. Such a span, and one of more than a week, is damaged.
    pub duration_ns: Option<u64>,
    pub service: Cow<'a, str>,
    pub name: Cow<'a, str>,
    /// True if its kind says that the parent is in another process, so that their clocks cannot be compared.
    pub is_remote: bool,
}

/// Receiver of the spans of a message, in their order.
pub(crate) trait SpanSink {
    /// Takes a span.
    fn span(&mut self, span: &Span<'_>);

    /// Takes notice of a span that was left out because there are too many.
    fn left_out(&mut self);
}

/// Returns the number of a hexadecimal id of at most `digits` digits; a text without digits is 0.
pub(crate) fn from_digits(text: &str, digits: usize) -> Option<u128> {
    let is_id = text.len() <= digits && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = || u128::from_str_radix(text, 16).ok();
    if text.is_empty() { Some(0) } else { Some(()).filter(|()| is_id).and_then(|()| number()) }
}
