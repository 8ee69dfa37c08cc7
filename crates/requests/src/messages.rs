//! Messages for channels, with placeholders filled in from rows.

use std::borrow::Cow;

use truetail_engine::{
    FeedOrder, MAX_REQUEST_SET_BYTES, MessageOptions, Method, RequestSet, TargetRequests, redis_command,
    with_sequence_number,
};

use crate::placeholder::placeholders;
use crate::prepare::Size;
use crate::rows::NamedField;
use crate::{Feed, InputError, Location};

/// The name in reports of the method of every message.
const METHOD: &str = "SEND";
/// The placeholder that each arrival fills in when it is sent.
const BUILT_IN: &str = "seq";

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
}

enum Piece<'a> {
    Literal(&'a [u8]),
    Field(usize),
}

/// Makes the messages of `spec`: one, or with `feed` one for each row. `{{seq}}` stays for the run to fill in.
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
    let texts: Vec<&[u8]> = match &spec.content {
        MessageContent::Bytes(bytes) => vec![bytes],
        MessageContent::Command(words) => words.iter().map(Vec::as_slice).collect(),
    };
    let mut fields = Vec::new();
    let parts: Vec<Vec<Piece<'_>>> = texts.iter().map(|text| pieces(text, &mut fields, &spec.location)).collect();
    let method = Method::Other(METHOD.to_owned());
    let mut target = TargetRequests::new(method, spec.url.clone(), 1);
    let mut size = Size { bytes: 0, most: MAX_REQUEST_SET_BYTES };
    let mut add = |location: &Location, row: &[Cow<'_, str>]| {
        let filled: Vec<Vec<u8>> = parts.iter().map(|pieces| fill(pieces, row)).collect();
        let message = match spec.content {
            MessageContent::Bytes(_) => filled.concat(),
            MessageContent::Command(_) => redis_command(&filled),
        };
        // What the first arrival sends stands for all.
        let first = with_sequence_number(&message, 0);
        if let Some(problem) = options.framing.refuses(&first) {
            return Err(location.invalid(problem));
        }
        if !options.matching.finds_key(&first) {
            return Err(location.invalid(format!("the message has nothing at --match {}", options.matching)));
        }
        size.add(message.len(), location)?;
        target.push(&message);
        Ok(())
    };
    let (rows, order) = match feed {
        None => {
            if let Some(NamedField { name, .. }) = fields.first() {
                let help = "add --data-from FILE.csv with this column, or use {{seq}}, the number of the arrival";
                return Err(spec.location.invalid(format!("no rows are given for {{{{{name}}}}}; {help}")));
            }
            add(&spec.location, &[])?;
            (0, FeedOrder::InOrder)
        }
        Some(feed) if fields.is_empty() => {
            let help = "the message uses none of its fields; write a placeholder such as {{id}} where one belongs";
            return Err(Location::named(feed.rows.file).invalid(help));
        }
        Some(feed) => {
            let rows = feed.rows.read(&fields, &mut add)?;
            let problem = || Location::named(feed.rows.file).invalid("more than 4 294 967 295 rows");
            (u32::try_from(rows).map_err(|_| problem())?, feed.order)
        }
    };
    RequestSet::new(vec![target], rows, order, seed).map_err(|error| spec.location.invalid(error))
}

/// Splits a text at its placeholders, and adds the fields that they name to `fields`.
fn pieces<'a>(text: &'a [u8], fields: &mut Vec<NamedField>, location: &Location) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for found in placeholders(text).filter(|found| found.name != BUILT_IN) {
        pieces.push(Piece::Literal(&text[from..found.start]));
        let known = fields.iter().position(|field| field.name == found.name);
        pieces.push(Piece::Field(known.unwrap_or_else(|| {
            fields.push(NamedField { name: found.name.to_owned(), location: location.clone() });
            fields.len() - 1
        })));
        from = found.end;
    }
    pieces.push(Piece::Literal(&text[from..]));
    pieces
}

fn fill(pieces: &[Piece<'_>], row: &[Cow<'_, str>]) -> Vec<u8> {
    let part = |piece: &Piece<'_>| match piece {
        Piece::Literal(bytes) => bytes.to_vec(),
        Piece::Field(number) => row[*number].as_bytes().to_vec(),
    };
    pieces.iter().flat_map(part).collect()
}

#[cfg(test)]
mod tests {
    use truetail_engine::{Framing, Matching, Opening};

    use super::*;
    use crate::{RowFormat, Rows};

    fn made(content: MessageContent, framing: &str, matching: &str, csv: &str) -> Result<Vec<String>, String> {
        let spec = MessageSpec { location: Location::named("--data"), url: "tcp://a:1".to_owned(), content };
        let framing = if framing == "redis" { Framing::Redis } else { framing.parse().unwrap() };
        let matching = matching.parse::<Matching>().unwrap();
        let options = MessageOptions { opening: Opening::Nothing, framing, matching };
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
        assert_eq!(made(bytes("hi {{seq}}"), "line", "order", "").unwrap(), ["hi {{seq}}"]);
        assert_eq!(made(bytes("{{a}}-{{b}}{{a}}"), "line", "order", "b,a\n1,x\n2,y\n").unwrap(), ["x-1x", "y-2y"]);
        let words = ["GET", "key:{{id}}"].map(|word| word.as_bytes().to_vec()).to_vec();
        let commands = made(MessageContent::Command(words), "redis", "order", "id\n1\n100\n").unwrap();
        assert_eq!(commands, ["*2\r\n$3\r\nGET\r\n$5\r\nkey:1\r\n", "*2\r\n$3\r\nGET\r\n$7\r\nkey:100\r\n"]);
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
