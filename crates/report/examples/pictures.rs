//! Draws every picture of the tests as SVG and PNG: `cargo run -p truetail-report --example pictures DIR`.

#[path = "../tests/suite/pictures.rs"]
mod pictures;

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    for (name, picture) in pictures::all() {
        std::fs::write(folder.join(format!("{name}.svg")), picture.svg())?;
        std::fs::write(folder.join(format!("{name}.png")), picture.png()?)?;
        println!("{}", folder.join(name).display());
    }
    Ok(())
}
