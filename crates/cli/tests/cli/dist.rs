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
    command.arg("--binary").arg(binary).arg("--out").arg(out).arg("--no-lists");
    // The test says itself which files there must be.
    command.env("SOURCE_DATE_EPOCH", "1700000000").env_remove("TRUETAIL_STRICT");
    let output = command.output().expect("the script starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut files: Vec<_> = fs::read_dir(out).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

fn ending<'a>(files: &'a [PathBuf], end: &str) -> Option<&'a PathBuf> {
    files.iter().find(|file| file.to_string_lossy().ends_with(end))
}

/// Writes a script that calls the binary, because the debug build has hundreds of megabytes.
fn small_binary(dir: &TestDir) -> PathBuf {
    let binary = dir.path().join("truetail");
    fs::write(&binary, format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_truetail"))).expect("a script");
    fs::set_permissions(&binary, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("an executable");
    binary
}

/// Packs twice, checks that the bytes are equal, and returns the files.
fn packed_twice(dir: &TestDir) -> Vec<PathBuf> {
    let binary = small_binary(dir);
    let [first, second] = ["first", "second"].map(|name| pack(&dir.path().join(name), &binary));
    let names =
        |files: &[PathBuf]| files.iter().filter_map(|file| Some(file.file_name()?.to_owned())).collect::<Vec<_>>();
    assert_eq!(names(&first), names(&second));
    for (one, other) in first.iter().zip(&second) {
        assert!(fs::read(one).expect("a file") == fs::read(other).expect("a file"), "{}", one.display());
    }
    first
}

/// Returns the standard output of a program that must succeed.
fn said(program: &str, words: &[&str]) -> String {
    let output = Command::new(program).args(words).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn packing_twice_gives_the_same_bytes_and_what_is_packed_runs() {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let gnu_tar =
        Command::new("tar").arg("--version").output().is_ok_and(|said| said.stdout.starts_with(b"tar (GNU tar)"));
    if !gnu_tar || !has("dpkg-deb") {
        return missing("GNU tar and dpkg-deb", "apt-get install tar dpkg");
    }
    let dir = TestDir::new();
    let first = packed_twice(&dir);
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

#[test]
#[ignore = "needs rpmbuild and umoci: make test-tools"]
fn the_package_for_fedora_and_the_image_have_the_binary_and_the_same_bytes_twice() {
    let dir = TestDir::new();
    let files = packed_twice(&dir);
    let Some((package, image)) = ending(&files, ".rpm").zip(ending(&files, ".oci.tar")) else {
        return missing("rpmbuild and umoci", "tools/install.sh rpmbuild umoci");
    };
    let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let listed = said("rpm", &["-qlp", &text(package)]);
    for file in
        ["/usr/bin/truetail", "/usr/share/man/man1/truetail-run.1.gz", "/usr/share/zsh/site-functions/_truetail"]
    {
        assert!(listed.lines().any(|line| line == file), "{file}: {listed}");
    }
    let needed = said("rpm", &["-qp", "--requires", &text(package)]);
    assert!(needed.lines().all(|line| line.starts_with("rpmlib(")), "a static binary needs nothing: {needed}");
    let version = said("rpm", &["-qp", "--queryformat", "%{VERSION} %{LICENSE} %{BUILDTIME}", &text(package)]);
    assert_eq!(version, concat!(env!("CARGO_PKG_VERSION"), " Apache-2.0 1700000000"));

    let layout = dir.path().join("layout");
    fs::create_dir(&layout).expect("a folder");
    said("tar", &["-xf", &text(image), "-C", &text(&layout)]);
    let name = format!("{}:truetail:{}", text(&layout), env!("CARGO_PKG_VERSION"));
    let bundle = dir.path().join("bundle");
    said("umoci", &["unpack", "--rootless", "--image", &name, &text(&bundle)]);
    let inside = bundle.join("rootfs");
    let binary = |path: &Path| fs::read(path).expect("the binary");
    assert_eq!(binary(&inside.join("truetail")), binary(&dir.path().join("truetail")));
    assert!(inside.join("etc/ssl/certs/ca-certificates.crt").metadata().is_ok_and(|file| file.len() > 10_000));
    let config: serde_json::Value =
        serde_json::from_slice(&fs::read(bundle.join("config.json")).expect("a configuration")).expect("JSON");
    assert_eq!(config["process"]["args"], serde_json::json!(["/truetail"]));
    assert_eq!(config["process"]["user"]["uid"], 65532, "not root");
}

#[test]
fn the_formula_has_the_sums_of_this_version() {
    let dir = TestDir::new();
    let version = env!("CARGO_PKG_VERSION");
    let sums = dir.file(
        "SHA256SUMS",
        &format!(
            "aa11  truetail-{version}-linux-x86_64.tar.gz\nbb22  truetail-{version}-darwin-arm64.tar.gz\n\
             cc33  truetail-0.0.1-linux-aarch64.tar.gz\n"
        ),
    );
    let sums = dir.path().join(sums);
    let script = root().join("tools/formula.sh");
    let formula = said(script.to_str().expect("UTF-8"), &["owner/truetail", sums.to_str().expect("UTF-8")]);
    let file = |name: &str| {
        format!(
            "url \"https://github.com/owner/truetail/releases/download/v{version}/truetail-{version}-{name}.tar.gz\""
        )
    };
    for part in [
        &format!("version \"{version}\""),
        &format!("{}\n      sha256 \"aa11\"", file("linux-x86_64")),
        &format!("{}\n      sha256 \"bb22\"", file("darwin-arm64")),
    ] {
        assert!(formula.contains(part), "{part}: {formula}");
    }
    assert!(!formula.contains("cc33") && !formula.contains("aarch64"), "{formula}");
    let empty = dir.path().join(dir.file("none", "dd44  other.tar.gz\n"));
    let refused = Command::new(script).arg("owner/truetail").arg(empty).output().expect("the script starts");
    assert!(
        !refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("has no archive of version")
    );
}

/// The flake takes its version from the manifest, so it cannot disagree.
#[test]
fn the_flake_builds_the_version_of_the_manifest() {
    let flake = fs::read_to_string(root().join("flake.nix")).expect("a flake");
    for part in ["fromTOML (builtins.readFile ./Cargo.toml)", "inherit (manifest) version;", "./Cargo.lock"] {
        assert!(flake.contains(part), "{part}");
    }
}

/// The workflow makes the files by the same target, and its tag is the version.
#[test]
fn the_release_workflow_calls_make_dist_on_each_system() {
    let workflow = fs::read_to_string(root().join(".github/workflows/release.yml")).expect("a workflow");
    for part in [
        "run: make dist",
        "ubuntu-24.04-arm",
        "macos-15",
        "attest-build-provenance",
        "SHA256SUMS",
        "--draft",
        "tools/formula.sh",
    ] {
        assert!(workflow.contains(part), "{part}");
    }
    let makefile = fs::read_to_string(root().join("Makefile")).expect("a Makefile");
    assert!(makefile.contains("\ndist:\n\ttools/dist.sh\n"));
}
