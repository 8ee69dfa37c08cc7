//! Files named by the options of a load. A Secret holds them, and each pod finds them in a folder.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Folder with the files of a pod. It is also the pod's working directory.
pub const FILES_FOLDER: &str = "/run/truetail-files";
/// Maximum size of all files together: the 1 MiB that Kubernetes allows a Secret.
pub const MAX_FILE_BYTES: usize = 1 << 20;

/// A file that is carried to the pods.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobFile {
    /// Path below [`FILES_FOLDER`].
    pub path: String,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

/// Returns the manifest of the files: a Secret, because they may contain passwords and keys.
pub(crate) fn secret(metadata: Value, files: &[JobFile]) -> Value {
    let data = files.iter().enumerate().map(|(nth, file)| (key(nth), Value::from(STANDARD.encode(&file.bytes))));
    let data: serde_json::Map<String, Value> = data.collect();
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "immutable": true, "data": data})
}

pub(crate) fn volume(secret: &str, files: &[JobFile]) -> Value {
    let items = files.iter().enumerate().map(|(nth, file)| json!({"key": key(nth), "path": file.path}));
    json!({"name": "files", "secret": {"secretName": secret, "items": items.collect::<Vec<_>>()}})
}

/// Returns a key for the `nth` file, because keys of a Secret cannot contain paths.
fn key(nth: usize) -> String {
    format!("file-{}", nth + 1)
}
