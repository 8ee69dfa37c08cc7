//! In the steady state a simulated request allocates nothing: ten times as many requests cost not one allocation more
//! than what the most requests under way at once, and the seconds of the run, ask for.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::*;
use truetail_model::service::{Service, Variation};
use truetail_model::time::Nanos;
use truetail_model::workload::{Limits, Workload};
use truetail_sim::{SimOptions, simulate};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes to `System` unchanged, which keeps the contract; counting touches only a thread-local `Cell`
// that is initialised at compile time and has no destructor, so it neither allocates nor is ever gone.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises about `block`, `layout` and `size` are passed on.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises about `block` and `layout` are passed on.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(service: &Service, workload: &Workload) -> u64 {
    let scenario = scenario(service.clone(), workload.clone());
    let before = ALLOCATIONS.get();
    let run = simulate(&scenario, SimOptions { per_second: false, ..SimOptions::default() }).unwrap();
    let after = ALLOCATIONS.get();
    assert!(run.snapshot.tally.responses > 0);
    after - before
}

#[test]
fn ten_times_the_requests_cost_no_allocation_more() {
    let exponential = Service { variation: Variation::Exponential, ..Service::healthy(Nanos::from_micros(100)) };
    let one_server = Service { concurrency: Some(1), ..exponential.clone() };
    let capped = Limits { connections: Some(4), ..Limits::default() };
    let cases = [
        ("open", exponential.clone(), Limits::default()),
        ("one server", one_server, Limits::default()),
        ("four connections", exponential.clone(), capped),
    ];
    for (name, service, limits) in cases {
        let of = |requests| allocations(&service, &workload(poisson(5_000.0, 1, for_requests(requests)), limits));
        assert_eq!(of(10_000), of(100_000), "{name}");
    }
    let of = |requests| {
        allocations(
            &exponential,
            &workload(closed(64, Nanos::from_millis(1), for_requests(requests)), Limits::default()),
        )
    };
    assert_eq!(of(10_000), of(100_000), "closed");
}
