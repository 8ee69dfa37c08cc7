//! Parser for `[Options]` and truetail's comments.

use truetail_model::time::Nanos;

use super::cursor::shortened;
use super::{FUNCTIONS, Parser, Result};
use crate::error::FlowError;
use crate::scope::VariableId;
use crate::syntax::{Delay, Entry, Options, Setting};
use crate::template::{Piece, Template};
use crate::value::Value;

/// Limit on the repetitions of a request.
const MAX_REPEATS: u32 = 10_000;

/// Limit on the redirects that may be allowed.
const MAX_REDIRECTS: u32 = 10_000;

/// Limit on the retries of a failed request.
const MAX_RETRIES: u32 = 10_000;

/// The largest weight of a flow.
const MAX_WEIGHT: u32 = 1_000_000;

/// Options that do not change the measurement, because they only change what Hurl shows.
const HARMLESS: [&str; 3] = ["verbose", "very-verbose", "verbosity"];

impl Parser<'_> {
    pub(super) fn options(&mut self, options: &mut Options) -> Result<()> {
        while self.is_at_pair() {
            let start = self.at;
            // The dot is for http1.1.
            let name = self.at.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
            self.at.skip_spaces();
            if !self.at.eat(":") {
                return Err(start.error("an option is written name: value"));
            }
            self.option(name, options).map_err(|problem| start.error(problem))?;
            self.skip_blank();
        }
        Ok(())
    }

    fn option(&mut self, name: &str, options: &mut Options) -> std::result::Result<(), String> {
        let template = self.value_text().map_err(|error| error.problem)?;
        if name == "variable" {
            let (variable, setting) = self.setting(template)?;
            options.variables.push((variable, setting));
            return Ok(());
        }
        let Some(value) = template.constant() else {
            return Err(format!("{{{{…}}}} is not supported in the option {name}; write its value out"));
        };
        match name {
            "delay" => options.coming.delay = Some(Delay::Fixed(time(value)?)),
            "max-time" => {
                let limit = Nanos::parse_in(value, Nanos::from_secs(1)).map_err(|error| error.to_string())?;
                options.max_time = Some(limit).filter(|limit| !limit.is_zero());
            }
            "repeat" => options.repeat = Some(repeats(value)?),
            "skip" => options.skip = boolean(name, value)?,
            "http1.1" | "http2" => {
                let version = if name == "http2" { "2" } else { "1.1" };
                options.version = boolean(name, value)?.then_some(version).or(options.version);
            }
            "location" => options.location = boolean(name, value)?,
            "max-redirs" => options.max_redirects = Some(redirects(value)?),
            "retry" => options.retries = retries(value)?,
            "retry-interval" => options.retry_interval = Some(time(value)?),
            "location-trusted" => {
                options.trusts_redirects = boolean(name, value)?;
                options.location |= options.trusts_redirects;
            }
            "compressed" | "insecure" if matches!(value, "false" | "0") => {}
            name if HARMLESS.contains(&name) => {}
            name => return Err(unsupported(name)),
        }
        Ok(())
    }

    /// Reads `name=value`. As in Hurl, null, true, false and numbers get their JSON types.
    fn setting(&mut self, template: Template) -> std::result::Result<(VariableId, Setting), String> {
        let wrong = || "write variable: name=value".to_owned();
        let mut pieces = template.0.into_iter();
        let Some(Piece::Text(first)) = pieces.next() else { return Err(wrong()) };
        let (name, text) = first.split_once('=').ok_or_else(wrong)?;
        if !is_name(name) {
            return Err(wrong());
        }
        if FUNCTIONS.contains(&name) {
            return Err(format!("{name} is a function; a variable has another name"));
        }
        let variable = self.variable(name);
        let rest: Vec<Piece> = pieces.collect();
        if rest.is_empty() {
            return Ok((variable, Setting::Value(typed(text))));
        }
        let first = (!text.is_empty()).then(|| Piece::Text(text.to_owned()));
        Ok((variable, Setting::Text(Template(first.into_iter().chain(rest).collect()))))
    }

    /// Takes the comment with the weight of the whole flow, which must come before the first request.
    pub(super) fn take_weight(&mut self, is_before_first: bool, weight: &mut Option<u32>) -> Result<()> {
        let all = std::mem::take(&mut self.remarks);
        let is_weight = |(_, remark): &(usize, &str)| remark.split_whitespace().next() == Some("weight");
        let (weights, others): (Vec<_>, Vec<_>) = all.into_iter().partition(is_weight);
        self.remarks = others;
        for (line, remark) in weights {
            let value = remark["weight".len()..].trim();
            let number = value.parse().ok().filter(|number| (1..=MAX_WEIGHT).contains(number));
            let help = "write a whole number from 1 to 1000000, as in '# truetail: weight 3'";
            let number =
                number.ok_or_else(|| FlowError::new(line, format!("the weight '{}': {help}", shortened(value))))?;
            if !is_before_first {
                let help = "write it once, before the first request";
                return Err(FlowError::new(line, format!("the weight is that of the whole flow; {help}")));
            }
            if weight.replace(number).is_some() {
                return Err(FlowError::new(line, "a second weight; a flow has one"));
            }
        }
        Ok(())
    }

    /// Applies truetail's comments before a request.
    pub(super) fn apply_remarks(&mut self, remarks: Vec<(usize, &str)>, entry: &mut Entry) -> Result<()> {
        for (line, remark) in remarks {
            let mut words = remark.splitn(2, [' ', '\t']);
            let first = words.next().unwrap_or_default();
            let rest = words.next().unwrap_or_default().trim();
            let at_line = |problem: String| FlowError::new(line, problem);
            match first {
                "name" if !rest.is_empty() && rest.len() <= 100 => entry.name = Some(rest.to_owned()),
                "while" if is_name(rest) => entry.options.coming.only_while = Some(self.variable(rest)),
                "stream" if rest.is_empty() => entry.options.is_stream = true,
                "delay" => entry.options.coming.delay = Some(delay(rest).map_err(at_line)?),
                _ => {
                    let remark = shortened(remark);
                    let help = "there are 'name NAME', 'delay TIME', 'delay exponential MEAN', 'delay uniform SHORTEST..LONGEST', 'while VARIABLE', 'stream' and 'weight N'";
                    return Err(at_line(format!("'# truetail: {remark}' is not understood; {help}")));
                }
            }
        }
        Ok(())
    }
}

/// Returns true for a name that a variable can have.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// Returns the typed value of a text without quotes.
pub(crate) fn typed(text: &str) -> Value {
    let unquoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let number = text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    match unquoted {
        Some(text) => Value::text(text),
        None if number || matches!(text, "null" | "true" | "false") => {
            serde_json::from_str(text).map_or_else(|_| Value::text(text), Value::Json)
        }
        None => Value::text(text),
    }
}

/// Returns the reason why a text is no think time with a unit, such as `2s`, `exponential 2s` or `uniform 1s..3s`.
pub fn problem_of_delay(text: &str) -> Option<String> {
    let has_no_unit = |part: &str| part.parse::<f64>().is_ok();
    if text.split("..").flat_map(str::split_whitespace).any(has_no_unit) || text.contains(char::is_control) {
        return Some(format!("'{}' is no time; write a number and a unit, such as 5s", shortened(text)));
    }
    delay(text).err()
}

/// Parses a think time: `2s`, `exponential 2s` or `uniform 1s..3s`.
fn delay(text: &str) -> std::result::Result<Delay, String> {
    if let Some(mean) = text.strip_prefix("exponential ") {
        return Ok(Delay::Exponential(time(mean.trim())?));
    }
    let Some(range) = text.strip_prefix("uniform ") else { return Ok(Delay::Fixed(time(text)?)) };
    let wrong = || format!("'{range}' is no range of times; write the shortest and the longest, such as 1s..3s");
    let (shortest, longest) = range.split_once("..").ok_or_else(wrong)?;
    let shortest = time(shortest.trim())?;
    let longest = time(longest.trim())?;
    if shortest > longest { Err(wrong()) } else { Ok(Delay::Uniform(shortest, longest)) }
}

/// Parses a time. Without a unit it is in milliseconds.
fn time(text: &str) -> std::result::Result<Nanos, String> {
    Nanos::parse_in(text, Nanos::from_millis(1)).map_err(|error| error.to_string())
}

fn repeats(text: &str) -> std::result::Result<u32, String> {
    match text.parse::<u32>() {
        Ok(0) => Err("repeat: 0 is a request that is never sent; use skip: true".to_owned()),
        Ok(n) if n <= MAX_REPEATS => Ok(n),
        Ok(_) => Err(format!("at most {MAX_REPEATS} repetitions are supported")),
        Err(_) if text == "-1" => {
            Err("endless repetition is not supported: a session has an end; write repeat: N".to_owned())
        }
        Err(_) => Err(format!("'{}' is no number of repetitions", shortened(text))),
    }
}

fn retries(text: &str) -> std::result::Result<u32, String> {
    match text.parse::<u32>() {
        Ok(n) if n <= MAX_RETRIES => Ok(n),
        Ok(_) => Err(format!("at most {MAX_RETRIES} retries are supported")),
        Err(_) if text == "-1" => {
            Err("endless retries are not supported: a session has an end; write retry: N".to_owned())
        }
        Err(_) => Err(format!("'{}' is no number of retries", shortened(text))),
    }
}

fn redirects(text: &str) -> std::result::Result<u32, String> {
    match text.parse::<u32>() {
        Ok(n) if n <= MAX_REDIRECTS => Ok(n),
        Ok(_) => Err(format!("at most {MAX_REDIRECTS} redirects are supported")),
        Err(_) if text == "-1" => {
            Err("redirects without a limit are not supported: a session has an end; write max-redirs: N".to_owned())
        }
        Err(_) => Err(format!("'{}' is no number of redirects", shortened(text))),
    }
}

fn boolean(name: &str, text: &str) -> std::result::Result<bool, String> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("the option {name} is true or false, not '{}'", shortened(text))),
    }
}

fn unsupported(name: &str) -> String {
    let help = match name {
        "insecure" => "use --insecure for the whole run",
        "cacert" => "use --ca FILE for the whole run",
        "cert" | "key" => "use --cert FILE and --key FILE for the whole run",
        "user" => "use [BasicAuth]",
        "header" => "write a header line",
        "resolve" => "use --resolve for the whole run",
        "unix-socket" => "use --unix-socket for the whole run",
        "connect-timeout" => "use max-time, which includes connecting",
        "compressed" => "bodies are not decompressed; leave Accept-Encoding out",
        "http2-prior-knowledge" => "use --http2 for the whole run",
        "http3" | "http1.0" => "flows speak HTTP/1.1, and HTTP/2 with --http2",
        _ => "take it out",
    };
    format!("the option {} is not supported; {help}", shortened(name))
}
