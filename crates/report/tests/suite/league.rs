//! Tests of the comparison of load tools: tables for people and programs, and pictures.

use truetail_analysis::league::{
    Certificate, GeneratorKind, LeagueRow, ReportView, ServerView, ToolState, ToolUnderTest, rank, row, stream_row,
    window,
};
use truetail_analysis::truth::{StreamTruth, Truth, truth};
use truetail_model::record::Snapshot;
use truetail_model::scenario::{Scenario, builtin};
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::LoadModelKind;
use truetail_report::Style;
use truetail_report::league::{LeagueTable, ToolData, csv, html, markdown, pictures, text};
use truetail_run::{ClaimedQuantile, Claims, GapMeaning, LatencyFrom, StreamClaims};

const MS: u64 = 1_000_000;

struct League {
    scenario: Scenario,
    truth: Truth,
    rows: Vec<LeagueRow>,
}

impl League {
    /// One tool saw everything, one back-filled its tail, and one is missing and has a harmful message.
    fn new() -> League {
        let scenario = builtin::find("02").unwrap();
        let truth = truth(&scenario).unwrap();
        let all = ServerView::new((0..60_000).map(|n| (n * MS, None)).collect());
        let but_the_stall = ServerView::new((0..60_000).filter(|n| n / 1_000 != 30).map(|n| (n * MS, None)).collect());
        let said = |latency_from, p99: u64| Claims {
            quantiles: vec![ClaimedQuantile { q: 0.99, value_ns: p99 * MS, printed: true }],
            max_ns: Some(1_010 * MS),
            ..Claims::silent(latency_from)
        };
        let open = said(LatencyFrom::Intended, 411);
        let filled = said(LatencyFrom::BackFilled, 402);
        let data = Snapshot::default();
        let of = |tool, saw: Option<&ServerView>, claims: Option<&Claims>, message| {
            let subject = ToolUnderTest {
                tool,
                version: Some("1.2.3"),
                label_model: LoadModelKind::Closed,
                state: if saw.is_none() { ToolState::Missing } else { ToolState::Ok },
                message,
                server_view: saw,
                report: claims.map(|claims| ReportView { claims, data: &data, notes: &[] }),
                cpu_seconds: Some(1.5),
                peak_memory_bytes: Some(5 << 20),
            };
            row(&subject, &truth, Rate::per_second(1000.0).unwrap(), &window(&scenario, 10))
        };
        let harm = "<script>alert(1)</script> | **x**, \"y\"";
        let mut rows = vec![
            of("ab", None, None, Some(harm)),
            of("wrk", Some(&but_the_stall), Some(&filled), None),
            of("jmeter-precise-throughput", Some(&all), Some(&open), None),
        ];
        rank(&mut rows);
        League { scenario, truth, rows }
    }

    fn table(&self) -> LeagueTable<'_> {
        let duration = Nanos::from_secs(60);
        LeagueTable {
            scenario: &self.scenario,
            duration,
            truth: &self.truth,
            window: &[],
            rows: &self.rows,
            streams: None,
        }
    }
}

#[test]
fn the_text_fits_a_hundred_columns_and_shows_who_filled_in() {
    let league = League::new();
    let text = text(&league.table(), Style { width: 100, ..Style::default() });
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let line = |name: &str| text.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_default();
    assert!(line("wrk").contains("closed+") && line("wrk").contains("-2.0"), "{text}");
    assert!(line("(the truth)").contains("410.0") && line("(the truth)").contains("1000"), "{text}");
    assert!(line("jmeter").contains("open") && line("ab").contains("missing"), "{text}");
}

#[test]
fn what_comes_from_tools_cannot_command_a_page() {
    let league = League::new();
    let page = html(&league.table(), &[], "today");
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;"), "{page}");
    let page = markdown(&league.table(), &["all-tools"], "today");
    assert!(!page.contains("<script") && page.contains("\\| \\*\\*x"), "{page}");
    assert!(page.contains("](./all-tools.svg)"), "{page}");
}

#[test]
fn every_row_of_the_csv_has_every_column() {
    let league = League::new();
    let text = csv(&league.table());
    let heads = text.lines().next().unwrap().split(',').count();
    let plain = text.lines().filter(|line| !line.contains('"'));
    assert!(plain.clone().all(|line| line.split(',').count() == heads), "{text}");
    assert_eq!((plain.count(), text.lines().count()), (4, 5), "{text}");
    assert!(text.contains("\"<script>alert(1)</script> | **x**, \"\"y\"\"\""), "{text}");
}

#[test]
fn where_answers_are_streams_the_csv_has_their_times() {
    let league = League::new();
    let truth = StreamTruth::default();
    let first = vec![ClaimedQuantile { q: 0.99, value_ns: 7 * MS, printed: true }];
    let gaps = vec![ClaimedQuantile { q: 0.5, value_ns: 2 * MS, printed: true }];
    let measured = Some(12);
    let gap_of = GapMeaning::Answer;
    let claims = StreamClaims { first, first_max_ns: Some(9 * MS), measured, gaps, gap_max_ns: None, gap_of };
    let row = stream_row(&league.rows[0], Some(&claims), None, &truth);
    let table = LeagueTable { streams: Some((&truth, std::slice::from_ref(&row))), ..league.table() };
    let text = csv(&table);
    let mut read = ::csv::Reader::from_reader(text.as_bytes());
    let heads = read.headers().unwrap().clone();
    let rows: Vec<::csv::StringRecord> = read.records().map(Result::unwrap).collect();
    let of = |nth: usize, head: &str| rows[nth][heads.iter().position(|known| known == head).unwrap()].to_owned();
    assert_eq!(
        (of(1, "tool"), of(1, "first_p99_ns"), of(1, "first_max_ns")),
        (row.tool.clone(), "7000000".into(), "9000000".into())
    );
    assert_eq!(
        (of(1, "gap_of"), of(1, "gap_p50_ns"), of(1, "gap_max_ns")),
        ("mean_of_an_answer".into(), "2000000".into(), String::new())
    );
    assert_eq!((of(1, "first_measured"), of(2, "first_measured")), ("12".into(), String::new()));
    assert!(!csv(&league.table()).contains("first_p99_ns"), "columns that say nothing are not there");
}

#[test]
fn pictures_are_of_the_tools_that_gave_something() {
    let league = League::new();
    let data = Snapshot::default();
    let tools: Vec<ToolData<'_>> = league
        .rows
        .iter()
        .map(|row| ToolData {
            row,
            data: &data,
            points: vec![(0.99, 411 * MS), (1.0, 1_010 * MS)],
            requests: Vec::new(),
        })
        .collect();
    let drawn = pictures(&league.table(), &tools);
    let names: Vec<&str> = drawn.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["all-tools"], "no pair is whole and nobody told of single requests");
    let svg = drawn[0].1.svg();
    assert!(svg.contains(">wrk<") && svg.contains(">the truth<") && !svg.contains(">ab<"), "{svg}");
    assert!(!svg.contains("NaN") && drawn[0].1.png().is_ok());
}

/// If answers are streams, tools report other times too.
#[test]
fn what_is_about_whole_answers_says_so_where_answers_are_streams() {
    let league = League::new();
    let streams = StreamTruth::default();
    let plain = league.table();
    let of_streams = LeagueTable { streams: Some((&streams, &[])), ..league.table() };
    let data = Snapshot::default();
    let row = &league.rows[0];
    let points = vec![(0.99, 411 * MS)];
    let tools = [ToolData { row, data: &data, points, requests: Vec::new() }];
    let drawn = |table: &LeagueTable<'_>| pictures(table, &tools)[0].1.svg().to_owned();
    let words = ["Whole answers as each tool reports them", "time to the whole answer, as each tool reports it"];
    let said =
        |table: &LeagueTable<'_>| [text(table, Style::default()).contains(words[0]), drawn(table).contains(words[1])];
    assert_eq!((said(&plain), said(&of_streams)), ([false; 2], [true; 2]));
}

#[test]
fn who_could_not_be_told_is_not_convicted() {
    let of = |kind, kept_schedule| Certificate { kind, kept_schedule, evidence: Vec::new(), trials: Vec::new() };
    let style = Style { color: false, width: 100, unicode: true };
    let drawn = |certificate| truetail_report::league::certificate("x", &certificate, style);
    assert!(!drawn(of(GeneratorKind::Unknown, None)).contains("schedule"));
    assert!(drawn(of(GeneratorKind::Closed, Some(false))).contains("It did not keep its schedule."));
    assert!(drawn(of(GeneratorKind::Open, Some(true))).contains("It kept its schedule."));
}
