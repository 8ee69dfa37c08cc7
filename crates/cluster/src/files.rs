//! Files that the options of a load name: a Secret holds them, and each pod finds them in a folder.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// The folder in which a pod finds its files. It is its working folder, too.
pub const FILES_FOLDER: &str = "/run/truetail-files";
/// Most bytes of all files together: what Kubernetes lets a Secret have, 1 MiB.
pub const MAX_FILE_BYTES: usize = 1 << 20;

/// A file that is carried to the pods.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobFile {
    /// Where it is below [`FILES_FOLDER`].
    pub path: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// What holds the files; they may have passwords and keys in them.
pub(crate) fn secret(metadata: Value, files: &[JobFile]) -> Value {
    let data = files.iter().enumerate().map(|(nth, file)| (key(nth), Value::from(STANDARD.encode(&file.bytes))));
    let data: serde_json::Map<String, Value> = data.collect();
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "immutable": true, "data": data})
}

/// The volume of a pod with the files of the Secret of this name.
pub(crate) fn volume(secret: &str, files: &[JobFile]) -> Value {
    let items = files.iter().enumerate().map(|(nth, file)| json!({"key": key(nth), "path": file.path}));
    json!({"name": "files", "secret": {"secretName": secret, "items": items.collect::<Vec<_>>()}})
}

/// A key of a Secret can hold no path.
fn key(nth: usize) -> String {
    format!("file-{}", nth + 1)
}
