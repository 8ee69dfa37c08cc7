//! Parser for a curl command. Options that only change what curl prints are ignored. All other unsupported options are
//! refused, because the request would differ without them.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode, utf8_percent_encode};
use truetail_engine::Method;

use crate::curl_options::{PASSED_OVER, PASSED_OVER_WITH_VALUE, READ_WITH_VALUE, help_without, long_name};
use crate::{FileReader, InputError, Location, TargetSpec, basic_authorization};

/// Characters that `--data-urlencode` encodes: all but the unreserved characters of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Parses a curl command into its target. `words` are the words after `curl`. Words with data need not be UTF-8.
///
/// # Errors
/// An option is not supported, or the command makes no request.
pub fn parse_curl<W: AsRef<[u8]>>(
    words: &[W],
    location: &Location,
    read: FileReader<'_>,
) -> Result<TargetSpec, InputError> {
    let mut command = CurlCommand::new(location, read);
    let words: Vec<&[u8]> = words.iter().map(AsRef::as_ref).collect();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let word = command.text("a word that is no data", word)?;
        if let Some(name) = word.strip_prefix("--") {
            command.long(name, &mut words)?;
        } else if word.len() > 1 && word.starts_with('-') {
            command.short(&word[1..], &mut words)?;
        } else {
            command.url(word)?;
        }
    }
    command.finish()
}

struct CurlCommand<'a> {
    location: &'a Location,
    read: FileReader<'a>,
    method: Option<Method>,
    url: Option<String>,
    headers: Vec<String>,
    left_out: Vec<String>,
    /// Headers that other options imply. A header with the same name from -H replaces them.
    implied: Vec<String>,
    data: Option<Vec<u8>>,
    json: bool,
    get: bool,
    head: bool,
    /// `-k`, as it is written. It means nothing for http.
    insecure: Option<String>,
}

type Words<'a> = std::slice::Iter<'a, &'a [u8]>;

impl<'a> CurlCommand<'a> {
    fn new(location: &'a Location, read: FileReader<'a>) -> CurlCommand<'a> {
        CurlCommand {
            location,
            read,
            method: None,
            url: None,
            headers: Vec::new(),
            left_out: Vec::new(),
            implied: Vec::new(),
            data: None,
            json: false,
            get: false,
            head: false,
            insecure: None,
        }
    }

    fn invalid(&self, what: impl std::fmt::Display) -> InputError {
        self.location.invalid(what)
    }

    fn text<'b>(&self, what: &str, bytes: &'b [u8]) -> Result<&'b str, InputError> {
        std::str::from_utf8(bytes).map_err(|_| self.invalid(format!("curl: {what} is not UTF-8 text")))
    }

    fn long(&mut self, name: &str, words: &mut Words<'_>) -> Result<(), InputError> {
        if READ_WITH_VALUE.contains(&name) || PASSED_OVER_WITH_VALUE.contains(&name) {
            let value = words.next().ok_or_else(|| self.invalid(format!("curl: --{name} needs a value")))?;
            return self.with_value(name, value);
        }
        self.alone(name, &format!("--{name}"))
    }

    /// Reads the options of one word: `-sXPOST` is `-s -X POST`.
    fn short(&mut self, letters: &str, words: &mut Words<'_>) -> Result<(), InputError> {
        for (at, letter) in letters.char_indices() {
            let as_written = format!("-{letter}");
            let name = long_name(letter).ok_or_else(|| self.unknown(&as_written))?;
            if READ_WITH_VALUE.contains(&name) || PASSED_OVER_WITH_VALUE.contains(&name) {
                let rest = &letters[at + letter.len_utf8()..];
                let value = if rest.is_empty() { words.next().copied() } else { Some(rest.as_bytes()) };
                let value = value.ok_or_else(|| self.invalid(format!("curl: {as_written} needs a value")))?;
                return self.with_value(name, value);
            }
            self.alone(name, &as_written)?;
        }
        Ok(())
    }

    fn alone(&mut self, name: &str, as_written: &str) -> Result<(), InputError> {
        match name {
            "get" => self.get = true,
            "head" => self.head = true,
            "insecure" => self.insecure = Some(as_written.to_owned()),
            "compressed" => self.implied.push("Accept-Encoding: deflate, gzip, br, zstd".to_owned()),
            name if PASSED_OVER.contains(&name) => {}
            _ => return Err(self.unknown(as_written)),
        }
        Ok(())
    }

    fn unknown(&self, as_written: &str) -> InputError {
        // The text after an equals sign may be a secret.
        if let Some((name, _)) = as_written.split_once('=') {
            return self.invalid(format!(
                "curl: {name}=… is not how curl is given a value; write {name} and the value as two words"
            ));
        }
        let help = help_without(as_written);
        self.invalid(format!("curl: option {as_written} is not supported; {help}"))
    }

    fn with_value(&mut self, name: &str, value: &[u8]) -> Result<(), InputError> {
        match name {
            "data" | "data-ascii" => {
                let data = self.file_or_text(value)?;
                self.add_data(
                    data.into_iter().filter(|byte| !value.starts_with(b"@") || !b"\r\n\0".contains(byte)).collect(),
                );
            }
            "data-binary" => {
                let data = self.file_or_text(value)?;
                self.add_data(data);
            }
            "data-raw" => self.add_data(value.to_vec()),
            "data-urlencode" => {
                let data = self.url_encoded(value)?;
                self.add_data(data);
            }
            "json" => {
                let data = self.file_or_text(value)?;
                self.json = true;
                self.data.get_or_insert_default().extend(data);
            }
            _ => self.with_text(name, self.text(&format!("the value of --{name}"), value)?)?,
        }
        Ok(())
    }

    fn with_text(&mut self, name: &str, value: &str) -> Result<(), InputError> {
        match name {
            "request" => self.method = Some(value.parse().map_err(|error| self.invalid(error))?),
            "header" => self.header(value),
            "user-agent" | "referer" if value.is_empty() => {
                let header = if name == "referer" { "Referer" } else { "User-Agent" };
                self.left_out.push(header.to_owned());
            }
            "user-agent" => self.implied.push(format!("User-Agent: {value}")),
            "referer" => self.implied.push(format!("Referer: {value}")),
            "oauth2-bearer" => self.implied.push(format!("Authorization: Bearer {value}")),
            "user" if value.contains(':') => self.implied.push(basic_authorization(value)),
            "user" => return Err(self.invalid("curl: -u without a password; write -u USER:PASSWORD")),
            "cookie" if value.contains('=') => self.implied.push(format!("Cookie: {value}")),
            "cookie" => {
                return Err(self.invalid("curl: -b without '=' names a file; write the cookies as NAME=VALUE"));
            }
            "url" => self.url(value)?,
            _ => {}
        }
        Ok(())
    }

    /// Reads a header line. `Name: value` sets a header, `Name:` leaves out a default, `Name;` sets an empty value.
    fn header(&mut self, value: &str) {
        match value.split_once(':') {
            Some((name, blank)) if blank.trim().is_empty() => self.left_out.push(name.trim().to_owned()),
            None if value.ends_with(';') => self.headers.push(format!("{}:", value.trim_end_matches(';'))),
            _ => self.headers.push(value.to_owned()),
        }
    }

    fn url(&mut self, url: &str) -> Result<(), InputError> {
        // The word may be a password that was meant for an option.
        if self.url.is_some() {
            return Err(self.invalid("curl: two URLs, or a word that belongs to no option; give one URL per command"));
        }
        let scheme = if url.contains("://") { "" } else { "http://" };
        self.url = Some(format!("{scheme}{url}"));
        Ok(())
    }

    /// Returns the content of the file for `@FILE`, or else the text.
    fn file_or_text(&self, value: &[u8]) -> Result<Vec<u8>, InputError> {
        match value.strip_prefix(b"@") {
            Some(file) => {
                (self.read)(self.text("the name of a file", file)?).map_err(|error| self.location.unreadable(error))
            }
            None => Ok(value.to_vec()),
        }
    }

    /// Encodes `text`, `=text`, `name=text`, `@file` or `name@file`. An equals sign takes precedence over any `@`.
    fn url_encoded(&self, value: &[u8]) -> Result<Vec<u8>, InputError> {
        let find = |wanted: u8| value.iter().position(|byte| *byte == wanted);
        let (name, content) = match find(b'=').or_else(|| find(b'@')) {
            Some(at) if value[at] == b'@' => (&value[..at], self.file_or_text(&value[at..])?),
            Some(at) => (&value[..at], value[at + 1..].to_vec()),
            None => (&value[..0], value.to_vec()),
        };
        // A placeholder is encoded when it is filled in.
        let encoded = match std::str::from_utf8(&content) {
            Ok(text) => crate::placeholder::outside_placeholders(text, |text| plus(utf8_percent_encode(text, ENCODED))),
            Err(_) => plus(percent_encode(&content, ENCODED)),
        };
        let joint: &[u8] = if name.is_empty() { b"" } else { b"=" };
        Ok([name, joint, encoded.as_bytes()].concat())
    }

    /// Adds data. Pieces are joined with `&`, like the fields of a form.
    fn add_data(&mut self, data: Vec<u8>) {
        let all = match self.data.take() {
            Some(before) => [before, data].join(&b'&'),
            None => data,
        };
        self.data = Some(all);
    }

    fn finish(mut self) -> Result<TargetSpec, InputError> {
        let url = self.url.take().ok_or_else(|| self.invalid("curl: the command has no URL"))?;
        let is_plain = url.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://"));
        if let Some(as_written) = self.insecure.as_ref().filter(|_| !is_plain) {
            return Err(self.unknown(as_written));
        }
        let mut spec = TargetSpec::new(self.location.clone(), &url);
        let data = self.data.take();
        spec.method = self.method.take().unwrap_or_else(|| match &data {
            _ if self.head => Method::Head,
            Some(_) if !self.get => Method::Other("POST".to_owned()),
            _ => Method::Get,
        });
        match data {
            Some(data) if self.get => {
                spec.url =
                    with_query(&url, &data).ok_or_else(|| self.invalid("curl: with -G the data must be UTF-8 text"))?
            }
            Some(data) => {
                spec.body = data;
                self.implied.extend(body_headers(self.json));
            }
            None => {}
        }
        spec.headers = self.headers;
        spec.left_out = self.left_out;
        // Of several headers with the same name the last counts, but a header from -H takes precedence.
        let defaults = self.implied.into_iter().rev();
        defaults.fold(spec, |spec, header| spec.with_defaults(&[header])).with_url_credentials()
    }
}

/// Encodes a space as a plus, like forms and curl.
fn plus(encoded: percent_encoding::PercentEncode<'_>) -> String {
    encoded.to_string().replace("%20", "+")
}

fn body_headers(json: bool) -> Vec<String> {
    let names: &[&str] = match json {
        true => &["Accept: application/json", "Content-Type: application/json"],
        false => &["Content-Type: application/x-www-form-urlencoded"],
    };
    names.iter().map(|header| (*header).to_owned()).collect()
}

/// Appends `data` to the query of `url`, before its fragment.
fn with_query(url: &str, data: &[u8]) -> Option<String> {
    let data = std::str::from_utf8(data).ok()?;
    let (url, fragment) = url.find('#').map_or((url, ""), |at| url.split_at(at));
    let joint = if url.contains('?') { '&' } else { '?' };
    Some(format!("{url}{joint}{data}{fragment}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read_as(text: &str) -> Result<TargetSpec, InputError> {
        let words = crate::split_into_bytes(text).unwrap();
        let read = |name: &str| match name {
            "body" => Ok(b"a\r\nb".to_vec()),
            _ => Err(format!("cannot read {name}")),
        };
        parse_curl(&words, &Location::at("f", 3), &read)
    }

    fn spec(text: &str) -> TargetSpec {
        read_as(text).unwrap_or_else(|problem| panic!("{text}: {problem}"))
    }

    fn summary(text: &str) -> String {
        let TargetSpec { method, url, headers, body, .. } = spec(text);
        format!("{} {url} [{}] {}", method.as_str(), headers.join("|"), String::from_utf8(body).unwrap())
    }

    const FORM: &str = "Content-Type: application/x-www-form-urlencoded";

    /// Commands as browsers and tools copy them. bash with curl 7.88 sends the same.
    const COPIED: [(&str, &str); 18] = [
        ("-H 'X-Empty;' a", "GET http://a [X-Empty:] "),
        (
            "-kX $'POST' -H $'Host: b' --data-binary $'a=1\\x0d\\x0ab' $'http://a'",
            "POST http://a [Host: b|FORM] a=1\r\nb",
        ),
        ("-sSfo /dev/null a", "GET http://a [] "),
        ("-sSfO -D - -c jar a/b", "GET http://a/b [] "),
        ("-#q a", "GET http://a [] "),
        (
            "--request POST 'http://a' --header 'Content-Type: text/plain' --data 'x'",
            "POST http://a [Content-Type: text/plain] x",
        ),
        ("'http://a' -X 'POST' -H 'accept: */*' -d ''", "POST http://a [accept: */*|FORM] "),
        ("'http://a' -X 'DELETE' -H 'cookie: s=1'", "DELETE http://a [cookie: s=1] "),
        (
            "'http://a' -b 'sid=1; b=2' --compressed --insecure",
            "GET http://a [Accept-Encoding: deflate, gzip, br, zstd|Cookie: sid=1; b=2] ",
        ),
        ("'http://a' --data-raw $'{\"t\":\"it\\'s\\u0021\\\\n\"}'", "POST http://a [FORM] {\"t\":\"it's!\\n\"}"),
        (
            "'http://a' --json '{\"a\":' --json '1}'",
            "POST http://a [Content-Type: application/json|Accept: application/json] {\"a\":1}",
        ),
        ("-G 'http://a?x=1' -d a=1 -d b=2", "GET http://a?x=1&a=1&b=2 [] "),
        ("-G --data-urlencode 'q=a b' -d c --url http://a", "GET http://a?q=a+b&c [] "),
        ("-IXGET http://a", "GET http://a [] "),
        ("-d a -d b --data-raw '@c' http://a", "POST http://a [FORM] a&b&@c"),
        ("-A '' -e http://r http://a", "GET http://a [Referer: http://r] "),
        ("-H 'X: a:b;' -H 'Y:c' http://a", "GET http://a [X: a:b;|Y:c] "),
        ("--stderr - --trace-ascii t -w '' http://a", "GET http://a [] "),
    ];

    /// bash with curl 7.88 sends the same bytes.
    #[test]
    fn bytes_that_are_no_text_are_sent() {
        for (text, body) in [
            (r"--data-raw $'caf\xe9' a", &b"caf\xe9"[..]),
            (r"-d $'a\xff' --data-binary $'\xe9b' a", b"a\xff&\xe9b"),
            (r"--data-urlencode $'n=caf\xe9 x' a", b"n=caf%E9+x"),
        ] {
            assert_eq!(spec(text).body, body, "{text}");
        }
        let refused = read_as(r"-H $'X: \xe9' a").unwrap_err().to_string();
        assert!(refused.contains("curl: the value of --header is not UTF-8 text"), "{refused}");
    }

    #[test]
    fn requests_as_curl_makes_them() {
        for (text, wanted) in [
            ("http://a/b", "GET http://a/b [] "),
            ("a/b", "GET http://a/b [] "),
            ("--url a -I", "HEAD http://a [] "),
            ("-d x=1 -d y=2 a", &format!("POST http://a [{FORM}] x=1&y=2")),
            ("-XPUT -dx a", &format!("PUT http://a [{FORM}] x")),
            ("-sSXPATCH --data-raw @x a", &format!("PATCH http://a [{FORM}] @x")),
            ("-d @body a", &format!("POST http://a [{FORM}] ab")),
            ("--data-binary @body -H 'content-type: x/y' a", "POST http://a [content-type: x/y] a\r\nb"),
            ("--json '{}' a", "POST http://a [Content-Type: application/json|Accept: application/json] {}"),
            ("-G -d x=1 --data-urlencode 'y=a b&c' 'a?z#f'", "GET http://a?z&x=1&y=a+b%26c#f [] "),
            ("-G --data-urlencode 'q={{word}} x' a", "GET http://a?q={{word}}+x [] "),
            ("--data-urlencode name@body a", &format!("POST http://a [{FORM}] name=a%0D%0Ab")),
            ("-u me:secret a", "GET http://a [Authorization: Basic bWU6c2VjcmV0] "),
            ("me:secret@a/b", "GET http://a/b [Authorization: Basic bWU6c2VjcmV0] "),
            ("-u me:secret http://other:one@a/b", "GET http://a/b [Authorization: Basic bWU6c2VjcmV0] "),
            ("-A one -A two -e r -b k=v a", "GET http://a [Cookie: k=v|Referer: r|User-Agent: two] "),
            ("-H 'User-Agent: mine' -A one a", "GET http://a [User-Agent: mine] "),
            ("-i -v -o /dev/null -w '%{http_code}' --http1.1 a", "GET http://a [] "),
            ("--compressed a", "GET http://a [Accept-Encoding: deflate, gzip, br, zstd] "),
            ("--data-urlencode 'mail@work=a b' a", &format!("POST http://a [{FORM}] mail@work=a+b")),
            ("--data-urlencode '@x=y' --data-urlencode '=p&q' a", &format!("POST http://a [{FORM}] @x=y&p%26q")),
        ] {
            assert_eq!(summary(text), wanted, "{text}");
        }
        for (text, wanted) in COPIED {
            assert_eq!(summary(text), wanted.replace("FORM", FORM), "{text}");
        }
        assert_eq!(spec("-H 'Accept:' -H 'User-Agent:  ' a").left_out, ["Accept", "User-Agent"]);
    }

    #[test]
    fn what_is_not_read_is_named_with_its_place() {
        for (text, part) in [
            ("-L a", "f:3: curl: option -L is not supported; truetail follows no redirects"),
            ("--nonsense a", "option --nonsense"),
            ("-Z a", "option -Z"),
            ("--data=x a", "--data=… is not how curl is given a value; write --data and the value as two words"),
            ("--url=http://a", "--url=… is not how curl is given a value; write --url and the value as two words"),
            ("-sF x=y a", "option -F is not supported; write the body with --data-binary"),
            ("-sSfLo /dev/null a", "option -L is not supported; truetail follows no redirects"),
            ("-k https://a", "option -k is not supported; use the option --insecure of truetail run"),
            ("--insecure HTTPS://a", "option --insecure is not supported"),
            ("a -X", "-X needs a value"),
            ("a --data", "--data needs a value"),
            ("a b", "two URLs"),
            ("-s", "no URL"),
            ("-u me a", "-u without a password"),
            ("--http2 a", "option of the same name"),
            ("-b jar a", "names a file"),
            ("-X 'G ET' a", "'G ET' is not a method"),
            ("-d @missing a", "f:3: cannot read missing"),
        ] {
            let problem = read_as(text).unwrap_err().to_string();
            assert!(problem.contains(part), "{text}: {problem}");
        }
        assert!(matches!(read_as("-d @missing a"), Err(InputError::Unreadable { .. })));
        for text in [
            "http://u:secret@a http://v:secret@b",
            "-u secret a",
            "--user=me:secret a",
            "--proxy-user=me:secret a",
            "--nonsense=secret a",
            "-b secret a",
            "-u me secret a",
            "-Zsecret a",
            "-Zme:secret a",
            "--cert-type PEM --pass secret a",
        ] {
            let problem = read_as(text).unwrap_err().to_string();
            assert!(!problem.contains("secret"), "{problem}");
        }
    }

    proptest! {
        #[test]
        fn any_words_are_read_or_refused(
            words in prop::collection::vec(
                "(-[A-Za-z]{0,4}|--(data|json|get|header|user|url)|[ -~]{0,8}|\\PC{0,4})",
                0..8,
            ),
        ) {
            let read = |_: &str| Ok(vec![0xff]);
            let _ = parse_curl(&words, &Location::named("--curl"), &read);
        }
    }
}
