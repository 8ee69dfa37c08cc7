//! Options of response headers that a run keeps.

use clap::Args;
use truetail_run::MAX_KEPT_HEADERS;

/// Options of response headers that a run keeps.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct KeptHeaderArgs {
    /// Keep the value that each answer has of this header, such as X-Cache, and show the response times by value;
    /// repeatable, up to four headers
    #[arg(long, value_name = "NAME", value_parser = name, help_heading = "Traces")]
    pub keep_header: Vec<String>,
}

impl KeptHeaderArgs {
    /// Returns the names in lower case, each once.
    ///
    /// # Errors
    /// There are more than [`MAX_KEPT_HEADERS`].
    pub(crate) fn names(&self) -> Result<Vec<String>, String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.keep_header.iter().map(|name| name.to_ascii_lowercase()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        match names.len() > MAX_KEPT_HEADERS {
            true => Err(format!("--keep-header names {} headers; a run keeps at most {MAX_KEPT_HEADERS}", names.len())),
            false => Ok(names),
        }
    }
}

fn name(text: &str) -> Result<String, String> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if text.is_empty() || text.len() > 80 || !text.bytes().all(is_part) {
        return Err(format!("'{text}' is no name of a header; write it without a colon, such as X-Cache"));
    }
    match text.to_ascii_lowercase().as_str() {
        "set-cookie" | "set-cookie2" => Err(format!("the values of '{text}' are secrets, and a run would save them")),
        _ => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_named_once() {
        let args =
            |names: &[&str]| KeptHeaderArgs { keep_header: names.iter().map(|name| (*name).to_owned()).collect() };
        assert_eq!(args(&["X-Cache", "x-cache", "Age"]).names().unwrap(), ["x-cache", "age"]);
        assert!(args(&["a", "b", "c", "d", "e"]).names().is_err());
        assert!(name("X-Cache").is_ok() && name("x_a.b").is_ok());
        for wrong in ["", "X-Cache:", "a b", "é", "Set-Cookie"] {
            assert!(name(wrong).is_err(), "{wrong}");
        }
    }
}
