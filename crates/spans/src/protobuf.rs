//! Spans of an OTLP message in protobuf encoding.
//!
//! Messages are read in place: a struct for each message, as generated code has, would take up to a hundred bytes of
//! memory for two bytes of input. The numbers of the fields are from `opentelemetry-proto` 1.x: the files
//! `collector/trace/v1/trace_service.proto`, `trace/v1/trace.proto`, `resource/v1/resource.proto` and
//! `common/v1/common.proto`. The encoding is the one of <https://protobuf.dev/programming-guides/encoding/>.

use crate::span::{Span, SpanSink, UNKNOWN_SERVICE};

/// `SpanKind`: its parent is in another process.
const SERVER: u64 = 2;
const CONSUMER: u64 = 5;

/// A message that is cut off, or not protobuf. Holds what is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Malformed(pub &'static str);

/// Passes the spans of an `ExportTraceServiceRequest` to `sink`.
pub(crate) fn read(message: &[u8], sink: &mut impl SpanSink) -> Result<(), Malformed> {
    for_each_message(message, 1, |resource_spans| {
        let mut service = UNKNOWN_SERVICE.to_owned();
        // The resource may follow the spans.
        for_each_message(resource_spans, 1, |resource| {
            for_each_message(resource, 1, |attribute| read_service(attribute, &mut service))
        })?;
        for_each_message(resource_spans, 2, |scope_spans| {
            for_each_message(scope_spans, 2, |span| {
                sink.span(&read_span(span, &service)?);
                Ok(())
            })
        })
    })
}

/// Reads a `KeyValue`. If it is the name of the service, replaces `service`.
fn read_service(attribute: &[u8], service: &mut String) -> Result<(), Malformed> {
    let mut is_name = false;
    for_each_message(attribute, 1, |key| {
        is_name = key == b"service.name";
        Ok(())
    })?;
    if !is_name {
        return Ok(());
    }
    for_each_message(attribute, 2, |value| {
        for_each_message(value, 1, |text| {
            *service = String::from_utf8_lossy(text).into_owned();
            Ok(())
        })
    })
}

fn read_span<'a>(message: &'a [u8], service: &'a str) -> Result<Span<'a>, Malformed> {
    let mut span = Span {
        trace_id: None,
        id: None,
        parent: Some(0),
        start_ns: 0,
        duration_ns: None,
        service: service.into(),
        name: "".into(),
        is_remote: false,
    };
    let mut end_ns = 0;
    for field in Fields(message) {
        match field? {
            (1, Value::Bytes(id)) => span.trace_id = id.try_into().ok().map(u128::from_be_bytes),
            (2, Value::Bytes(id)) => span.id = id_of(id).filter(|id| *id != 0),
            (4, Value::Bytes(id)) => span.parent = if id.is_empty() { Some(0) } else { id_of(id) },
            (5, Value::Bytes(name)) => span.name = String::from_utf8_lossy(name),
            (6, Value::Varint(kind)) => span.is_remote = matches!(kind, SERVER | CONSUMER),
            (7, Value::Fixed(start_ns)) => span.start_ns = start_ns,
            (8, Value::Fixed(ns)) => end_ns = ns,
            _ => {}
        }
    }
    span.duration_ns = end_ns.checked_sub(span.start_ns);
    Ok(span)
}

fn id_of(bytes: &[u8]) -> Option<u64> {
    bytes.try_into().ok().map(u64::from_be_bytes)
}

/// Calls `read` for each field of this number that has bytes: texts, and messages inside this one.
fn for_each_message<'a>(
    message: &'a [u8],
    number: u64,
    mut read: impl FnMut(&'a [u8]) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    for field in Fields(message) {
        if let (found, Value::Bytes(bytes)) = field?
            && found == number
        {
            read(bytes)?;
        }
    }
    Ok(())
}

/// Value of a field.
enum Value<'a> {
    Varint(u64),
    /// A number of 8 bytes.
    Fixed(u64),
    Bytes(&'a [u8]),
    /// A number of 4 bytes, which no field here has.
    Short,
}

/// The fields of a message, each with its number. Ends after an error.
struct Fields<'a>(&'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.0 = &[];
        }
        Some(field)
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self) -> Result<(u64, Value<'a>), Malformed> {
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed(u64::from_le_bytes(self.take(8)?.try_into().expect("8 bytes"))),
            2 => {
                let length = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
                Value::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| Value::Short)?,
            _ => return Err(Malformed("it has a field of an unknown kind")),
        };
        Ok((key >> 3, value))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed("it is cut off"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut number = 0;
        for place in 0..10 {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Malformed("it has a number of more than ten bytes"))
    }
}
