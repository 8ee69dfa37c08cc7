//! Values in slots, with tokens that are never reused.

/// Mask of generations. The upper half of a token is the generation of its slot, and the lower half is the number of
/// the slot. A timer or an event for a removed value therefore never reaches its successor. The highest bit is unused,
/// so that the highest tokens stay free for the reactor and the listener.
const GENERATIONS: u32 = 0x7fff_ffff;

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

/// Values in numbered slots, which are reused.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

impl<T> Slots<T> {
    pub(crate) fn new() -> Slots<T> {
        Slots { slots: Vec::new(), free: Vec::new() }
    }

    /// Inserts the value that `make` builds from its token, and returns the token.
    pub(crate) fn insert(&mut self, make: impl FnOnce(u64) -> T) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, value: None });
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[index as usize];
        let token = u64::from(slot.generation) << 32 | u64::from(index);
        slot.value = Some(make(token));
        token
    }

    /// Returns the value of `token`, unless it was removed.
    pub(crate) fn get(&mut self, token: u64) -> Option<&mut T> {
        self.slot(token)?.value.as_mut()
    }

    /// Replaces the value of `token` by the result of `make`.
    pub(crate) fn replace(&mut self, token: u64, make: impl FnOnce(T) -> T) {
        if let Some(slot) = self.slot(token) {
            slot.value = slot.value.take().map(make);
        }
    }

    /// Removes and returns the value of `token`, unless it was removed before.
    pub(crate) fn remove(&mut self, token: u64) -> Option<T> {
        let slot = self.slot(token)?;
        let value = slot.value.take()?;
        slot.generation = (slot.generation + 1) & GENERATIONS;
        self.free.push(token as u32);
        Some(value)
    }

    pub(crate) fn into_values(self) -> impl Iterator<Item = T> {
        self.slots.into_iter().filter_map(|slot| slot.value)
    }

    fn slot(&mut self, token: u64) -> Option<&mut Slot<T>> {
        self.slots.get_mut(token as u32 as usize).filter(|slot| slot.generation == (token >> 32) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_never_meets_a_later_value() {
        let mut slots = Slots::new();
        let first = slots.insert(|_| 'a');
        let second = slots.insert(|_| 'b');
        assert_eq!(slots.remove(first), Some('a'));
        let third = slots.insert(|_| 'c');
        assert_eq!(third as u32, first as u32, "the slot is used again");
        assert!(slots.get(first).is_none() && slots.remove(first).is_none());
        assert_eq!((slots.get(second).copied(), slots.get(third).copied()), (Some('b'), Some('c')));
        assert_eq!(slots.get(u64::MAX - 1), None);
        assert_eq!(slots.into_values().collect::<Vec<_>>(), ['c', 'b']);
    }

    #[test]
    fn a_value_knows_its_token() {
        let mut slots = Slots::new();
        let token = slots.insert(|token| token);
        assert_eq!(slots.get(token), Some(&mut { token }));
    }
}
