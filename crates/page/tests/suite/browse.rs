//! The list of saved runs and the page of a series, with any names.

use std::collections::BTreeMap;

use proptest::prelude::*;
use truetail_analysis::history::{Change, History, HistoryFigure, Member, PercentileHistory, Point, levels};
use truetail_model::workload::LoadModelKind;
use truetail_page::SitePlace;
use truetail_page::browse::{
    Links, ListPage, ListedRow, ListedSeries, RunQuery, SeriesPage, SeriesRun, list_page, list_update, removal_page,
    series_page,
};
use truetail_page::text::visible;
use truetail_run::catalog::{ListedGate, ListedLoad, ListedTime, ListedTimes, SavedRun};
use truetail_run::{GateState, VerdictState};

use crate::dom::{all, parsed, skeleton, texts, visible_text};

fn saved(text: &str, number: u64) -> SavedRun {
    let time = ListedTime { value_ns: Some(number * 1_000_000), ..ListedTime::default() };
    SavedRun {
        folder: format!("{text}/{number}"),
        name: Some(text.to_owned()),
        started_at_unix_ns: Some(number * 1_000_000_000),
        url: Some(text.to_owned()),
        load: ListedLoad {
            model: LoadModelKind::Open,
            profile: Some(text.to_owned()),
            users: None,
            users_over_time: None,
            duration_ns: None,
        },
        verdict: VerdictState::Valid,
        unfinished: number == 2,
        planned: 10,
        errors: 1,
        times: ListedTimes { p50: time, p99: time, max_ns: None },
        gates: vec![ListedGate { text: text.to_owned(), state: GateState::Open }],
        tags: BTreeMap::from([(text.to_owned(), text.to_owned())]),
    }
}

fn list_with(text: &str) -> (String, String) {
    let runs: Vec<SavedRun> = (1..=2).map(|number| saved(text, number)).collect();
    let row = |run| ListedRow { run, shape: vec![Some(1), None, Some(3)], in_progress: false };
    let query = RunQuery { target: text.to_owned(), tag: text.to_owned(), page: 1, ..RunQuery::default() };
    let page = ListPage {
        folder: text,
        rows: runs.iter().map(row).collect(),
        found: 202,
        all: 500,
        pages: 3,
        query: &query,
        problems: vec![text.to_owned()],
        series: vec![ListedSeries { key: text.to_owned(), runs: 2, p99: vec![Some(1), Some(2)] }],
        more_series: 1,
        unreadable: &[(text.to_owned(), text.to_owned())],
        links: Links::Served,
        can_remove: true,
    };
    let site = SitePlace { has_forms: true, events: Some("/events?seen=1".to_owned()), ..SitePlace::default() };
    (list_page(&page, &site), list_update(&page))
}

fn series_with(text: &str) -> String {
    let point = |at: usize| {
        let value = if at < 6 { 16.0 } else { 17.0 };
        Point { value, without_generator: value, error: 0.01 }
    };
    let points: Vec<Point> = (0..12).map(point).collect();
    let change = Change { before: 5, after: 6, before_ns: 8.9e6, after_ns: 2.4e7, ratio: 2.7, low: 2.6, high: 2.8 };
    let found = PercentileHistory {
        figure: HistoryFigure::ResponseTime(0.99),
        runs: (0..12).collect(),
        levels: levels(&points),
        points,
        changes: vec![change],
        smallest_shown: 0.1,
    };
    let member = |_| Member { folder: text.to_owned(), commit: Some(text.to_owned()), left_out: Some(text.to_owned()) };
    let run = |_| SeriesRun { started: text.to_owned(), p50: text.to_owned(), p99: text.to_owned() };
    let history = History { runs: (0..12).map(member).collect(), percentiles: vec![found] };
    let page = SeriesPage { key: text, history: &history, runs: (0..12).map(run).collect(), links: Links::Served };
    series_page(&page, &SitePlace { links: vec![(text.to_owned(), text.to_owned())], ..SitePlace::default() })
}

fn removal_with(text: &str) -> String {
    let site = SitePlace { has_forms: true, ..SitePlace::default() };
    removal_page(&[&saved(text, 1)], "token", &site)
}

/// Checks that the pages have the same elements and attributes as with a harmless text, and show this text.
fn is_shown_as_text(text: &str) {
    for page_with in [|text: &str| list_with(text).0, series_with, removal_with] {
        let html = page_with(text);
        assert!(!html.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')), "{text:?}");
        let page = parsed(&html);
        assert_eq!(skeleton(&page), skeleton(&parsed(&page_with("harmless"))), "{text:?}");
        assert!(visible_text(&page).contains(&visible(text)), "{text:?}");
    }
    let update = list_with(text).1;
    assert!(!update.contains('<') && !update.contains('\n'), "{update}");
}

#[test]
fn hostile_names_are_text() {
    for text in ["</script><script>alert(1)</script>", "\"><img src=x>", "'&amp;", "</title>", "<!--", "a|b|c"] {
        is_shown_as_text(text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn any_name_is_text(text in "[^\\s]{1,12}") {
        is_shown_as_text(&text);
    }
}

#[test]
fn a_page_of_the_list_leads_to_the_others_and_keeps_the_conditions() {
    let page = parsed(&list_with("a&b").0);
    let turns: Vec<_> = all(&page, "nav.turn a").iter().filter_map(|link| link.value().attr("href")).collect();
    let query = "/?target=a%26b&tag=a%26b";
    let third = format!("{query}&page=3");
    assert_eq!(turns, [query, query, &third, &third]);
    assert_eq!(texts(&page, "nav.turn [aria-current]"), ["Page 2 of 3"]);
    let picks: Vec<_> =
        all(&page, "input[type=checkbox]").iter().filter_map(|input| input.value().attr("value")).collect();
    assert_eq!(picks, ["a&b/1", "a&b/2"]);
    assert_eq!(texts(&page, "tbody .badge"), ["VALID", "1 OPEN", "unfinished", "1 OPEN"]);
    let links: Vec<_> = all(&page, "tbody th a").iter().filter_map(|link| link.value().attr("href")).collect();
    assert_eq!(links, ["/run/a%26b/1", "/run/a%26b/2"]);
}
