use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use truetail_engine::{Method, Origin, Request, RequestParts, contradicts_framing, is_header_value};

use crate::built_in::{ArrivalValues, BuiltIn};
use crate::json_text::{self, JsonPosition};
use crate::names::{Name, Names};
use crate::placeholder::{has_placeholder, placeholders};
use crate::rows::NamedField;
use crate::{BodyEncoder, InputError, TargetSpec};

/// Characters that are encoded in a URL: all but the unreserved ones of RFC 3986, so a field never changes its
/// structure.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Position of a placeholder, which decides how its field is encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FieldPosition {
    Url,
    Header,
    Body,
    /// In a string of a JSON body.
    JsonText,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Piece {
    Literal(Vec<u8>),
    /// A wanted field, by its number.
    Field(usize, FieldPosition),
    /// A built-in value, already written for its position.
    Value(BuiltIn),
    /// The length of the body.
    Length,
}

impl Piece {
    /// Returns the piece of a placeholder.
    ///
    /// # Errors
    /// A word of a built-in value cannot be in this position.
    fn named(name: Name, position: FieldPosition) -> Result<Piece, String> {
        match name {
            Name::Field(number) => Ok(Piece::Field(number, position)),
            Name::BuiltIn(value) => value.map(|word| written_at(position, word)).map(Piece::Value),
        }
    }
}

/// Returns a text as it is written in this position.
///
/// # Errors
/// A header cannot hold it.
fn written_at(position: FieldPosition, text: &str) -> Result<String, String> {
    match position {
        FieldPosition::Url => Ok(utf8_percent_encode(text, ENCODED).to_string()),
        FieldPosition::Header if !is_header_value(text.as_bytes()) => {
            Err(format!("a header cannot hold '{}'", text.escape_debug()))
        }
        FieldPosition::JsonText => {
            let mut escaped = Vec::new();
            json_text::escape(text, &mut escaped);
            Ok(String::from_utf8_lossy(&escaped).into_owned())
        }
        FieldPosition::Header | FieldPosition::Body => Ok(text.to_owned()),
    }
}

/// A target, split once at its placeholders. Rendering a row only joins pieces and values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Template {
    pub(crate) method: Method,
    /// The URL with its placeholders, for display.
    pub(crate) url: String,
    pub(crate) origin: Origin,
    path: Vec<Piece>,
    /// Name and value of each header field.
    fields: Vec<(Vec<u8>, Vec<Piece>)>,
    body: Vec<Piece>,
    encoder: Option<BodyEncoder>,
}

impl Template {
    /// Splits a target at its placeholders, and adds the fields that they name to `names`.
    ///
    /// # Errors
    /// The target is not a valid request, or a placeholder is not allowed in its place.
    pub(crate) fn new(spec: &TargetSpec, names: &mut Names) -> Result<Template, InputError> {
        refuse_in_origin(spec)?;
        refuse_in_names(spec)?;
        refuse_framing(spec)?;
        let mut markers = Markers::absent_from(spec);
        let url = markers.put_into(&spec.url, FieldPosition::Url, names, spec)?;
        let headers: Vec<String> = spec
            .headers
            .iter()
            .map(|header| markers.put_into(header, FieldPosition::Header, names, spec))
            .collect::<Result<_, _>>()?;
        let request = Request::new(spec.method.clone(), &url, &headers, spec.body.clone());
        // Error messages quote the input as it was written.
        let request = request.map_err(|error| spec.location.invalid(markers.written(&error.to_string())))?;
        // The parsed URL decides what the host is, not the text.
        if request.url().authority().contains(&markers.marker) {
            return Err(refused_in_origin(spec));
        }
        let request = request.without_default_headers(&spec.left_out);
        let parts = request.parts_with_length(&markers.length_marker());
        let fields = parts.view().fields().map(|(name, value)| (name.to_vec(), markers.pieces(value)));
        Ok(Template {
            method: spec.method.clone(),
            url: markers.written(&spec.shown(request.url().as_str())),
            origin: request.origin(),
            path: markers.pieces(parts.view().path()),
            fields: fields.collect(),
            body: body_pieces(spec, names)?,
            encoder: spec.encoder.clone(),
        })
    }

    /// Returns true if the request is the same for all rows.
    pub(crate) fn is_fixed(&self) -> bool {
        !self.pieces().any(|piece| matches!(piece, Piece::Field(..)))
    }

    /// Returns true if the request has built-in values.
    pub(crate) fn has_values(&self) -> bool {
        self.pieces().any(|piece| matches!(piece, Piece::Value(_)))
    }

    fn pieces(&self) -> impl Iterator<Item = &Piece> {
        let of_fields = self.fields.iter().flat_map(|(_, value)| value);
        self.path.iter().chain(of_fields).chain(&self.body)
    }

    /// Returns true if the body is encoded, and the encoder may refuse some of its built-in values.
    pub(crate) fn is_encoded(&self) -> bool {
        self.encoder.is_some() && self.has_values()
    }

    /// Writes the request of a row to `out`, replacing its content.
    ///
    /// # Errors
    /// See [`RenderError`].
    pub(crate) fn render(
        &self,
        row: &[impl AsRef<str>],
        values: &mut ArrivalValues,
        out: &mut RequestParts,
    ) -> Result<(), RenderError> {
        let mut body = Vec::new();
        put(&self.body, row, (values, 0), &mut body)?;
        if let Some(encoder) = &self.encoder {
            body = encoder.encode(&body).map_err(RenderError::Body)?;
        }
        out.begin(self.method.as_str().as_bytes());
        put(&self.path, row, (values, body.len()), out.buffer())?;
        out.end_path();
        for (name, value) in &self.fields {
            out.buffer().extend_from_slice(name);
            out.end_name();
            put(value, row, (values, body.len()), out.buffer())?;
            out.end_value();
        }
        out.end_head(&body);
        Ok(())
    }
}

/// Reason why a row does not make a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum RenderError {
    /// This field of a header has a line break or another control character.
    Header(usize),
    /// The body cannot be encoded.
    Body(String),
}

impl RenderError {
    /// Returns the reason in words.
    pub(crate) fn text(self, fields: &[NamedField]) -> String {
        match self {
            RenderError::Header(field) => {
                let name = &fields[field].name;
                format!("field '{name}' has a line break or another control character, which a header cannot hold")
            }
            RenderError::Body(problem) => problem,
        }
    }
}

fn put(
    pieces: &[Piece],
    row: &[impl AsRef<str>],
    (values, length): (&mut ArrivalValues, usize),
    out: &mut Vec<u8>,
) -> Result<(), RenderError> {
    for piece in pieces {
        match piece {
            Piece::Literal(bytes) => out.extend_from_slice(bytes),
            Piece::Value(value) => value.write(values, out),
            Piece::Length => out.extend_from_slice(length.to_string().as_bytes()),
            Piece::Field(number, FieldPosition::Url) => {
                utf8_percent_encode(row[*number].as_ref(), ENCODED)
                    .for_each(|part| out.extend_from_slice(part.as_bytes()));
            }
            Piece::Field(number, FieldPosition::Header) if !is_header_value(row[*number].as_ref().as_bytes()) => {
                return Err(RenderError::Header(*number));
            }
            Piece::Field(number, FieldPosition::JsonText) => json_text::escape(row[*number].as_ref(), out),
            Piece::Field(number, FieldPosition::Header | FieldPosition::Body) => {
                out.extend_from_slice(row[*number].as_ref().as_bytes())
            }
        }
    }
    Ok(())
}

/// Refuses placeholders in the host: all targets share connections, so the host cannot change from row to row.
fn refuse_in_origin(spec: &TargetSpec) -> Result<(), InputError> {
    let host = spec.url.find("://").map_or(0, |at| at + 3);
    let path = spec.url[host..].find(['/', '?', '#']).map_or(spec.url.len(), |at| host + at);
    if placeholders(spec.url.as_bytes()).next().is_some_and(|found| found.start < path) {
        return Err(refused_in_origin(spec));
    }
    Ok(())
}

fn refused_in_origin(spec: &TargetSpec) -> InputError {
    let help = "a placeholder can stand in the path and the query only; the host of a request is the same in all rows";
    spec.location.invalid(format!("'{}': {help}", spec.url))
}

fn refuse_in_names(spec: &TargetSpec) -> Result<(), InputError> {
    let in_name = |header: &&String| header.split_once(':').is_some_and(|(name, _)| has_placeholder(name));
    match spec.headers.iter().find(in_name) {
        Some(header) => Err(spec
            .location
            .invalid(format!("'{header}': a placeholder can stand in the value of a header, not in its name"))),
        None => Ok(()),
    }
}

/// Refuses headers that state a length for a body with placeholders.
fn refuse_framing(spec: &TargetSpec) -> Result<(), InputError> {
    let is_filled_in = placeholders(&spec.body).next().is_some();
    let headers = spec.headers.iter().filter_map(|header| header.split_once(':')).filter(|_| is_filled_in);
    let mut problems = headers.filter_map(|(name, value)| contradicts_framing(name.trim(), value, None));
    problems.next().map_or(Ok(()), |problem| Err(spec.location.invalid(problem)))
}

fn body_pieces(spec: &TargetSpec, names: &mut Names) -> Result<Vec<Piece>, InputError> {
    let mut from = 0;
    let mut pieces = Vec::new();
    let is_json = spec.has_json_body();
    let mut json = JsonPosition::default();
    for found in placeholders(&spec.body) {
        let before = &spec.body[from..found.start];
        json.pass(before);
        let position = if is_json && json.is_in_text() { FieldPosition::JsonText } else { FieldPosition::Body };
        pieces.push(Piece::Literal(before.to_vec()));
        let name = names.find(found.name, &spec.location)?;
        pieces.push(Piece::named(name, position).map_err(|problem| spec.location.invalid(problem))?);
        from = found.end;
    }
    pieces.push(Piece::Literal(spec.body[from..].to_vec()));
    Ok(pieces)
}

/// Markers in place of placeholders while a request is assembled: letters and digits, which no encoding changes.
struct Markers {
    marker: String,
    /// The name of each placeholder, and its piece.
    placed: Vec<(String, Piece)>,
}

impl Markers {
    /// Creates markers that do not occur in `spec`.
    fn absent_from(spec: &TargetSpec) -> Markers {
        let written = spec.headers.iter().chain([&spec.url]).map(|text| text.to_lowercase()).collect::<String>();
        let marker = (0..).map(|n| format!("placeholder{n}x")).find(|marker| !written.contains(marker.as_str()));
        Markers { marker: marker.unwrap_or_default(), placed: Vec::new() }
    }

    fn marker(&self, number: usize) -> String {
        format!("{}{number}z", self.marker)
    }

    fn length_marker(&self) -> String {
        format!("{}lz", self.marker)
    }

    /// Replaces the placeholders of `text` by markers.
    fn put_into(
        &mut self,
        text: &str,
        position: FieldPosition,
        names: &mut Names,
        spec: &TargetSpec,
    ) -> Result<String, InputError> {
        let mut from = 0;
        let mut marked = String::new();
        for found in placeholders(text.as_bytes()) {
            let name = names.find(found.name, &spec.location)?;
            let piece = Piece::named(name, position).map_err(|problem| spec.location.invalid(problem))?;
            self.placed.push((found.name.to_owned(), piece));
            marked.push_str(&text[from..found.start]);
            marked.push_str(&self.marker(self.placed.len() - 1));
            from = found.end;
        }
        Ok(marked + &text[from..])
    }

    /// Replaces the markers in `text` by their placeholders.
    fn written(&self, text: &str) -> String {
        let numbered = self.placed.iter().enumerate().rev();
        numbered.fold(text.to_owned(), |text, (number, (name, _))| {
            text.replace(&self.marker(number), &format!("{{{{{name}}}}}"))
        })
    }

    /// Splits a part of the request at its markers.
    fn pieces(&self, part: &[u8]) -> Vec<Piece> {
        // The request was made from text.
        let part = String::from_utf8_lossy(part);
        let mut rest = &*part;
        let mut pieces = Vec::new();
        while let Some((before, after)) = rest.split_once(&self.marker) {
            let Some((number, after)) = after.split_once('z') else { break };
            pieces.push(Piece::Literal(before.as_bytes().to_vec()));
            pieces.push(number.parse::<usize>().map_or(Piece::Length, |number| self.placed[number].1.clone()));
            rest = after;
        }
        pieces.push(Piece::Literal(rest.as_bytes().to_vec()));
        pieces
    }
}

#[cfg(test)]
mod tests;
