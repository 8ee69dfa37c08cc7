//! Checks that the number of allocations does not grow with the number of rows.

use std::fmt::Write;

use truetail_import::{ImportOptions, by_name, read};

fn allocations(format: &str, file: &str) -> u64 {
    let format = by_name(format).expect("a format");
    let info = allocation_counter::measure(|| {
        let run = read(&mut file.as_bytes(), Some(format), &ImportOptions::default(), &mut |_| ());
        assert_eq!(run.expect("a whole file").damage.rows_left_out, 0);
    });
    info.count_total
}

/// Reads a header and many or few rows.
fn check(format: &str, header: &str, row: fn(&mut String, u64)) {
    let counts = [1_000, 20_000].map(|rows| {
        let mut file = header.to_owned();
        (0..rows).for_each(|index| row(&mut file, index));
        allocations(format, &file)
    });
    assert!(counts[1] <= counts[0] + 8, "{format}: {counts:?}");
}

const START: u64 = 1_795_157_951_005;

#[test]
fn jmeter() {
    let header = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes\n";
    check("jmeter-csv", header, |file, index| {
        let start = START + index;
        let user = index % 7;
        let _ = writeln!(file, "{start},50,\"a,b\",200,OK,users 1-{user},true,119");
    });
    check("jmeter-csv", header, |file, index| {
        let start = START + index;
        let user = index % 7;
        let _ = writeln!(file, "{start},50,a,Exception,Connection refused to port {index},users 1-{user},false,119");
    });
}

#[test]
fn k6() {
    check("k6-csv", "metric_name,timestamp,metric_value,status,error_code,error,vu\n", |file, index| {
        let end = START + index;
        let user = index % 7;
        let _ = writeln!(file, "http_reqs,{end},1,200,,,{user}\nhttp_req_duration,{end},11.443003,200,,,{user}");
    });
    check("k6-json", "", |file, index| {
        let millis = index % 1_000;
        let user = index % 7;
        let _ = writeln!(
            file,
            "{{\"metric\":\"http_req_duration\",\"type\":\"Point\",\"data\":{{\"time\":\"2026-11-20T06:56:03.{millis:03}Z\",\
             \"value\":11.5,\"tags\":{{\"status\":\"200\",\"vu\":\"{user}\"}}}}}}"
        );
    });
}

#[test]
fn vegeta_and_logs() {
    check("vegeta-csv", "", |file, index| {
        let start = START * 1_000_000 + index;
        let _ = writeln!(file, "{start},0,10000000,0,3,connection refused,b2sK,,{index},GET,http://127.0.0.1/,Q");
    });
    check("nginx-log", "", |file, index| {
        let second = index % 60;
        let _ =
            writeln!(file, "::1 - - [20/Nov/2026:06:55:{second:02} +0000] \"GET / HTTP/1.1\" 200 3 \"-\" \"-\" 0.055");
    });
}
