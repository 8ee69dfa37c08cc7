//! The manifest: which files there are, and whether they are what they have to be.

use serde::Serialize;
use sha2::{Digest, Sha256};
use truetail_model::time::Nanos;

use super::FreezeOptions;

/// A file that a lab produces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Artifact {
    /// Its file name.
    pub name: String,
    /// All of it.
    pub contents: String,
}

macro_rules! golden {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!("../../../../../testdata/golden/freeze/", $name)))),*]
    };
}

/// The CSV files of the default options as they have to be, byte by byte: (name, contents). How they were worked out by
/// hand stands beside them in `testdata/golden/freeze`.
pub const GOLDEN: [(&str, &str); 4] =
    golden!["closed-loop-raw.csv", "closed-loop-corrected.csv", "open-loop.csv", "summary.csv"];

#[derive(Serialize)]
struct Manifest<'a> {
    schema: &'static str,
    version: &'static str,
    options: Options,
    artifacts: Vec<Entry<'a>>,
    plots: Vec<Plot<'a>>,
}

#[derive(Serialize)]
struct Options {
    base: Nanos,
    pause_start: Nanos,
    pause_length: Nanos,
    duration: Nanos,
    expected_interval: Nanos,
    snapshot_interval: Nanos,
    users: u32,
}

/// Other options than the default have no golden file, so nothing to match.
#[derive(Serialize)]
struct Entry<'a> {
    file: &'a str,
    sha256: String,
    golden_sha256: Option<String>,
    golden_match: Option<bool>,
}

/// A picture of the figures: whether it is right, the eye decides.
#[derive(Serialize)]
struct Plot<'a> {
    file: &'a str,
    sha256: String,
}

/// `manifest.json` for `files`, and for `plots`: (file name, bytes).
pub(super) fn manifest(options: &FreezeOptions, files: &[Artifact], plots: &[(String, Vec<u8>)]) -> Artifact {
    let has_golden = *options == FreezeOptions::default();
    let manifest = Manifest {
        schema: "truetail.freeze/1",
        version: env!("CARGO_PKG_VERSION"),
        options: Options::from(options),
        artifacts: files.iter().map(|file| entry(file, has_golden)).collect(),
        plots: plots.iter().map(|(file, bytes)| Plot { file, sha256: sha256(bytes) }).collect(),
    };
    let json = serde_json::to_string_pretty(&manifest).expect("strings and numbers are always JSON");
    Artifact { name: "manifest.json".into(), contents: json + "\n" }
}

fn entry(file: &Artifact, has_golden: bool) -> Entry<'_> {
    let golden = GOLDEN.iter().find(|(name, _)| has_golden && *name == file.name).map(|(_, golden)| sha256(golden));
    let sha256 = sha256(&file.contents);
    let golden_match = golden.as_ref().map(|golden| *golden == sha256);
    Entry { file: &file.name, sha256, golden_sha256: golden, golden_match }
}

fn sha256(content: impl AsRef<[u8]>) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl From<&FreezeOptions> for Options {
    fn from(options: &FreezeOptions) -> Options {
        let FreezeOptions { base, pause_start, pause_length, duration, expected_interval, snapshot_interval, users } =
            *options;
        Options { base, pause_start, pause_length, duration, expected_interval, snapshot_interval, users }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest of the empty text and of "abc" as FIPS 180-4 publishes them.
    #[test]
    fn sha256_is_the_published_one() {
        assert_eq!(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_file_that_differs_in_one_digit_does_not_match() {
        let (name, golden) = GOLDEN[3];
        let file = |contents: String| Artifact { name: name.into(), contents };
        let right = file(golden.to_owned());
        assert_eq!(entry(&right, true).golden_match, Some(true));
        let wrong = file(golden.replacen("460.0", "461.0", 1));
        assert_eq!(entry(&wrong, true).golden_match, Some(false));
        assert_eq!(entry(&right, false).golden_match, None);
    }
}
