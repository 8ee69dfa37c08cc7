//! The answers: shares by class of status, unanswered requests with their reasons, and the books.

use std::collections::BTreeMap;

use truetail_model::record::{Cause, GrpcStatus, Tally, status_name};
use truetail_run::{Findings, MessageBooks, Run, RunSource, StreamKind};

use super::labelled::{LabelledText, beside_margin, labelled_lines, labelled_texts};
use crate::number;
use crate::style::{Emphasis, Style};

/// Returns the shares and the [`answer_details`].
pub(super) fn lines(run: &Run, findings: &Findings, style: Style) -> Vec<String> {
    let has_errors = run.snapshot.statuses.keys().any(|status| *status >= 400)
        || findings.tally.unanswered() > 0
        || run.facts.error_replies() > 0;
    let colored = |line: String| if has_errors { style.emphasize(Emphasis::Doubt, &line) } else { line };
    let shares = beside_margin(&answer_shares(run, findings), style).into_iter().map(colored);
    [labelled_lines("Answers", shares, style), labelled_texts(answer_details(run, findings), style)].concat()
}

/// Returns single statuses, outcomes without an answer and causes of failures, as far as they occurred.
pub fn answer_details(run: &Run, findings: &Findings) -> Vec<LabelledText> {
    let unanswered = counted(unanswered_outcomes(&findings.tally, &run.facts.source));
    let unanswered = (!unanswered.is_empty()).then(|| unanswered.join(" · "));
    let texts = [
        ("Statuses", statuses(run)),
        ("Replies", run.facts.messages().and_then(|books| unusual_replies(run, books))),
        ("Unanswered", unanswered),
        ("Cancelled", cancelled(run)),
        ("Errors", errors(&run.snapshot.causes)),
    ];
    texts.into_iter().filter_map(|(label, text)| Some((label, text?))).collect()
}

/// Formats `100% 2xx: 60000 answers to 60000 requests, 999.8/s`; of calls, `100% OK`. The shares are of all planned
/// requests.
pub fn answer_shares(run: &Run, findings: &Findings) -> String {
    let tally = &findings.tally;
    if tally.planned == 0 {
        return "none: no request was planned".to_owned();
    }
    let are_calls = run.facts.offered.grpc.is_some();
    // A status of gRPC is a class of its own.
    let class = |status: u16| if are_calls || status >= 1000 { status } else { status / 100 };
    let mut classes: BTreeMap<u16, u64> = BTreeMap::new();
    run.snapshot.statuses.iter().for_each(|(status, n)| *classes.entry(class(*status)).or_default() += n);
    let share = |n: u64| number::share(n as f64 / tally.planned as f64);
    let name = |class: u16| match GrpcStatus::of_recorded(class) {
        Some(status) => status.name().to_owned(),
        None => format!("{class}xx"),
    };
    let some = |n: u64, name: &str| Some(n).filter(|n| *n > 0).map(|n| format!("{} {name}", share(n)));
    let without_status = some(run.snapshot.answers_without_status(), "answered");
    let with_status = classes.iter().map(|(class, n)| format!("{} {}", share(*n), name(*class)));
    let unanswered = some(tally.unanswered(), "unanswered");
    let rate = findings.throughput_per_second.map_or(String::new(), |rate| format!(", {}", number::rate(rate)));
    format!(
        "{}: {} answers to {} requests{rate}",
        without_status.into_iter().chain(with_status).chain(unanswered).collect::<Vec<_>>().join(", "),
        number::count(tally.responses),
        number::count(tally.planned)
    )
}

/// Formats the requests that were chosen to be cancelled: `48 of 50 chosen requests 1s after they were due, 2 had
/// ended; no figure includes them`. `None` if the run cancelled none on purpose.
pub fn cancelled(run: &Run) -> Option<String> {
    let cancel = run.facts.offered.cancel?;
    let chosen = &run.snapshot.cancelled;
    let [cancelled, planned] = [chosen.timed_out, chosen.planned].map(number::count);
    let after = number::round_time(cancel.after_ns);
    let others = chosen.planned.saturating_sub(chosen.timed_out);
    let others = if others == 0 { String::new() } else { format!(", {} had ended", number::count(others)) };
    Some(format!(
        "{cancelled} of {planned} chosen requests {after} after they were due{others}; no figure includes them"
    ))
}

/// Returns the status as people write it: a number of HTTP, or a name of gRPC.
pub fn status_of(run: &Run, status: u16) -> String {
    match GrpcStatus::of_recorded(status) {
        Some(call) if run.facts.offered.grpc.is_some() => call.name().to_owned(),
        Some(_) | None => status_name(status).into_owned(),
    }
}

/// Formats counts by status; `None` if every answer was a 200 or had no status.
fn statuses(run: &Run) -> Option<String> {
    let statuses = &run.snapshot.statuses;
    let usual = statuses.keys().all(|status| *status == 200);
    let one = |(status, n): (&u16, &u64)| format!("{}: {}", status_of(run, *status), number::count(*n));
    (!usual).then(|| statuses.iter().map(one).collect::<Vec<_>>().join(" · "))
}

/// Formats what channels received besides one good reply for each message, and lost channels; `None` if nothing.
fn unusual_replies(run: &Run, books: MessageBooks) -> Option<String> {
    let are_asked_for = run.facts.stream.as_ref().is_some_and(|streams| streams.reading.kind == StreamKind::Pushes);
    let unasked = if are_asked_for { 0 } else { books.pushes };
    let parts = [
        (books.error_replies, "error replies"),
        (books.unmatched, "unmatched"),
        (books.doubled, "doubled"),
        (books.late, "late, after the timeout"),
        (unasked, "that nobody asked for"),
        (books.channels_lost, "channels lost"),
    ];
    let parts = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", number::count(*n)));
    let ended = books.call_statuses.iter().filter_map(|(name, n)| {
        let status = GrpcStatus::from_name(name)?.name();
        Some(format!("{} calls ended with {status}", number::count(*n)))
    });
    let told: Vec<_> = parts.chain(ended).collect();
    (!told.is_empty()).then(|| told.join(" · "))
}

/// Returns the name of [`Tally::malformed`]. A callable has no answer that could be malformed: it raised an exception.
pub(crate) fn malformed_name(source: &RunSource) -> &'static str {
    if *source == RunSource::Callable { "exceptions" } else { "malformed" }
}

/// Returns each outcome without an answer that occurred, with its count.
pub fn unanswered_outcomes(tally: &Tally, source: &RunSource) -> Vec<(u64, &'static str)> {
    let kinds = [
        (tally.timed_out, "timed out"),
        (tally.connect_failed, "connect failed"),
        (tally.reset, "reset"),
        (tally.malformed, malformed_name(source)),
        (tally.in_flight_at_end, "in flight at the end"),
        (tally.never_issued, "never sent"),
    ];
    kinds.into_iter().filter(|(n, _)| *n > 0).collect()
}

fn counted(outcomes: Vec<(u64, &'static str)>) -> Vec<String> {
    outcomes.into_iter().map(|(n, name)| format!("{} {name}", number::count(n))).collect()
}

fn errors(causes: &BTreeMap<Cause, u64>) -> Option<String> {
    let mut causes: Vec<_> = causes.iter().collect();
    causes.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let one = |(cause, n): &(&Cause, &u64)| format!("{}× {}", number::count(**n), cause.describe());
    (!causes.is_empty()).then(|| causes.iter().map(one).collect::<Vec<_>>().join(" · "))
}

/// Formats the books: planned = issued + never issued, and issued = the sum of its outcomes.
pub fn books(run: &Run, findings: &Findings) -> [String; 2] {
    let tally = &findings.tally;
    let planned = format!(
        "{} planned = {} issued + {} never issued",
        number::count(tally.planned),
        number::count(tally.issued),
        number::count(tally.never_issued)
    );
    let ended = [format!("{} answered", number::count(tally.responses))];
    let unanswered = unanswered_outcomes(&Tally { never_issued: 0, ..*tally }, &run.facts.source);
    let ended: Vec<String> = ended.into_iter().chain(counted(unanswered)).collect();
    let issued = format!("{} issued = {}", number::count(tally.issued), ended.join(" + "));
    [planned, issued]
}
