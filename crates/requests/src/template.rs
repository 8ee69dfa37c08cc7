use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use truetail_engine::{Method, Origin, Request, contradicts_framing, is_header_value};

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
    head: Vec<Piece>,
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
        let head = request.http1_head(&markers.length_marker());
        Ok(Template {
            method: spec.method.clone(),
            url: markers.written(&spec.shown(request.url().as_str())),
            origin: request.origin(),
            head: markers.pieces(&head),
            body: body_pieces(spec, names)?,
            encoder: spec.encoder.clone(),
        })
    }

    /// Returns true if the request is the same for all rows.
    pub(crate) fn is_fixed(&self) -> bool {
        !self.head.iter().chain(&self.body).any(|piece| matches!(piece, Piece::Field(..)))
    }

    /// Returns true if the request has built-in values.
    pub(crate) fn has_values(&self) -> bool {
        self.head.iter().chain(&self.body).any(|piece| matches!(piece, Piece::Value(_)))
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
        out: &mut Vec<u8>,
    ) -> Result<(), RenderError> {
        out.clear();
        put(&self.body, row, (values, 0), out)?;
        let body = std::mem::take(out);
        let body = match &self.encoder {
            Some(encoder) => encoder.encode(&body).map_err(RenderError::Body)?,
            None => body,
        };
        put(&self.head, row, (values, body.len()), out)?;
        out.extend_from_slice(&body);
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

    fn pieces(&self, head: &str) -> Vec<Piece> {
        let mut rest = head;
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
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Location;

    fn spec(url: &str, headers: &[&str], body: &[u8]) -> TargetSpec {
        TargetSpec {
            method: Method::Other("PUT".to_owned()),
            headers: headers.iter().map(|header| (*header).to_owned()).collect(),
            body: body.to_vec(),
            ..TargetSpec::new(Location::at("f", 7), url)
        }
    }

    /// Returns the request of `spec` for a row of these fields.
    fn rendered(spec: &TargetSpec, row: &[(&str, &str)]) -> String {
        let mut names = Names::default();
        let template = Template::new(spec, &mut names).unwrap_or_else(|problem| panic!("{problem}"));
        let value = |field: &NamedField| row.iter().find(|(name, _)| *name == field.name).expect("a field").1;
        let row: Vec<&str> = names.fields.iter().map(value).collect();
        let mut out = b"left over".to_vec();
        template.render(&row, &mut ArrivalValues::sample(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    const AGENT: &str = concat!("User-Agent: truetail/", env!("CARGO_PKG_VERSION"), "\r\nAccept: */*\r\n");

    #[test]
    fn a_header_cannot_state_the_length_of_a_filled_in_body() {
        let refused = |headers: &[&str], body: &[u8]| {
            Template::new(&spec("http://a/{{id}}", headers, body), &mut Names::default())
                .err()
                .map(|error| error.to_string())
        };
        let problem = refused(&["Content-Length: 6"], b"{{id}}").unwrap();
        assert!(problem.starts_with("f:7: 'Content-Length' cannot be set"), "{problem}");
        let problem = refused(&["Content-Length: {{id}}"], b"12").unwrap();
        assert!(problem.contains("'Content-Length: {{id}}' contradicts the body, which has 2 bytes"), "{problem}");
        assert_eq!(refused(&["Content-Length: 2"], b"12"), None);
    }

    #[test]
    fn each_spot_is_written_in_its_way() {
        let spec = spec("http://a/x/{{id}}?q={{ q }}&{{id}}", &["X: <{{q}}>"], b"{\"a\":{{{q}}}}");
        assert_eq!(
            rendered(&spec, &[("id", "../é"), ("q", "a b&\"c\"")]),
            format!(
                "PUT /x/..%2F%C3%A9?q=a%20b%26%22c%22&..%2F%C3%A9 HTTP/1.1\r\nHost: a\r\n{AGENT}Content-Length: 15\r\n\
                 X: <a b&\"c\">\r\n\r\n{{\"a\":{{a b&\"c\"}}}}"
            )
        );
    }

    #[test]
    fn in_a_text_of_a_json_body_a_field_stays_a_text() {
        const BODY: &[u8] = b"{\"p\": \"<{{p}}> \\\" {{p}}\", \"n\": {{n}}, {{p}}: 1}";
        let odd = "say \"hi\"\\\n\u{1}\u{e9}";
        let of = |headers: &[&str]| rendered(&spec("http://a/", headers, BODY), &[("p", odd), ("n", "[1]")]);
        let json = of(&["Content-Type: application/json; charset=utf-8"]);
        let escaped = "say \\\"hi\\\"\\\\\\n\\u0001\u{e9}";
        let expected = format!("{{\"p\": \"<{escaped}> \\\" {escaped}\", \"n\": [1], {odd}: 1}}");
        assert!(json.ends_with(&format!("\r\n\r\n{expected}")), "{json}");
        for headers in [&[][..], &["Content-Type: text/plain"]] {
            assert!(of(headers).ends_with(&format!("\"<{odd}> \\\" {odd}\", \"n\": [1], {odd}: 1}}")), "{headers:?}");
        }
    }

    #[test]
    fn a_path_is_not_shortened_by_what_is_filled_in() {
        let text = rendered(&spec("http://a/x/{{id}}/y", &[], b""), &[("id", "..")]);
        assert!(text.starts_with("PUT /x/../y HTTP/1.1\r\n"), "{text}");
    }

    #[test]
    fn built_in_values_are_written_for_their_position() {
        let spec = spec(
            "http://a/{{randomChoice é/b}}?n={{seq}}",
            &["X: {{randomChoice a\"b}}", "Content-Type: application/json"],
            b"{\"s\": \"{{randomChoice a\"b}}\", \"n\": {{randomInt 7 7}}}",
        );
        let text = rendered(&spec, &[]);
        assert!(text.starts_with("PUT /%C3%A9%2Fb?n=0 HTTP/1.1\r\n"), "{text}");
        assert!(text.contains("\r\nX: a\"b\r\n") && text.contains("\r\nContent-Length: 21\r\n"), "{text}");
        assert!(text.ends_with("\r\n\r\n{\"s\": \"a\\\"b\", \"n\": 7}"), "{text}");
        let template = Template::new(&spec, &mut Names::default()).unwrap();
        assert_eq!((template.has_values(), template.is_fixed()), (true, true));
        assert_eq!(template.url, "http://a/{{randomChoice é/b}}?n={{seq}}");
    }

    #[test]
    fn a_column_hides_a_built_in_value() {
        let mut names = Names::with_columns(vec!["seq".to_owned()]);
        let template = Template::new(&spec("http://a/{{seq}}/{{now}}", &[], b""), &mut names).unwrap();
        assert_eq!(names.fields.len(), 1);
        assert!(template.has_values() && !template.is_fixed());
    }

    #[test]
    fn marks_are_not_mistaken() {
        let url = "http://a/placeholder0x0z/{{a}}/placeholder1xlz";
        let text = rendered(&spec(url, &["X: Placeholder2x0z{{b}}"], b"placeholder3x0z"), &[("a", "1"), ("b", "2")]);
        assert!(text.starts_with("PUT /placeholder0x0z/1/placeholder1xlz HTTP/1.1\r\n"), "{text}");
        assert!(text.contains("X: Placeholder2x0z2\r\n") && text.ends_with("\r\n\r\nplaceholder3x0z"), "{text}");
        let many: String = (0..12).map(|n| format!("/{{{{f{n}}}}}")).collect();
        let names: Vec<String> = (0..12).map(|n| format!("f{n}")).collect();
        let row: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), &name[1..])).collect();
        let text = rendered(&spec(&format!("http://a{many}"), &[], b""), &row);
        assert!(text.starts_with("PUT /0/1/2/3/4/5/6/7/8/9/10/11 HTTP"), "{text}");
        let mut names = Names::default();
        let template = Template::new(&spec(&format!("http://a{many}"), &[], b""), &mut names).unwrap();
        assert_eq!(template.url, format!("http://a{many}"));
    }

    #[test]
    fn a_header_takes_no_line_break() {
        let mut names = Names::default();
        let template = Template::new(&spec("http://a/", &["X: {{a}}", "Y: {{b}}"], b"{{b}}"), &mut names).unwrap();
        let mut out = Vec::new();
        for bad in ["a\r\nZ: c", "a\nb", "a\0"] {
            assert_eq!(
                template.render(&["x", bad], &mut ArrivalValues::sample(), &mut out),
                Err(RenderError::Header(1))
            );
        }
        assert_eq!(template.render(&["x", "\té"], &mut ArrivalValues::sample(), &mut out), Ok(()));
    }

    #[test]
    fn what_is_refused_is_told_as_it_was_written() {
        for (spec, part) in [
            (
                spec("http://{{host}}/", &[], b""),
                "f:7: 'http://{{host}}/': a placeholder can stand in the path and the query",
            ),
            (spec("{{url}}", &[], b""), "a placeholder can stand"),
            (spec("http://a:{{port}}", &[], b""), "a placeholder can stand"),
            (spec("http:/{{x}}/y?://", &[], b""), "a placeholder can stand"),
            (spec("http:///{{x}}/y", &[], b""), "a placeholder can stand"),
            (spec("http:\\\\{{x}}/y?a=://", &[], b""), "a placeholder can stand"),
            (spec("ftp://a/{{x}}", &[], b""), "f:7: 'ftp://a/{{x}}': unknown scheme"),
            (spec("http://a/", &["{{x}}: y"], b""), "f:7: '"),
            (spec("http://a/", &["no {{x}}"], b""), "f:7: 'no …' is not a header"),
        ] {
            let problem =
                Template::new(&spec, &mut Names::default()).map(|template| template.url).unwrap_err().to_string();
            assert!(problem.contains(part), "{problem}");
        }
    }

    proptest! {
        /// No row adds a line to the head or a word to the first line, and the length is right.
        #[test]
        fn a_row_changes_values_and_nothing_else(a in any::<String>(), b in any::<String>()) {
            let mut names = Names::default();
            let spec = spec("http://a/{{a}}?x={{b}}", &["X: y{{b}}"], b"<{{a}}{{b}}>");
            let template = Template::new(&spec, &mut names).unwrap();
            let mut out = Vec::new();
            if template.render(&[&a, &b], &mut ArrivalValues::sample(), &mut out).is_ok() {
                let text = String::from_utf8(out).unwrap();
                let (head, body) = text.split_once("\r\n\r\n").unwrap();
                prop_assert_eq!(body, format!("<{a}{b}>"));
                prop_assert_eq!(head.split("\r\n").count(), 6);
                prop_assert_eq!(head.split("\r\n").next().unwrap().split(' ').count(), 3);
                let length = format!("\r\nContent-Length: {}\r\n", body.len());
                prop_assert!(head.contains(&length));
            } else {
                prop_assert!(!is_header_value(b.as_bytes()));
            }
        }

        #[test]
        fn any_draft_is_taken_apart_or_refused(
            url in "(http://a)?(/|\\{\\{|\\}\\}|a|\\PC){0,8}",
            header in "X?:?(\\{\\{|\\}\\}|a|\\PC){0,8}",
            body: Vec<u8>,
        ) {
            let mut names = Names::default();
            if let Ok(template) = Template::new(&spec(&url, &[&header], &body), &mut names) {
                let row = vec!["v"; names.fields.len()];
                let mut out = Vec::new();
                prop_assert_eq!(template.render(&row, &mut ArrivalValues::sample(), &mut out), Ok(()));
                prop_assert_eq!(template.is_fixed(), names.fields.is_empty());
            }
        }
    }
}
