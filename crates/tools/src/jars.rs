//! Tools that are folders of jars.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{InstalledTool, Invocation, SearchPath, ToolNotFound};

/// Locates the folder `tool` in the laboratory's tools folder, and the program `java`. The folder must contain the
/// relative paths `required`, and `<jar>-<version>.jar` in its folder `jar_folder`. The error names the first missing
/// part.
pub(crate) fn locate_jars(
    search_path: &SearchPath,
    tool: &str,
    jar_folder: &str,
    jar: &str,
    required: &[&str],
) -> Result<InstalledTool, ToolNotFound> {
    search_path.program("java")?;
    let path = search_path.folder.join(tool);
    let missing = |part: String| ToolNotFound { looked_for: format!("no {part}") };
    for part in required {
        let file = path.join(part);
        if !file.exists() {
            return Err(missing(file.display().to_string()));
        }
    }
    let version = version_of(&path.join(jar_folder), jar);
    let version =
        version.ok_or_else(|| missing(format!("{jar}-VERSION.jar in {}", path.join(jar_folder).display())))?;
    Ok(InstalledTool { path, version })
}

/// Locates a tool with jars in `lib` that runs our own `class`, which must be compiled from `source`.
pub(crate) fn locate_compiled(
    search_path: &SearchPath,
    tool: &str,
    jar: &str,
    class: &str,
    source: &str,
) -> Result<InstalledTool, ToolNotFound> {
    let found = locate_jars(search_path, tool, "lib", jar, &[&format!("classes/{class}.class")])?;
    let compiled = found.path.join(format!("classes/{class}.java"));
    if fs::read_to_string(&compiled).is_ok_and(|text| text == source) {
        return Ok(found);
    }
    Err(ToolNotFound { looked_for: format!("{} does not match this version of truetail", compiled.display()) })
}

/// Returns the version in the file name of the jar. Of several versions, returns the greatest by name.
fn version_of(folder: &Path, jar: &str) -> Option<String> {
    let names = fs::read_dir(folder).ok()?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let versions = names.filter_map(|name| {
        let version = name.strip_prefix(jar)?.strip_prefix('-')?.strip_suffix(".jar")?;
        version.starts_with(|c: char| c.is_ascii_digit()).then(|| version.to_owned())
    });
    versions.max()
}

/// Returns an invocation of `java` with the space-separated arguments in `words`. Numbers are formatted in English.
pub(crate) fn java(words: &str) -> Invocation {
    Invocation { program: PathBuf::from("java"), ..Invocation::default() }
        .words("-Duser.language=en -Duser.country=US")
        .words(words)
}

/// Returns the value of `-cp`: our own classes and all jars.
pub(crate) fn class_path(found: &InstalledTool) -> String {
    format!("{0}/classes:{0}/lib/*", found.path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_of_another_version_is_not_taken() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            fs::write(&file, text).expect("a file");
            file
        };
        let java = write("bin/java", "");
        fs::set_permissions(java, fs::Permissions::from_mode(0o755)).expect("a program");
        write("tool/lib/core-1.2.jar", "");
        write("tool/classes/Load.class", "");
        let search_path = SearchPath { folder: folder.path().to_owned(), path: Vec::new() };
        for (compiled, found) in [("old", false), ("new", true)] {
            write("tool/classes/Load.java", compiled);
            assert_eq!(locate_compiled(&search_path, "tool", "core", "Load", "new").is_ok(), found, "{compiled}");
        }
        let missing =
            locate_compiled(&search_path, "other", "core", "Load", "new").expect_err("nothing is there").to_string();
        assert!(missing.contains("other/classes/Load.class"), "{missing}");
    }

    #[test]
    fn the_version_is_that_of_the_jar_of_just_this_name() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["gatling-core-3.15.1.jar", "gatling-core-java-3.14.0.jar", "gatling-core.txt"] {
            fs::write(folder.path().join(name), "").expect("a file");
        }
        assert_eq!(version_of(folder.path(), "gatling-core").as_deref(), Some("3.15.1"));
        assert_eq!(version_of(folder.path(), "gatling-http"), None);
        assert_eq!(version_of(&folder.path().join("nowhere"), "gatling-core"), None);
    }
}
