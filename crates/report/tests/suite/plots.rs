//! Tests of pictures, to the byte. `UPDATE_GOLDEN=1 cargo test -p truetail-report` rewrites the files; then look at
//! them: `cargo run -p truetail-report --example pictures DIR` draws them as PNG.

use std::path::Path;

use truetail_report::plot::{IntervalSeries, Role, intervals};

use crate::pictures;

fn check(name: &str, drawn: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/plots").join(format!("{name}.svg"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, drawn).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(drawn == golden, "{name} is drawn differently; if that is right: UPDATE_GOLDEN=1, and look at it");
}

#[test]
fn pictures_are_their_golden_files() {
    for (name, picture) in pictures::all() {
        check(name, picture.svg());
    }
}

#[test]
fn a_png_has_two_pixels_a_unit() {
    let png = intervals(&pictures::freeze_p99()).png().unwrap();
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert_eq!((side(16), side(20)), (1920, 1080));
}

/// Figures that cannot be drawn must not stop a report.
#[test]
fn odd_figures_are_drawn_somehow() {
    let mut plot = pictures::freeze_p99();
    plot.ends = Vec::new();
    assert!(intervals(&plot).png().is_ok());
    let values = vec![Some(0.0), None, Some(1e12), Some(f64::NAN), Some(-3.0)];
    plot = pictures::freeze_p99();
    plot.series = vec![IntervalSeries { name: String::new(), role: Role::Open, values, whole_run: Some(0.0) }];
    let picture = intervals(&plot);
    assert!(!picture.svg().contains("NaN") && !picture.svg().contains("inf"), "{}", picture.svg());
    assert!(picture.png().is_ok());
}
