use super::entry::Recorded;
use super::host::Host;
use super::left_out::{Cause, LeftOut};
use crate::ways::hurl::split_url;

/// File extensions of assets, which a browser loads for a page.
const ASSETS: [&str; 20] = [
    "avif", "bmp", "css", "eot", "gif", "ico", "jpeg", "jpg", "js", "map", "mjs", "mp3", "mp4", "otf", "png", "svg",
    "ttf", "webm", "woff", "woff2",
];

/// The steps of the flow, in their order.
pub(super) struct Choice {
    /// Their distinct origins.
    pub(super) origins: Vec<String>,
    pub(super) steps: Vec<Recorded>,
    pub(super) left_out: LeftOut,
}

impl Choice {
    /// Chooses steps among `all`: requests to the `asked` origins, or else to the origin of the first page.
    pub(super) fn new(all: Vec<Recorded>, asked: &[String], keeps_assets: bool, mut left_out: LeftOut) -> Choice {
        let page = all.iter().find(|recorded| recorded.is_page()).or(all.first());
        let of_page = || page.map_or_else(String::new, |recorded| recorded.origin.clone());
        let mut origins: Vec<String> = Vec::new();
        for origin in asked.iter().map(|origin| normalised(origin)) {
            if !origins.contains(&origin) {
                origins.push(origin);
            }
        }
        if origins.is_empty() {
            origins.push(of_page());
        }
        let mut steps = Vec::new();
        for recorded in all {
            if !origins.contains(&recorded.origin) {
                left_out.count_origin(&recorded.origin);
            } else if !keeps_assets && recorded.is_asset() {
                left_out.count(Cause::Asset);
            } else {
                steps.push(recorded);
            }
        }
        Choice { origins, steps, left_out }
    }

    /// Returns the variable of each origin.
    pub(super) fn hosts(&self) -> Vec<Host<'_>> {
        let name = |nth: usize| if nth == 1 { "host".to_owned() } else { format!("host{nth}") };
        (1..).zip(&self.origins).map(|(nth, origin)| Host { variable: name(nth), origin }).collect()
    }

    /// Returns the reason why there is no step.
    pub(super) fn nothing(&self) -> String {
        match self.left_out.text() {
            None => "the archive has no request".to_owned(),
            Some(text) => format!("no request of it can be a step of a flow; left out: {text}"),
        }
    }
}

/// Normalises an origin to the form of the entries.
fn normalised(origin: &str) -> String {
    let origin = origin.trim().to_ascii_lowercase();
    split_url(&origin).map_or(origin, |(origin, _)| origin)
}

impl Recorded {
    /// Returns true for a page that a browser shows.
    fn is_page(&self) -> bool {
        self.resource_type == "document" || self.resource_type.is_empty() && self.answer_kind() == "text/html"
    }

    /// Returns true for an asset of a page, by its resource type, or else by the type of the answer or the path.
    fn is_asset(&self) -> bool {
        match self.resource_type.as_str() {
            "script" | "stylesheet" | "image" | "font" | "media" | "manifest" | "texttrack" => return true,
            "document" | "xhr" | "fetch" | "eventsource" | "ping" | "preflight" => return false,
            _ => {}
        }
        let kind = self.answer_kind();
        let by_type = ["image/", "font/", "audio/", "video/", "text/css"].iter().any(|start| kind.starts_with(start));
        let ending = self.path().rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending);
        let by_path = ending.is_some_and(|ending| ASSETS.contains(&ending.to_ascii_lowercase().as_str()));
        by_type || kind.ends_with("javascript") || by_path
    }
}
