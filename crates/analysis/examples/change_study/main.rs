//! Measures how often a history calls a change that is not there, how soon it finds one, and how good its interval
//! is. Prints the table of `docs/history.md`:
//!
//! ```text
//! cargo run --release -p truetail-analysis --example change_study -- [SERIES] [FILE.csv]
//! python3 crates/analysis/examples/change_study/with_otava.py FILE.csv
//! ```
//!
//! A series has 60 runs. Their percentiles differ by chance within runs, by an error that is known, and between runs.
//! A run in twenty is spoilt: slower by 20 to 150 %. The interval of half of these runs says so. The shift comes
//! between the 16th and the 45th run. With a file, the series are written there too, and `with_otava.py` asks Apache
//! Otava about them (`pip install apache-otava`).

mod series;

use std::error::Error;
use std::io::Write;
use std::{env, fs};

use series::{RUNS, SOON, Series};
use truetail_analysis::history::levels;

const SHIFTS: [f64; 5] = [0.0, 0.02, 0.05, 0.10, 0.20];
/// Standard deviation between runs, and standard error within a run.
const NOISE: [(f64, f64); 3] = [(0.025, 0.015), (0.03, 0.03), (0.05, 0.02)];
fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let count: u64 = arguments.next().map_or(Ok(200), |count| count.parse())?;
    let mut file = arguments.next().map(fs::File::create).transpose()?;
    println!("{count} series of {RUNS} runs\n");
    println!(
        "| between runs | within a run | shift | called at the end | at any look | found within {SOON} runs | \
              found at the end | interval holds the shift |\n|---|---|---|---|---|---|---|---|"
    );
    for noise in NOISE {
        for shift in SHIFTS {
            let series: Vec<Series> = (0..count).map(|seed| Series::new(seed, noise, shift)).collect();
            if let Some(file) = &mut file {
                write(file, noise, &series)?;
            }
            println!("{}", row(noise, shift, &series));
        }
    }
    Ok(())
}

fn row((between, within): (f64, f64), shift: f64, series: &[Series]) -> String {
    let share = |is: &dyn Fn(&Series) -> bool| {
        let found = series.iter().filter(|series| is(series)).count();
        format!("{:.1} %", found as f64 / series.len() as f64 * 100.0)
    };
    let called = share(&|series| levels(&series.points).len() > 1);
    let cells = if shift == 0.0 {
        let at_any_look = share(&Series::has_alarm_at_any_look);
        [called, at_any_look, "–".to_owned(), "–".to_owned(), "–".to_owned()]
    } else {
        let covered: Vec<bool> = series.iter().filter_map(Series::is_covered).collect();
        let holds = covered.iter().filter(|holds| **holds).count() as f64 / covered.len().max(1) as f64;
        let holds = if covered.len() < 50 { "–".to_owned() } else { format!("{:.1} %", holds * 100.0) };
        let found = share(&|series| series.is_found(&levels(&series.points)));
        [called, "–".to_owned(), share(&Series::is_found_soon), found, holds]
    };
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    format!("| {} | {} | {:.0} % | {} |", percent(between), percent(within), shift * 100.0, cells.join(" | "))
}

fn write(file: &mut fs::File, (between, within): (f64, f64), series: &[Series]) -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    for (number, series) in series.iter().enumerate() {
        let values: Vec<String> = series.points.iter().map(|point| point.value.exp().to_string()).collect();
        text += &format!("{between},{within},{},{number},{},{}\n", series.shift, series.at, values.join(","));
    }
    Ok(file.write_all(text.as_bytes())?)
}
