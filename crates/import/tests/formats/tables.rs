//! Tables of hey and Vegeta.

use crate::{file, import};

#[test]
fn hey_keeps_a_million() {
    let mut file =
        b"response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n".to_vec();
    for _ in 0..1_000_000 {
        file.extend_from_slice(b"0.0107,0,0,0,0,0,200,0.0529\n");
    }
    let (run, _) = import("hey-csv", &file);
    assert_eq!(run.notes.last().map(String::as_str), Some("hey keeps only its first 1000000 results"));
}

#[test]
fn vegeta_says_the_same_as_csv_and_as_json() {
    let (_, rows) = import("vegeta-csv", &file("tools/vegeta/12.13.0/errors/results.csv"));
    let (_, lines) = import("vegeta-json", &file("import/vegeta/12.13.0/errors/results-first-60-lines.json"));
    assert_eq!(lines, rows[..60]);
}

#[test]
fn vegeta_without_vegeta() {
    for case in ["errors", "refused"] {
        let (run, requests) =
            import("vegeta-gob", &file(&format!("import/vegeta/12.13.0/{case}/results-first-12000-bytes.bin")));
        let (_, rows) = import("vegeta-csv", &file(&format!("tools/vegeta/12.13.0/{case}/results.csv")));
        assert!(requests.len() > 60, "{case}: {}", requests.len());
        assert_eq!(requests, rows[..requests.len()], "{case}");
        let place = run.damage.truncated_at.expect("the file was cut off");
        assert!((11_500..12_000).contains(&place.byte), "{place:?}");
        assert_eq!((run.damage.rows_left_out, run.claims.requests), (1, None), "{case}");
    }
}
