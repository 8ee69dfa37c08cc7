//! Merging of facts.

use crate::{CheckpointFacts, Facts, Mark, Scrape, StartFacts, first_failed};

/// Adds the facts of a further part.
pub(super) fn add_facts(whole: &mut Facts, part: Facts) {
    whole.started_at_unix_ns = earlier(whole.started_at_unix_ns, part.started_at_unix_ns);
    whole.elapsed_ns = whole.elapsed_ns.max(part.elapsed_ns);
    whole.start = match (whole.start, part.start) {
        (Some(whole), Some(part)) if whole.at_unix_ns == part.at_unix_ns => Some(StartFacts {
            late_ns: whole.late_ns.max(part.late_ns),
            missed: whole.missed.saturating_add(part.missed),
            ..whole
        }),
        _ => None,
    };
    whole.interrupted |= part.interrupted;
    whole.cut_short = either(whole.cut_short, part.cut_short);
    whole.checkpoint = CheckpointFacts::merged(whole.checkpoint, part.checkpoint);
    whole.bytes_in = whole.bytes_in.saturating_add(part.bytes_in);
    if whole.offered.seed != part.offered.seed {
        whole.offered.seed = None;
    }
    if whole.offered.values_seed != part.offered.values_seed {
        whole.offered.values_seed = None;
    }
    if whole.command != part.command {
        whole.command = None;
    }
    whole.tags.retain(|key, value| part.tags.get(key) == Some(value));
    if whole.trace != part.trace {
        whole.trace = None;
    }
    whole.server_timing = merged(
        &mut whole.notes,
        (whole.server_timing.take(), part.server_timing.as_ref()),
        |times, part| times.can_merge(part).then(|| times.merged_with(part)),
        "the times that the service reported are known by run only: the whole has none",
    );
    whole.kept_headers = merged(
        &mut whole.notes,
        (whole.kept_headers.take(), part.kept_headers.as_ref()),
        |kept, part| kept.can_merge(part).then(|| kept.merged_with(part)),
        "the values of response headers are known by run only: the whole has none",
    );
    add_scrapes(whole, &part.scrapes);
    add_marks(whole, &part.marks);
    if let (Some(whole), Some(part)) = (&mut whole.offered.mix, &part.offered.mix)
        && whole.seed != part.seed
    {
        whole.seed = None;
    }
    // Books by target are known of the whole only if every part has them.
    if whole.by_target.len() != part.by_target.len() {
        add_note(&mut whole.notes, "not every run has books of each target: they are left out of the whole".to_owned());
        whole.by_target.clear();
    }
    whole.by_target.iter_mut().zip(&part.by_target).for_each(|(whole, part)| whole.merge(part));
    let same_checks = whole.checks.iter().map(|check| &check.text).eq(part.checks.iter().map(|check| &check.text));
    if same_checks {
        whole.failed_answers.extend(part.failed_answers);
        whole.failed_answers = first_failed(std::mem::take(&mut whole.failed_answers));
    } else {
        add_note(&mut whole.notes, "the runs had different checks: the whole has none".to_owned());
        whole.checks.clear();
        whole.failed_answers.clear();
    }
    whole.checks.iter_mut().zip(&part.checks).for_each(|(whole, part)| whole.merge(part));
    if let (Some(streams), Some(part)) = (&whole.stream, &part.stream)
        && !streams.requests.can_merge(&part.requests)
    {
        let note = "the streams of single requests are known by run only: the whole has none";
        add_note(&mut whole.notes, note.to_owned());
    }
    whole.stream = merged(
        &mut whole.notes,
        (whole.stream.take(), part.stream.as_ref()),
        |mut streams, part| streams.is_alike(part).then(|| streams.merge(part)).map(|()| streams),
        "the runs read streams in different ways (or with different tokenizers): the whole has none",
    );
    whole.sessions = merged(
        &mut whole.notes,
        (whole.sessions.take(), part.sessions.as_ref()),
        |mut sessions, part| sessions.is_alike(part).then(|| sessions.merge(part)).map(|()| sessions),
        "the runs followed different flows: the whole has no books of sessions",
    );
    if whole.host.is_none() {
        whole.host = part.host;
    }
    whole.generator = match (whole.generator.take(), part.generator) {
        (Some(whole), Some(part)) => Some(whole.merged_with(part)),
        (one, other) => one.or(other),
    };
    part.notes.into_iter().for_each(|note| add_note(&mut whole.notes, note));
}

/// Returns what is known of the whole: what `merge` makes of it and a further part, or nothing, with a note that says
/// why.
fn merged<T>(
    notes: &mut Vec<String>,
    (whole, part): (Option<T>, Option<&T>),
    merge: impl FnOnce(T, &T) -> Option<T>,
    why: &str,
) -> Option<T> {
    let merged = match (whole, part) {
        (None, None) => return None,
        (Some(whole), Some(part)) => merge(whole, part),
        _ => None,
    };
    if merged.is_none() {
        add_note(notes, why.to_owned());
    }
    merged
}

/// Each part has the numbers of the services over its own time: of the whole they are unknown.
fn add_scrapes(whole: &mut Facts, part: &[Scrape]) {
    if !whole.scrapes.is_empty() || !part.is_empty() {
        let note = "the numbers that services published are known by run only: the whole has none";
        add_note(&mut whole.notes, note.to_owned());
        whole.scrapes.clear();
    }
}

/// Marks are instants of one part. Equal marks of all parts stay.
fn add_marks(whole: &mut Facts, part: &[Mark]) {
    if whole.marks != part {
        let note = "the runs started different commands, or at different times: the whole has no events";
        add_note(&mut whole.notes, note.to_owned());
        whole.marks.clear();
    }
}

pub(super) fn add_note(notes: &mut Vec<String>, note: String) {
    if !notes.contains(&note) {
        notes.push(note);
    }
}

/// Returns true if either is true. Otherwise the result is known only if both are.
fn either(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (a, b) => a.and(b),
    }
}

fn earlier(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    [a, b].into_iter().flatten().min()
}
