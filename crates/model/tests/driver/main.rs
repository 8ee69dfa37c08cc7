//! The driver under random interleavings in virtual time: random service times and orders of completion, a late
//! generator, caps, stops at any instant, all load models, one to five workers.

mod cap;
mod cases;
mod checks;
mod player;
mod script;
mod single;

use cases::case;
use checks::check;
use proptest::prelude::*;

const MS: u64 = 1_000_000;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_interleaving_keeps_the_books(case in case()) {
        check(&case);
    }
}
