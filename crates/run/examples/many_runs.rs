//! Fills a folder with many runs, and prints how long a list of them takes without and with the index.
//!
//! ```text
//! cargo run --release -p truetail-run --example many_runs -- RUN DIR 10000
//! ```
//!
//! `RUN` is a saved run. Each copy has its `run.json` only, begins an hour after the one before, and has its number as
//! a label.

use std::error::Error;
use std::path::Path;
use std::time::Instant;
use std::{env, fs};

use truetail_run::catalog::{self, IndexUse};
use truetail_run::folder::load_run_file;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [run, parent, count] = arguments.as_slice() else { return Err("write RUN DIR COUNT".into()) };
    let parent = Path::new(parent);
    let mut file = load_run_file(Path::new(run))?;
    for number in 0..count.parse::<u64>()? {
        file.started_at_unix_ns = Some(1_700_000_000_000_000_000 + number * 3_600_000_000_000);
        file.tags.insert("number".to_owned(), number.to_string());
        let folder = parent.join(format!("run-{number:06}"));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("run.json"), file.to_json())?;
    }
    for what in ["without the index", "with it", "with it, again"] {
        let began = Instant::now();
        let catalog = catalog::read(parent, IndexUse::Trusted)?;
        let ms = began.elapsed().as_secs_f64() * 1e3;
        println!("{what}: {} runs in {ms:.0} ms, {} of them from the index", catalog.runs.len(), catalog.from_index);
    }
    Ok(())
}
