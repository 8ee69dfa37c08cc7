//! Spans in JSON, read piece by piece, so that a message may have any length. Memory holds one span of OTLP, or one
//! trace of Jaeger, because the names of a trace's services follow its spans. The reader of a file limits the bytes of
//! such a piece.
//!
//! | module | content |
//! |---|---|
//! | `pieces` | objects and arrays whose parts are handed on as they are read |
//! | `scalar` | numbers, which some write as texts |
//! | `otlp` | OTLP in JSON |
//! | `jaeger` | traces as Jaeger exports them |

mod jaeger;
mod otlp;
mod pieces;
mod scalar;

use serde::de::{DeserializeSeed, MapAccess};
use serde_json::Deserializer;
use serde_json::de::Read;

use crate::span::SpanSink;
use pieces::{Object, Objects, Parts};

/// Formats that a message may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Formats {
    /// OTLP only.
    Otlp,
    /// OTLP, or traces of Jaeger.
    Any,
}

/// Passes the spans of the next message to `sink`.
pub(crate) fn read<'de, R: Read<'de>>(
    input: &mut Deserializer<R>,
    formats: Formats,
    sink: &mut impl SpanSink,
) -> serde_json::Result<()> {
    let mut message = Message { sink, formats, has_traces: false };
    Object(&mut message).deserialize(input)?;
    match message.has_traces {
        true => Ok(()),
        false => Err(serde::de::Error::custom("it has no \"resourceSpans\"")),
    }
}

/// The outermost object.
struct Message<'s, S> {
    sink: &'s mut S,
    formats: Formats,
    has_traces: bool,
}

impl<S: SpanSink> Parts for Message<'_, S> {
    fn part<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        let is_any = self.formats == Formats::Any;
        match name {
            "resourceSpans" => map.next_value_seed(Objects(&mut otlp::ResourceSpans::new(self.sink)))?,
            // Jaeger wraps OTLP too, in answers of its third API.
            "result" if is_any => return map.next_value_seed(Object(self)).map(|()| true),
            "data" if is_any => map.next_value_seed(Objects(&mut jaeger::Trace::new(self.sink)))?,
            _ => return Ok(false),
        }
        self.has_traces = true;
        Ok(true)
    }
}
