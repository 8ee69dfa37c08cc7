//! Files of exchanges: what is sent on a channel before the load uses it, and what must come.

use truetail_engine::{Exchange, ExchangeStep, Expectation, Framing, bytes_of_hex, redis_command};
use truetail_model::time::Nanos;

use crate::shell::split_into_bytes;
use crate::{BodyEncoder, InputError, Location};

/// Largest file of an exchange: 1 MiB.
const MAX_BYTES: usize = 1 << 20;
/// Largest number of its steps.
const MAX_STEPS: usize = 1_000;
/// Wait for a message unless `within` says otherwise.
const USUAL_WAIT: Nanos = Nanos::from_secs(5);
const LONGEST_WAIT: Nanos = Nanos::from_secs(3600);
const FORMS: &str =
    "write send TEXT, send-hex HEX, expect TEXT, expect-hex HEX, await TEXT, await-hex HEX or within 5s";

/// Reads a file of an exchange for channels with this framing. Each line is a step:
///
/// - `send TEXT` and `send-hex HEX` send a message. For Redis, `send` takes the words of a command. An `encoder`
///   encodes TEXT.
/// - `expect TEXT` and `expect-hex HEX` wait for the next message, which must contain this.
/// - `await TEXT` and `await-hex HEX` wait for a message that contains this, whatever comes before.
/// - `within TIME` sets the longest wait of each of the following lines.
///
/// Empty lines and lines that begin with `#` are left out.
///
/// # Errors
/// A line in another form, a message that the framing cannot hold, or no step at all.
pub fn parse_exchange(
    text: &str,
    file: &str,
    framing: &Framing,
    encoder: Option<&BodyEncoder>,
) -> Result<Exchange, InputError> {
    let whole = Location::named(file);
    if text.len() > MAX_BYTES {
        return Err(whole.invalid(format!("the file has {} bytes; at most {MAX_BYTES}", text.len())));
    }
    let mut steps = Vec::new();
    let mut within = USUAL_WAIT;
    for (number, line) in (1..).zip(text.lines()) {
        let location = Location::at(file, number);
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let (word, value) = line.split_once(' ').unwrap_or((line, ""));
        match (word, word.strip_suffix("-hex").unwrap_or(word)) {
            ("within", _) => within = wait(value).map_err(|problem| location.invalid(problem))?,
            (_, "send") => {
                let is_binary = word != "send";
                let message =
                    message(value, is_binary, framing, encoder).map_err(|problem| location.invalid(problem))?;
                steps.push(ExchangeStep::Send { message, is_binary });
            }
            (_, kind @ ("expect" | "await")) => {
                let content = if word == kind { Ok(value.as_bytes().to_vec()) } else { from_hex(value) };
                let content = content.map_err(|problem| location.invalid(problem))?;
                steps.push(ExchangeStep::Expect(Expectation { content, passes_over: kind == "await", within }));
            }
            _ => return Err(location.invalid(format!("'{word}' begins no step of an exchange; {FORMS}"))),
        }
        if steps.len() > MAX_STEPS {
            return Err(location.invalid(format!("more than {MAX_STEPS} steps")));
        }
    }
    if steps.is_empty() {
        return Err(whole.invalid(format!("it has no step; {FORMS}")));
    }
    Ok(Exchange::new(steps))
}

fn wait(text: &str) -> Result<Nanos, String> {
    let length: Nanos = text.trim().parse().map_err(|error| format!("within: {error}"))?;
    if length == Nanos::ZERO || length > LONGEST_WAIT {
        return Err(format!("within: '{}' is out of range; write a time from 1ns to 1h, such as 5s", text.trim()));
    }
    Ok(length)
}

fn from_hex(digits: &str) -> Result<Vec<u8>, String> {
    let problem = || format!("'{digits}' is not an even number of hexadecimal digits");
    bytes_of_hex(&digits.replace(' ', "")).ok_or_else(problem)
}

fn message(value: &str, is_hex: bool, framing: &Framing, encoder: Option<&BodyEncoder>) -> Result<Vec<u8>, String> {
    if !is_hex && value.contains("{{") {
        return Err("no values are filled in here; write what is sent, or send-hex for bytes such as '{{'".to_owned());
    }
    let message = match (framing, is_hex) {
        (_, true) => from_hex(value)?,
        (Framing::Redis, false) => {
            let words = split_into_bytes(value).map_err(|error| error.to_string())?;
            if words.is_empty() {
                return Err("send needs the words of a command, such as SUBSCRIBE news".to_owned());
            }
            redis_command(&words)
        }
        (_, false) => match encoder {
            Some(encoder) => encoder.encode(value.as_bytes())?,
            None => value.as_bytes().to_vec(),
        },
    };
    let is_of_frames = matches!(framing, Framing::WebSocket { .. });
    match framing.refuses(&message).filter(|_| !is_of_frames) {
        Some(problem) => Err(problem),
        None => Ok(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sends(message: &[u8], is_binary: bool) -> ExchangeStep {
        ExchangeStep::Send { message: message.to_vec(), is_binary }
    }

    fn expects(content: &[u8], passes_over: bool, within: Nanos) -> ExchangeStep {
        ExchangeStep::Expect(Expectation { content: content.to_vec(), passes_over, within })
    }

    #[test]
    fn each_line_is_a_step() {
        let text =
            "# a login\n\nexpect\r\nsend LOGIN me  pw \nsend-hex 00 fF\nwithin 250ms\nawait # ready\nexpect-hex 4f4b\n";
        let read = parse_exchange(text, "h", &"nul".parse().unwrap(), None);
        assert!(read.unwrap_err().to_string().starts_with("h:5: byte 0 of the message"));
        let read = parse_exchange(text, "h", &"length:2be".parse().unwrap(), None).unwrap();
        let quarter = Nanos::from_millis(250);
        let steps = vec![
            expects(b"", false, USUAL_WAIT),
            sends(b"LOGIN me  pw ", false),
            sends(b"\x00\xff", true),
            expects(b"# ready", true, quarter),
            expects(b"OK", false, quarter),
        ];
        assert_eq!(read, Exchange::new(steps));
        let command = parse_exchange("send SUBSCRIBE 'a b'", "h", &Framing::Redis, None).unwrap();
        assert_eq!(command, Exchange::new(vec![sends(&redis_command(&["SUBSCRIBE", "a b"]), false)]));
        assert!(!format!("{command:?}").contains("SUBSCRIBE"), "it may hold a password");
    }

    #[test]
    fn what_is_no_exchange_is_refused_with_its_line() {
        let line: Framing = "line".parse().unwrap();
        for (text, framing, wanted) in [
            ("", &line, "h: it has no step; write send"),
            ("send a\nwait 5s", &line, "h:2: 'wait' begins no step of an exchange; write send TEXT"),
            ("send-hex 0", &line, "h:1: '0' is not an even number of hexadecimal digits"),
            ("send-hex 0a", &line, "h:1: byte 0 of the message begins the delimiter"),
            ("expect-hex zz", &line, "h:1: 'zz' is not"),
            ("within 0s", &line, "h:1: within: '0s' is out of range"),
            ("within soon", &line, "h:1: within: "),
            ("within 2h", &line, "h:1: within: '2h' is out of range"),
            ("send {\"id\":{{seq}}}", &line, "h:1: no values are filled in here"),
            ("send 'a", &Framing::Redis, "h:1: "),
            ("send", &Framing::Redis, "h:1: send needs the words"),
        ] {
            let told = parse_exchange(text, "h", framing, None).unwrap_err().to_string();
            assert!(told.starts_with(wanted), "{told}");
        }
        let long = "send a\n".repeat(MAX_STEPS + 1);
        assert!(parse_exchange(&long, "h", &line, None).unwrap_err().to_string().contains("more than 1000 steps"));
        let large = "#".repeat(MAX_BYTES + 1);
        assert!(parse_exchange(&large, "h", &line, None).unwrap_err().to_string().contains("at most 1048576"));
    }
}
