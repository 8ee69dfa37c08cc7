//! Choice of the version of HTTP: agreed on over TLS, known in advance without TLS, and detected after no answer.

use std::sync::Arc;
use std::time::Duration;

use crate::support::http2::{Honest, in_http2};
use crate::support::script::both;
use crate::support::tls::{self, secured, trusting, usual};
use crate::support::{open, run};
use truetail_engine::{Method, Plan, PreflightError, Target, TargetError, TlsFault, TlsOptions, preflight};
use truetail_model::record::Metric;
use truetail_model::time::Nanos;

const NOTHING: Duration = Duration::ZERO;

#[test]
fn over_tls_it_is_agreed_on_or_there_is_no_connection() {
    let trusting = TlsOptions { insecure: true, ..TlsOptions::default() };
    let in_secret = |plan: Plan| secured(in_http2(plan), &trusting);
    let server = Honest::over(Some(usual()), 100, NOTHING, b"ok".to_vec());
    let url = format!("https://{}/", server.address);
    for mut plan in both(open(&url, 200.0, 40)).map(in_secret) {
        assert_eq!(preflight(&mut plan.target, Nanos::from_secs(10)).unwrap().status, Some(200));
        let measured = run(&plan);
        assert_eq!(measured.snapshot.tally.responses, 40);
        assert_eq!(measured.snapshot.metric(Metric::TlsHandshakeTime).count(), 1);
    }
    for protocols in [vec![], vec![b"http/1.1".to_vec()]] {
        let mut config = usual();
        config.alpn_protocols = protocols;
        let config = Arc::new(config);
        let address = tls::listen(move |socket| {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = rustls::StreamOwned::new(connection, socket);
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        });
        let mut plan = in_secret(open(&format!("https://{address}/"), 500.0, 10));
        let asked = preflight(&mut plan.target, Nanos::from_secs(10)).unwrap_err();
        assert!(matches!(asked, PreflightError::Tls { fault: TlsFault::NoHttp2, .. }), "{asked}");
        let measured = run(&plan);
        assert_eq!(measured.snapshot.tally.connect_failed, 10, "{:?}", measured.snapshot.causes);
    }
}

#[test]
fn what_http2_has_no_place_for_is_refused_by_name() {
    let headers = ["TE: gzip".to_owned()];
    let mut target = Target::resolve(Method::Get, "http://127.0.0.1:1/x", &headers, Vec::new()).unwrap();
    let refused = target.use_http2().unwrap_err();
    assert!(matches!(refused, TargetError::NotInHttp2 { .. }));
    let line = refused.to_string();
    assert!(line.contains("'TE: gzip'") && line.contains("GET http://127.0.0.1:1/x"), "{line}");
}

/// In cleartext, and over TLS with a server that agrees on nothing else.
#[test]
fn an_http2_only_server_is_recognised_by_an_http1_client() {
    let mut alone = usual();
    alone.alpn_protocols = vec![b"h2".to_vec()];
    for (scheme, tls) in [("http", None), ("https", Some(alone))] {
        let server = Honest::over(tls, 100, NOTHING, b"ok".to_vec());
        let url = server.url().replace("http", scheme);
        let mut target = Target::resolve(Method::Get, &url, &[], Vec::new()).unwrap();
        target.secure(&trusting()).unwrap();
        let error = preflight(&mut target, Nanos::from_secs(5)).unwrap_err();
        assert!(matches!(error, PreflightError::InHttp2Only { .. }), "{error:?}");
        assert!(error.to_string().ends_with("It speaks HTTP/2"), "{error}");
        target.use_http2().unwrap();
        assert_eq!(preflight(&mut target, Nanos::from_secs(5)).map(|answer| answer.status), Ok(Some(200)));
    }
}
