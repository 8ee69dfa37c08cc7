//! Measures how fast files are read on one core: `cargo run --release -p truetail-import --example read_speed [MB]`.
//!
//! It makes a file of each format in memory (256 MB by default) and reads it five times. It prints the fastest and the
//! slowest pass in MB (10⁶ bytes) per second of processor time, which other programs disturb less than wall time.

use std::env;
use std::io::Write;

use rustix::time::{ClockId, clock_gettime};
use truetail_import::{ImportOptions, by_name, read};

const ROUNDS: usize = 5;
const START_MS: u64 = 1_795_157_951_005;

fn main() {
    let megabytes: usize = env::args().nth(1).map_or(256, |text| text.parse().expect("a number of MB"));
    println!("{:<12} {:>9} {:>10} {:>9} {:>9}", "format", "MB", "requests", "slowest", "fastest");
    for (format, make) in FILES {
        let file = make(megabytes * 1_000_000);
        report(format, &file);
    }
}

/// Makes a file of about this many bytes.
type Make = fn(usize) -> Vec<u8>;

const FILES: [(&str, Make); 5] = [
    ("jmeter-csv", jmeter),
    ("k6-csv", |size| k6(size, true)),
    ("k6-json", |size| k6(size, false)),
    ("vegeta-csv", vegeta),
    ("nginx-log", nginx),
];

fn report(format: &str, file: &[u8]) {
    let format = by_name(format).expect("a format");
    let mut requests = 0;
    let speeds = (0..ROUNDS).map(|_| {
        let begin = cpu_seconds();
        let mut checksum = 0u64;
        let run = read(&mut &file[..], Some(format), &ImportOptions::default(), &mut |request| {
            checksum = checksum.wrapping_add(request.duration.0);
        });
        let run = run.expect("a whole file");
        assert!(run.damage.rows_left_out == 0 && checksum > 0, "{:?}", run.damage);
        requests = run.requests;
        file.len() as f64 / 1e6 / (cpu_seconds() - begin)
    });
    let mut speeds: Vec<f64> = speeds.collect();
    speeds.sort_by(f64::total_cmp);
    let slowest = speeds[0];
    let fastest = speeds[ROUNDS - 1];
    let name = format.info().name;
    let size = file.len() as f64 / 1e6;
    println!("{name:<12} {size:>9.1} {requests:>10} {slowest:>9.0} {fastest:>9.0}");
}

/// Returns the processor time of this thread in seconds.
fn cpu_seconds() -> f64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 / 1e9
}

fn jmeter(size: usize) -> Vec<u8> {
    let mut file =
        b"timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,\
                     sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n"
            .to_vec();
    for index in 0u64.. {
        if file.len() >= size {
            break;
        }
        let start = START_MS + index / 2;
        let elapsed = 40 + index * 7 % 23;
        let thread = index % 50;
        writeln!(
            file,
            "{start},{elapsed},GET /api/items,200,OK,users 1-{thread},text,true,,1190,121,50,50,http://127.0.0.1:8080/api/items,\
             {elapsed},0,0"
        )
        .expect("memory");
    }
    file
}

/// The metrics of a request, in k6's order.
const METRICS: [&str; 9] = [
    "http_reqs",
    "http_req_duration",
    "http_req_blocked",
    "http_req_connecting",
    "http_req_tls_handshaking",
    "http_req_sending",
    "http_req_waiting",
    "http_req_receiving",
    "http_req_failed",
];

fn k6(size: usize, csv: bool) -> Vec<u8> {
    let mut file = Vec::new();
    if csv {
        file.extend_from_slice(
            b"metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,scenario,\
              service,status,subproto,tls_version,url,extra_tags,metadata\n",
        );
    }
    for index in 0u64.. {
        if file.len() >= size {
            break;
        }
        let value = 10.0 + (index % 977) as f64 / 1_000.0;
        let end = START_MS / 1_000 + index / 500;
        let url = "http://127.0.0.1:8080/api";
        for metric in METRICS {
            if csv {
                writeln!(file, "{metric},{end},{value:.6},,,,true,,GET,{url},HTTP/1.1,main,,200,,,{url},,")
            } else {
                let fraction = index % 500 * 2_000_000 + 37_549;
                let minute = index / 30_000 % 60;
                let second = index / 500 % 60;
                writeln!(
                    file,
                    "{{\"metric\":\"{metric}\",\"type\":\"Point\",\"data\":{{\"time\":\"2026-11-20T06:{minute:02}:{second:02}.\
                     {fraction:09}Z\",\"value\":{value},\"tags\":{{\"expected_response\":\"true\",\"group\":\"\",\"method\":\
                     \"GET\",\"name\":\"{url}\",\"proto\":\"HTTP/1.1\",\"scenario\":\"main\",\"status\":\"200\",\"url\":\
                     \"{url}\"}}}}}}"
                )
            }
            .expect("memory");
        }
    }
    file
}

fn vegeta(size: usize) -> Vec<u8> {
    let mut file = Vec::new();
    for index in 0u64.. {
        if file.len() >= size {
            break;
        }
        let start = START_MS * 1_000_000 + index * 1_000_003;
        let latency = 10_000_000 + index * 7_919 % 999_983;
        writeln!(
            file,
            "{start},200,{latency},0,3,,b2sK,,{index},GET,http://127.0.0.1:8080/api,Q29udGVudC1MZW5ndGg6IDMNCg0K"
        )
        .expect("memory");
    }
    file
}

fn nginx(size: usize) -> Vec<u8> {
    let mut file = Vec::new();
    for index in 0u64.. {
        if file.len() >= size {
            break;
        }
        let minute = index / 60_000 % 60;
        let second = index / 1_000 % 60;
        let millis = 10 + index * 7 % 83;
        writeln!(
            file,
            "10.0.0.7 - - [20/Nov/2026:06:{minute:02}:{second:02} +0000] \"GET /api/items?id={index} HTTP/1.1\" 200 1190 \"-\" \
             \"Mozilla/5.0 (X11; Linux x86_64)\" 0.{millis:03} 0.{millis:03}"
        )
        .expect("memory");
    }
    file
}
