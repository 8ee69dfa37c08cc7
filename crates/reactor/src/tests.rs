//! One suite for both systems: `make test-portable` runs it with the feature `portable`.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::thread::JoinHandleExt;
use std::time::Instant;

use truetail_model::time::{Clock, Nanos};

use super::clock::monotonic_ns;
use super::system::readiness::{Backend, RawEvents};
use super::{MonotonicClock, Readiness};

const LONG: Option<Nanos> = Some(Nanos::from_secs(5));

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (far, _) = listener.accept().unwrap();
    near.set_nonblocking(true).unwrap();
    (near, far)
}

/// Waits until a report satisfies `wanted`, or fails after five seconds.
fn wait_for(backend: &Backend, wanted: impl Fn(&Readiness) -> bool) -> Readiness {
    let mut raw = RawEvents::new(8);
    let mut happened = Vec::new();
    let started = Instant::now();
    while started.elapsed().as_secs() < 5 {
        happened.clear();
        backend.wait(&mut raw, &mut happened, LONG).unwrap();
        if let Some(found) = happened.iter().find(|r| wanted(r)) {
            return *found;
        }
    }
    panic!("no such report");
}

#[test]
fn bytes_room_and_end_are_reported() {
    let backend = Backend::new().unwrap();
    let (mut near, mut far) = pair();
    backend.add(near.as_fd(), 7).unwrap();
    assert_eq!(wait_for(&backend, |r| r.writable).token, 7);
    far.write_all(b"x").unwrap();
    assert_eq!(wait_for(&backend, |r| r.readable).token, 7);
    assert_eq!(near.read(&mut [0; 16]).unwrap(), 1);
    drop(far);
    wait_for(&backend, |r| r.readable);
    assert_eq!(near.read(&mut [0; 16]).unwrap(), 0);
    backend.remove(near.as_fd()).unwrap();
}

#[test]
fn a_wake_ends_a_wait() {
    let backend = Backend::new().unwrap();
    let waker = backend.waker();
    let mut raw = RawEvents::new(8);
    let mut happened = Vec::new();
    let started = Instant::now();
    let thread = std::thread::spawn(move || waker.wake());
    backend.wait(&mut raw, &mut happened, Some(Nanos::from_secs(60))).unwrap();
    thread.join().unwrap();
    let waker = backend.waker();
    let thread = std::thread::spawn(move || waker.wake());
    backend.wait_until(&mut raw, &mut happened, monotonic_ns() + 60_000_000_000).unwrap();
    thread.join().unwrap();
    assert!(happened.is_empty() && started.elapsed().as_secs() < 60);
}

#[test]
fn a_deadline_is_not_early_and_stands_when_something_comes_first() {
    let backend = Backend::new().unwrap();
    let (near, mut far) = pair();
    backend.add(near.as_fd(), 7).unwrap();
    wait_for(&backend, |r| r.writable);
    let mut raw = RawEvents::new(8);
    let mut happened = Vec::new();
    let in_ms = |ms: u64| monotonic_ns() + ms * 1_000_000;
    let mut wait_until = |deadline: u64| {
        happened.clear();
        backend.wait_until(&mut raw, &mut happened, deadline).unwrap();
        (happened.len(), monotonic_ns() >= deadline)
    };
    let far_away = in_ms(60_000);
    far.write_all(b"x").unwrap();
    assert_eq!(wait_until(far_away), (1, false), "what has come already");
    let late = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(30));
        far.write_all(b"y").unwrap();
        far
    });
    assert_eq!(wait_until(far_away), (1, false), "what comes while it waits");
    let _far = late.join().unwrap();
    // A nearer deadline, a still nearer one, and a later one; each a second time after it has passed.
    for deadline in [in_ms(40), in_ms(20), in_ms(60)] {
        assert_eq!(wait_until(deadline), (0, true));
        assert_eq!(wait_until(deadline), (0, true));
    }
    assert_eq!(wait_until(0), (0, true));
}

#[test]
fn it_has_not_waited_where_something_had_come() {
    let backend = Backend::new().unwrap();
    let (near, mut far) = pair();
    backend.add(near.as_fd(), 7).unwrap();
    wait_for(&backend, |r| r.writable);
    let mut raw = RawEvents::new(8);
    let mut happened = Vec::new();
    far.write_all(b"x").unwrap();
    let in_a_minute = monotonic_ns() + 60_000_000_000;
    assert!(!backend.wait_until(&mut raw, &mut happened, in_a_minute).unwrap());
}

#[test]
fn a_signal_does_not_hide_what_is_ready() {
    let backend = Backend::new().unwrap();
    let (near, far) = pair();
    backend.add(near.as_fd(), 7).unwrap();
    wait_for(&backend, |r| r.writable);
    // The signal handler writes a byte, so the byte arrives while the signal interrupts the wait.
    let signal = signal_hook::low_level::pipe::register(signal_hook::consts::SIGUSR1, far).unwrap();
    let waiting = std::thread::spawn(move || {
        let mut raw = RawEvents::new(8);
        let mut happened = Vec::new();
        backend.wait(&mut raw, &mut happened, LONG).unwrap();
        happened
    });
    std::thread::sleep(std::time::Duration::from_millis(100));
    // SAFETY: the thread is not joined yet, so its handle is valid.
    unsafe { libc::pthread_kill(waiting.as_pthread_t(), libc::SIGUSR1) };
    let happened = waiting.join().unwrap();
    signal_hook::low_level::unregister(signal);
    assert!(happened.iter().any(|r| r.readable), "{happened:?}");
    drop(near);
}

#[test]
fn a_timeout_is_not_early() {
    let backend = Backend::new().unwrap();
    let mut raw = RawEvents::new(8);
    let mut happened = Vec::new();
    let clock = MonotonicClock::starting_now();
    for micros in [1, 130, 1_700] {
        let before = clock.now();
        backend.wait(&mut raw, &mut happened, Some(Nanos::from_micros(micros))).unwrap();
        assert!(clock.now().since(before) >= Nanos::from_micros(micros), "{micros} us");
    }
}
