//! The page of an audit.

use truetail_analysis::audit::Auditor;
use truetail_model::record::Outcome;
use truetail_model::time::Nanos;
use truetail_page::text::visible;
use truetail_page::{AuditPage, audit_page};
use truetail_report::AuditReport;
use truetail_run::{
    Claims, FilePlace, ForeignClock, ForeignLoad, ForeignRequest, ForeignRun, ForeignStarts, ForeignView, Habit,
    LatencyFrom, UnusedRows,
};

use crate::dom::{all, parsed, skeleton, texts, visible_text};

/// Returns the audit of a user that waits 10 ms for each answer, and `stall_ms` for the middle one.
fn report(file: &str, stall_ms: u64) -> AuditReport {
    let mut auditor = Auditor::new();
    let mut at = 1_700_000_000_000_000_000;
    for row in 0..2_000 {
        let duration = Nanos::from_millis(if row == 1_000 { stall_ms } else { 10 });
        let outcome = Outcome::response(200);
        auditor.request(&ForeignRequest::new(Some(at), duration, outcome));
        at += duration.0;
    }
    let clock = ForeignClock { starts: ForeignStarts::Unix, start_resolution_ns: 1, duration_resolution_ns: 1 };
    let run = ForeignRun {
        format: "csv",
        tool: None,
        version: Some(file.to_owned()),
        claims: Claims::silent(LatencyFrom::Send),
        histogram: None,
        requests: 2_000,
        clock,
        load: ForeignLoad::default(),
        view: ForeignView::Client,
        damage: UnusedRows {
            rows_left_out: 1,
            first: Some((FilePlace::default(), file.to_owned())),
            truncated_at: None,
        },
        notes: vec![file.to_owned()],
        habits: &[Habit { what: "it has a habit", source: "its source" }],
    };
    let audit = auditor.finish(&run, None, None);
    AuditReport { file: file.to_owned(), run, audit }
}

fn page(reports: &[AuditReport]) -> String {
    let command = format!("truetail audit {}", reports[0].file);
    audit_page(&AuditPage { reports, command: &command })
}

#[test]
fn a_stall_is_shown_with_its_evidence_and_effect() {
    let page = parsed(&page(&[report("results.csv", 1_000)]));
    assert_eq!(texts(&page, ".state strong"), ["CERTAIN"]);
    let codes = texts(&page, "#finding .reasons code");
    assert!(codes.contains(&"sends_stop_while_slow".to_owned()), "{codes:?}");
    // One mark in each of the three lanes, and one in the legend.
    assert_eq!(all(&page, "#over-time rect.s-pause-server").len(), 4);
    let stops = texts(&page, "#over-time table td");
    assert_eq!(stops[0], "1.000s", "{stops:?}");
    let heads = texts(&page, "#percentiles thead th");
    assert_eq!(heads, ["percentile", "reported", "corrected", "bounds"]);
    assert!(visible_text(&page).contains("it has a habit (its source)"));
}

#[test]
fn where_nothing_is_missing_nothing_is_marked_or_corrected() {
    let page = parsed(&page(&[report("results.csv", 10)]));
    assert_eq!(texts(&page, ".state strong"), ["NONE SEEN"]);
    assert!(all(&page, "rect.s-pause-server, rect.s-backlog, #over-time table").is_empty());
    assert_eq!(texts(&page, "#percentiles thead th"), ["percentile", "reported"]);
}

#[test]
fn several_files_are_beside_each_other_first() {
    let page = parsed(&page(&[report("a.csv", 1_000), report("b.csv", 10)]));
    assert_eq!(texts(&page, "#summary tbody th"), ["a.csv", "b.csv"]);
    assert_eq!(texts(&page, "#summary td.w"), ["CERTAIN", "NONE SEEN"]);
    assert_eq!(texts(&page, "#files .state strong"), ["CERTAIN", "NONE SEEN"]);
    let mut captions = texts(&page, "caption");
    captions.sort();
    assert!(captions.windows(2).all(|pair| pair[0] != pair[1]), "captions name areas: {captions:?}");
}

#[test]
fn names_from_outside_stay_text() {
    let harmless = skeleton(&parsed(&page(&[report("harmless", 1_000)])));
    for text in
        ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\" onclick=\"x", "a\u{202e}b\u{0}"]
    {
        let page = parsed(&page(&[report(text, 1_000)]));
        assert_eq!(skeleton(&page), harmless, "{text:?}");
        assert!(visible_text(&page).contains(&visible(text)), "{text:?}");
    }
}
