use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;

use csv::{ErrorKind, Position, StringRecord};
use serde_json::value::RawValue;

use crate::{InputError, Location};

/// The format of a file of rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowFormat {
    /// RFC 4180, with a heading that names the columns.
    Csv,
    /// One JSON object per line.
    JsonLines,
}

impl RowFormat {
    /// Returns the format for the end of a file's name: `.csv`, `.jsonl` or `.ndjson`.
    pub fn from_file_name(file: &str) -> Option<RowFormat> {
        let (_, end) = file.rsplit_once('.')?;
        match end.to_ascii_lowercase().as_str() {
            "csv" => Some(RowFormat::Csv),
            "jsonl" | "ndjson" => Some(RowFormat::JsonLines),
            _ => None,
        }
    }
}

/// A file of rows of data, which is read one row at a time.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// Its format.
    pub format: RowFormat,
    /// The file's name, for error messages.
    pub file: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
}

/// A field that a placeholder names, and the location of the placeholder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NamedField {
    pub(crate) name: String,
    pub(crate) location: Location,
}

impl NamedField {
    fn missing_from(&self, location: &Location, there: &[&str]) -> InputError {
        let NamedField { name, location: named } = self;
        let named = named.to_string();
        let named = match named.trim_end_matches(": ") {
            "" => String::new(),
            place => format!(" ({place})"),
        };
        location.invalid(format!("no field '{name}' for {{{{{name}}}}}{named}; the fields are {}", there.join(", ")))
    }
}

/// Function that is called for each row with the values of the wanted fields, in the order of the fields.
type RowVisitor<'a> = &'a mut dyn FnMut(&Location, &[Cow<'_, str>]) -> Result<(), InputError>;

impl Rows<'_> {
    /// Returns the names of the columns. For JSON lines, these are the keys of the first object.
    ///
    /// # Errors
    /// The first row is invalid.
    pub fn column_names(&self) -> Result<Vec<String>, InputError> {
        let bytes = self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(self.bytes);
        if self.format == RowFormat::Csv {
            let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
            let heading = reader.headers().map_err(|error| self.csv_problem(&error))?;
            return Ok(heading.iter().map(|name| name.trim().to_owned()).collect());
        }
        let mut lines = (1..).zip(bytes.split(|byte| *byte == b'\n'));
        let Some((line, first)) = lines.find(|(_, line)| !line.trim_ascii().is_empty()) else { return Ok(Vec::new()) };
        let row: BTreeMap<String, &RawValue> = serde_json::from_slice(first)
            .map_err(|error| Location::at(self.file, line).invalid(format!("not a JSON object: {error}")))?;
        Ok(row.into_keys().collect())
    }

    /// Returns the values of these columns for each row, in the order of `columns`.
    ///
    /// # Errors
    /// A row is invalid, a column is missing, or the file has no rows. The error has the line.
    pub fn values_of(&self, columns: &[String]) -> Result<Vec<Vec<String>>, InputError> {
        let of = |name: &String| NamedField { name: name.clone(), location: Location::named("") };
        let fields: Vec<NamedField> = columns.iter().map(of).collect();
        let mut rows = Vec::new();
        self.read(&fields, &mut |_, values| {
            rows.push(values.iter().map(|value| value.clone().into_owned()).collect());
            Ok(())
        })?;
        Ok(rows)
    }

    /// Passes the wanted fields of each row to `visit`. Returns the number of rows, at least one.
    pub(crate) fn read(&self, fields: &[NamedField], visit: RowVisitor<'_>) -> Result<u64, InputError> {
        let bytes = self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(self.bytes);
        Rows { bytes, ..*self }.read_without_bom(fields, visit)
    }

    fn read_without_bom(&self, fields: &[NamedField], visit: RowVisitor<'_>) -> Result<u64, InputError> {
        let rows = match self.format {
            RowFormat::Csv => self.read_csv(fields, visit),
            RowFormat::JsonLines => self.read_json_lines(fields, visit),
        }?;
        if rows == 0 { Err(Location::named(self.file).invalid("the file has no rows")) } else { Ok(rows) }
    }

    fn at(&self, position: Option<&Position>) -> Location {
        Location::at(self.file, position.map_or(0, |position| position.line() + self.blank_lines(position.byte())))
    }

    /// Counts the line breaks at byte `start`. The CSV reader counts blank lines before a row as the start of the row,
    /// and also the LF of a CRLF that ends the previous row.
    fn blank_lines(&self, start: u64) -> u64 {
        let rest = self.bytes.get(start as usize..).unwrap_or_default();
        let blank = rest.iter().take_while(|byte| matches!(byte, b'\n' | b'\r'));
        blank.filter(|byte| **byte == b'\n').count() as u64
    }

    fn read_csv(&self, fields: &[NamedField], visit: RowVisitor<'_>) -> Result<u64, InputError> {
        // An unclosed quote swallows everything after it. Then this extra last row does not come out as a row.
        let end = b"\n\x1eend";
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(self.bytes.chain(&end[..]));
        let heading = reader.headers().map_err(|error| self.csv_problem(&error))?.clone();
        if heading.iter().any(|name| name.contains("\x1eend")) {
            return Err(Location::at(self.file, 1)
                .invalid("the first row must name the columns; it is missing, or a quote in it is not closed"));
        }
        let columns = self.columns(&heading, fields)?;
        let mut record = StringRecord::new();
        let mut rows = 0;
        while reader.read_record(&mut record).map_err(|error| self.csv_problem(&error))? {
            let location = self.at(record.position());
            if record.len() == 1 && &record[0] == "\x1eend" {
                return Ok(rows);
            }
            if record.iter().any(|value| value.ends_with("\x1eend")) {
                return Err(location.invalid("a quote is not closed"));
            }
            if record.len() != heading.len() {
                return Err(location.invalid(format!(
                    "wrong number of fields: {} here, {} in the first row",
                    record.len(),
                    heading.len()
                )));
            }
            let values: Vec<Cow<'_, str>> = columns.iter().map(|column| Cow::Borrowed(&record[*column])).collect();
            visit(&location, &values)?;
            rows += 1;
        }
        Ok(rows)
    }

    fn columns(&self, heading: &StringRecord, fields: &[NamedField]) -> Result<Vec<usize>, InputError> {
        let location = Location::at(self.file, 1);
        let names: Vec<&str> = heading.iter().map(str::trim).collect();
        let column = |field: &NamedField| {
            let mut found = names.iter().enumerate().filter(|(_, name)| **name == field.name).map(|(at, _)| at);
            match (found.next(), found.next()) {
                (Some(column), None) => Ok(column),
                (Some(_), Some(_)) => Err(location.invalid(format!("two columns are named '{}'", field.name))),
                (None, _) => Err(field.missing_from(&location, &names)),
            }
        };
        fields.iter().map(column).collect()
    }

    fn csv_problem(&self, error: &csv::Error) -> InputError {
        let location = self.at(error.position());
        match error.kind() {
            ErrorKind::Utf8 { .. } => location.invalid("this row is not UTF-8 text"),
            _ => location.invalid(error),
        }
    }

    fn read_json_lines(&self, fields: &[NamedField], visit: RowVisitor<'_>) -> Result<u64, InputError> {
        let mut rows = 0;
        for (line, bytes) in (1..).zip(self.bytes.split(|byte| *byte == b'\n')) {
            if bytes.trim_ascii().is_empty() {
                continue;
            }
            let location = Location::at(self.file, line);
            let row: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_slice(bytes)
                .map_err(|error| location.invalid(format!("not a JSON object: {error}")))?;
            let value = |field: &NamedField| match row.get(field.name.as_str()) {
                Some(value) => {
                    text_of(value).map_err(|error| location.invalid(format!("field '{}': {error}", field.name)))
                }
                None => Err(field.missing_from(&location, &row.keys().map(|name| &**name).collect::<Vec<_>>())),
            };
            let values = fields.iter().map(value).collect::<Result<Vec<_>, _>>()?;
            visit(&location, &values)?;
            rows += 1;
        }
        Ok(rows)
    }
}

/// Returns the text of a JSON value: the content of a string, or else the value as written.
fn text_of(value: &RawValue) -> Result<Cow<'_, str>, serde_json::Error> {
    let json = value.get();
    if json.starts_with('"') { serde_json::from_str(json).map(Cow::Owned) } else { Ok(Cow::Borrowed(json)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(format: RowFormat, bytes: &[u8], fields: &[&str]) -> Result<Vec<String>, InputError> {
        let fields: Vec<NamedField> =
            fields.iter().map(|name| NamedField { name: (*name).to_owned(), location: Location::at("t", 9) }).collect();
        let mut rows = Vec::new();
        Rows { format, file: "f", bytes }.read(&fields, &mut |location, values| {
            rows.push(format!("{}:{}", location.line, values.join("|")));
            Ok(())
        })?;
        Ok(rows)
    }

    fn csv(text: &str, fields: &[&str]) -> Result<Vec<String>, String> {
        read(RowFormat::Csv, text.as_bytes(), fields).map_err(|problem| problem.to_string())
    }

    fn json(text: &str, fields: &[&str]) -> Result<Vec<String>, String> {
        read(RowFormat::JsonLines, text.as_bytes(), fields).map_err(|problem| problem.to_string())
    }

    #[test]
    fn csv_rows() {
        assert_eq!(
            csv("id,name\n1,a\n2,\"b,\nc\"\"\"\n\n3,\n", &["name", "id"]).unwrap(),
            ["2:a|1", "3:b,\nc\"|2", "6:|3"]
        );
        assert_eq!(csv("\u{feff}id , x\r\n7,8\r\n", &["x", "id"]).unwrap(), ["2:8|7"]);
        assert_eq!(csv("a\r\n1\r\n\r\n\r\n2\r\n3", &["a"]).unwrap(), ["2:1", "5:2", "6:3"]);
        assert_eq!(csv("a\n1", &["a", "a"]).unwrap(), ["2:1|1"]);
    }

    #[test]
    fn json_rows() {
        let first = r#"{"id": 1.10, "s": "a\"\u00e9", "o": {"x": [1, 2]}}"#;
        let third = r#"{"s": null, "id": 12345678901234567890123, "o": true}"#;
        let text = format!("{first}\n\n{third}\r\n");
        assert_eq!(
            json(&text, &["id", "s", "o"]).unwrap(),
            ["1:1.10|a\"é|{\"x\": [1, 2]}", "3:12345678901234567890123|null|true"]
        );
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        for (text, wanted) in [
            ("", "f:1: the first row must name"),
            ("a", "f: the file has no rows"),
            ("a\n\n", "f: the file has no rows"),
            ("b,c\n1,2", "f:1: no field 'a' for {{a}} (t:9); the fields are b, c"),
            ("a,a\n1,2", "f:1: two columns are named 'a'"),
            ("a,b\n1,2\n3", "f:3: wrong number of fields: 1 here, 2 in the first row"),
            ("a,b\n1,2,3", "f:2: wrong number of fields: 3 here, 2 in the first row"),
            ("a,b\n1,2\n3,\"4\n5,6", "f:3: a quote is not closed"),
            ("a,\"b\n1,2", "f:1: the first row must name"),
        ] {
            assert!(csv(text, &["a"]).unwrap_err().starts_with(wanted), "{text:?}: {:?}", csv(text, &["a"]));
        }
        let binary = read(RowFormat::Csv, b"a\nx\n\xff\n", &["a"]).unwrap_err().to_string();
        assert_eq!(binary, "f:3: this row is not UTF-8 text");
        for (text, wanted) in [
            ("\n", "f: the file has no rows"),
            ("{\"a\":1}\n[1]", "f:2: not a JSON object"),
            ("{\"a\":1}\n{\"a\":", "f:2: not a JSON object"),
            ("{\"b\":1,\"c\":2}", "f:1: no field 'a' for {{a}} (t:9); the fields are b, c"),
            ("{\"a\":\"\\ud800\"}", "f:1: field 'a'"),
        ] {
            assert!(json(text, &["a"]).unwrap_err().starts_with(wanted), "{text:?}: {:?}", json(text, &["a"]));
        }
    }

    #[test]
    fn the_end_of_a_name_says_the_format() {
        assert_eq!(RowFormat::from_file_name("x.CSV"), Some(RowFormat::Csv));
        assert_eq!(
            (RowFormat::from_file_name("a/b.jsonl"), RowFormat::from_file_name("b.ndjson")),
            (Some(RowFormat::JsonLines), Some(RowFormat::JsonLines))
        );
        assert_eq!(
            (RowFormat::from_file_name("x"), RowFormat::from_file_name("x.json"), RowFormat::from_file_name("csv")),
            (None, None, None)
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..80),
            text in "[ab,\"\n{}:1]{0,40}",
        ) {
            for format in [RowFormat::Csv, RowFormat::JsonLines] {
                for bytes in [&bytes[..], text.as_bytes(), &[b"a\n", &bytes[..]].concat()] {
                    if let Ok(rows) = read(format, bytes, &["a"]) {
                        prop_assert!(!rows.is_empty() && rows.len() <= bytes.len());
                    }
                }
            }
        }
    }
}
