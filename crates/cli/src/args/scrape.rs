//! Options of the numbers that services publish about themselves.

use std::str::FromStr;

use clap::Args;
use truetail_requests::redacted_url;
use truetail_scrape::Pattern;

/// Longest name of a service, in letters.
const LONGEST_NAME: usize = 80;

/// Options of the numbers that services publish about themselves.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct ScrapeArgs {
    /// Read the metrics that a service publishes here (Prometheus text or OpenMetrics) before the run, each second and
    /// after it, and compare its request times with what users waited; repeatable. =NAME names it
    #[arg(long, value_name = "URL[=NAME]", help_heading = "Traces")]
    pub scrape: Vec<ScrapeTarget>,
    /// Draw the counters and gauges of this name on the page, with * for any text; repeatable. Usual ones, such as CPU
    /// seconds, are drawn anyway
    #[arg(long, value_name = "PATTERN", help_heading = "Traces")]
    pub scrape_show: Vec<Pattern>,
}

/// Value of `--scrape`: an address, and a name for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ScrapeTarget {
    pub url: String,
    pub name: String,
}

impl FromStr for ScrapeTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<ScrapeTarget, String> {
        let (url, name) = split(text);
        let shown = redacted_url(url);
        let Some(rest) = url.strip_prefix("http://") else {
            return Err(format!("'{shown}' is no http:// URL; write one such as http://127.0.0.1:9090/metrics"));
        };
        if shown != url {
            return Err(format!("'{shown}' has a user name or a password, which --scrape does not send"));
        }
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let is_plain = url.chars().all(|c| c.is_ascii_graphic());
        if host.is_empty() || !is_plain {
            return Err(format!("'{shown}' is no URL of a host; write one such as http://127.0.0.1:9090/metrics"));
        }
        let name = name.unwrap_or(host);
        let is_name = !name.is_empty() && name.chars().count() <= LONGEST_NAME && !name.contains(char::is_control);
        match is_name {
            true => Ok(ScrapeTarget { url: url.to_owned(), name: name.to_owned() }),
            false => Err(format!("the name after = must have 1 to {LONGEST_NAME} letters")),
        }
    }
}

/// Returns the URL and the name. In a query, an `=` belongs to its key unless another one follows.
fn split(text: &str) -> (&str, Option<&str>) {
    let last_part = text.rfind(['/', '?', '&']).map_or(0, |at| at + 1);
    let signs = text[last_part..].matches('=').count();
    let needed = if text.contains('?') { 2 } else { 1 };
    match text.rsplit_once('=').filter(|_| signs >= needed) {
        Some((url, name)) => (url, Some(name)),
        None => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_after_the_last_sign() {
        for (text, url, name) in [
            ("http://127.0.0.1:9090/metrics", "http://127.0.0.1:9090/metrics", "127.0.0.1:9090"),
            ("http://app:80/metrics=the app", "http://app:80/metrics", "the app"),
            ("http://app/m?a=b", "http://app/m?a=b", "app"),
            ("http://app/m?a=b=web", "http://app/m?a=b", "web"),
            ("http://app=x", "http://app", "x"),
        ] {
            let target = text.parse::<ScrapeTarget>().unwrap();
            assert_eq!((target.url.as_str(), target.name.as_str()), (url, name), "{text}");
        }
        for text in [
            "",
            "https://a/metrics",
            "http://",
            "http:///metrics",
            "http://u:p@a/metrics",
            "http://a/m=",
            "http://a b/",
        ] {
            assert!(text.parse::<ScrapeTarget>().is_err(), "{text}");
        }
        assert!(!"http://u:secret@a/".parse::<ScrapeTarget>().unwrap_err().contains("secret"));
    }
}
