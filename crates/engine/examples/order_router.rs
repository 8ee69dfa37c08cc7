//! An order router in this process with 30 µs of work per order, under 20,000 orders/s on one core.
//!
//! ```text
//! cargo run --release -p truetail-engine --example order_router [spin]
//! ```

use std::collections::HashMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use truetail_engine::Control;
use truetail_engine::callable::{CallPlan, WaitStrategy, bench};
use truetail_model::record::Metric;
use truetail_model::time::{Nanos, Rate};
use truetail_report::{Style, SummaryOptions, number, summary};
use truetail_run::RunSource;

/// Work of one order.
const WORK: Duration = Duration::from_micros(30);
/// The promise: on a quiet machine, 99 % of the calls begin within this of their intended start.
const PROMISED_NS: u64 = 100_000;

/// The venues of each instrument, with their prices.
struct Router {
    venues: HashMap<u32, Vec<f64>>,
    next: u32,
}

impl Router {
    fn new() -> Router {
        Router { venues: (0..1000).map(|instrument| (instrument, vec![100.0; 8])).collect(), next: 0 }
    }

    /// Finds the cheapest venue for the next order, and works as long as a real router does.
    fn route(&mut self) {
        let until = Instant::now() + WORK;
        self.next = (self.next + 1) % 1000;
        let prices = self.venues.get_mut(&self.next).expect("every instrument has its venues");
        while Instant::now() < until {
            let cheapest = (0..prices.len()).min_by(|a, b| prices[*a].total_cmp(&prices[*b])).unwrap_or_default();
            prices[black_box(cheapest)] += 0.01;
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut plan = CallPlan::at_rate(Rate::per_second(20_000.0)?, Nanos::from_secs(5));
    plan.workload.warmup = Nanos::from_secs(1);
    if std::env::args().any(|argument| argument == "spin") {
        plan.waiting = WaitStrategy::Spin;
    }
    let measured = bench(&plan, &Control::new(), |_worker| {
        let mut router = Router::new();
        move || router.route()
    });
    let run = measured.into_run(RunSource::Callable, plan.offered());
    let findings = truetail_analysis::findings(&run);
    print!("{}", summary(&run, &findings, SummaryOptions::default(), Style::default()));

    let p99 = findings.metrics[Metric::StartDelay].quantiles.iter().find(|quantile| quantile.q == 0.99);
    let p99 = p99.and_then(|quantile| quantile.value_ns).ok_or("too few calls for a p99")?;
    let kept = if p99 < PROMISED_NS { "kept" } else { "not kept: is this machine quiet?" };
    println!(
        "\n  20 000/s on one core: start delay p99 {}, promised {}: {kept}",
        number::time(p99),
        number::time(PROMISED_NS)
    );
    Ok(())
}
