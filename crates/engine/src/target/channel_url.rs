//! URLs of channels.

use std::borrow::Cow;
use std::fmt;

use percent_encoding::percent_decode_str;
use url::{Position, Url};

use super::credentials::without_credentials;
use super::error::TargetError;
use super::origin::{Origin, default_port};
use crate::protocol::messages::redis_command;

const SCHEMES: [&str; 6] = ["tcp", "tls", "redis", "rediss", "ws", "wss"];

/// The URL of channels: `tcp://HOST:PORT`, `tls://HOST:PORT`, `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`,
/// `rediss://…`, `ws://HOST[:PORT]/PATH` or `wss://…`.
#[derive(Clone, PartialEq, Eq)]
pub struct ChannelUrl {
    /// Scheme, host and port.
    pub origin: Origin,
    /// Path and query of a WebSocket; `/` for other channels.
    pub path: String,
    /// User name and password; the name may be empty.
    login: Option<(String, String)>,
    database: Option<u32>,
}

/// Leaves out the login.
impl fmt::Debug for ChannelUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.path)
    }
}

impl ChannelUrl {
    /// Returns true if the text begins with the scheme of a channel.
    pub fn is_meant(text: &str) -> bool {
        let scheme = text.trim().split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        scheme.is_some_and(|scheme| SCHEMES.contains(&scheme.as_str()))
    }

    /// Reads the URL.
    ///
    /// # Errors
    /// [`TargetError::Url`]: no port, or a path, a user name or a password that this kind of channel does not have.
    pub fn parse(text: &str) -> Result<ChannelUrl, TargetError> {
        let error = |problem: &str| TargetError::Url {
            url: without_credentials(text).into_owned(),
            problem: problem.to_owned(),
        };
        let url = Url::parse(text.trim()).map_err(|problem| error(&problem.to_string()))?;
        let Some(host) = url.host_str().filter(|host| !host.is_empty()) else { return Err(error("it has no host")) };
        let is_redis = url.scheme().starts_with("redis");
        let is_websocket = url.scheme().starts_with("ws");
        let login = login_of(&url).map_err(error)?;
        if login.is_some() && !is_redis {
            return Err(error("truetail logs in only to redis; for a WebSocket give -H 'Authorization: …'"));
        }
        let has_path = !matches!(url.path(), "" | "/");
        let database = if is_redis && has_path { Some(database(url.path()).map_err(error)?) } else { None };
        if (has_path || url.query().is_some()) && !is_websocket && database.is_none() || url.fragment().is_some() {
            return Err(error("a channel has a host and a port, and no path"));
        }
        let port = url.port().or(default_port(url.scheme())).ok_or_else(|| error("it has no port"))?;
        if port == 0 {
            return Err(error("port 0 does not exist"));
        }
        let path =
            if is_websocket { url[Position::BeforePath..Position::AfterQuery].to_owned() } else { "/".to_owned() };
        let path = if path.is_empty() || path.starts_with('?') { format!("/{path}") } else { path };
        let origin = Origin { scheme: url.scheme().to_owned(), host: host.to_owned(), port };
        Ok(ChannelUrl { origin, path, login, database })
    }

    /// Returns true for Redis, with TLS or without.
    pub fn is_redis(&self) -> bool {
        matches!(self.origin.scheme.as_str(), "redis" | "rediss")
    }

    /// Returns true for WebSocket, with TLS or without.
    pub fn is_websocket(&self) -> bool {
        matches!(self.origin.scheme.as_str(), "ws" | "wss")
    }

    /// Returns host and port as a request names them; the scheme's default port is left out.
    pub fn host_field(&self) -> String {
        let Origin { host, port, .. } = &self.origin;
        if self.origin.has_default_port() { host.clone() } else { format!("{host}:{port}") }
    }

    /// Returns the commands that log in to Redis and choose the database.
    pub fn redis_login(&self) -> Vec<Vec<u8>> {
        let login = self.login.iter().map(|(user, password)| match user.as_str() {
            "" => redis_command(&["AUTH", password]),
            user => redis_command(&["AUTH", user, password]),
        });
        login.chain(self.database.map(|database| redis_command(&["SELECT", &database.to_string()]))).collect()
    }
}

/// Returns user name and password of a URL.
fn login_of(url: &Url) -> Result<Option<(String, String)>, &'static str> {
    let decoded =
        |text| percent_decode_str(text).decode_utf8().map(Cow::into_owned).map_err(|_| "its login is no UTF-8");
    match (url.username(), url.password()) {
        ("", None) => Ok(None),
        (_, None) => Err("a user name needs a password: redis://USER:PASSWORD@HOST, or redis://:PASSWORD@HOST"),
        (user, Some(password)) => Ok(Some((decoded(user)?, decoded(password)?))),
    }
}

/// Returns the number of the database that a path names.
fn database(path: &str) -> Result<u32, &'static str> {
    path.strip_prefix('/')
        .and_then(|number| number.parse().ok())
        .ok_or("its path is no number of a database, such as /2")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_and_a_database_become_commands() {
        let login = |url: &str| {
            let url = ChannelUrl::parse(url).unwrap();
            assert!(!format!("{url:?}").contains("p w"), "{url:?}");
            url.redis_login().into_iter().map(|command| String::from_utf8(command).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(login("redis://a"), [""; 0]);
        assert_eq!(login("redis://a/0"), ["*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n"]);
        assert_eq!(login("redis://:p%20w@a"), ["*2\r\n$4\r\nAUTH\r\n$3\r\np w\r\n"]);
        assert_eq!(
            login("rediss://me:p%20w@a:1/12"),
            ["*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$3\r\np w\r\n", "*2\r\n$6\r\nSELECT\r\n$2\r\n12\r\n"]
        );
    }

    #[test]
    fn a_websocket_has_a_path() {
        for (text, host, path) in [
            ("ws://a.test", "a.test", "/"),
            ("ws://a.test:80/x", "a.test", "/x"),
            ("WSS://a.test?q=1", "a.test", "/?q=1"),
            ("wss://[::1]:9/a/b?c=d", "[::1]:9", "/a/b?c=d"),
        ] {
            let url = ChannelUrl::parse(text).unwrap();
            assert!(url.is_websocket());
            assert_eq!((url.host_field().as_str(), url.path.as_str()), (host, path), "{text}");
        }
    }

    #[test]
    fn a_channel_has_a_host_and_a_port() {
        for (text, wanted, tls) in [
            ("tcp://127.0.0.1:9000", "tcp://127.0.0.1:9000", false),
            ("TLS://a.test:1/", "tls://a.test:1", true),
            ("redis://[::1]", "redis://[::1]", false),
            ("rediss://a.test:6380", "rediss://a.test:6380", true),
        ] {
            assert!(ChannelUrl::is_meant(text));
            let origin = ChannelUrl::parse(text).unwrap().origin;
            assert_eq!((origin.to_string().as_str(), origin.uses_tls()), (wanted, tls));
        }
        assert!(
            !ChannelUrl::is_meant("http://a") && !ChannelUrl::is_meant("tcp:a") && !ChannelUrl::is_meant("checkout")
        );
        for (text, why) in [
            ("tcp://127.0.0.1", "no port"),
            ("tcp://:1", "host"),
            ("tcp://a:0", "port 0"),
            ("tcp://a:1/x", "no path"),
            ("redis://a/x", "no number"),
            ("redis://secret@a", "needs a password"),
            ("tcp://u:secret@a:1", "logs in only to redis"),
            ("wss://u:secret@a", "Authorization"),
            ("ws://a/x#y", "no path"),
            ("tcp://a:99999", "port"),
        ] {
            let error = ChannelUrl::parse(text).unwrap_err().to_string();
            assert!(error.contains(why) && !error.contains("secret"), "{text}: {error}");
        }
    }
}
