//! The connections of one worker, by slot.
//!
//! Idle connections to an origin are taken last in, first out, so that few stay warm and the surplus of a burst may age; a slot's
//! number is used again, with a new generation, so that a late report for its former connection finds nobody.

/// Where a connection is, as the reactor knows it: generation in the high half, slot in the low one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
    /// The number of the origin that its connection leads to.
    origin: u32,
    /// Where this slot stands in its origin's list of idle ones.
    idle_at: Option<u32>,
}

/// The connections of one worker.
#[derive(Debug)]
pub(crate) struct Pool<C> {
    slots: Vec<Slot<C>>,
    vacant: Vec<u32>,
    /// For each origin, the idle ones that lead to it.
    idle: Vec<Vec<u32>>,
    /// For each origin, how many lead to it.
    open_to: Vec<u32>,
    open: u64,
    /// Some connection was idle once, so that they are not closed after each answer.
    pub(crate) reuses: bool,
    pub(crate) opened: u64,
    pub(crate) peak: u64,
}

impl<C> Pool<C> {
    /// Of connections to so many origins.
    pub(crate) fn new(origins: usize) -> Pool<C> {
        let idle = vec![Vec::new(); origins];
        let open_to = vec![0; origins];
        Pool { slots: Vec::new(), vacant: Vec::new(), idle, open_to, open: 0, reuses: false, opened: 0, peak: 0 }
    }

    /// Puts a new connection to this origin into a slot. Generations stay below 2^31, so a token is never the reactor's own.
    pub(crate) fn insert(&mut self, connection: C, origin: u32) -> Token {
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, connection: None, origin, idle_at: None });
            (self.slots.len() - 1) as u32
        });
        let place = &mut self.slots[slot as usize];
        place.generation = (place.generation + 1) & 0x7fff_ffff;
        place.connection = Some(Box::new(connection));
        place.origin = origin;
        self.open_to[origin as usize] += 1;
        self.open += 1;
        self.opened += 1;
        self.peak = self.peak.max(self.open);
        Token::new(slot, place.generation)
    }

    /// Connections that are open or being opened.
    pub(crate) fn open(&self) -> u64 {
        self.open
    }

    /// The connection that a report is about, if it is still there.
    pub(crate) fn find(&mut self, token: Token) -> Option<&mut C> {
        let slot = self.slots.get_mut(token.slot() as usize)?;
        (slot.generation == token.generation()).then_some(slot.connection.as_deref_mut()).flatten()
    }

    /// The token of the connection that is in a slot now.
    pub(crate) fn token(&self, slot: u32) -> Token {
        Token::new(slot, self.slots[slot as usize].generation)
    }

    /// The connection in a slot that is known to be taken.
    pub(crate) fn get(&mut self, slot: u32) -> &mut C {
        self.slots[slot as usize].connection.as_deref_mut().expect("a slot that is taken")
    }

    /// The connection in a slot, if there is one.
    #[inline]
    pub(crate) fn at(&mut self, slot: u32) -> Option<&mut C> {
        self.slots[slot as usize].connection.as_deref_mut()
    }

    /// The number of the origin that the connection in this slot leads to.
    #[inline]
    pub(crate) fn origin(&self, slot: u32) -> u32 {
        self.slots[slot as usize].origin
    }

    /// The connection in this slot is idle.
    pub(crate) fn is_idle(&self, slot: u32) -> bool {
        self.slots[slot as usize].idle_at.is_some()
    }

    /// There are connections to some origin, and none of them is idle.
    #[inline]
    pub(crate) fn an_origin_has_no_idle(&self) -> bool {
        self.open_to.iter().zip(&self.idle).any(|(open, idle)| *open > 0 && idle.is_empty())
    }

    /// An idle connection that can be spared: one to the origin that has most of them.
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

    /// Makes a connection available for the next request.
    pub(crate) fn make_idle(&mut self, slot: u32) {
        self.reuses = true;
        let place = &mut self.slots[slot as usize];
        let idle = &mut self.idle[place.origin as usize];
        place.idle_at = Some(idle.len() as u32);
        idle.push(slot);
    }

    /// Takes a connection out, idle or not; dropping it closes it.
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

    /// Slots in which there is a connection.
    pub(crate) fn taken(&self) -> Vec<u32> {
        (0..self.slots.len() as u32).filter(|slot| self.slots[*slot as usize].connection.is_some()).collect()
    }

    /// All connections.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &C> {
        self.slots.iter().filter_map(|slot| slot.connection.as_deref())
    }
}
