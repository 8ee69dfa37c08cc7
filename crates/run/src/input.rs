//! Reading of untrusted files, within a budget of bytes.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Size limit of a file to read, bytes. No file of a run is larger, and no log with a packed run.
pub const LONGEST: u64 = 256 << 20;

/// Opens a regular file. Fails if it is anything else, because reading a pipe or a device might never end.
pub fn open(path: &Path) -> io::Result<File> {
    check(&fs::metadata(path)?)?;
    let file = File::open(path)?;
    // The path may lead to another file by now.
    check(&file.metadata()?)?;
    Ok(file)
}

fn check(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let what = if metadata.is_dir() { "a folder" } else { "a pipe, a socket or a device" };
    Err(io::Error::other(format!("it is {what}; give a regular file")))
}

/// Returns the bytes of a regular file. Fails like [`open`], and if the file is longer than `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    AtMost::new(open(path)?, most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a regular file, or a pipe that the shell opened for this process, such as `/dev/fd/63`. Fails like [`open`].
pub fn open_or_given(path: &Path) -> io::Result<File> {
    let is_given =
        ["/dev/fd/", "/proc/self/fd/", "/dev/stdin"].iter().any(|place| path.to_string_lossy().starts_with(place));
    if is_given && fs::metadata(path)?.file_type().is_fifo() { File::open(path) } else { open(path) }
}

/// Returns the bytes of a file or shell pipe that the user names. Fails like [`open_or_given`], and beyond `most`
/// bytes.
pub fn bytes_within(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    AtMost::new(open_or_given(path)?, most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the bytes of a file that the user names, of at most [`LONGEST`] bytes. Fails like [`bytes_within`].
pub fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    bytes_within(path, LONGEST)
}

/// Returns the text of a file that the user names. Fails like [`bytes`], and if the file is not UTF-8.
pub fn text(path: &Path) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8");
    String::from_utf8(bytes(path)?).map_err(not_text)
}

/// Reader that fails if the input is longer than its budget, instead of ending as if it had read everything.
#[derive(Debug)]
pub struct AtMost<R> {
    input: R,
    most: u64,
    left: u64,
}

impl<R: Read> AtMost<R> {
    /// Returns a reader of at most `most` bytes of `input`.
    pub fn new(input: R, most: u64) -> AtMost<R> {
        AtMost { input, most, left: most }
    }
}

impl<R: Read> Read for AtMost<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && !buffer.is_empty() {
            return match self.input.read(&mut [0])? {
                0 => Ok(0),
                _ => Err(io::Error::other(format!("it holds more than {} bytes, the most that are read", self.most))),
            };
        }
        let room = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = self.input.read(&mut buffer[..room])?;
        self.left -= read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_exact() {
        let read = |most| io::read_to_string(AtMost::new(&b"abc"[..], most));
        assert_eq!(read(3).expect("within the budget"), "abc");
        assert_eq!(read(2).expect_err("too long").to_string(), "it holds more than 2 bytes, the most that are read");
    }

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let refused = |path: &Path| open(path).expect_err("no regular file").to_string();
        assert_eq!(refused(folder.path()), "it is a folder; give a regular file");
        let special = "it is a pipe, a socket or a device; give a regular file";
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
        assert_eq!(refused(&socket), special);
        assert_eq!(refused(Path::new("/dev/zero")), special);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).expect("a link");
        assert_eq!(refused(&link), special);
    }
}
