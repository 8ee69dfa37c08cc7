//! The audit of a tool's output file. Like any recipient of the file, it knows neither the server's log nor the
//! requested load.

use std::path::Path;

use truetail_analysis::audit::{Audit, AuditFinding, Auditor};
use truetail_analysis::league::FileAudit;
use truetail_import::ImportOptions;
use truetail_import::container::{self, Opened};

use crate::tool_files::{STDOUT, WORK_FOLDER, newest};

/// Audits the most informative file in `folder`: files with single requests come first, then files that allow a
/// finding. `files` lists the candidates as (key, pattern). Returns `None` if no file has a known format.
pub(crate) fn audit(folder: &Path, files: &[(String, String)]) -> Option<FileAudit> {
    let found = files.iter().filter_map(|(_, pattern)| newest(&folder.join(WORK_FOLDER), pattern));
    let audited = found.chain([folder.join(STDOUT)]).filter_map(|path| Some((audit_file(&path)?, path)));
    let tells = |(requests, audit): &(u64, Audit)| (*requests > 0, audit.finding != AuditFinding::CannotTell);
    // Keep the first of several equally informative files.
    let best = audited.reduce(|best, other| if tells(&other.0) > tells(&best.0) { other } else { best });
    best.map(|((_, audit), path)| FileAudit::new(name_in(folder, &path), &audit))
}

fn audit_file(path: &Path) -> Option<(u64, Audit)> {
    let mut auditor = Auditor::new();
    let options = ImportOptions::default();
    let Opened { mut input, later, .. } = container::open(path, &options).ok()?;
    let sink = &mut |request: &_| auditor.request(request);
    let run = truetail_import::read_opened(&mut input, &later, None, &options, sink).ok()?;
    let audit = auditor.finish(&run, None, None);
    Some((run.requests, audit))
}

fn name_in(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}
