//! The seed inputs for the parser of a tool, from its stored outputs in `testdata/tools/TOOL`; or, where that does not
//! exist, in the folder of its family: its name up to the first `-`.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use truetail_fuzz::{input, keys, load, output};
use truetail_tools::{by_name, names};

/// Larger files slow the fuzzer down more than they help it.
const LARGEST: usize = 48 << 10;

/// One tool for each parser: the modes of a tool share a parser, so the last of each family stands for it.
pub fn with_parsers() -> Vec<&'static str> {
    let mut tools: Vec<&'static str> = Vec::new();
    for name in names().into_iter().filter(|name| situations(name).is_ok()) {
        tools.retain(|other| family(other) != family(name));
        tools.push(name);
    }
    tools
}

fn family(name: &str) -> &str {
    name.split('-').next().unwrap_or(name)
}

/// The inputs for this tool.
///
/// # Errors
/// Where there is no such tool, or no output of it that its parser reads.
pub fn of(name: &str) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let tool = by_name(name).ok_or_else(|| format!("no target or tool {name}; the tools are {:?}", names()))?;
    let keys = keys(tool);
    let mut all = Vec::new();
    for folder in situations(name)? {
        all.extend(seeds(&folder, &keys)?);
    }
    let is_read = |seed: &Vec<u8>| tool.parse(&output(seed, &keys), &load()).is_ok();
    all.sort_by_key(Vec::len);
    let (mut seeds, larger): (Vec<_>, Vec<_>) = all.into_iter().partition(|seed| seed.len() <= LARGEST);
    if !seeds.iter().any(is_read) {
        // Slow is better than blind.
        let smallest = larger.into_iter().find(is_read);
        seeds.push(smallest.ok_or("not one that it reads: look at how they are made")?);
    }
    Ok(seeds)
}

/// `testdata/tools/TOOL/VERSION/SITUATION`.
fn situations(name: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/tools");
    let tool = [name, family(name)].iter().map(|name| tools.join(name)).find(|folder| folder.is_dir());
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

/// Each file of a situation as standard output. Where the tool writes files: also with all of them, with each alone,
/// and they without any standard output; whole and shortened.
fn seeds(folder: &Path, keys: &[&str]) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let is_output = |file: &PathBuf| file.is_file() && !file.ends_with("expected.json");
    let files: Vec<PathBuf> = inside(folder)?.into_iter().filter(is_output).collect();
    let mut outputs = Vec::new();
    for printed in &files {
        let printed = fs::read(printed)?;
        outputs.push(vec![printed.clone()]);
        for is_variant in [false, true] {
            let left = keys.iter().map(|key| left(&files, key, is_variant)).collect::<Result<Vec<_>, _>>()?;
            outputs.push([vec![printed.clone()], left.clone()].concat());
            outputs.push([vec![Vec::new()], left.clone()].concat());
            outputs.extend((0..left.len()).map(|alone| {
                let only = |(at, part): (usize, &Vec<u8>)| if at == alone { part.clone() } else { Vec::new() };
                [vec![printed.clone()], left.iter().enumerate().map(only).collect()].concat()
            }));
        }
    }
    let short = |parts: &Vec<Vec<u8>>| parts.iter().map(|part| shortened(part)).collect();
    let mut seeds: Vec<_> = outputs.iter().map(short).chain(outputs.clone()).map(|parts| input(0, &parts)).collect();
    seeds.sort();
    seeds.dedup();
    Ok(seeds)
}

/// The file for a key, such as `samples.tsv` for `samples` or `samples.csv`. For a variant, or where there is no such
/// file, one whose name contains it, such as `samples-r.tsv`; else nothing.
fn left(files: &[PathBuf], key: &str, is_variant: bool) -> Result<Vec<u8>, std::io::Error> {
    let key = key.split('.').next().unwrap_or(key);
    let stem = |file: &PathBuf| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let plain = files.iter().find(|file| stem(file) == key);
    let variant = files.iter().find(|file| stem(file) != key && stem(file).contains(key));
    let file = if is_variant { variant.or(plain) } else { plain.or(variant) };
    file.map_or(Ok(Vec::new()), fs::read)
}

/// The first lines of a long file.
fn shortened(bytes: &[u8]) -> Vec<u8> {
    bytes.split_inclusive(|byte| *byte == b'\n').take(60).flatten().copied().collect()
}
