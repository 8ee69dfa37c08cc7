//! Hurl's own test files, if they are available. Each is parsed, or refused with its line and the problem.

use std::path::{Path, PathBuf};
use std::{env, fs};

use truetail_flow::Flow;

use crate::missing;

/// Environment variable with the folder.
const FOLDER: &str = "TRUETAIL_HURL_FILES";

#[test]
fn hurl_s_own_test_files_are_read_or_refused() {
    let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) else {
        missing::missing_everywhere(
            "Hurl's integration folder",
            &format!("clone Hurl and set {FOLDER} to its integration folder"),
        );
        return;
    };
    let files = hurl_files(&folder);
    assert!(!files.is_empty(), "{} has no .hurl file", folder.display());
    let mut read = 0;
    for file in &files {
        let text = fs::read_to_string(file).unwrap_or_default();
        let parsed = Flow::parse("a.hurl", &text, &[], &|_| Ok(Vec::new()));
        match parsed {
            Ok(_) => read += 1,
            Err(error) => {
                let line = text.lines().nth(error.line - 1).unwrap_or_default();
                println!("{}: {error}  [{line}]", file.display());
                assert!(error.line <= text.lines().count().max(1) && !error.problem.contains('\n'), "{error}");
            }
        }
    }
    println!("{read} of {} files are read", files.len());
    assert!(read > 0);
}

fn hurl_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let nested = entries.flat_map(|path| {
        let is_flow = path.extension().is_some_and(|extension| extension == "hurl");
        if path.is_dir() {
            hurl_files(&path)
        } else {
            path.is_file().then_some(path).filter(|_| is_flow).into_iter().collect()
        }
    });
    nested.collect()
}
