//! Tells whether an entry of an archive is a network exchange whose duration is that of the answer.

use serde::Deserialize;

use crate::exchange::NoExchange;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    request: Request,
    response: Response,
    /// Written by Chrome.
    #[serde(rename = "_resourceType")]
    resource_type: Option<String>,
    #[serde(rename = "_webSocketMessages")]
    web_socket_messages: Option<serde::de::IgnoredAny>,
    /// `disk`, `memory`, … in Chrome; `true` in other browsers.
    #[serde(rename = "_fromCache", alias = "fromCache")]
    from_cache: Option<serde_json::Value>,
    #[serde(rename = "_fetchedViaServiceWorker")]
    by_worker: Option<bool>,
    /// `Network Load`, `Memory Cache`, … in Safari.
    #[serde(rename = "_fetchType")]
    fetch_type: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    method: String,
    url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    status: i64,
    content: Option<Content>,
    #[serde(rename = "_fromCache", alias = "fromCache")]
    from_cache: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    mime_type: Option<String>,
}

/// Returns the reason why this entry is no exchange, or `None` if it is one or cannot be read.
pub(crate) fn no_exchange(json: &str) -> Option<NoExchange> {
    let entry: Entry = serde_json::from_str(json).ok()?;
    let Request { method, url } = &entry.request;
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
    let kind = entry.resource_type.as_deref().unwrap_or_default().to_ascii_lowercase();
    let is_socket = kind == "websocket" || entry.web_socket_messages.is_some() || entry.response.status == 101;
    if is_socket || matches!(&*scheme, "ws" | "wss") {
        return Some(NoExchange::WebSocket);
    }
    if !matches!(&*scheme, "http" | "https") {
        return Some(NoExchange::Scheme);
    }
    let is_said = |value: &Option<serde_json::Value>| match value {
        None | Some(serde_json::Value::Null | serde_json::Value::Bool(false)) => false,
        Some(serde_json::Value::String(from)) => !from.is_empty(),
        Some(_) => true,
    };
    let is_elsewhere = entry.fetch_type.is_some_and(|from| !from.is_empty() && from != "Network Load");
    if is_said(&entry.from_cache)
        || is_said(&entry.response.from_cache)
        || entry.by_worker == Some(true)
        || is_elsewhere
    {
        return Some(NoExchange::Cached);
    }
    if method.is_empty() || method == "CONNECT" {
        return Some(NoExchange::NoRequest);
    }
    let answer = entry.response.content.and_then(|content| content.mime_type).unwrap_or_default();
    let is_stream = answer.trim_start().to_ascii_lowercase().starts_with("text/event-stream");
    // Some browsers state no kind, but only an EventSource reads events of a GET.
    let is_source = kind == "eventsource" || kind.is_empty() && is_stream && method == "GET";
    is_source.then_some(NoExchange::EventSource)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn why(more: &[(&str, Value)]) -> Option<NoExchange> {
        let mut entry = json!({"request": {"method": "GET", "url": "https://a/"}, "response": {"status": 200}});
        for (pointer, value) in more {
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            entry.pointer_mut(parent).unwrap()[key] = value.clone();
        }
        no_exchange(&entry.to_string())
    }

    #[test]
    fn what_was_no_exchange() {
        use NoExchange::{Cached, EventSource, NoRequest, Scheme, WebSocket};
        let events = || ("/response/content", json!({"mimeType": "text/event-stream; charset=utf-8"}));
        for (entry, wanted) in [
            (&[][..], None),
            (&[("/request/url", json!("wss://a/"))], Some(WebSocket)),
            (&[("/response/status", json!(101))], Some(WebSocket)),
            (&[("/_webSocketMessages", json!([]))], Some(WebSocket)),
            (&[("/_resourceType", json!("websocket")), ("/request/method", json!(""))], Some(WebSocket)),
            (&[("/_resourceType", json!("eventsource"))], Some(EventSource)),
            (&[events()], Some(EventSource)),
            (&[events(), ("/_resourceType", json!("fetch"))], None),
            (&[events(), ("/request/method", json!("POST"))], None),
            (&[("/request/url", json!("data:text/plain,x"))], Some(Scheme)),
            (&[("/request/url", json!("blob:https://a/1"))], Some(Scheme)),
            (&[("/request/url", json!("about:blank"))], Some(Scheme)),
            (&[("/request/url", json!("moz-extension://a/b.js"))], Some(Scheme)),
            (&[("/request/url", json!("HTTPS://a/"))], None),
            (&[("/_fromCache", json!("memory"))], Some(Cached)),
            (&[("/response/_fromCache", json!(true))], Some(Cached)),
            (&[("/_fromCache", json!(false)), ("/_fetchType", json!("Network Load"))], None),
            (&[("/_fetchType", json!("Disk Cache"))], Some(Cached)),
            (&[("/_fetchedViaServiceWorker", json!(true))], Some(Cached)),
            (&[("/request/method", json!("CONNECT"))], Some(NoRequest)),
            (&[("/response/status", json!(304))], None),
            (&[("/response/status", json!(0))], None),
        ] {
            assert_eq!(why(entry), wanted, "{entry:?}");
        }
        assert_eq!(no_exchange("{"), None);
    }
}
