//! Options of times that the service reports.

use std::ffi::OsString;

use clap::Args;
use truetail_timing::TimingSource;

/// Value of `--server-timing` alone.
pub(crate) const USUAL: &str = "usual";

/// Options of times that the service reports.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct ServerTimingArgs {
    /// Read the times that the service reports with each answer, and say how much of the response time they explain:
    /// Server-Timing, x-envoy-upstream-service-time and x-runtime, or only header:NAME:UNIT with the unit s, ms or us
    #[arg(long, value_name = "header:NAME:UNIT", num_args = 0..=1, default_missing_value = USUAL)]
    #[arg(value_parser = sources, help_heading = "Traces")]
    pub server_timing: Vec<Sources>,
    /// Parts that contain others, outermost first, such as 'edge > app > db': a time within another is counted once
    #[arg(long, value_name = "ORDER", value_parser = order, help_heading = "Traces")]
    pub server_timing_order: Vec<String>,
}

/// Returns the words with a value after each `--server-timing` without one, so that it does not take the next word,
/// such as the URL, for its own.
pub(crate) fn completed(words: &[OsString]) -> Vec<OsString> {
    const NAME: &str = "--server-timing";
    let mut completed = Vec::with_capacity(words.len());
    let mut is_option = true;
    for (place, word) in words.iter().enumerate() {
        is_option &= word != "--";
        completed.push(word.clone());
        let next = words.get(place + 1).and_then(|next| next.to_str()).unwrap_or_default();
        let has_value = next.starts_with("header:") || next.eq_ignore_ascii_case("server-timing");
        if is_option && word == NAME && !has_value {
            completed.push(USUAL.into());
        }
    }
    completed
}

/// Headers that one use of the option names.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Sources(pub Vec<TimingSource>);

fn sources(text: &str) -> Result<Sources, String> {
    if text == USUAL {
        return Ok(Sources(TimingSource::usual()));
    }
    text.parse().map(|source| Sources(vec![source])).map_err(|error: truetail_timing::SourceError| error.to_string())
}

fn order(text: &str) -> Result<String, String> {
    let names: Vec<&str> = text.split('>').map(str::trim).collect();
    let is_name = |name: &&str| !name.is_empty() && !name.contains(char::is_whitespace);
    match names.len() > 1 && names.iter().all(is_name) {
        true => Ok(names.join(" > ")),
        false => Err(format!("'{text}' is no order of parts; write the outermost first: 'edge > app > db'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_takes_no_url() {
        let completed = |text: &str| {
            let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
            completed(&words).join(std::ffi::OsStr::new(" ")).into_string().unwrap()
        };
        assert_eq!(completed("run --server-timing http://a"), "run --server-timing usual http://a");
        assert_eq!(completed("run http://a --server-timing"), "run http://a --server-timing usual");
        for text in ["run --server-timing header:x:ms", "run -- curl --server-timing a", "run http://a -r 5"] {
            assert_eq!(completed(text), text);
        }
    }

    #[test]
    fn an_order_has_two_names_or_more() {
        assert_eq!(order("edge>app > db"), Ok("edge > app > db".to_owned()));
        for text in ["", "app", "a >", "> a", "a b > c"] {
            assert!(order(text).is_err(), "{text}");
        }
    }
}
