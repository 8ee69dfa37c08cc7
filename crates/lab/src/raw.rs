//! The files of a tool: those it is given, and those it leaves.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use truetail_tools::Output;

/// The folder, beside what is known of a tool, in which it runs and leaves its files.
pub(crate) const WORK: &str = "files";
pub(crate) const STDOUT: &str = "stdout";
pub(crate) const STDERR: &str = "stderr";
pub(crate) const STDIN: &str = "stdin";

/// Writes files into `folder`: (relative path, text).
///
/// # Errors
/// The system's, and for a path that leads out of the folder.
pub(crate) fn write_inputs(folder: &Path, inputs: &[(String, String)]) -> io::Result<()> {
    for (path, text) in inputs {
        let path = Path::new(path);
        if path.components().any(|part| !matches!(part, std::path::Component::Normal(_))) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{} leads out of it", path.display())));
        }
        let file = folder.join(path);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(file, text)?;
    }
    Ok(())
}

/// What a tool left, read back. `outputs` names its files: (key, pattern).
///
/// # Errors
/// When a file that is there cannot be read.
pub(crate) fn read(folder: &Path, exit_code: Option<i32>, outputs: &[(String, String)]) -> io::Result<Output> {
    let mut files = BTreeMap::new();
    for (key, pattern) in outputs {
        if let Some(path) = newest(&folder.join(WORK), pattern) {
            files.insert(key.clone(), fs::read(path)?);
        }
    }
    let print = |name: &str| match fs::read(folder.join(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    };
    Ok(Output { stdout: print(STDOUT)?, stderr: print(STDERR)?, exit_code, files })
}

/// The newest file in `folder` that `pattern` means: a relative path in which a part `*` stands for any one folder.
fn newest(folder: &Path, pattern: &str) -> Option<PathBuf> {
    let mut places = vec![folder.to_owned()];
    for part in pattern.split('/') {
        places = match part {
            "*" => places.iter().flat_map(|place| inside(place)).filter(|path| path.is_dir()).collect(),
            part => places.into_iter().map(|place| place.join(part)).collect(),
        };
    }
    let changed = |path: &PathBuf| path.metadata().and_then(|facts| facts.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    places.into_iter().filter(|path| path.is_file()).max_by_key(changed)
}

fn inside(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).map_or(Vec::new(), |entries| entries.flatten().map(|entry| entry.path()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_their_patterns() {
        let root = tempfile::tempdir().unwrap();
        let work = root.path().join(WORK);
        let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        fs::create_dir(&work).unwrap();
        write_inputs(&work, &[file("plain.csv", "a"), file("results/load-1/simulation.log", "b")]).unwrap();
        let wanted = [file("plain", "plain.csv"), file("log", "results/*/simulation.log"), file("none", "no/*/x")];
        let output = read(root.path(), Some(0), &wanted).unwrap();
        assert_eq!(output.files.keys().collect::<Vec<_>>(), ["log", "plain"]);
        assert_eq!((output.file("log"), output.stdout.is_empty()), (Some(&b"b"[..]), true));
        assert!(write_inputs(&work, &[file("../out", "")]).is_err());
    }
}
