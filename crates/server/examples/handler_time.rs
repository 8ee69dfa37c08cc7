//! The precision of the server's times. Offers `RATE` requests a second for `SECONDS` to a healthy service of 10 ms,
//! and prints how late each answer left according to the server's own truth. Run it on a quiet machine:
//!
//!     cargo run --release -p truetail-server --example handler_time -- [RATE] [SECONDS] [CONNECTIONS]

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use truetail_model::service::Service;
use truetail_model::time::Nanos;
use truetail_server::{Server, ServerOptions, TruthRow};

const BASELINE: Nanos = Nanos::from_millis(10);

fn main() -> io::Result<()> {
    let rate = argument(1, 1000)?;
    let seconds = argument(2, 10)?;
    let connections = argument(3, 100)?;
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = Server::start(ServerOptions::new(Service::healthy(BASELINE), any_port))?;
    offer(server.addr(), rate, rate * seconds, connections)?;
    let truth = server.stop();
    print_lateness(&truth.rows);
    Ok(())
}

/// Parses the n-th argument, a number of at least 1; `default` if it is missing.
fn argument(n: usize, default: u32) -> io::Result<u32> {
    let Some(text) = std::env::args().nth(n) else { return Ok(default) };
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| io::Error::other(format!("'{text}' is no whole number above 0")))
}

/// Sends `requests` at `rate`, distributed over `connections`, and ignores the answers.
fn offer(addr: SocketAddr, rate: u32, requests: u32, connections: u32) -> io::Result<()> {
    let mut streams = (0..connections).map(|_| connect(addr)).collect::<io::Result<Vec<_>>>()?;
    let started = Instant::now();
    let mut buffer = [0; 4096];
    for number in 0..requests {
        let intended = Duration::from_secs_f64(f64::from(number) / f64::from(rate));
        std::thread::sleep(intended.saturating_sub(started.elapsed()));
        let stream = &mut streams[(number % connections) as usize];
        let _ = stream.read(&mut buffer);
        stream.write_all(b"GET /api HTTP/1.1\r\nHost: server\r\n\r\n")?;
    }
    std::thread::sleep(Duration::from_millis(200));
    Ok(())
}

fn connect(addr: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(addr)?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    Ok(stream)
}

fn print_lateness(rows: &[TruthRow]) {
    let late = |row: &TruthRow| Some(row.answered_ns?.saturating_sub(row.due_ns?));
    let mut late: Vec<u64> = rows.iter().filter_map(late).collect();
    late.sort_unstable();
    println!("{} admitted, {} answered; an answer left later than meant by", rows.len(), late.len());
    for quantile in [0.5, 0.9, 0.99, 0.999, 1.0] {
        let rank = (quantile * late.len() as f64).ceil() as usize;
        let value = late.get(rank.saturating_sub(1)).copied().unwrap_or(0);
        println!("  {:>6} of answers: {:>8.1} us or less", format!("{}%", quantile * 100.0), value as f64 / 1e3);
    }
}
