//! What cannot have been an exchange over the network is left out of every format, and counted by reason.

use crate::try_import;

const XML: &str = r#"<testResults>
<httpSample t="5" ts="1795157951000" s="true" rc="200" rm="OK"/>
<sample t="30" ts="1795157951005" s="true" rc="200" rm="Number of samples in transaction : 2, number of failing samples : 0">
<httpSample t="10" ts="1795157951005" s="true" rc="200" rm="OK"><httpSample t="4" ts="1795157951005" s="true" rc="302" rm=""/></httpSample>
<sample t="20" ts="1795157951015" s="true" rc="200" rm="Number of samples in transaction : 1">
<httpSample t="20" ts="1795157951015" s="true" rc="200" rm="OK"/></sample></sample>
<httpSample t="0" ts="1795157951020" s="true" rc="200" rm="(ex cache)"/>
<httpSample t="7" ts="1795157951030" s="true" rc="200" rm="OK"/>
</testResults>"#;

/// Rows of each format: its name, the text, the durations in milliseconds that remain, and the reasons.
const ROWS: [(&str, &str, &[u64], &str); 11] = [
    (
        "jmeter-csv",
        "timeStamp,elapsed,responseCode,responseMessage\n1795157951005,10,200,OK\n1795157951005,0,200,(ex cache)\n\
         1795157951005,90000000,200,OK\n1795157951005,400,101,Switching Protocols\n1795157951005,10,200,\"Number of samples in transaction : 1\"\n",
        &[10],
        "1 of WebSockets, 1 answered by a cache or a service worker, 1 of transactions, whose requests count themselves, 1 longer than a day",
    ),
    (
        "jmeter-xml",
        XML,
        &[5, 10, 20, 7],
        "1 answered by a cache or a service worker, 2 of transactions, whose requests count themselves",
    ),
    (
        "k6-csv",
        "metric_name,timestamp,metric_value,status\nhttp_req_duration,1795157951,10,200\n\
         group_duration,1795157951,900,\niteration_duration,1795157951,900,\nhttp_req_duration,1795157951,3000,101\n",
        &[10],
        "1 of WebSockets",
    ),
    (
        "k6-json",
        "{\"metric\":\"http_req_duration\",\"type\":\"Point\",\"data\":{\"time\":\"2026-11-20T06:56:03Z\",\"value\":10,\"tags\":{\"status\":\"200\"}}}\n\
         {\"metric\":\"group_duration\",\"type\":\"Point\",\"data\":{\"time\":\"2026-11-20T06:56:03Z\",\"value\":90,\"tags\":{}}}\n\
         {\"metric\":\"http_req_duration\",\"type\":\"Point\",\"data\":{\"time\":\"2026-11-20T06:56:03Z\",\"value\":86400001,\"tags\":{\"status\":\"200\"}}}\n",
        &[10],
        "1 longer than a day",
    ),
    (
        "vegeta-csv",
        "1795157951000000000,200,10000000,0,3,,,,1\n1795157951000000000,101,10000000,0,3,,,,2\n\
         1795157951000000000,200,90000000000000,0,3,,,,3\n",
        &[10],
        "1 of WebSockets, 1 longer than a day",
    ),
    (
        "vegeta-json",
        "{\"timestamp\":\"2026-11-20T06:56:03Z\",\"latency\":10000000,\"code\":200,\"seq\":0}\n\
         {\"timestamp\":\"2026-11-20T06:56:03Z\",\"latency\":10000000,\"code\":101,\"seq\":1}\n",
        &[10],
        "1 of WebSockets",
    ),
    (
        "nginx-log",
        "127.0.0.1 - - [20/Nov/2026:06:56:03 +0000] \"GET / HTTP/1.1\" 200 3 \"-\" \"x\" 0.010\n\
         127.0.0.1 - - [20/Nov/2026:06:56:03 +0000] \"GET /socket HTTP/1.1\" 101 3 \"-\" \"x\" 600.010\n",
        &[10],
        "1 of WebSockets",
    ),
    (
        "access-json",
        "{\"msec\":\"1795157951.010\",\"request_time\":\"0.010\",\"status\":\"200\"}\n\
         {\"msec\":\"1795157951.010\",\"request_time\":\"0.010\",\"status\":\"101\"}\n",
        &[10],
        "1 of WebSockets",
    ),
    ("h2load-log", "1795157951000000\t200\t10000\n1795157951000000\t101\t10000\n", &[10], "1 of WebSockets"),
    (
        "fortio-log",
        "{\"latency\":0.01,\"timestamp\":1795157951000000000,\"thread\":0,\"iter\":0,\"ok\":true,\"details\":\"200\"}\n\
         {\"latency\":0.01,\"timestamp\":18446744073709551000,\"thread\":0,\"iter\":1,\"ok\":true,\"details\":\"200\"}\n",
        &[10],
        "1 that end after the year 2554",
    ),
    (
        "gatling-log",
        "RUN\tsim.A\ta\t1795157763037\t \t3.9.5\nREQUEST\t\tr\t1795157763047\t1795157763057\tOK\t \n\
         REQUEST\t\tr\t1795157763047\t1795257763057\tOK\t \n",
        &[10],
        "1 longer than a day",
    ),
];

#[test]
fn what_was_no_exchange_is_left_out_of_every_format_and_counted() {
    for (format, text, millis, reasons) in ROWS {
        let (run, requests) = try_import(format, text.as_bytes()).unwrap_or_else(|error| panic!("{format}: {error}"));
        let durations: Vec<_> = requests.iter().map(|request| request.duration.0 / 1_000_000).collect();
        assert_eq!(durations, millis, "{format}: {:?}", run.damage);
        let note = format!("what was no exchange over the network is left out: {reasons}");
        assert!(run.notes.contains(&note), "{format}: {:?}", run.notes);
        assert_eq!(run.damage.rows_left_out, 0, "{format}");
        assert_eq!(run.claims.measured, Some(millis.len() as u64), "{format}");
    }
}
