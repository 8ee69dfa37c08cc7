//! Requests of OpenAI's batches: `{"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {…}}`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::bodies::Members;
use super::left_out::LeftOut;
use super::requests::{FilePrompts, FileRequests};
use super::values::{MAX_TEXT_LINE, lines, without_place};
use crate::InputError;

/// One line. Other members are ignored.
#[derive(Deserialize)]
struct Line<'l> {
    #[serde(borrow)]
    method: Option<Cow<'l, str>>,
    #[serde(borrow)]
    url: Option<Cow<'l, str>>,
    #[serde(borrow)]
    body: &'l RawValue,
}

pub(super) fn read(text: &str, file: &str, model: Option<&str>) -> Result<FilePrompts, InputError> {
    let mut bodies = Vec::new();
    let mut path: Option<String> = None;
    for line in lines(text, file, MAX_TEXT_LINE) {
        let (location, line) = line?;
        let help =
            "write {\"custom_id\": \"…\", \"method\": \"POST\", \"url\": \"/v1/chat/completions\", \"body\": {…}}";
        let wrong = |error: &serde_json::Error| {
            location.invalid(format!("no request of a batch: {}; {help}", without_place(error)))
        };
        let Line { method, url, body } = serde_json::from_str(line).map_err(|error| wrong(&error))?;
        if let Some(method) = method.filter(|method| method != "POST") {
            let method: String = method.chars().take(40).collect();
            return Err(location.invalid(format!("method '{method}': a request of a batch is a POST")));
        }
        let url = url.filter(|url| url.starts_with('/') && url.bytes().all(|byte| byte.is_ascii_graphic()));
        let url = url.ok_or_else(|| location.invalid(format!("no url that is a path; {help}")))?;
        if *path.get_or_insert_with(|| url.to_string()) != *url {
            return Err(location.invalid("another url than the lines before; the requests of a batch have one"));
        }
        let members: Members<'_> = serde_json::from_str(body.get()).map_err(|error| wrong(&error))?;
        bodies.push(model.map_or_else(|| body.get().to_owned(), |model| members.with_model(model)));
    }
    Ok(FilePrompts::new(FileRequests::Bodies(bodies), LeftOut::default()).to(path))
}
