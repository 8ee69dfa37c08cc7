//! Tests that one request before the load reports a mistake in one line.

use std::time::Duration;

use crate::support::{Act, Puppet, ok, open};
use truetail_engine::{Method, PreflightError, Target, preflight};
use truetail_model::record::Cause;
use truetail_model::time::Nanos;

fn ask(url: &str, timeout_ms: u64) -> Result<u16, PreflightError> {
    let mut target = Target::resolve(Method::Get, url, &[], Vec::new()).unwrap();
    preflight(&mut target, Nanos::from_millis(timeout_ms)).map(|met| met.status.unwrap())
}

#[test]
fn any_answer_will_do() {
    assert_eq!(ask(&Puppet::start(|_| Act::Send(ok())).url(), 5000), Ok(200));
    let slow = Puppet::start(|_| Act::After(Duration::from_millis(100), b"HTTP/1.1 503 No\r\n\r\n".to_vec()));
    // This body has no marked end, so the answer is incomplete when the time is over.
    assert!(matches!(ask(&slow.url(), 400), Err(PreflightError::TimedOut { .. })));
    let closing = Puppet::start(|_| Act::SendAndClose(b"HTTP/1.1 503 No\r\n\r\nx".to_vec()));
    assert_eq!(ask(&closing.url(), 5000), Ok(503));
}

#[test]
fn no_answer_is_told_with_its_cause() {
    let (_held, address) = crate::support::nobody();
    let refused = PreflightError::Connect { endpoint: address.into(), cause: Cause::Refused };
    assert_eq!(ask(&format!("http://{address}/"), 5000), Err(refused.clone()));
    assert_eq!(refused.to_string(), format!("cannot connect to {address}: connection refused"));
    let no_answer = |act: Act| match ask(&Puppet::start(move |_| act.clone()).url(), 5000) {
        Err(PreflightError::NoAnswer { cause, .. }) => cause,
        other => panic!("{other:?}"),
    };
    assert_eq!(no_answer(Act::SendAndClose(Vec::new())), Cause::ClosedBeforeAnswer);
    assert_eq!(no_answer(Act::SendAndReset(Vec::new())), Cause::ResetByPeer);
    assert_eq!(no_answer(Act::Send(b"SSH-2.0-x\r\n".to_vec())), Cause::BadHead);
    for (bytes, line) in [
        ("SSH-2.0-x\r\n", "SSH-2.0-x"),
        ("HTTP/1.1 200 OK\r\nA: b\r\nContent-Length : 2\r\n\r\nok", "Content-Length : 2"),
        ("HTTP/1.1 200 OK\nX-Nul: a\0b\nContent-Length: 2\n\nok", "X-Nul: a\\u{0}b"),
    ] {
        let puppet = Puppet::start(move |_| Act::Send(bytes.as_bytes().to_vec()));
        let mut plan = open(&puppet.url(), 1.0, 1);
        let told = preflight(&mut plan.target, Nanos::from_secs(10)).unwrap_err().to_string();
        assert!(told.ends_with(&format!("head of the answer is not HTTP: {line}")), "{told}");
    }
    let hung = Puppet::start(|_| Act::Hang);
    assert!(matches!(ask(&hung.url(), 200), Err(PreflightError::TimedOut { .. })));
    let dripping = Puppet::start(|_| Act::Drip(vec![b'\r'; 1_000_000], 1));
    assert!(ask(&dripping.url(), 300).is_err(), "bytes that keep coming do not keep it waiting for ever");
}
