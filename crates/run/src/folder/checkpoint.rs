//! Checkpoint of a run in progress: one file, so that it stays whole if the process is killed.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

use truetail_model::record::{Samples, SamplesOptions};

use super::pack::{is_packed, pack};
use super::partial::Partial;
use super::{CHECKPOINT, RUN, SaveError};
use crate::input;
use crate::{Findings, Run};

/// Writes a run in progress to the existing `folder`, without single requests. It replaces the previous checkpoint.
///
/// # Errors
/// [`SaveError::Io`].
pub fn save_checkpoint(folder: &Path, mut run: Run, findings: &Findings) -> Result<(), SaveError> {
    let seen = run.snapshot.samples.offered();
    run.snapshot.samples = Samples::from_parts(SamplesOptions::NONE, Vec::new(), 1, &[], seen);
    let packed = pack(&run, findings, "checkpoint", input::LONGEST as usize);
    let (text, _) = packed.map_err(|source| SaveError::Io { path: folder.join(CHECKPOINT), source })?;
    Partial::write(folder, CHECKPOINT, |out| out.write_all(text.as_bytes()))?.put_in_place()
}

pub(super) fn exists(folder: &Path) -> bool {
    let text = input::read(&folder.join(CHECKPOINT), input::LONGEST);
    text.is_ok_and(|text| is_packed(&String::from_utf8_lossy(&text)))
}

/// Returns true if the latest run in the folder never ended: its checkpoint is newer than any `run.json`.
pub(super) fn is_newest(folder: &Path) -> bool {
    let changed = |name: &str| -> Option<SystemTime> { fs::metadata(folder.join(name)).ok()?.modified().ok() };
    changed(CHECKPOINT).is_some_and(|checkpoint| changed(RUN).is_none_or(|run| checkpoint > run))
}
