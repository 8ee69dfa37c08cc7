//! Limits that the user sets when the server starts.

use std::io;
use std::path::{Path, PathBuf};

use truetail_model::time::{Nanos, Rate};
use url::Url;

use crate::hosts::{self, AllowedHost};

/// What a client may do.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Hosts that may receive requests, in addition to loopback.
    pub hosts: Vec<AllowedHost>,
    /// Methods of requests, in capitals.
    pub methods: Vec<String>,
    /// Longest time that one call may offer load.
    pub longest: Nanos,
    /// Highest request rate.
    pub highest: Rate,
    /// Folder in which runs are saved. `None`: nothing is written.
    pub out: Option<PathBuf>,
    /// Folders whose files may be read, as the system names them, without links.
    pub readable: Vec<PathBuf>,
}

/// Files as a session sees them.
pub trait Files {
    /// Returns the path without links and `..`.
    ///
    /// # Errors
    /// If nothing is there.
    fn real(&self, path: &Path) -> io::Result<PathBuf>;

    /// Returns a name that no folder in `parent` has, with this start.
    fn free_name(&self, parent: &Path, start: &str) -> String;
}

impl Limits {
    /// Returns a URL in the form that the command line gets.
    ///
    /// # Errors
    /// If it is no HTTP URL, or its host is not allowed.
    pub fn url(&self, text: &str) -> Result<String, String> {
        let url = Url::parse(text).map_err(|error| format!("'url' is no URL: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("'url' begins with '{}:'; this tool requests http:// and https:// only", url.scheme()));
        }
        hosts::check(&url, &self.hosts)?;
        Ok(url.into())
    }

    /// Returns a header line.
    ///
    /// # Errors
    /// If the name or the value is not allowed in a header. If a `Host` header names a host that is not allowed,
    /// because a proxy would send the request there.
    pub fn header(&self, name: &str, value: &str) -> Result<String, String> {
        let is_name = |letter: u8| letter.is_ascii_alphanumeric() || b"-_.".contains(&letter);
        if name.is_empty() || !name.bytes().all(is_name) {
            return Err(format!("'{}' is no name of a header", name.escape_debug()));
        }
        if value.chars().any(char::is_control) {
            return Err(format!("the value of the header '{name}' has a control character"));
        }
        if name.eq_ignore_ascii_case("host") {
            let url = Url::parse(&format!("http://{}/", value.trim())).ok().filter(is_authority);
            let url = url.ok_or_else(|| format!("the header 'Host' is no host: '{}'", value.escape_debug()))?;
            hosts::check(&url, &self.hosts)?;
        }
        Ok(format!("{name}: {value}"))
    }

    /// Returns a method in capitals.
    ///
    /// # Errors
    /// If it is not allowed.
    pub fn method(&self, method: &str) -> Result<String, String> {
        let method = method.to_ascii_uppercase();
        if self.methods.contains(&method) {
            return Ok(method);
        }
        let allowed = self.methods.join(", ");
        let help = "the user can allow another one: truetail mcp --allow-method METHOD";
        Err(format!("the method '{method}' is not allowed, only {allowed}; {help}"))
    }

    /// Returns a request rate that is within the limit.
    ///
    /// # Errors
    /// If it is not.
    pub fn rate(&self, name: &str, per_second: f64) -> Result<f64, String> {
        let highest = self.highest.as_per_second();
        if per_second > 0.0 && per_second <= highest {
            return Ok(per_second);
        }
        let help = "the user can raise the limit: truetail mcp --max-rate RATE";
        Err(format!("'{name}' must be above 0 and at most {highest} requests per second, not {per_second}; {help}"))
    }

    /// Returns a time that is within the limit.
    ///
    /// # Errors
    /// If it is not, or if the text is no time above zero.
    pub fn time(&self, name: &str, text: &str) -> Result<Nanos, String> {
        let time = time(name, text)?;
        if time <= self.longest {
            return Ok(time);
        }
        let help = "the user can raise the limit: truetail mcp --max-duration TIME";
        Err(format!("'{name}' must be at most {}, not {time}; {help}", self.longest))
    }

    /// Returns a path that may be read, without links.
    ///
    /// # Errors
    /// If the path does not exist, or is outside the folders that the user named.
    pub fn readable(&self, text: &str, files: &dyn Files) -> Result<PathBuf, String> {
        let outside = || {
            let help = "the user can name its folder: truetail mcp --read DIR";
            format!("'{text}' is in no folder that may be read, or does not exist; {help}")
        };
        // The same line for both, so that it does not tell what exists elsewhere.
        let real = files.real(Path::new(text)).map_err(|_| outside())?;
        let out = self.out.as_deref().and_then(|out| files.real(out).ok());
        let mut folders = self.readable.iter().chain(&out);
        if folders.any(|folder| real.starts_with(folder)) { Ok(real) } else { Err(outside()) }
    }
}

/// Reads a time above zero.
///
/// # Errors
/// If the text is no time, or zero.
pub(crate) fn time(name: &str, text: &str) -> Result<Nanos, String> {
    let time: Nanos = text.parse().map_err(|error| format!("'{name}': {error}"))?;
    if time.is_zero() { Err(format!("'{name}' must be above 0")) } else { Ok(time) }
}

/// Returns true if a URL that was made of a host has only that.
fn is_authority(url: &Url) -> bool {
    url.username().is_empty()
        && url.password().is_none()
        && url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
}
