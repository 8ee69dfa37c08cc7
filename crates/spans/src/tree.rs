//! The tree of a trace, and the part of each span in the time of its request.
//!
//! A request's time is shared out from the top down. A span keeps the time that none of its children covers. Its
//! children share the rest by their durations. So the parts of all spans add up to the time of the span at the top.
//! Children in the process of their parent are compared by its clock: the time that they cover together counts once,
//! and time outside the parent does not count. A child is in another process if its kind is `SERVER` or `CONSUMER`, or
//! if its service is another one than its parent's. Only the duration of such a child is used.

use crate::names::{OTHER, OTHER_SERVICE};

/// A span that is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KeptSpan {
    /// Index of its request.
    pub request: u64,
    pub id: u64,
    pub parent: u64,
    pub start_ns: u64,
    pub duration_ns: u64,
    /// Number of its name.
    pub name: u32,
    /// Number of its service.
    pub service: u16,
    /// True if its kind says that its parent is in another process.
    pub is_remote: bool,
}

impl KeptSpan {
    /// Returns true if the clock of `parent` may be another one: by the kind of this span, or by the services of both.
    fn is_remote_to(&self, parent: &KeptSpan) -> bool {
        self.is_remote || self.service != parent.service || self.service == OTHER_SERVICE
    }

    /// Returns the start and the end within `around`.
    fn within(&self, around: &KeptSpan) -> (u64, u64) {
        let end_of = |span: &KeptSpan| span.start_ns.saturating_add(span.duration_ns);
        let start = self.start_ns.clamp(around.start_ns, end_of(around));
        (start, end_of(self).clamp(start, end_of(around)))
    }
}

/// Part of a span in the time of its request.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Part {
    /// Number of the span's name.
    pub name: u32,
    /// Time without its children.
    pub own_ns: f64,
}

/// Returns the parts of the spans of one trace, from the top down. `spans` are in the order of their ids, without
/// duplicates. The request itself is the span `own_id`, which no service reports. A span without a chain of parents up
/// to the request has no part. If no span has such a chain, a proxy on the way may have begun another span: if exactly
/// one span has a parent that was not reported, it is taken as the top.
pub(crate) fn parts(own_id: u64, spans: &[KeptSpan]) -> Vec<Part> {
    let place_of = |id: u64| spans.binary_search_by_key(&id, |span| span.id).ok();
    let mut tops = Vec::new();
    let mut strays = Vec::new();
    let mut inside: Vec<(usize, usize)> = Vec::new();
    for (place, span) in spans.iter().enumerate() {
        match place_of(span.parent) {
            // B3 lets the service go on with the span of its client.
            _ if span.id == own_id => tops.push(place),
            Some(parent) if parent != place => inside.push((parent, place)),
            None if span.parent == own_id => tops.push(place),
            None => strays.push(place),
            Some(_) => {}
        }
    }
    if tops.is_empty() && strays.len() == 1 {
        tops = strays;
    }
    inside.sort_unstable();
    let mut parts = Vec::with_capacity(spans.len());
    let mut open: Vec<(usize, f64)> = tops.iter().rev().map(|top| (*top, spans[*top].duration_ns as f64)).collect();
    while let Some((place, allotted)) = open.pop() {
        let span = &spans[place];
        let first = inside.partition_point(|(parent, _)| *parent < place);
        let children: Vec<usize> =
            inside[first..].iter().take_while(|(parent, _)| *parent == place).map(|(_, child)| *child).collect();
        let shares = shares(span, children.iter().map(|child| &spans[*child]));
        let scale = if span.duration_ns == 0 { 0.0 } else { allotted / span.duration_ns as f64 };
        let covered: f64 = shares.iter().sum();
        let own_ns = if children.is_empty() { allotted } else { (span.duration_ns as f64 - covered).max(0.0) * scale };
        parts.push(Part { name: span.name, own_ns });
        open.extend(children.into_iter().zip(shares).rev().map(|(child, share)| (child, share * scale)));
    }
    parts
}

/// Returns the part of the parent's duration that each child covers. Together they are at most the duration.
fn shares<'a>(parent: &KeptSpan, children: impl Iterator<Item = &'a KeptSpan> + Clone) -> Vec<f64> {
    let length = |child: &KeptSpan| {
        let (start, end) = child.within(parent);
        if child.is_remote_to(parent) { child.duration_ns.min(parent.duration_ns) } else { end - start }
    };
    let sum = |is_remote: bool| {
        let lengths = children.clone().filter(|child| child.is_remote_to(parent) == is_remote).map(length);
        lengths.map(|ns| ns as f64).sum::<f64>()
    };
    let local = sum(false);
    let inside = children.clone().filter(|child| !child.is_remote_to(parent)).map(|child| child.within(parent));
    let together = union(inside) as f64;
    let remote = sum(true);
    let fits = (parent.duration_ns as f64 / (together + remote)).min(1.0);
    let of_local = if local > 0.0 { together / local * fits } else { 0.0 };
    let share = |child: &KeptSpan| length(child) as f64 * if child.is_remote_to(parent) { fits } else { of_local };
    children.map(share).collect()
}

/// Returns the length of the time that the intervals cover together.
fn union(intervals: impl Iterator<Item = (u64, u64)>) -> u64 {
    let mut sorted: Vec<(u64, u64)> = intervals.collect();
    sorted.sort_unstable();
    let mut covered = 0;
    let mut until = 0;
    for (start, end) in sorted {
        covered += end.saturating_sub(start.max(until));
        until = until.max(end);
    }
    covered
}

/// Returns the sum of squares of the times of each name: large for a name that is long in a few requests.
pub(crate) fn add_weights(parts: &[Part], weights: &mut [f64]) {
    parts.iter().filter(|part| part.name != OTHER).for_each(|part| weights[part.name as usize] += part.own_ns.powi(2));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const REQUEST: u64 = 100;

    fn local(id: u64, parent: u64, start_ns: u64, duration_ns: u64) -> KeptSpan {
        KeptSpan { request: 0, id, parent, start_ns, duration_ns, name: id as u32, service: 1, is_remote: false }
    }

    fn of_service(service: u16, span: KeptSpan) -> KeptSpan {
        KeptSpan { service, ..span }
    }

    fn remote(id: u64, parent: u64, start_ns: u64, duration_ns: u64) -> KeptSpan {
        KeptSpan { is_remote: true, ..local(id, parent, start_ns, duration_ns) }
    }

    fn named(spans: &[KeptSpan]) -> Vec<(u32, u64)> {
        let mut spans = spans.to_vec();
        spans.sort_by_key(|span| span.id);
        parts(REQUEST, &spans).iter().map(|part| (part.name, part.own_ns.round() as u64)).collect()
    }

    #[test]
    fn a_span_has_the_time_that_its_children_leave() {
        let app = remote(1, REQUEST, 50, 100);
        assert_eq!(named(&[app]), [(1, 100)]);
        assert_eq!(named(&[app, local(2, 1, 60, 30), local(3, 1, 90, 20)]), [(1, 50), (2, 30), (3, 20)]);
        // Of a call to another machine, whose clock is wrong, only the duration counts.
        assert_eq!(named(&[app, local(2, 1, 60, 30), remote(3, 2, 9_000, 25)]), [(1, 70), (2, 5), (3, 25)]);
        // Children side by side share the time that they cover together by their durations.
        assert_eq!(named(&[app, local(2, 1, 60, 60), local(3, 1, 60, 30)]), [(1, 40), (2, 40), (3, 20)]);
        // A child that begins after its parent has ended is no part of the request.
        assert_eq!(named(&[app, local(2, 1, 150, 60), local(3, 2, 160, 5)]), [(1, 100), (2, 0), (3, 0)]);
        assert_eq!(named(&[app, local(2, 1, 140, 60)]), [(1, 90), (2, 10)]);
        // Another service is another machine, whatever the kind, and so is one beyond the limit on services.
        for service in [2, OTHER_SERVICE] {
            let far = of_service(service, local(3, 2, 9_000, 25));
            assert_eq!(named(&[app, local(2, 1, 60, 30), far]), [(1, 70), (2, 5), (3, 25)]);
            let inside = of_service(service, local(4, 3, 9_010, 10));
            assert_eq!(named(&[app, local(2, 1, 60, 30), far, inside]), [(1, 70), (2, 5), (3, 15), (4, 10)]);
        }
        // Children on other machines that are longer than their parent fill it.
        assert_eq!(named(&[app, remote(2, 1, 0, 150), remote(3, 1, 0, 300)]), [(1, 0), (2, 50), (3, 50)]);
    }

    #[test]
    fn spans_that_nothing_connects_have_no_part() {
        let app = remote(1, REQUEST, 0, 100);
        assert_eq!(named(&[app, local(2, 77, 0, 10), local(3, 2, 0, 5)]), [(1, 100)]);
        let circle = [local(2, 3, 0, 10), local(3, 2, 0, 10), local(4, 4, 0, 10)];
        assert_eq!(named(&circle), []);
        assert_eq!(named(&[circle.as_slice(), &[app]].concat()), [(1, 100)]);
        // A proxy that reports no spans stands between.
        assert_eq!(named(&[remote(1, 77, 0, 100), local(2, 1, 0, 60)]), [(1, 40), (2, 60)]);
        assert_eq!(named(&[remote(1, 77, 0, 100), local(2, 78, 0, 60)]), []);
        // B3: the service goes on with the client's span. Another one reports beside it.
        assert_eq!(named(&[remote(REQUEST, 0, 0, 100), local(2, REQUEST, 0, 60)]), [(100, 40), (2, 60)]);
        assert_eq!(named(&[app, remote(2, REQUEST, 0, 30)]), [(1, 100), (2, 30)]);
    }

    #[test]
    fn a_chain_of_any_depth_ends() {
        let chain: Vec<KeptSpan> = (0..100_000).map(|at| local(at + 1_000, at + 999, 0, 1_000_000 - at)).collect();
        let own: f64 = parts(999, &chain).iter().map(|part| part.own_ns).sum();
        assert!((own - 1e6).abs() < 1.0, "{own}");
    }

    proptest! {
        /// Whatever the tree is, the parts are not negative and add up to the spans at the top.
        #[test]
        fn parts_add_up(
            all in prop::collection::vec((0u64..12, 0u64..50, 0u64..50, any::<bool>()), 0..12),
        ) {
            let span = |(id, (parent, start_ns, duration_ns, is_remote)): (usize, (u64, u64, u64, bool))| {
                KeptSpan { is_remote, ..local(id as u64, if parent == 11 { REQUEST } else { parent }, start_ns, duration_ns) }
            };
            let spans: Vec<KeptSpan> = all.into_iter().enumerate().map(span).collect();
            let parts = parts(REQUEST, &spans);
            prop_assert!(parts.iter().all(|part| part.own_ns >= 0.0), "{:?}", parts);
            let tops = spans.iter().filter(|span| span.parent == REQUEST);
            let whole: u64 = tops.clone().map(|span| span.duration_ns).sum();
            let own: f64 = parts.iter().map(|part| part.own_ns).sum();
            if tops.count() > 0 {
                prop_assert!((own - whole as f64).abs() < 1e-6, "{own} of {whole}: {parts:?}");
            }
        }
    }
}
