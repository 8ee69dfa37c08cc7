//! Deadlines of requests in flight. All requests have the same timeout, so each new deadline is the latest. A linked
//! list through the slots therefore suffices, without a heap and without an allocation per request.

use truetail_model::time::Timestamp;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Link {
    before: u32,
    after: u32,
    deadline: Timestamp,
}

/// Slots in the order of their deadlines.
#[derive(Debug)]
pub(crate) struct Deadlines {
    links: Vec<Link>,
    first: u32,
    last: u32,
}

impl Deadlines {
    pub(crate) fn new() -> Deadlines {
        Deadlines { links: Vec::new(), first: NONE, last: NONE }
    }

    /// Appends `slot`, which must not be in the list. `deadline` must not be earlier than the last one.
    pub(crate) fn push(&mut self, slot: u32, deadline: Timestamp) {
        if self.links.len() <= slot as usize {
            self.links.resize(slot as usize + 1, Link { before: NONE, after: NONE, deadline: Timestamp::NEVER });
        }
        self.links[slot as usize] = Link { before: self.last, after: NONE, deadline };
        match self.last {
            NONE => self.first = slot,
            last => self.links[last as usize].after = slot,
        }
        self.last = slot;
    }

    /// Removes `slot`, which must be in the list.
    pub(crate) fn remove(&mut self, slot: u32) {
        let Link { before, after, .. } = self.links[slot as usize];
        match before {
            NONE => self.first = after,
            before => self.links[before as usize].after = after,
        }
        match after {
            NONE => self.last = before,
            after => self.links[after as usize].before = before,
        }
    }

    /// Returns the slot with the earliest deadline, and that deadline.
    pub(crate) fn first(&self) -> Option<(u32, Timestamp)> {
        (self.first != NONE).then(|| (self.first, self.links[self.first as usize].deadline))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn is_a_queue_from_which_anything_can_be_taken(steps in proptest::collection::vec((0u32..20, any::<bool>()), 0..200)) {
            let mut list = Deadlines::new();
            let mut model: Vec<(u32, Timestamp)> = Vec::new();
            for (time, (slot, push)) in steps.into_iter().enumerate() {
                match model.iter().position(|(s, _)| *s == slot) {
                    Some(i) if !push => {
                        list.remove(slot);
                        model.remove(i);
                    }
                    None if push => {
                        list.push(slot, Timestamp(time as u64));
                        model.push((slot, Timestamp(time as u64)));
                    }
                    _ => {}
                }
                prop_assert_eq!(list.first(), model.first().copied());
            }
        }
    }
}
