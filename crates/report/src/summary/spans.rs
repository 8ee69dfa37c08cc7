//! Spans that services reported: what they explain, and what became of the others.

use truetail_run::{Findings, ServerTiming, SpanBooks};

use crate::number;

/// Returns sentences about answers without spans, times that do not fit, and spans that are not part of any time.
pub(super) fn span_sentences(timing: &ServerTiming, books: &SpanBooks, findings: &Findings) -> Vec<String> {
    let mut sentences = Vec::new();
    let all = timing.answers.saturating_add(timing.without);
    if timing.answers == 0 {
        sentences.push(format!(
            "None of {} answers that asked for a trace has a span, so nothing is known behind the server's door.",
            number::count(all)
        ));
    } else if timing.without > 0 {
        let without = number::count(timing.without);
        let all = number::count(all);
        sentences
            .push(format!("{without} of {all} answers that asked for a trace have no span; theirs is unattributed."));
    }
    for part in findings.reported_parts.iter().filter(|part| part.longer_than_service > 0) {
        sentences.push(format!(
            "{} is longer than the whole service time in {} of {} answers: it goes on after the answer, or its clock is \
             wrong.",
            part.name,
            number::count(part.longer_than_service),
            number::count(part.count)
        ));
    }
    if findings.ledger.iter().flat_map(|row| &row.parts).any(|part| part.mean_ns < 0.0) {
        sentences.push(
            "The spans add up to more than the service time: some go on after the answer, or several begin side by side \
             with the request."
                .to_owned(),
        );
    }
    sentences.extend(unused(books));
    sentences.extend(full(books));
    if let Some(problem) = books.problem.as_ref().filter(|_| books.unread > 0) {
        let unread = number::count(books.unread);
        sentences.push(format!(
            "Messages that were refused or could not be read to their end: {unread}; the first: {problem}."
        ));
    }
    sentences
}

/// Returns a sentence about the spans that are not part of any time; `None` if all are.
fn unused(books: &SpanBooks) -> Option<String> {
    let reasons = [
        (books.foreign, "of traces that this run did not start"),
        (books.not_kept, "of requests that the run does not keep"),
        (books.without_parent, "without a chain of parents to their request"),
        (books.doubled, "came twice"),
        (books.damaged, "with a wrong id or end"),
        (books.left_out, "beyond the limits on memory"),
    ];
    let told = reasons.into_iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told.map(|(count, reason)| format!("{} {reason}", number::count(count))).collect();
    let unused = books.received.saturating_sub(books.used);
    let all = number::count(books.received);
    (unused > 0).then(|| format!("{} of {all} spans are not used: {}.", number::count(unused), told.join(", ")))
}

/// Returns a sentence about the answers that came after the last span that was kept; `None` if all spans had room.
fn full(books: &SpanBooks) -> Option<String> {
    let most = number::count(SpanBooks::MAX_SPANS);
    let sentence = || {
        format!("A run keeps {most} spans, so later answers have none: have fewer traces recorded (--trace-sampled).")
    };
    books.ran_full().then(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_span_that_is_not_used_is_told() {
        let books = SpanBooks {
            received: 1_028,
            used: 1_000,
            foreign: 7,
            not_kept: 6,
            doubled: 5,
            without_parent: 4,
            damaged: 3,
            left_out: 3,
            ..SpanBooks::default()
        };
        let sentence = unused(&books).unwrap();
        assert!(sentence.starts_with("28 of 1028 spans are not used: 7 of traces that"), "{sentence}");
        assert!(sentence.contains("5 came twice, 3 with a wrong id or end, 3 beyond"), "{sentence}");
        assert_eq!(unused(&SpanBooks { received: 3, used: 3, ..SpanBooks::default() }), None);
    }

    #[test]
    fn a_full_store_is_told_with_its_remedy() {
        let books = SpanBooks { used: SpanBooks::MAX_SPANS, left_out: 5, ..SpanBooks::default() };
        let sentence = full(&books).unwrap();
        assert!(
            sentence.contains("so later answers have none") && sentence.contains("(--trace-sampled)"),
            "{sentence}"
        );
        // One long trace.
        assert_eq!(full(&SpanBooks { received: 1_005, used: 1_000, left_out: 5, ..SpanBooks::default() }), None);
    }
}
