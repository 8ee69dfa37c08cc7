//! Pages of metrics, one after the other. What is kept of them is bounded, and a run folder could hold it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use truetail_fuzz::split;
use truetail_model::record::Tally;
use truetail_model::time::Nanos;
use truetail_run::{MAX_SERVICE_SERIES, Scrape};
use truetail_scrape::{Exposition, Watch};

fuzz_target!(|input: &[u8]| {
    let mut pages = split(input).filter_map(|page| match Exposition::parse(page) {
        Ok(page) => Some(page),
        Err(error) => {
            let said = error.to_string();
            assert!(said.len() < 4_000 && !said.contains(['\n', '\u{1b}']), "{said}");
            None
        }
    });
    let Some(first) = pages.next() else { return };
    let mut watch = Watch::new(&first, Vec::new());
    for (second, page) in pages.enumerate() {
        watch.add(Nanos::from_secs(second as u64), &page);
        if second == 1 {
            watch.begin_measuring();
        }
    }
    let tally = Tally { planned: 10, issued: 10, responses: 10, ..Tally::default() };
    let histograms = watch.histograms(&tally);
    let scrape = Scrape { histograms, series: watch.series(), ..Scrape::default() };
    assert_eq!(scrape.imbalance(), None);
    assert!(scrape.series.len() <= MAX_SERVICE_SERIES);
    assert!(scrape.series.iter().all(|series| series.points.is_sorted_by(|a, b| a.0 < b.0)));
});
