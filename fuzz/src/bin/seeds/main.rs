//! Makes the first inputs for one fuzz target: `seeds TARGET FOLDER`, where TARGET is one of ours or a load tool.

#[allow(dead_code, reason = "the tests of the engine use the rest of it")]
#[path = "../../../../crates/engine/tests/hostile/table.rs"]
mod answers;
mod ours;
mod tools;

use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(name), Some(into)) = (args.next(), args.next()) else { return Err("seeds TARGET FOLDER".into()) };
    let seeds = match ours::of(&name)? {
        Some(seeds) => seeds,
        None => tools::of(&name)?,
    };
    fs::create_dir_all(&into)?;
    for (number, seed) in seeds.iter().enumerate() {
        fs::write(Path::new(&into).join(format!("seed-{}", number + 1)), seed)?;
    }
    println!("{name}: {} seeds", seeds.len());
    Ok(())
}
