//! A server that echoes like Redis, with one connection per worker. Every thousandth answer is late, as if during a
//! snapshot.
//!
//! ```text
//! cargo run --release -p truetail-engine --example tcp_echo
//! ```

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use truetail_engine::Control;
use truetail_engine::callable::{CallPlan, bench};
use truetail_model::time::{Nanos, Rate};
use truetail_report::{Style, SummaryOptions, summary};
use truetail_run::RunSource;

const WORKERS: u32 = 2;

/// Listens on any free port until the process ends, with a thread per connection.
fn start_server() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream));
        }
    });
    Ok(address)
}

/// Answers `ECHO word` lines with a bulk string: `$length`, a line break and the word.
fn serve(stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut answers = stream.try_clone()?;
    for (number, line) in (1u64..).zip(BufReader::new(stream).lines()) {
        let line = line?;
        let word = line.strip_prefix("ECHO ").unwrap_or_default();
        if number.is_multiple_of(1000) {
            thread::sleep(Duration::from_millis(50));
        }
        write!(answers, "${}\r\n{word}\r\n", word.len())?;
    }
    Ok(())
}

struct Client {
    stream: BufReader<TcpStream>,
    answer: String,
}

impl Client {
    fn connect(address: SocketAddr) -> io::Result<Client> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        Ok(Client { stream: BufReader::new(stream), answer: String::new() })
    }

    /// Sends a word and waits until it comes back.
    fn echo(&mut self) -> io::Result<()> {
        self.stream.get_mut().write_all(b"ECHO hello\r\n")?;
        self.answer.clear();
        self.stream.read_line(&mut self.answer)?;
        self.stream.read_line(&mut self.answer)?;
        if self.answer == "$5\r\nhello\r\n" { Ok(()) } else { Err(io::Error::other("another word came back")) }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = start_server()?;
    let plan = CallPlan { workers: WORKERS, ..CallPlan::at_rate(Rate::per_second(2_000.0)?, Nanos::from_secs(5)) };
    let measured = bench(&plan, &Control::new(), |_worker| {
        let mut client = Client::connect(address);
        move || client.as_mut().map_err(|error| error.to_string())?.echo().map_err(|error| error.to_string())
    });
    let run = measured.into_run(RunSource::Callable, plan.offered());
    print!("{}", summary(&run, &truetail_analysis::findings(&run), SummaryOptions::default(), Style::default()));
    Ok(())
}
