//! Properties of the page of every run.

use std::collections::HashSet;

use truetail_analysis::series::series;
use truetail_page::{Overlay, RunPage, live_update, run_page};
use truetail_report::{number, words};

use crate::dom::{all, parsed, reading, split, text, texts, visible_text};
use crate::fixtures::Fixture;
use crate::odd_runs;

const SECTIONS: [&str; 18] = [
    "verdict",
    "books",
    "times",
    "sessions",
    "streams",
    "over-time",
    "percentiles",
    "delay",
    "gaps",
    "rate",
    "answers",
    "targets",
    "ledger",
    "service",
    "events",
    "groups",
    "slowest",
    "repeat",
];

fn html(fixture: &Fixture) -> String {
    let series = series(&fixture.run, &fixture.findings);
    run_page(&RunPage::new(&fixture.run, &fixture.findings, &series))
}

#[test]
fn it_is_a_sound_document() {
    for fixture in odd_runs::all() {
        let page = parsed(&html(fixture));
        assert_eq!(all(&page, "html[lang=en][data-theme=auto] > body > main#report").len(), 1, "{}", fixture.name);
        assert_eq!(all(&page, "h1").len(), 1);
        let levels: Vec<u32> =
            all(&page, "h1, h2, h3, h4").iter().map(|heading| heading.value().name()[1..].parse().unwrap()).collect();
        assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{}: {levels:?}", fixture.name);
        let ids: Vec<&str> = all(&page, "[id]").iter().filter_map(|element| element.value().id()).collect();
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "{}: {ids:?}", fixture.name);
        let sections: Vec<&str> = all(&page, "main > section").iter().filter_map(|one| one.value().id()).collect();
        let known: Vec<&str> = SECTIONS.into_iter().filter(|id| sections.contains(id)).collect();
        assert_eq!(sections, known, "{}", fixture.name);
    }
}

#[test]
fn it_loads_nothing_and_links_only_to_itself() {
    for fixture in odd_runs::all() {
        let page = parsed(&html(fixture));
        for element in all(&page, "*") {
            for (name, value) in element.value().attrs() {
                let refers = matches!(name, "src" | "href" | "srcset" | "action" | "poster" | "data" | "xlink:href");
                assert!(!refers || value.starts_with('#'), "{}: {name}={value}", fixture.name);
                assert!(!name.starts_with("on"), "{}: {name}", fixture.name);
            }
        }
        for style in texts(&page, "style") {
            assert!(!style.contains("url(") && !style.contains("@import"), "{style}");
        }
        assert!(all(&page, "meta[http-equiv=Content-Security-Policy][content^=\"default-src 'none'\"]").len() == 1);
    }
}

#[test]
fn every_table_says_what_it_shows() {
    for fixture in odd_runs::all() {
        let page = parsed(&html(fixture));
        let captions = texts(&page, "table > caption");
        assert_eq!(captions.len(), all(&page, "table").len(), "{}", fixture.name);
        assert_eq!(captions.iter().collect::<HashSet<_>>().len(), captions.len(), "{}: {captions:?}", fixture.name);
        assert!(all(&page, "th").iter().all(|head| head.value().attr("scope").is_some() && !text(*head).is_empty()));
        for figure in all(&page, "figure") {
            let name = figure.value().attr("data-picture").expect("a name");
            let caption = scraper::Selector::parse("figcaption").unwrap();
            assert!(figure.select(&caption).all(|caption| !text(caption).is_empty()), "{}: {name}", fixture.name);
        }
    }
}

#[test]
fn a_section_without_data_says_so() {
    for fixture in odd_runs::all() {
        let page = parsed(&html(fixture));
        for section in all(&page, "main > section") {
            let content = scraper::Selector::parse("figure, table, p, pre, dl").unwrap();
            assert!(section.select(&content).next().is_some(), "{}: {:?}", fixture.name, section.value().id());
        }
        let told = visible_text(&page);
        for never in ["NaN", "inf/s", "None", "Some(", "null"] {
            assert!(!told.contains(never), "{}: {never} in {told}", fixture.name);
        }
    }
}

#[test]
fn it_says_what_the_screen_says() {
    for fixture in odd_runs::all() {
        let run = &fixture.run;
        let findings = &fixture.findings;
        let page = parsed(&html(fixture));
        let told = visible_text(&page);
        assert!(told.contains(&words::headline(run)), "{}", fixture.name);
        assert!(told.contains(&words::answer_shares(run, findings)), "{}", fixture.name);
        assert_eq!(texts(&page, "#verdict .state > strong"), [findings.verdict.state.name()]);
        for reason in &findings.verdict.reasons {
            assert!(told.contains(&format!("{}: {}", reason.code, reason.message)), "{}: {told}", fixture.name);
        }
        for gate in &findings.gates {
            let line = format!("{} {}: {}", words::decision(gate.state), gate.text, gate.message);
            assert!(told.contains(&line), "{}: {line}", fixture.name);
        }
        for note in words::notes(run) {
            assert!(told.contains(&note), "{}: {note}", fixture.name);
        }
    }
}

#[test]
fn an_answer_without_a_status_is_answered() {
    let named = |name: &str| odd_runs::all().into_iter().find(|fixture| fixture.name == name).expect("a run");
    let page = parsed(&html(named("without a status")));
    assert_eq!(texts(&page, "[aria-label=\"Answers by status\"] tbody th"), ["answered, without a status"]);
    let summaries = |name: &str| texts(&parsed(&html(named(name))), "details.answer > summary");
    let to = "to GET http://127.0.0.1/, due at 0 s";
    assert_eq!(summaries("failed answers")[0], format!("Status 503 {to}"));
    assert_eq!(summaries("failed replies")[0], format!("Answer {to}"));
}

/// The headline table has the cells of the summary, which come from run.json. A saturated run has its capacity instead.
#[test]
fn its_numbers_are_those_of_the_findings() {
    let mut tables = 0;
    for fixture in odd_runs::all() {
        let page = parsed(&html(fixture));
        let caption = "Response times by percentile";
        let saturated = fixture.findings.verdict.reasons.iter().any(|reason| reason.code == "saturated");
        let expected: Vec<String> =
            if saturated { Vec::new() } else { words::times(&fixture.findings).into_iter().flatten().collect() };
        let cells = texts(&page, &format!("[aria-label=\"{caption}\"] tbody th, [aria-label=\"{caption}\"] tbody td"));
        assert_eq!(cells, expected, "{}", fixture.name);
        assert_eq!(
            visible_text(&page).contains("Under overload"),
            saturated && !texts(&page, "#percentiles figure").is_empty()
        );
        tables += usize::from(!cells.is_empty());
    }
    assert!(tables > 5, "{tables}");
}

const READABLE: [&str; 7] = ["heat", "lanes", "percentiles", "delay", "gaps", "rate", "event-gaps"];

/// Each layer of a picture has its elements in the panel, and a text for each stop or none at all.
#[test]
fn its_pictures_can_be_read() {
    let mut read = HashSet::new();
    for fixture in odd_runs::all() {
        let page = parsed(&html(fixture));
        assert!(all(&page, "main[data-live]").is_empty());
        for picture in READABLE {
            let Some(reading) = reading(&page, picture) else { continue };
            read.insert(picture);
            let stops = reading["axis"]["stops"].as_array().unwrap();
            assert_eq!(split(&reading["axis"]["texts"]).len(), stops.len(), "{}: {picture}", fixture.name);
            assert!(stops.iter().all(|stop| (0.0..=1.0).contains(&stop.as_f64().unwrap())), "{stops:?}");
            let panels = reading["panels"].as_array().unwrap();
            let drawn = format!("figure[data-picture=\"{picture}\"] svg.inner");
            assert_eq!(all(&page, &drawn).len(), panels.len(), "{}: {picture}", fixture.name);
            let layers: Vec<_> = panels.iter().flat_map(|panel| panel["layers"].as_array().unwrap()).collect();
            assert_eq!(all(&page, &format!("{drawn} > g[data-layer]")).len(), layers.len());
            for layer in layers {
                let texts = &layer["texts"];
                assert!(texts.is_null() || split(texts).len() == stops.len(), "{}: {picture}: {layer}", fixture.name);
            }
        }
    }
    assert_eq!(read.len(), READABLE.len(), "{read:?}");
}

#[test]
fn what_is_read_is_in_the_series() {
    for fixture in odd_runs::all() {
        let series = series(&fixture.run, &fixture.findings);
        let page = parsed(&html(fixture));
        if let (Some(reading), false) = (reading(&page, "lanes"), series.load.planned_per_s.is_empty()) {
            let layers = reading["panels"][0]["layers"].as_array().unwrap();
            let planned = layers.iter().find(|layer| layer["name"] == "planned").expect("a line");
            let expected: Vec<String> = series.load.planned_per_s.iter().copied().map(number::rate).collect();
            assert_eq!(split(&planned["texts"]), expected, "{}", fixture.name);
        }
        let curve = series.curves.first().filter(|curve| !curve.points.is_empty());
        if let Some((curve, reading)) = curve.zip(reading(&page, "percentiles")) {
            let names = split(&reading["axis"]["texts"]);
            let layers = reading["panels"][0]["layers"].as_array().unwrap();
            let layer = layers.iter().find(|layer| layer["line"] == true).expect("a curve");
            let times = split(&layer["texts"]);
            for point in &curve.points {
                let stop = names.iter().position(|name| *name == number::quantile_name(point.q)).expect("a stop");
                assert_eq!(times[stop], number::time(point.value_ns), "{}: {}", fixture.name, point.q);
            }
        }
        if let Some(reading) = reading(&page, "heat") {
            let cells = &reading["panels"][0]["cells"];
            assert_eq!(cells["counts"], serde_json::to_value(&series.heat_map.cells).unwrap(), "{}", fixture.name);
            assert_eq!(cells["rows"].as_array().unwrap().len(), series.heat_map.rows);
        }
    }
}

#[test]
fn odd_runs_are_told_as_they_are() {
    let told = |name: &str| {
        let fixture = odd_runs::all().into_iter().find(|fixture| fixture.name == name).expect(name);
        visible_text(&parsed(&html(fixture)))
    };
    assert!(told("nothing").contains("No request was planned"));
    assert!(told("refused").contains("no request was answered"));
    assert!(told("only timeouts").contains("≥"));
    assert!(told("callable").contains("There is no command"));
    assert!(told("merged").contains("merged from 2 runs"));
    assert!(told("few").contains("n≥N: needs at least N requests"));
    assert!(told("saturated").contains("omitted: under overload"));
    assert!(told("failed answers").contains("Status 503 to GET http://127.0.0.1/, due at 0.001 s"));
    assert!(told("targets").contains("GET /items/{{id}}"));
}

#[test]
fn streams_are_told_and_drawn() {
    let page = |name: &str| {
        let fixture = odd_runs::all().into_iter().find(|fixture| fixture.name == name).expect(name);
        parsed(&html(fixture))
    };
    let drawn = |page: &scraper::Html| -> Vec<String> {
        let figures = all(page, "#streams figure").into_iter();
        figures.map(|figure| figure.value().attr("data-picture").unwrap().to_owned()).collect()
    };
    let streams = page("streams");
    assert_eq!(drawn(&streams), ["event-gaps", "streams"]);
    let first_row = texts(&streams, "[aria-label^=\"Times of streams\"] tbody tr:first-child th");
    assert_eq!(first_row, ["first event"]);
    let shown = texts(&streams, "[aria-label=\"A few streams\"] tbody th");
    assert_eq!(shown.iter().filter(|why| *why == "one of the slowest").count(), 3, "{shown:?}");
    assert!(shown.len() > 4, "{shown:?}");
    let longest = texts(&streams, "[aria-label=\"A few streams\"] tbody tr:first-child td:last-child");
    let findings = &odd_runs::all().into_iter().find(|fixture| fixture.name == "streams").unwrap().findings;
    let max = findings.response_time.quantiles.last().and_then(|max| max.value_ns).unwrap();
    assert_eq!(longest, [number::time(max)]);
    let gaps: u64 = texts(&streams, "[aria-label^=\"Gaps between events by time\"] tbody td:nth-child(2)")
        .iter()
        .map(|count| count.parse::<u64>().unwrap())
        .sum();
    assert_eq!(gaps, findings.stream.as_ref().unwrap().event_gap.count);
    assert!(visible_text(&page("streams without their detail")).contains("single streams are not known"));
    let objectives = page("objectives");
    assert_eq!(drawn(&objectives), ["goodput", "event-gaps", "streams"]);
    let rows = texts(&objectives, "[aria-label=\"Planned requests by objective\"] tbody th");
    assert_eq!(rows, ["ttft < 200ms", "tpot < <50ms>", "all objectives"]);
    let of_all = texts(&objectives, "[aria-label=\"Planned requests by objective\"] tbody tr:last-child td");
    assert_eq!(of_all, ["600 (50%)", "500 (42%)", "100 (8.3%)", "0 (0%)"]);
    assert!(visible_text(&objectives).contains("50% to 58% of planned requests met"));
}

#[test]
fn other_runs_are_laid_over_the_curve() {
    let fixtures = odd_runs::all();
    let [one, other] = ["hiccup", "troubled"].map(|name| *fixtures.iter().find(|one| one.name == name).unwrap());
    let series_of_one = series(&one.run, &one.findings);
    let series_of_other = series(&other.run, &other.findings);
    let overlays = [Overlay { name: "before <the> change", series: &series_of_other }];
    let page = RunPage::new(&one.run, &one.findings, &series_of_one).with(&overlays);
    let page = parsed(&run_page(&page));
    let reading = reading(&page, "percentiles").expect("curves");
    let mut layers = reading["panels"][0]["layers"].as_array().unwrap().iter();
    assert!(layers.any(|layer| layer["name"] == "before <the> change"));
    assert!(texts(&page, "#percentiles thead th").contains(&"before <the> change".to_owned()));
}

#[test]
fn an_update_holds_what_changes() {
    for fixture in odd_runs::all() {
        let series = series(&fixture.run, &fixture.findings);
        let page = RunPage::new(&fixture.run, &fixture.findings, &series).live(true);
        let update = live_update(&page);
        assert!(!update.contains('\n') && !update.contains('<'), "one line, and no markup outside its texts");
        let update: serde_json::Value = serde_json::from_str(&update).unwrap();
        let whole = parsed(&run_page(&page));
        assert_eq!(all(&whole, "main[data-live]").len(), 1);
        for (id, inner) in update["sections"].as_object().unwrap() {
            let section = &all(&whole, &format!("main > section#{id}"))[0];
            let alone = scraper::Html::parse_fragment(inner.as_str().unwrap());
            assert_eq!(text(*section), text(alone.root_element()), "{}: {id}", fixture.name);
        }
        let pictures = update["pictures"].as_object().unwrap();
        for picture in ["heat", "lanes", "percentiles", "delay", "gaps"] {
            let place = &all(&whole, &format!("figure[data-picture={picture}] > .picture"))[0];
            let alone = scraper::Html::parse_fragment(pictures[picture].as_str().unwrap());
            assert_eq!(text(*place), text(alone.root_element()), "{}: {picture}", fixture.name);
        }
    }
}
