//! The connections of one worker, by slot.
//!
//! Idle connections to an origin are used last in, first out, so that few stay warm and the surplus of a burst can age.
//! Slots are reused with a new generation, so a late report about a former connection finds nothing.

use truetail_model::driver::WorkerShare;
use truetail_model::record::Ordinal;

/// The reactor's name for a connection: generation in the high half, slot in the low half.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Token(pub(crate) u64);

impl Token {
    fn new(slot: u32, generation: u32) -> Token {
        Token(u64::from(generation) << 32 | u64::from(slot))
    }

    pub(crate) fn slot(self) -> u32 {
        self.0 as u32
    }

    fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

#[derive(Debug)]
struct Slot<C> {
    generation: u32,
    connection: Option<Box<C>>,
    origin: u32,
    /// Number of the connection, or of the last one.
    number: Ordinal,
    /// Position of this slot in its origin's list of idle connections.
    idle_at: Option<u32>,
}

#[derive(Debug)]
pub(crate) struct Pool<C> {
    slots: Vec<Slot<C>>,
    vacant: Vec<u32>,
    /// Idle connections to each origin.
    idle: Vec<Vec<u32>>,
    /// Number of connections to each origin.
    open_to: Vec<u32>,
    open: u64,
    /// True if some connection was idle once, so the server does not close each connection after one answer.
    pub(crate) reuses: bool,
    pub(crate) opened: u64,
    share: WorkerShare,
    pub(crate) peak: u64,
    /// Number of open connections that ended before this side closed them.
    pub(crate) lost: u64,
}

impl<C> Pool<C> {
    pub(crate) fn new(origins: usize, share: WorkerShare) -> Pool<C> {
        let idle = vec![Vec::new(); origins];
        let open_to = vec![0; origins];
        Pool {
            slots: Vec::new(),
            vacant: Vec::new(),
            idle,
            open_to,
            open: 0,
            reuses: false,
            opened: 0,
            share,
            peak: 0,
            lost: 0,
        }
    }

    /// Puts a new connection to this origin into a slot. Generations stay below 2^31, so that tokens differ from the
    /// reactor's own.
    pub(crate) fn insert(&mut self, connection: C, origin: u32) -> Token {
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, connection: None, origin, number: Ordinal::UNKNOWN, idle_at: None });
            (self.slots.len() - 1) as u32
        });
        let place = &mut self.slots[slot as usize];
        place.generation = (place.generation + 1) & 0x7fff_ffff;
        place.connection = Some(Box::new(connection));
        place.origin = origin;
        place.number = Ordinal::new(self.opened * u64::from(self.share.workers) + u64::from(self.share.index));
        self.open_to[origin as usize] += 1;
        self.open += 1;
        self.opened += 1;
        self.peak = self.peak.max(self.open);
        Token::new(slot, place.generation)
    }

    /// Returns the number of connections that are open or being opened.
    pub(crate) fn open(&self) -> u64 {
        self.open
    }

    /// Returns the connection of a report, if it still exists.
    pub(crate) fn find(&mut self, token: Token) -> Option<&mut C> {
        let slot = self.slots.get_mut(token.slot() as usize)?;
        (slot.generation == token.generation()).then_some(slot.connection.as_deref_mut()).flatten()
    }

    pub(crate) fn token(&self, slot: u32) -> Token {
        Token::new(slot, self.slots[slot as usize].generation)
    }

    /// Returns the connection in a slot that is known to be taken.
    pub(crate) fn get(&mut self, slot: u32) -> &mut C {
        self.slots[slot as usize].connection.as_deref_mut().expect("a slot that is taken")
    }

    /// Returns the connection in a slot, if there is one.
    #[inline]
    pub(crate) fn at(&mut self, slot: u32) -> Option<&mut C> {
        self.slots[slot as usize].connection.as_deref_mut()
    }

    #[inline]
    pub(crate) fn origin(&self, slot: u32) -> u32 {
        self.slots[slot as usize].origin
    }

    /// Returns the number of the connection in a slot, or of the last one in it. No two workers of a machine have the
    /// same number.
    #[inline]
    pub(crate) fn number(&self, slot: u32) -> Ordinal {
        self.slots[slot as usize].number
    }

    pub(crate) fn is_idle(&self, slot: u32) -> bool {
        self.slots[slot as usize].idle_at.is_some()
    }

    /// Returns true if some origin has connections, but no idle one.
    #[inline]
    pub(crate) fn an_origin_has_no_idle(&self) -> bool {
        self.open_to.iter().zip(&self.idle).any(|(open, idle)| *open > 0 && idle.is_empty())
    }

    /// Returns an idle connection to the origin that has most idle connections.
    pub(crate) fn spare(&self) -> Option<u32> {
        self.idle.iter().max_by_key(|idle| idle.len())?.first().copied()
    }

    /// Takes the idle connection to this origin that was used last.
    #[inline]
    pub(crate) fn take_idle(&mut self, origin: u32) -> Option<u32> {
        let slot = self.idle[origin as usize].pop()?;
        self.slots[slot as usize].idle_at = None;
        Some(slot)
    }

    pub(crate) fn make_idle(&mut self, slot: u32) {
        self.reuses = true;
        let place = &mut self.slots[slot as usize];
        let idle = &mut self.idle[place.origin as usize];
        place.idle_at = Some(idle.len() as u32);
        idle.push(slot);
    }

    /// Removes a connection, idle or not. Dropping it closes it.
    pub(crate) fn remove(&mut self, slot: u32) -> Box<C> {
        let origin = self.origin(slot) as usize;
        if let Some(at) = self.slots[slot as usize].idle_at.take() {
            let idle = &mut self.idle[origin];
            idle.swap_remove(at as usize);
            if let Some(moved) = idle.get(at as usize) {
                self.slots[*moved as usize].idle_at = Some(at);
            }
        }
        self.open_to[origin] -= 1;
        self.vacant.push(slot);
        self.open -= 1;
        self.slots[slot as usize].connection.take().expect("a slot that is taken")
    }

    pub(crate) fn taken(&self) -> Vec<u32> {
        (0..self.slots.len() as u32).filter(|slot| self.slots[*slot as usize].connection.is_some()).collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &C> {
        self.slots.iter().filter_map(|slot| slot.connection.as_deref())
    }
}
