//! An async client on tokio, with many requests in flight while answers are slow. The server pauses for 200 ms every
//! second. Requests that arrive in a pause wait, and the report shows it.
//!
//! ```text
//! cargo run --release -p truetail-engine --features tokio --example async_client
//! ```

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::RwLock;
use truetail_engine::Control;
use truetail_engine::callable::{CallPlan, bench_async};
use truetail_model::time::{Nanos, Rate};
use truetail_report::{Style, SummaryOptions, summary};
use truetail_run::{OfferedLoad, RunSource};

/// Listens on any free port. Each answer holds the gate open, and the pauses shut it.
async fn start_server() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let gate = Arc::new(RwLock::new(()));
    tokio::spawn(pause_now_and_then(Arc::clone(&gate)));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, Arc::clone(&gate)));
        }
    });
    Ok(address)
}

async fn pause_now_and_then(gate: Arc<RwLock<()>>) {
    loop {
        tokio::time::sleep(Duration::from_millis(800)).await;
        let _shut = gate.write().await;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn answer(mut stream: TcpStream, gate: Arc<RwLock<()>>) -> io::Result<()> {
    let question = stream.read_u64().await?;
    let _open = gate.read().await;
    stream.write_u64(question + 1).await
}

/// Makes one request on a new connection.
async fn ask(address: SocketAddr) -> io::Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_u64(41).await?;
    if stream.read_u64().await? == 42 { Ok(()) } else { Err(io::Error::other("another answer")) }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let address = runtime.block_on(start_server())?;
    let mut plan = CallPlan::at_rate(Rate::per_second(500.0)?, Nanos::from_secs(5));
    plan.workload.limits.timeout = Some(Nanos::from_secs(5));
    let measured = bench_async(&plan, &Control::new(), runtime.handle(), || ask(address));
    let run = measured.into_run(RunSource::Callable, OfferedLoad::from_workload(&plan.workload));
    print!("{}", summary(&run, &truetail_analysis::findings(&run), SummaryOptions::default(), Style::default()));
    Ok(())
}
