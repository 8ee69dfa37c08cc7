//! An origin with several addresses: each request reaches the one that answers, whether the others refuse or hang. Only
//! on Linux, because all of 127.0.0.0/8 is this machine there.
#![cfg(target_os = "linux")]

use std::io::BufReader;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use truetail_engine::{AddressOverrides, Method, Plan, Request, RequestSet, Target, preflight};
use truetail_model::record::Metric;
use truetail_model::time::Nanos;

use crate::support::{Act, Puppet, nobody, ok, open, read_request, run};

/// Returns a plan for a host with these addresses, in this order, all with the port of `puppet`.
fn plan_for(puppet: &Puppet, hosts: &[&str], rate: f64, requests: u64) -> Plan {
    let port = puppet.address.port();
    let url = format!("http://several.test:{port}/");
    let resolve = vec![format!("several.test:{port}:{}", hosts.join(",")).parse().unwrap()];
    let request = Request::new(Method::Get, &url, &[], Vec::new()).unwrap();
    let mut plan = open(&puppet.url(), rate, requests);
    let ways = AddressOverrides { resolve, unix_socket: None };
    plan.target = Target::for_origin(RequestSet::single(&request), request.origin(), &ways).unwrap();
    plan
}

/// Fills the listener's queue with connections, so that further ones get no answer.
fn black_hole(host: &str, port: u16) -> (TcpListener, Vec<TcpStream>) {
    let address: SocketAddr = format!("{host}:{port}").parse().unwrap();
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&address.into()).unwrap();
    socket.listen(0).unwrap();
    let mut held = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(500)) {
        held.push(stream);
        assert!(held.len() < 64, "the queue does not fill");
    }
    (socket.into(), held)
}

#[test]
fn addresses_that_refuse_are_passed_over() {
    let puppet = Puppet::start(|_| {
        Act::SendAndClose(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec())
    });
    for hosts in [vec!["127.0.0.2", "127.0.0.1"], vec!["127.0.0.2", "127.0.0.3", "127.0.0.1", "127.0.0.4"]] {
        let before = puppet.connections.load(std::sync::atomic::Ordering::SeqCst);
        let measured = run(&plan_for(&puppet, &hosts, 500.0, 50));
        assert_eq!((measured.snapshot.tally.responses, measured.snapshot.tally.planned), (50, 50), "{hosts:?}");
        let opened = puppet.connections.load(std::sync::atomic::Ordering::SeqCst) - before;
        assert_eq!(opened, 50, "one connection for each request, and none that lost a race");
    }
}

#[test]
fn a_silent_address_costs_a_quarter_of_a_second_once() {
    let puppet = Puppet::start(|_| Act::Send(ok()));
    let _hole = black_hole("127.0.0.2", puppet.address.port());
    let mut plan = plan_for(&puppet, &["127.0.0.2", "127.0.0.1"], 50.0, 100);
    let measured = run(&plan);
    assert_eq!(measured.snapshot.tally.responses, 100);
    let connecting = measured.snapshot.metric(Metric::ConnectTime);
    // Requests that began before the first connection wait as long; later ones try the address that was reached first.
    // Pauses of this machine are not part of the time.
    assert!(connecting.count() < 100, "connections that were opened are used again");
    let longest = connecting.max().unwrap();
    assert!(longest >= Nanos::from_millis(125), "{longest}");
    preflight(&mut plan.target, Nanos::from_secs(10)).unwrap();
    assert_eq!(plan.target.endpoint().to_string(), puppet.address.to_string(), "the run begins with what answered");
}

/// The first address answers for a while and closes each connection. Then its listener is gone.
#[test]
fn when_an_address_dies_in_the_run_the_others_take_over() {
    let puppet = Puppet::start(|_| Act::Send(ok()));
    let dying = TcpListener::bind(("127.0.0.2", puppet.address.port())).unwrap();
    let answered = std::thread::spawn(move || {
        for nth in 0..20u32 {
            let (mut stream, _) = dying.accept().unwrap();
            assert!(read_request(&mut BufReader::new(&stream)), "request {nth}");
            std::io::Write::write_all(&mut stream, b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
        }
        20
    });
    let measured = run(&plan_for(&puppet, &["127.0.0.2", "127.0.0.1"], 200.0, 100));
    let tally = measured.snapshot.tally;
    let first = answered.join().unwrap();
    // Requests in flight to the first address when it died are reset.
    assert_eq!(tally.responses + tally.reset, 100, "{tally:?}");
    assert_eq!(tally.responses, first + puppet.seen(), "{tally:?}");
    assert!(puppet.seen() > 0, "{tally:?}");
}

#[test]
fn where_no_address_answers_the_request_fails_with_the_reason() {
    let (_held, address) = nobody();
    let puppet = Puppet { address, requests: Default::default(), connections: Default::default() };
    let measured = run(&plan_for(&puppet, &["127.0.0.1", "127.0.0.2"], 1000.0, 20));
    assert_eq!(measured.snapshot.tally.connect_failed, 20);
    assert_eq!(measured.snapshot.causes, [(truetail_model::record::Cause::Refused, 20)].into());
}
