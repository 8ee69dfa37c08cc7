//! Draws all pictures of every scenario, as PNG to look at: `cargo run -p truetail-report --example pictures -- FOLDER`.

use std::path::Path;
use std::{env, fs};

use truetail_analysis::{findings, series::series};
use truetail_model::scenario::builtin;
use truetail_report::plot::pictures_of_run;
use truetail_sim::{SimOptions, simulate};

fn main() {
    let folder = env::args().nth(1).expect("usage: pictures FOLDER");
    for scenario in builtin::all() {
        let run = simulate(&scenario, SimOptions::default()).expect("the simulator takes every scenario");
        let found = findings(&run);
        let folder = Path::new(&folder).join(&scenario.name);
        fs::create_dir_all(&folder).expect("a folder that can be written");
        for (name, picture) in pictures_of_run(&run, &found, &series(&run, &found)) {
            println!("{} {name}: {} bytes", scenario.name, picture.svg().len());
            fs::write(folder.join(format!("{name}.png")), picture.png().expect("memory for its pixels"))
                .expect("written");
        }
    }
}
