//! `--otlp`: metrics reach a receiver.

#[cfg(not(feature = "otlp"))]
#[test]
fn without_the_feature_the_flag_says_how_to_build_it() {
    let dir = crate::support::TestDir::new();
    let output =
        dir.truetail(&["run", "http://127.0.0.1:1/", "-r", "1", "-d", "1s", "--otlp", "http://127.0.0.1:4318"]);
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(output.stderr.lines().count() == 1 && output.stderr.contains("--features otlp"), "{output:?}");
}

#[cfg(feature = "otlp")]
mod with_the_feature {
    use std::collections::BTreeMap;
    use std::net::TcpListener;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
    use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
    use opentelemetry_proto::tonic::metrics::v1::{metric::Data, number_data_point};
    use prost::Message;
    use truetail_page::web::{Request, Response, Server};

    use crate::SMOOTH;
    use crate::support::{ServeProcess, TestDir, assert_complete};

    /// Requests that a receiver got.
    #[derive(Default)]
    struct Received {
        requests: Vec<Request>,
    }

    /// Runs against a receiver that answers with `status`. Returns run.json, the requests, and standard error.
    fn run(status: u16, path: &str) -> (serde_json::Value, Vec<Request>, String) {
        let received = Arc::new(Mutex::new(Received::default()));
        let receive = Arc::clone(&received);
        let handler = move |request: &Request| {
            receive.lock().unwrap().requests.push(request.clone());
            Response::bytes("application/x-protobuf", Vec::new()).with_status(status)
        };
        let server = Server::start(TcpListener::bind("127.0.0.1:0").unwrap(), Arc::new(handler)).unwrap();
        let url = format!("http://{}{path}", server.address());
        let dir = TestDir::new();
        let served = ServeProcess::start(&dir, dir.file("smooth.toml", SMOOTH));
        let api = format!("{}?token=secret", served.api());
        let mut command = dir
            .command(&["run", &api, "-r", "100", "-d", "3s", "--seed", "7", "--out", "run", "--otlp", &url, "--quiet"]);
        command.env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20abc");
        let output = crate::support::TestProcess::start(command).end();
        server.end(Duration::from_secs(1));
        let requests = std::mem::take(&mut received.lock().unwrap().requests);
        let run = assert_complete(&dir.path().join("run"));
        output.assert_code(&run, 0);
        (run, requests, output.stderr)
    }

    fn attributes(found: &[KeyValue]) -> BTreeMap<String, Value> {
        found
            .iter()
            .map(|one| (one.key.clone(), one.value.clone().and_then(|any| any.value).expect("a value")))
            .collect()
    }

    #[test]
    fn a_receiver_gets_what_the_report_says() {
        let (run, requests, stderr) = run(200, "");
        assert!(!stderr.contains("otlp"), "{stderr}");
        for request in &requests {
            assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/metrics"));
            assert_eq!(request.header("content-type"), Some("application/x-protobuf"));
            assert_eq!(request.header("authorization"), Some("Bearer abc"));
        }
        assert!(requests.len() >= 2, "while the run goes on, and at its end");
        let last = ExportMetricsServiceRequest::decode(&*requests.last().unwrap().body).unwrap();
        let resource = &last.resource_metrics[0];
        let about = attributes(&resource.resource.as_ref().unwrap().attributes);
        assert_eq!(about["service.name"], Value::StringValue("truetail".into()));
        assert_eq!(about["truetail.run.model"], Value::StringValue("open".into()));
        assert_eq!(about["truetail.run.ended"], Value::BoolValue(true));
        let Value::StringValue(url) = &about["truetail.run.url"] else { panic!("{about:?}") };
        assert!(url.ends_with("/api"), "{url}");
        let metrics: BTreeMap<&str, _> =
            resource.scope_metrics[0].metrics.iter().map(|metric| (metric.name.as_str(), metric)).collect();
        let Some(Data::Sum(planned)) = &metrics["truetail.arrivals_planned"].data else { panic!("a sum") };
        let point = &planned.data_points[0];
        assert!(planned.is_monotonic && point.time_unix_nano > point.start_time_unix_nano);
        assert_eq!(point.value, Some(number_data_point::Value::AsDouble(300.0)));
        let times = metrics["truetail.response_time"];
        assert_eq!(times.unit, "s");
        let Some(Data::Histogram(times)) = &times.data else { panic!("a histogram") };
        let times = &times.data_points[0];
        assert_eq!(times.count, run["tally"]["planned"].as_u64().unwrap());
        assert_eq!(times.bucket_counts.iter().sum::<u64>(), times.count);
        assert_eq!(times.bucket_counts.len(), times.explicit_bounds.len() + 1);
        let mean = run["response_time"]["mean_ns"].as_f64().unwrap() / 1e9;
        assert!((times.sum.unwrap() / times.count as f64 - mean).abs() < 1e-9);
    }

    #[test]
    fn a_receiver_that_refuses_is_told_and_disturbs_nothing() {
        let (run, requests, stderr) = run(503, "/v1/metrics");
        assert!(stderr.contains("did not take the metrics") && stderr.contains("503"), "{stderr}");
        assert!(!requests.is_empty());
        assert_eq!(run["tally"]["planned"], 300);
    }
}
