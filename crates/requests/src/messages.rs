//! Messages for channels, with placeholders filled in from rows.

use std::borrow::Cow;

use std::sync::Arc;

use truetail_engine::{
    FeedOrder, MAX_REQUEST_SET_BYTES, MakeRequest, MessageOptions, Method, RequestId, RequestParts, RequestSet,
    TargetRequests, redis_command,
};

use crate::built_in::{ArrivalValues, BuiltIn};
use crate::names::{Name, Names};
use crate::placeholder::placeholders;
use crate::prepare::{KeptRow, Size, TRIED, built_ins};
use crate::rows::NamedField;
use crate::{BodyEncoder, Feed, InputError, Location};

/// The name in reports of the method of every message.
const METHOD: &str = "SEND";
/// Index of a late arrival, whose number has more digits than the first.
const LATE: u64 = 1_000_000_000;
/// The content of a message, with placeholders.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MessageContent {
    /// The bytes between two frames.
    Bytes(Vec<u8>),
    /// The words of a command for Redis.
    Command(Vec<Vec<u8>>),
}

/// A message as it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageSpec {
    /// Location of its text, for error messages.
    pub location: Location,
    /// URL of its channel.
    pub url: String,
    /// Its content.
    pub content: MessageContent,
    /// Encoder of its content, after the placeholders are filled in.
    pub encoder: Option<BodyEncoder>,
}

enum Piece {
    Literal(Vec<u8>),
    Field(usize),
    Value(BuiltIn),
}

/// The parts of a message: one, or the words of a command.
struct Parts {
    parts: Vec<Vec<Piece>>,
    are_words: bool,
    encoder: Option<BodyEncoder>,
}

impl Parts {
    /// Returns the message of a row.
    ///
    /// # Errors
    /// The problem that the encoder has with it.
    fn fill(&self, row: &[impl AsRef<str>], values: &mut ArrivalValues) -> Result<Vec<u8>, String> {
        let mut filled = self.parts.iter().map(|pieces| {
            let mut part = Vec::new();
            for piece in pieces {
                match piece {
                    Piece::Literal(bytes) => part.extend_from_slice(bytes),
                    Piece::Field(number) => part.extend_from_slice(row[*number].as_ref().as_bytes()),
                    Piece::Value(value) => value.write(values, &mut part),
                }
            }
            part
        });
        if self.are_words {
            return Ok(redis_command(&filled.collect::<Vec<_>>()));
        }
        let filled = filled.next().unwrap_or_default();
        match &self.encoder {
            Some(encoder) => encoder.encode(&filled),
            None => Ok(filled),
        }
    }

    fn have_values(&self) -> bool {
        self.parts.iter().flatten().any(|piece| matches!(piece, Piece::Value(_)))
    }
}

/// Maker of messages with built-in values.
struct FilledIn {
    parts: Parts,
    rows: Vec<KeptRow>,
    seed: u64,
}

impl MakeRequest for FilledIn {
    fn make(&self, id: RequestId, index: u64, message: &mut RequestParts) -> bool {
        let row = self.rows.get(id.row as usize).map_or(&[][..], |row| row);
        let filled = self.parts.fill(row, &mut ArrivalValues::new(self.seed, index));
        filled.map(|filled| *message = RequestParts::message(filled)).is_ok()
    }
}

/// Makes the messages of `spec`: one, or with `feed` one for each row. Built-in values are filled in when a message
/// begins.
///
/// # Errors
/// Invalid rows, placeholders without a field, messages that the framing cannot hold or whose replies cannot be
/// matched, or more than [`MAX_REQUEST_SET_BYTES`] of messages.
pub fn prepare_message(
    spec: &MessageSpec,
    options: &MessageOptions,
    feed: Option<Feed<'_>>,
    seed: u64,
) -> Result<RequestSet, InputError> {
    let columns = feed.map_or_else(|| Ok(Vec::new()), |feed| feed.rows.column_names())?;
    let mut names = Names::with_columns(columns);
    let parts = parts(spec, &mut names)?;
    let has_values = parts.have_values();
    let target = TargetRequests::new(Method::Other(METHOD.to_owned()), spec.url.clone(), 1);
    let mut target_and_samples = [target.clone(), target];
    let mut kept = Vec::new();
    let mut size = Size { bytes: 0, most: MAX_REQUEST_SET_BYTES };
    let mut add = |location: &Location, row: &[Cow<'_, str>]| {
        let [target, samples] = &mut target_and_samples;
        let checked = |mut values| {
            let message = parts.fill(row, &mut values).map_err(|problem| location.invalid(problem))?;
            options.refuses(&message).map_or(Ok(message), |problem| Err(location.invalid(problem)))
        };
        let mut sized = |message: Vec<u8>| size.add(message.len(), location).map(|()| message);
        let first = target.len() as u64;
        target.push_message(&sized(checked(ArrivalValues::new(seed, first))?)?);
        if !has_values {
            return Ok(());
        }
        samples.push_message(&sized(checked(ArrivalValues::sample())?)?);
        // A framing that holds the first message must hold a longer one too.
        checked(ArrivalValues::new(seed, LATE))?;
        if parts.encoder.is_some() {
            (first..TRIED).try_for_each(|index| checked(ArrivalValues::new(seed, index)).map(drop))?;
        }
        kept.push(row.iter().map(|field| field.as_ref().into()).collect::<KeptRow>());
        Ok(())
    };
    let (rows, order) = match feed {
        None => {
            if let Some(NamedField { name, .. }) = names.fields.first() {
                let help = "add --data-from FILE.csv with this column";
                let problem = format!("no rows are given for {{{{{name}}}}}; {help}; {}", built_ins());
                return Err(spec.location.invalid(problem));
            }
            add(&spec.location, &[])?;
            (0, FeedOrder::InOrder)
        }
        Some(feed) if names.fields.is_empty() => {
            let help = "the message uses none of its fields; write a placeholder such as {{id}} where one belongs";
            return Err(Location::named(feed.rows.file).invalid(help));
        }
        Some(feed) => {
            let rows = feed.rows.read(&names.fields, &mut add)?;
            let problem = || Location::named(feed.rows.file).invalid("more than 4 294 967 295 rows");
            (u32::try_from(rows).map_err(|_| problem())?, feed.order)
        }
    };
    let set = |target| RequestSet::new(vec![target], rows, order, seed).map_err(|error| spec.location.invalid(error));
    let [target, samples] = target_and_samples;
    let messages = set(target)?;
    if !has_values {
        return Ok(messages);
    }
    let maker = FilledIn { parts, rows: kept, seed };
    Ok(messages.made_in_run(Arc::new(maker), &set(samples)?))
}

/// Splits the texts of a message at their placeholders.
fn parts(spec: &MessageSpec, names: &mut Names) -> Result<Parts, InputError> {
    let texts: Vec<&[u8]> = match &spec.content {
        MessageContent::Bytes(bytes) => vec![bytes],
        MessageContent::Command(words) => words.iter().map(Vec::as_slice).collect(),
    };
    let parts: Result<_, _> = texts.into_iter().map(|text| pieces(text, names, &spec.location)).collect();
    let are_words = matches!(spec.content, MessageContent::Command(_));
    Ok(Parts { parts: parts?, are_words, encoder: spec.encoder.clone() })
}

fn pieces(text: &[u8], names: &mut Names, location: &Location) -> Result<Vec<Piece>, InputError> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for found in placeholders(text) {
        pieces.push(Piece::Literal(text[from..found.start].to_vec()));
        pieces.push(match names.find(found.name, location)? {
            Name::Field(number) => Piece::Field(number),
            Name::BuiltIn(value) => Piece::Value(value),
        });
        from = found.end;
    }
    pieces.push(Piece::Literal(text[from..].to_vec()));
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use truetail_engine::{Framing, Matching};

    use super::*;
    use crate::{RowFormat, Rows};

    fn made(content: MessageContent, framing: &str, matching: &str, csv: &str) -> Result<Vec<String>, String> {
        let spec =
            MessageSpec { location: Location::named("--data"), url: "tcp://a:1".to_owned(), content, encoder: None };
        let framing = if framing == "redis" { Framing::Redis } else { framing.parse().unwrap() };
        let matching = matching.parse::<Matching>().unwrap();
        let options = MessageOptions::new(framing, matching);
        let rows = Rows { format: RowFormat::Csv, file: "d.csv", bytes: csv.as_bytes() };
        let feed = (!csv.is_empty()).then_some(Feed { rows, order: FeedOrder::InOrder });
        let set = prepare_message(&spec, &options, feed, 1).map_err(|error| error.to_string())?;
        let text = |index| String::from_utf8_lossy(set.bytes(set.choose(index))).into_owned();
        Ok((0..u64::from(set.rows().max(1))).map(text).collect())
    }

    fn bytes(text: &str) -> MessageContent {
        MessageContent::Bytes(text.as_bytes().to_vec())
    }

    #[test]
    fn rows_fill_in_messages_and_commands() {
        assert_eq!(made(bytes("hi {{seq}}"), "line", "order", "").unwrap(), ["hi 0"]);
        assert_eq!(made(bytes("{{a}}-{{b}}{{a}}"), "line", "order", "b,a\n1,x\n2,y\n").unwrap(), ["x-1x", "y-2y"]);
        let words = ["GET", "key:{{id}}"].map(|word| word.as_bytes().to_vec()).to_vec();
        let commands = made(MessageContent::Command(words), "redis", "order", "id\n1\n100\n").unwrap();
        assert_eq!(commands, ["*2\r\n$3\r\nGET\r\n$5\r\nkey:1\r\n", "*2\r\n$3\r\nGET\r\n$7\r\nkey:100\r\n"]);
    }

    #[test]
    fn built_in_values_are_filled_in_when_a_message_begins() {
        let options = |framing: &str| {
            let framing = if framing == "redis" { Framing::Redis } else { framing.parse().unwrap() };
            MessageOptions::new(framing, Matching::Order)
        };
        let words = ["SET", "k{{seq}}", "{{id}}"].map(|word| word.as_bytes().to_vec()).to_vec();
        let location = Location::named("--command");
        let content = MessageContent::Command(words);
        let spec = MessageSpec { location, url: "redis://a:1".to_owned(), content, encoder: None };
        let rows = Rows { format: RowFormat::Csv, file: "d.csv", bytes: b"id\nx\ny\n" };
        let feed = Some(Feed { rows, order: FeedOrder::InOrder });
        let set = prepare_message(&spec, &options("redis"), feed, 1).unwrap();
        let mut message = RequestParts::default();
        assert!(set.maker().expect("a value").make(set.choose(11), 11, &mut message));
        assert_eq!(message.view().body(), redis_command(&["SET", "k11", "y"]));
        // Six bytes at first, and more later.
        let content = bytes("hello{{seq}}");
        let spec = MessageSpec { content, ..spec };
        let told = prepare_message(&spec, &options("fixed:6"), None, 1).unwrap_err().to_string();
        assert!(told.contains("the message has 15 bytes"), "{told}");
    }

    #[test]
    fn messages_that_cannot_be_sent_or_matched_are_refused_with_their_place() {
        for (text, framing, matching, csv, wanted) in [
            ("{{id}}", "line", "order", "", "--data: no rows are given for {{id}}"),
            ("a", "line", "order", "id\n1\n", "d.csv: the message uses none"),
            ("{{id}}", "line", "order", "x\n1\n", "d.csv:1: no field 'id'"),
            ("a\nb", "line", "order", "", "--data: byte 1 of the message"),
            ("a{{id}}", "fixed:2", "order", "id\n1\n22\n", "d.csv:3: the message has 3 bytes"),
            ("{\"n\":1}", "line", "json:/id", "", "--data: the message has nothing at --match json:/id"),
            ("abc", "line", "bytes:2:2", "", "--data: the message has nothing at --match bytes:2:2"),
        ] {
            let told = made(bytes(text), framing, matching, csv).unwrap_err();
            assert!(told.starts_with(wanted), "{told}");
        }
        assert!(made(bytes("{\"id\":{{seq}}}"), "line", "json:/id", "").is_ok());
    }
}
