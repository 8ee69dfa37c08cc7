//! Parser for a file of targets. A file may mix two forms:
//!
//! - Vegeta's HTTP format: `METHOD URL`, then header lines and at most one `@FILE` with the body, up to a blank line or
//!   the next target;
//! - curl commands, which begin at the start of a line and may span several lines, as in a shell.
//!
//! A target `GRPC URL` is a call. Its message is in a file, or in lines of JSON.
//!
//! `#` begins a comment in both forms. The comment `# weight: 3` gives the next target the weight 3.

use truetail_engine::{Method, without_credentials};

use crate::placeholder::without_placeholders;
use crate::{FileReader, InputError, Location, TargetSpec, cmd, parse_curl, shell};

/// The highest weight. It is low enough that the sum of all weights cannot overflow.
const MAX_WEIGHT: u32 = 1_000_000;

/// Parses the targets of `text`, the content of `file`. `read` reads the files of bodies.
///
/// # Errors
/// The text is invalid or has no target. The error has the line.
pub fn parse_targets(text: &str, file: &str, read: FileReader<'_>) -> Result<Vec<TargetSpec>, InputError> {
    let mut parser = TargetsParser { rest: text, line: 0, file, read, weight: None, current: None, done: Vec::new() };
    while parser.step()? {}
    parser.finish()
}

struct TargetsParser<'a> {
    rest: &'a str,
    /// The last line that was read.
    line: u64,
    file: &'a str,
    read: FileReader<'a>,
    /// The weight of the next target, and its location.
    weight: Option<(u32, Location)>,
    /// The unfinished target, and whether it has its body already.
    current: Option<(TargetSpec, bool)>,
    done: Vec<TargetSpec>,
}

impl TargetsParser<'_> {
    fn here(&self) -> Location {
        Location::at(self.file, self.line)
    }

    /// Reads one line, or one command of several lines. Returns false at the end.
    fn step(&mut self) -> Result<bool, InputError> {
        if self.rest.is_empty() {
            return Ok(false);
        }
        self.line += 1;
        if is_curl(self.rest) {
            self.curl()?;
            return Ok(true);
        }
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        self.read_line(line.trim())?;
        Ok(true)
    }

    fn read_line(&mut self, line: &str) -> Result<(), InputError> {
        if line.is_empty() {
            self.end_target();
        } else if let Some(comment) = line.strip_prefix('#') {
            self.comment(comment)?;
        } else if let Some((method, url)) = method_and_url(line) {
            self.end_target();
            self.begin(method, url)?;
        } else if let Some(file) = line.strip_prefix('@') {
            self.body(file)?;
        } else if self.current.as_ref().is_some_and(|(spec, _)| spec.is_call()) && !begins_with_a_name(line) {
            self.message(line)?;
        } else {
            self.header(line)?;
        }
        Ok(())
    }

    fn comment(&mut self, comment: &str) -> Result<(), InputError> {
        let Some(weight) = comment.trim().strip_prefix("weight:") else { return Ok(()) };
        self.end_target();
        let number = weight.trim().parse().ok().filter(|number| (1..=MAX_WEIGHT).contains(number));
        let invalid = || {
            self.here()
                .invalid(format!("'{}' is not a weight; write # weight: 3, from 1 to {MAX_WEIGHT}", weight.trim()))
        };
        let number = number.ok_or_else(invalid)?;
        if self.weight.replace((number, self.here())).is_some() {
            return Err(self.here().invalid("a second weight for the same target"));
        }
        Ok(())
    }

    fn begin(&mut self, method: &str, url: &str) -> Result<(), InputError> {
        let method: Method = method.parse().map_err(|error| self.here().invalid(error))?;
        if without_placeholders(url).contains(char::is_whitespace) {
            let url = without_credentials(url);
            return Err(self.here().invalid(format!("'{url}' is not a URL: it has a space; write METHOD URL")));
        }
        self.current = Some((TargetSpec { method, ..TargetSpec::new(self.here(), url) }, false));
        Ok(())
    }

    fn body(&mut self, file: &str) -> Result<(), InputError> {
        let here = self.here();
        let read = self.read;
        let (spec, has_body) = self.current.as_mut().ok_or_else(|| no_target(&here, "a body"))?;
        if std::mem::replace(has_body, true) || !spec.body.is_empty() {
            return Err(here.invalid("a second body; a target has one"));
        }
        spec.body = read(file.trim()).map_err(|error| here.unreadable(error))?;
        Ok(())
    }

    /// Adds a line with messages of a call.
    fn message(&mut self, line: &str) -> Result<(), InputError> {
        let here = self.here();
        if !line.starts_with(['{', '[']) {
            return Err(here.invalid(format!("'{line}' is neither 'name: value' nor a message; a line has a whole message, such as {{}}, and @FILE is for longer ones")));
        }
        if let Some((spec, has_body)) = &mut self.current {
            if *has_body {
                return Err(here.invalid("a second body; a target has one"));
            }
            if !spec.body.is_empty() {
                spec.body.push(b'\n');
            }
            spec.body.extend_from_slice(line.as_bytes());
        }
        Ok(())
    }

    fn header(&mut self, line: &str) -> Result<(), InputError> {
        let here = self.here();
        if !line.contains(':') {
            return Err(here.invalid(format!("'{line}' is none of METHOD URL, 'Name: value', @FILE or a curl command")));
        }
        let (spec, _) = self.current.as_mut().ok_or_else(|| no_target(&here, "a header"))?;
        spec.headers.push(line.to_owned());
        Ok(())
    }

    fn curl(&mut self) -> Result<(), InputError> {
        self.end_target();
        let here = self.here();
        let invalid = |error| here.invalid(error);
        let end = match cmd::is_for_cmd(self.rest) {
            true => cmd::first_command(self.rest),
            false => shell::first_command(self.rest).map_err(invalid)?,
        };
        let (command, rest) = self.rest.split_at(end);
        let words = cmd::words_of_curl(command).map_err(invalid)?;
        self.current = Some((parse_curl(&words[1..], &here, self.read)?, true));
        self.end_target();
        self.rest = rest;
        self.line += command.trim_end_matches('\n').matches('\n').count() as u64;
        Ok(())
    }

    fn end_target(&mut self) {
        if let Some((spec, _)) = self.current.take() {
            let weight = self.weight.take().map_or(1, |(weight, _)| weight);
            self.done.push(TargetSpec { weight, ..spec });
        }
    }

    fn finish(mut self) -> Result<Vec<TargetSpec>, InputError> {
        self.end_target();
        if let Some((_, location)) = self.weight {
            return Err(location.invalid("no target follows this weight"));
        }
        if self.done.is_empty() {
            let help = "write a line such as GET http://127.0.0.1:8080/api, or a curl command";
            return Err(Location::named(self.file).invalid(format!("the file has no target; {help}")));
        }
        let log_in = |spec: TargetSpec| if spec.is_call() { Ok(spec) } else { spec.with_url_credentials() };
        self.done.into_iter().map(log_in).collect()
    }
}

fn no_target(here: &Location, what: &str) -> InputError {
    here.invalid(format!("{what} without a target; begin the target with METHOD URL"))
}

fn is_curl(text: &str) -> bool {
    let word = text.trim_start_matches([' ', '\t']).strip_prefix("curl");
    // PowerShell has another command named curl, so its users call the program by its file name.
    let word = word.map(|after| after.strip_prefix(".exe").unwrap_or(after));
    word.is_some_and(|after| after.starts_with([' ', '\t', '\\']))
}

/// Returns true if a line may be `name: value`: a name does not begin with a sign of JSON.
fn begins_with_a_name(line: &str) -> bool {
    line.starts_with(|first: char| !"{}[]\",".contains(first))
}

/// Returns method and URL of a line `METHOD URL`. The capitals of the first word tell it from `Name: value`.
fn method_and_url(line: &str) -> Option<(&str, &str)> {
    let (method, url) = line.split_once(char::is_whitespace)?;
    method.bytes().all(|byte| byte.is_ascii_uppercase()).then(|| (method, url.trim()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(name: &str) -> Result<Vec<u8>, String> {
        if name.contains("missing") { Err(format!("cannot read {name}")) } else { Ok(format!("<{name}>").into_bytes()) }
    }

    fn summaries(text: &str) -> Vec<String> {
        let specs = parse_targets(text, "f", &read).unwrap_or_else(|problem| panic!("{problem}"));
        let summary = |d: &TargetSpec| {
            let method = d.method.as_str();
            let body = String::from_utf8_lossy(&d.body);
            format!("{}:{}×{method} {} [{}] {body}", d.location.line, d.weight, d.url, d.headers.join("|"))
        };
        specs.iter().map(summary).collect()
    }

    #[test]
    fn vegetas_format() {
        let text = "# all\nGET http://a/1\nX-A: b\n# in between\nX-C: d:e\n\n\n\
                    POST http://a/2\r\n@body file\r\n\r\nGET   http://a/3\nPUT http://a/4\nX: y\n@b\n";
        assert_eq!(
            summaries(text),
            [
                "2:1×GET http://a/1 [X-A: b|X-C: d:e] ",
                "8:1×POST http://a/2 [] <body file>",
                "11:1×GET http://a/3 [] ",
                "12:1×PUT http://a/4 [X: y] <b>",
            ]
        );
    }

    #[test]
    fn curl_commands_and_weights() {
        let text = "# weight: 3\ncurl http://a/1 \\\n  -H 'X: y'\n\n  curl 'http://a/2' --data-raw 'x\ny'\n\
                    #weight:2\n# a remark\nGET http://a/3\n# weight: 4\nGET http://a/4\ncurl a/5 # done";
        assert_eq!(
            summaries(text),
            [
                "2:3×GET http://a/1 [X: y] ",
                "5:1×POST http://a/2 [Content-Type: application/x-www-form-urlencoded] x\ny",
                "9:2×GET http://a/3 [] ",
                "11:4×GET http://a/4 [] ",
                "12:1×GET http://a/5 [] ",
            ]
        );
    }

    #[test]
    fn calls_have_their_messages_in_lines_or_a_file() {
        let text = "# weight: 2\nGRPC grpc://a:1/p.S/M\nx-a: b\n{\"a\":1}\n\n\
                    GRPC grpc://a:1/p.S/N\n{\"a\":1}\n[{\"a\":2}]\nGRPC grpc://a:1/p.S/O\n@b";
        assert_eq!(
            summaries(text),
            [
                "2:2×GRPC grpc://a:1/p.S/M [x-a: b] {\"a\":1}",
                "6:1×GRPC grpc://a:1/p.S/N [] {\"a\":1}\n[{\"a\":2}]",
                "9:1×GRPC grpc://a:1/p.S/O [] <b>",
            ]
        );
        assert_eq!(summaries("GRPC grpc://me:secret@a:1/p.S/M"), ["1:1×GRPC grpc://me:secret@a:1/p.S/M [] "]);
    }

    #[test]
    fn a_password_goes_into_a_header() {
        let text = "GET http://me:secret@a/1\nX: y\nGET http://a/2\nAuthorization: own\n";
        assert_eq!(
            summaries(text),
            [
                "1:1×GET http://a/1 [X: y|Authorization: Basic bWU6c2VjcmV0] ",
                "3:1×GET http://a/2 [Authorization: own] ",
            ]
        );
        let problem = parse_targets("GET http://me:secret@a/ b", "f", &read).unwrap_err().to_string();
        assert!(!problem.contains("secret"), "{problem}");
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        for (text, wanted) in [
            ("", "f: the file has no target"),
            ("# nothing\n\n", "f: the file has no target"),
            ("GET http://a/\n\nX: y", "f:3: a header without a target"),
            ("@b", "f:1: a body without a target"),
            ("GET http://a/\n@b\n@c", "f:3: a second body"),
            ("GET http://a/\n@missing", "f:2: cannot read missing"),
            ("get http://a/", "f:1: a header"),
            ("\nnonsense", "f:2: 'nonsense' is none of"),
            ("GET http://a/ b", "f:1: 'http://a/ b' is not a URL"),
            ("GRPC grpc://a:1/p.S/M\n{}\n@b", "f:3: a second body"),
            ("GRPC grpc://a:1/p.S/M\n@b\n{}", "f:3: a second body"),
            ("GRPC grpc://a:1/p.S/M\n{\n\"a\": 1\n}", "f:3: '\"a\": 1' is neither"),
            ("CONNECT http://a/", "f:1: 'CONNECT' is not a method"),
            ("# weight: 0\nGET http://a/", "f:1: '0' is not a weight"),
            ("# weight: many\nGET http://a/", "f:1: 'many' is not a weight"),
            ("# weight: 1\n# weight: 2\nGET http://a/", "f:2: a second weight"),
            ("GET http://a/\n# weight: 2\n", "f:2: no target follows"),
            ("GET http://a/\ncurl 'http://a/", "f:2: a quote is not closed"),
            ("curl a \\\n --location\ncurl c", "f:1: curl: option --location"),
            ("curl a \\\n -s\ncurl b -L", "f:3: curl: option -L"),
            ("curl http://a/?b=1&c=2", "f:1: '&' is an operator of the shell"),
        ] {
            let problem = parse_targets(text, "f", &read).unwrap_err().to_string();
            assert!(problem.starts_with(wanted), "{text:?}: {problem}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..80),
            lines in prop::collection::vec(
                "(GET |POST |curl |# weight: |@|X: |\\PC)?(http://a|'|\"|\\\\|2| |-[dHX] |\\PC{0,4}){0,4}",
                0..8,
            ),
        ) {
            for text in [String::from_utf8_lossy(&bytes).into_owned(), lines.join("\n")] {
                match parse_targets(&text, "f", &read) {
                    Ok(specs) => prop_assert!(!specs.is_empty() && specs.iter().all(|spec| spec.weight > 0)),
                    Err(problem) => prop_assert!(problem.to_string().starts_with("f:")),
                }
            }
        }
    }
}
