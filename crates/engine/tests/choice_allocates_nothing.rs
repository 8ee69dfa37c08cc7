//! Tests that choosing the request of an arrival and getting its bytes allocates nothing.

use allocation_counter::measure;
use truetail_engine::{FeedOrder, Method, RequestSet, TargetRequests};

#[test]
fn the_choice_allocates_nothing() {
    for order in [FeedOrder::InOrder, FeedOrder::Random] {
        let target = |weight| {
            let mut target = TargetRequests::new(Method::Get, "http://a/{{row}}".to_owned(), weight);
            (0..100).for_each(|row: u32| target.push_message(row.to_string().as_bytes()));
            target
        };
        let mut requests = None;
        let made = measure(|| {
            requests = Some(RequestSet::new(vec![target(3), target(2), target(1)], 100, order, 1).unwrap());
        });
        let requests = requests.unwrap();
        let mut bytes = 0;
        let chosen = measure(|| bytes = (0..10_000).map(|index| requests.bytes(requests.choose(index)).len()).sum());
        assert_eq!(chosen.count_total, 0, "{order:?}");
        assert!(made.count_total > 0 && bytes > 10_000, "{made:?}, {bytes} bytes");
    }
}
