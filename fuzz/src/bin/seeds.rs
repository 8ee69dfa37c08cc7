//! Makes the first inputs for one tool from its real outputs: `seeds TOOL FOLDER` reads `testdata/tools/TOOL` (for a tool
//! in two ways of use, its name up to the first `-`) and writes into FOLDER.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use truetail_fuzz::{input, keys};
use truetail_tools::{by_name, names};

/// More of a file would slow the fuzzer down more than it teaches it.
const LARGEST: usize = 24 << 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(name), Some(into)) = (args.next(), args.next()) else { return Err("seeds TOOL FOLDER".into()) };
    let tool = by_name(&name).ok_or_else(|| format!("no tool {name}; there are {:?}", names()))?;
    let keys = keys(tool);
    fs::create_dir_all(&into)?;
    let mut made = 0;
    for folder in situations(&name)? {
        for seed in seeds(&folder, &keys)? {
            made += 1;
            fs::write(Path::new(&into).join(format!("seed-{made}")), seed)?;
        }
    }
    println!("{name}: {made} seeds");
    Ok(())
}

/// `testdata/tools/TOOL/VERSION/SITUATION`.
fn situations(name: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/tools");
    let family = name.split('-').next().unwrap_or(name);
    let tool = [name, family].iter().map(|name| tools.join(name)).find(|folder| folder.is_dir());
    let tool = tool.ok_or_else(|| format!("no outputs of {name} in {}", tools.display()))?;
    let mut found = Vec::new();
    for version in inside(&tool)? {
        found.extend(inside(&version)?);
    }
    Ok(found)
}

fn inside(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, std::io::Error>>()?;
    found.sort();
    Ok(found)
}

/// Each file of a situation as what was printed; and where the tool leaves files, each with those that go by a key's name
/// beside it.
fn seeds(folder: &Path, keys: &[&str]) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let files: Vec<PathBuf> = inside(folder)?.into_iter().filter(|file| file.is_file()).collect();
    let mut seeds = Vec::new();
    for printed in &files {
        let printed = beginning(printed)?;
        seeds.push(input(0, &[printed.clone()]));
        for variant in ["", "-"] {
            let mut parts = vec![printed.clone()];
            for key in keys {
                let file = files.iter().find(|file| is_named(file, key, variant));
                parts.push(file.map(|file| beginning(file)).transpose()?.unwrap_or_default());
            }
            seeds.push(input(u8::from(variant.is_empty()), &parts));
        }
    }
    seeds.sort();
    seeds.dedup();
    Ok(seeds)
}

/// A file, or as many whole lines of it as will do.
fn beginning(file: &Path) -> Result<Vec<u8>, std::io::Error> {
    let mut bytes = fs::read(file)?;
    if bytes.len() > LARGEST {
        bytes.truncate(bytes[..LARGEST].iter().rposition(|byte| *byte == b'\n').map_or(LARGEST, |end| end + 1));
    }
    Ok(bytes)
}

/// `samples.tsv` for the key `samples` or `samples.tsv`, or with the variant `-` any `samples-r.tsv` or `rps-samples.tsv`.
fn is_named(file: &Path, key: &str, variant: &str) -> bool {
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let is_key = stem == key || file.file_name().is_some_and(|name| name == key);
    let key = key.split('.').next().unwrap_or(key);
    if variant.is_empty() { is_key } else { !is_key && stem.contains(key) }
}
