//! `tools/dist.sh`: the files of a release, packed with the binary of the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::documented::root;
use super::missing::missing;
use super::support::TestDir;

/// Packs into a folder, and returns the files there.
fn pack(out: &Path, binary: &Path) -> Vec<PathBuf> {
    let mut command = Command::new(root().join("tools/dist.sh"));
    command.arg("--binary").arg(binary).arg("--out").arg(out).env("SOURCE_DATE_EPOCH", "1700000000");
    let output = command.output().expect("the script starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut files: Vec<_> = fs::read_dir(out).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

fn ending<'a>(files: &'a [PathBuf], end: &str) -> Option<&'a PathBuf> {
    files.iter().find(|file| file.to_string_lossy().ends_with(end))
}

/// Packs a script that calls the binary, because the debug build has hundreds of megabytes.
#[test]
fn packing_twice_gives_the_same_bytes_and_what_is_packed_runs() {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let gnu_tar =
        Command::new("tar").arg("--version").output().is_ok_and(|said| said.stdout.starts_with(b"tar (GNU tar)"));
    if !gnu_tar || !has("dpkg-deb") {
        return missing("GNU tar and dpkg-deb", "apt-get install tar dpkg");
    }
    let dir = TestDir::new();
    let binary = dir.path().join("truetail");
    fs::write(&binary, format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_truetail"))).expect("a script");
    fs::set_permissions(&binary, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("an executable");
    let [first, second] = ["first", "second"].map(|name| pack(&dir.path().join(name), &binary));
    assert_eq!((first.len(), second.len()), (3, 3), "{first:?}");
    for (one, other) in first.iter().zip(&second) {
        assert_eq!(fs::read(one).expect("a file"), fs::read(other).expect("a file"), "{}", one.display());
    }
    let sums = Command::new("sha256sum").args(["--check", "SHA256SUMS"]).current_dir(dir.path().join("first")).output();
    assert!(sums.expect("sha256sum starts").status.success());
    let unpack = |program: &str, option: &str, file: &Path, to: &str| {
        let to = dir.path().join(to);
        fs::create_dir(&to).expect("a folder");
        let after = if program == "dpkg-deb" { vec![to.clone()] } else { Vec::new() };
        let done =
            Command::new(program).arg(option).arg(file).args(after).current_dir(&to).output().expect("it starts");
        assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
        to
    };
    let tarball = ending(&first, ".tar.gz").expect("a tarball");
    let unpacked = unpack("tar", "-xzf", tarball, "tar");
    let inside = fs::read_dir(&unpacked).expect("a folder").next().expect("a folder inside").expect("an entry").path();
    for file in
        ["man/truetail.1", "man/truetail-run.1", "completions/_truetail", "completions/truetail.fish", "LICENSE"]
    {
        assert!(inside.join(file).metadata().is_ok_and(|there| there.len() > 100), "{file}");
    }
    let package = ending(&first, ".deb").expect("a package");
    let installed = unpack("dpkg-deb", "-x", package, "deb");
    assert!(installed.join("usr/share/man/man1/truetail-run.1.gz").is_file());
    for binary in [inside.join("bin/truetail"), installed.join("usr/bin/truetail")] {
        let said = Command::new(binary).arg("--version").output().expect("it starts");
        assert_eq!(String::from_utf8_lossy(&said.stdout), format!("truetail {}\n", env!("CARGO_PKG_VERSION")));
    }
}

/// The workflow makes the files by the same target, and its tag is the version.
#[test]
fn the_release_workflow_calls_make_dist_on_each_system() {
    let workflow = fs::read_to_string(root().join(".github/workflows/release.yml")).expect("a workflow");
    for part in ["run: make dist", "ubuntu-24.04-arm", "macos-15", "attest-build-provenance", "SHA256SUMS", "--draft"] {
        assert!(workflow.contains(part), "{part}");
    }
    let makefile = fs::read_to_string(root().join("Makefile")).expect("a Makefile");
    assert!(makefile.contains("\ndist:\n\ttools/dist.sh\n"));
}
