//! To find out which request an arrival gets, and to get at its bytes, allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use truetail_engine::{FeedOrder, Method, Prepared, Requests};

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

#[test]
fn the_choice_allocates_nothing() {
    for order in [FeedOrder::InOrder, FeedOrder::Random] {
        let target = |weight| {
            let mut target = Prepared::new(Method::Get, "http://a/{{row}}".to_owned(), weight);
            (0..100).for_each(|row: u32| target.push(row.to_string().as_bytes()));
            target
        };
        let requests = Requests::new(vec![target(3), target(2), target(1)], 100, order, 1).unwrap();
        let before = ALLOCATIONS.get();
        let bytes: usize = (0..10_000).map(|index| requests.bytes(requests.which(index)).len()).sum();
        assert_eq!(ALLOCATIONS.get() - before, 0, "{order:?}");
        assert!(before > 0 && bytes > 10_000, "{bytes}");
    }
}
