//! Files with a table in a container.

use std::path::{Path, PathBuf};

use truetail_import::{ImportError, ImportOptions, container, read};
use truetail_run::{ForeignRequest, ForeignRun};

fn import(path: &Path, options: &ImportOptions) -> Result<(ForeignRun, Vec<ForeignRequest>), ImportError> {
    let mut requests = Vec::new();
    let mut input = container::open(path, options)?.input;
    let run = read(&mut input, None, options, &mut |request| requests.push(*request))?;
    Ok((run, requests))
}

fn database(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/import/oha/1.16.0/database").join(name)
}

#[test]
fn what_comes_through_a_pipe_is_refused() {
    for (head, says) in [(&b"PAR1...."[..], "Parquet"), (b"SQLite format 3\0....", "database")] {
        let refused = read(&mut &*head, None, &ImportOptions::default(), &mut |_| {});
        assert!(refused.is_err_and(|error| error.to_string().contains(says)));
    }
}

#[cfg(not(feature = "sqlite"))]
#[test]
fn without_the_feature_a_database_says_what_helps() {
    let error = import(&database("two-runs.db"), &ImportOptions::default()).expect_err("a database");
    assert!(error.to_string().contains("--features sqlite") && error.to_string().contains("-csv"), "{error}");
}

/// `sqlite3 -header -csv` writes it like this.
#[test]
fn the_table_of_oha_as_csv() {
    let text = "url,start,start_latency_correction,end,duration,status,len_bytes,run\n\
                /,0.5,0.25,0.75,0.5,200,2,7\n/,0.5,,0.75,0.25,503,2,7\n/,0.5,,0.75,0.25,200,2,8\n";
    let mut requests = Vec::new();
    let run = read(&mut text.as_bytes(), None, &ImportOptions::default(), &mut |request| requests.push(*request));
    let run = run.expect("a table");
    let times: Vec<_> = requests.iter().map(|one| (one.start_ns, one.duration.0)).collect();
    assert_eq!(times, [(Some(250_000_000), 500_000_000), (Some(500_000_000), 250_000_000)]);
    assert_eq!((run.format, run.requests), ("oha-sqlite", 2));
    assert!(run.notes.iter().any(|note| note.contains("are not: 1")), "{:?}", run.notes);
}

#[cfg(feature = "sqlite")]
mod of_oha {
    use truetail_run::{ForeignStarts, LatencyFrom};

    use super::*;

    #[test]
    fn the_first_run_is_read() {
        let (run, requests) = import(&database("two-runs.db"), &ImportOptions::default()).expect("a database");
        assert_eq!((run.format, requests.len(), run.clock.starts), ("oha-sqlite", 100, ForeignStarts::Run));
        assert_eq!(run.claims.latency_from, LatencyFrom::Send);
        assert!(run.notes.iter().any(|note| note.contains("are not: 20")), "{:?}", run.notes);
    }

    #[test]
    fn corrected_latencies_count_from_intended_starts() {
        let (run, requests) = import(&database("corrected.db"), &ImportOptions::default()).expect("a database");
        assert_eq!((requests.len(), run.claims.latency_from), (50, LatencyFrom::Intended));
        // The first row: from 0.016582632 to 0.018261127 s.
        assert_eq!((requests[0].start_ns, requests[0].duration.0), (Some(16_582_632), 1_678_495));
    }
}

#[cfg(feature = "parquet")]
mod of_parquet {
    use std::fs::File;
    use std::sync::Arc;

    use parquet::data_type::{DoubleType, Int32Type, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use truetail_model::record::Outcome;

    use super::*;

    /// Writes two groups of rows. Every tenth row has no status.
    fn write(path: &Path, rows: i64) {
        let schema = "message load { required int64 at (TIMESTAMP_MICROS); required double took_ms; optional int32 code; \
                      required binary who (UTF8); }";
        let schema = Arc::new(parse_message_type(schema).expect("a schema"));
        let properties = Arc::new(WriterProperties::builder().build());
        let mut writer =
            SerializedFileWriter::new(File::create(path).expect("a file"), schema, properties).expect("a writer");
        for group in [0..rows / 2, rows / 2..rows] {
            let mut columns = writer.next_row_group().expect("a group");
            let at: Vec<i64> = group.clone().map(|row| 1_795_157_763_037_000 + row * 1_000).collect();
            let took: Vec<f64> = group.clone().map(|row| 1.5 + row as f64).collect();
            let levels: Vec<i16> = group.clone().map(|row| i16::from(row % 10 != 0)).collect();
            let codes = vec![200; levels.iter().filter(|level| **level == 1).count()];
            let who: Vec<_> = group.map(|row| format!("user, {}", row % 3).into_bytes().into()).collect();
            let mut column = columns.next_column().expect("a column").expect("at");
            column.typed::<Int64Type>().write_batch(&at, None, None).expect("at");
            column.close().expect("at");
            let mut column = columns.next_column().expect("a column").expect("took_ms");
            column.typed::<DoubleType>().write_batch(&took, None, None).expect("took_ms");
            column.close().expect("took_ms");
            let mut column = columns.next_column().expect("a column").expect("code");
            column.typed::<Int32Type>().write_batch(&codes, Some(&levels), None).expect("code");
            column.close().expect("code");
            let mut column = columns.next_column().expect("a column").expect("who");
            column.typed::<parquet::data_type::ByteArrayType>().write_batch(&who, None, None).expect("who");
            column.close().expect("who");
            columns.close().expect("a group");
        }
        writer.close().expect("a file");
    }

    fn named(columns: &[(&str, &str)]) -> ImportOptions {
        let columns = columns.iter().map(|(role, column)| ((*role).to_owned(), (*column).to_owned())).collect();
        ImportOptions { columns, ..ImportOptions::default() }
    }

    #[test]
    fn each_row_is_a_request() {
        let path = std::env::temp_dir().join(format!("truetail-{}.parquet", std::process::id()));
        write(&path, 10_000);
        let all = [("start", "at"), ("duration", "took_ms"), ("status", "code"), ("worker", "who")];
        let read = import(&path, &named(&all));
        let wrong = import(&path, &named(&[("duration", "latency_ms")]));
        let cut = std::fs::read(&path).map(|bytes| std::fs::write(&path, &bytes[..bytes.len() / 2]));
        let damaged = import(&path, &named(&all));
        std::fs::remove_file(&path).expect("it was there");
        let (run, requests) = read.expect("a table");
        assert_eq!((run.requests, run.damage.rows_left_out, requests.len()), (10_000, 0, 10_000));
        for (row, request) in requests.iter().enumerate() {
            assert_eq!(request.start_ns, Some((1_795_157_763_037_000 + row as u64 * 1_000) * 1_000));
            assert_eq!(
                (request.duration.0, request.worker),
                (1_500_000 + row as u64 * 1_000_000, Some(row as u32 % 3))
            );
            let status = if row % 10 == 0 { 0 } else { 200 };
            assert_eq!(request.outcome, Outcome::response(status));
        }
        let error = wrong.expect_err("no such column").to_string();
        assert!(error.contains("no column 'latency_ms'; it has at, took_ms, code, who"), "{error}");
        assert!(cut.is_ok_and(|cut| cut.is_ok()));
        let error = damaged.expect_err("half a file").to_string();
        assert!(error.contains("the Parquet file is damaged"), "{error}");
    }
}
