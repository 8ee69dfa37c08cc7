//! The cookies of a session (RFC 6265). No list of public suffixes is used: a cookie for a whole domain is kept if the
//! domain has a dot, and a session only has the origins that its flow names.

use truetail_engine::is_header_value;
use truetail_model::time::{Nanos, Timestamp, days_since_1970};

/// Limit on the cookies of a session, as in browsers. Beyond it the oldest cookie is dropped.
const MAX_COOKIES: usize = 180;
/// Limit on the size of a cookie, as in browsers. Larger cookies are not kept.
const MAX_COOKIE_BYTES: usize = 4096;

/// Content of a `Set-Cookie` field.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct SetCookie<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
    pub(crate) max_age: Option<i64>,
    pub(crate) expires: Option<&'a str>,
    pub(crate) domain: Option<&'a str>,
    pub(crate) path: Option<&'a str>,
    pub(crate) same_site: Option<&'a str>,
    pub(crate) secure: bool,
    pub(crate) http_only: bool,
}

impl<'a> SetCookie<'a> {
    /// Reads the field. Returns `None` if it sets no cookie. Like browsers, this refuses control characters.
    pub(crate) fn parse(field: &'a [u8]) -> Option<SetCookie<'a>> {
        if !is_header_value(field) {
            return None;
        }
        let field = std::str::from_utf8(field).ok()?;
        let mut parts = field.split(';');
        let (name, value) = parts.next()?.split_once('=')?;
        let mut cookie = SetCookie { name: name.trim(), value: value.trim(), ..SetCookie::default() };
        if cookie.name.is_empty() {
            return None;
        }
        for part in parts {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let name = name.trim();
            let value = value.trim();
            let is = |known: &str| name.eq_ignore_ascii_case(known);
            match () {
                () if is("max-age") => cookie.max_age = value.parse().ok().or(cookie.max_age),
                () if is("expires") => cookie.expires = Some(value),
                () if is("domain") => cookie.domain = Some(value),
                () if is("path") => cookie.path = Some(value),
                () if is("samesite") => cookie.same_site = Some(value),
                () if is("secure") => cookie.secure = true,
                () if is("httponly") => cookie.http_only = true,
                () => {}
            }
        }
        Some(cookie)
    }
}

/// An origin as cookies see it: without a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Site {
    /// In lower case.
    pub(crate) host: String,
    pub(crate) is_secure: bool,
}

impl Site {
    /// Returns true if cookies of `domain`, in lower case, are also for this host (RFC 6265, section 5.1.3).
    fn is_in(&self, domain: &str) -> bool {
        let is_address = self.host.starts_with('[') || self.host.parse::<std::net::Ipv4Addr>().is_ok();
        let is_below = || self.host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
        self.host == domain || (!is_address && is_below())
    }
}

/// A stored cookie.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Cookie {
    name: String,
    value: String,
    /// In lower case.
    domain: String,
    /// The cookie is only for this host, not for hosts below it.
    is_of_host: bool,
    path: String,
    /// The cookie is sent only over TLS.
    is_secure: bool,
    expires: Timestamp,
}

impl Cookie {
    /// Returns true if a request for this path at this site sends the cookie.
    fn goes_to(&self, site: &Site, path: &str) -> bool {
        let is_for_host = if self.is_of_host { self.domain == site.host } else { site.is_in(&self.domain) };
        is_for_host && (!self.is_secure || site.is_secure) && path_matches(&self.path, path)
    }
}

/// The cookies of a session.
#[derive(Clone, Default, Debug)]
pub(crate) struct CookieJar {
    /// The oldest first.
    cookies: Vec<Cookie>,
    /// Start of the run in seconds since 1970, for absolute expiry dates.
    began_unix_s: i64,
}

impl CookieJar {
    pub(crate) fn new(began_unix_s: i64) -> CookieJar {
        CookieJar { cookies: Vec::new(), began_unix_s }
    }

    pub(crate) fn clear(&mut self) {
        self.cookies.clear();
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// Reads a cookie from an answer to a request for `path` that came at `now`.
    pub(crate) fn set(&mut self, field: &[u8], site: &Site, path: &str, now: Timestamp) {
        let Some(set) = SetCookie::parse(field).filter(|set| is_accepted(set, site)) else { return };
        let given = set.domain.map(|domain| domain.strip_prefix('.').unwrap_or(domain).to_ascii_lowercase());
        let Ok(domain) = domain_of(given.as_deref().unwrap_or_default(), site) else { return };
        let path = set.path.filter(|path| path.starts_with('/')).unwrap_or_else(|| default_path(path));
        let expires = self.expiry(&set, now);
        let is_known = |cookie: &Cookie| {
            cookie.name == set.name && cookie.path == path && cookie.domain == domain.unwrap_or(&site.host)
        };
        let known = self.cookies.iter().position(is_known);
        if expires <= now {
            known.map(|at| self.cookies.remove(at));
            return;
        }
        if let Some(at) = known {
            let cookie = &mut self.cookies[at];
            cookie.value.clear();
            cookie.value.push_str(set.value);
            (cookie.expires, cookie.is_secure, cookie.is_of_host) = (expires, set.secure, domain.is_none());
            return;
        }
        if self.cookies.len() == MAX_COOKIES {
            self.cookies.remove(0);
        }
        self.cookies.push(Cookie {
            name: set.name.to_owned(),
            value: set.value.to_owned(),
            domain: domain.unwrap_or(&site.host).to_owned(),
            is_of_host: domain.is_none(),
            path: path.to_owned(),
            is_secure: set.secure,
            expires,
        });
    }

    /// Keeps a cookie with this value, as if a parser had accepted it.
    #[cfg(test)]
    pub(crate) fn keep_unchecked(&mut self, value: &str, site: &Site) {
        self.cookies.push(Cookie {
            name: "bad".to_owned(),
            value: value.to_owned(),
            domain: site.host.clone(),
            is_of_host: true,
            path: "/".to_owned(),
            is_secure: false,
            expires: Timestamp::NEVER,
        });
    }

    /// Returns the time of expiry. `Max-Age` takes precedence over `Expires`.
    fn expiry(&self, set: &SetCookie<'_>, now: Timestamp) -> Timestamp {
        let seconds = |seconds: i64| match u64::try_from(seconds) {
            Ok(seconds) if seconds > 0 => now + Nanos(seconds.saturating_mul(1_000_000_000)),
            _ => now,
        };
        match (set.max_age, set.expires.and_then(unix_seconds)) {
            (Some(age), _) => seconds(age),
            (None, Some(at)) => seconds(at.saturating_sub(self.began_unix_s + (now.0 / 1_000_000_000) as i64)),
            (None, None) => Timestamp::NEVER,
        }
    }

    /// Calls `put` with name and value of each cookie for a request to `site` for `path` at `now`, longer paths first.
    pub(crate) fn each_for(&self, site: &Site, path: &str, now: Timestamp, put: &mut dyn FnMut(&str, &str)) {
        let mut sent: Vec<&Cookie> =
            self.cookies.iter().filter(|cookie| cookie.expires > now && cookie.goes_to(site, path)).collect();
        sent.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        sent.into_iter().for_each(|cookie| put(&cookie.name, &cookie.value));
    }
}

fn is_accepted(set: &SetCookie<'_>, site: &Site) -> bool {
    (!set.secure || site.is_secure) && set.name.len() + set.value.len() <= MAX_COOKIE_BYTES
}

/// Returns the domain of a cookie, or `None` if it is only for the host. `given` is its `Domain` in lower case.
///
/// # Errors
/// The cookie is for another domain, or for a domain that is too general.
fn domain_of<'a>(given: &'a str, site: &Site) -> Result<Option<&'a str>, ()> {
    match given {
        "" => Ok(None),
        host if host == site.host && !host.contains('.') => Ok(None),
        domain if domain.contains('.') && site.is_in(domain) => Ok(Some(domain)),
        _ => Err(()),
    }
}

/// RFC 6265, section 5.1.4: up to the last slash.
fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(at) => &path[..at],
    }
}

fn path_matches(cookie: &str, path: &str) -> bool {
    path.strip_prefix(cookie).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || cookie.ends_with('/'))
}

/// Reads the date of `Expires` (RFC 6265, section 5.1.1): day, month, year and time in any order, with any delimiters.
pub(crate) fn unix_seconds(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let mut time = None;
    let mut day = None;
    let mut month = None;
    let mut year = None;
    for token in text.split(|c: char| !c.is_ascii_alphanumeric() && c != ':').filter(|token| !token.is_empty()) {
        let number = token.parse::<i64>().ok();
        let name = token.get(..3).map(str::to_ascii_lowercase);
        if time.is_none() && token.contains(':') {
            time = seconds_of_day(token);
        } else if day.is_none() && number.is_some() && token.len() <= 2 {
            day = number;
        } else if let Some(at) =
            MONTHS.iter().position(|known| name.as_deref() == Some(known)).filter(|_| month.is_none())
        {
            month = Some(at as i64 + 1);
        } else if year.is_none() && number.is_some() && matches!(token.len(), 2 | 4) {
            year = number.map(|year| match year {
                70..=99 => year + 1900,
                0..=69 => year + 2000,
                year => year,
            });
        }
    }
    let days = days_since_1970(year.filter(|year| *year >= 1601)?, month?, day?)?;
    Some(days * 86_400 + time.unwrap_or(0))
}

fn seconds_of_day(text: &str) -> Option<i64> {
    let parts: Vec<i64> = text.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    match *parts {
        [hours @ 0..=23, minutes @ 0..=59, seconds @ 0..=59] => Some(hours * 3600 + minutes * 60 + seconds),
        _ => None,
    }
}
