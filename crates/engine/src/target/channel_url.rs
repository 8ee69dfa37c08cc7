//! URLs of channels.

use url::Url;

use super::credentials::without_credentials;
use super::error::TargetError;
use super::origin::{Origin, default_port};

const SCHEMES: [&str; 4] = ["tcp", "tls", "redis", "rediss"];

/// The place of channels: `tcp://HOST:PORT`, `tls://HOST:PORT`, `redis://HOST[:PORT]` or `rediss://HOST[:PORT]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelUrl {
    /// Scheme, host and port.
    pub origin: Origin,
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
    /// [`TargetError::Url`]: no port, a path, or a user name and password, which would need a login on each channel.
    pub fn parse(text: &str) -> Result<ChannelUrl, TargetError> {
        let error = |problem: &str| TargetError::Url {
            url: without_credentials(text).into_owned(),
            problem: problem.to_owned(),
        };
        let url = Url::parse(text.trim()).map_err(|problem| error(&problem.to_string()))?;
        let Some(host) = url.host_str().filter(|host| !host.is_empty()) else { return Err(error("it has no host")) };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(error("truetail does not log in on a channel; leave user name and password out"));
        }
        if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
            return Err(error("a channel has a host and a port, and no path"));
        }
        let port = url.port().or(default_port(url.scheme())).ok_or_else(|| error("it has no port"))?;
        if port == 0 {
            return Err(error("port 0 does not exist"));
        }
        Ok(ChannelUrl { origin: Origin { scheme: url.scheme().to_owned(), host: host.to_owned(), port } })
    }

    /// Returns true for Redis, with TLS or without.
    pub fn is_redis(&self) -> bool {
        matches!(self.origin.scheme.as_str(), "redis" | "rediss")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("redis://a/3", "no path"),
            ("redis://:secret@a", "log in"),
            ("tcp://a:99999", "port"),
        ] {
            let error = ChannelUrl::parse(text).unwrap_err().to_string();
            assert!(error.contains(why) && !error.contains("secret"), "{text}: {error}");
        }
    }
}
