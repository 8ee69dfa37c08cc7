//! Writes the seed inputs of one fuzz target: `seeds TARGET FOLDER`, where TARGET is one of ours, a load tool, or
//! `import-` and a format. `seeds --tools` lists the load tools to fuzz: one for each parser with stored outputs.
//! `seeds --formats` lists the targets of formats.

#[allow(dead_code, reason = "the tests of the engine use the rest of it")]
#[path = "../../../../crates/engine/tests/hostile/table.rs"]
mod answers;
mod formats;
mod ours;
mod tools;

use std::error::Error;
use std::fs;
use std::path::Path;

const USAGE: &str = "seeds TARGET FOLDER | seeds --tools | seeds --formats";

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(name), into) = (args.next(), args.next()) else { return Err(USAGE.into()) };
    if name == "--tools" {
        println!("{}", tools::with_parsers().join("\n"));
        return Ok(());
    }
    if name == "--formats" {
        println!("{}", formats::targets().join("\n"));
        return Ok(());
    }
    let into = into.ok_or(USAGE)?;
    let seeds = match (formats::of(&name)?, ours::of(&name)?) {
        (Some(seeds), _) | (None, Some(seeds)) => seeds,
        (None, None) => tools::of(&name)?,
    };
    fs::create_dir_all(&into)?;
    for (number, seed) in seeds.iter().enumerate() {
        fs::write(Path::new(&into).join(format!("seed-{}", number + 1)), seed)?;
    }
    println!("{name}: {} seeds", seeds.len());
    Ok(())
}
