//! The open connections, found by token.

use crate::connection::Connection;

/// Tokens have a generation in their upper half and a place in their lower one, so that a timer or a report of a
/// connection that is gone never meets the one that came after it.
const GENERATIONS: u32 = 0x7fff_ffff;

#[derive(Debug, Default)]
struct Place {
    generation: u32,
    connection: Option<Connection>,
}

/// All open connections.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    places: Vec<Place>,
    free: Vec<u32>,
}

impl Connections {
    /// Puts in what `make` builds for the token that it will have.
    pub(crate) fn insert(&mut self, make: impl FnOnce(u64) -> Connection) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place::default());
            (self.places.len() - 1) as u32
        });
        let place = &mut self.places[index as usize];
        let token = u64::from(place.generation) << 32 | u64::from(index);
        place.connection = Some(make(token));
        token
    }

    /// The connection of `token`, while it is open.
    pub(crate) fn get(&mut self, token: u64) -> Option<&mut Connection> {
        self.place(token)?.connection.as_mut()
    }

    /// Takes out the connection of `token`, if it is open.
    pub(crate) fn remove(&mut self, token: u64) -> Option<Connection> {
        let place = self.place(token)?;
        let connection = place.connection.take()?;
        place.generation = (place.generation + 1) & GENERATIONS;
        self.free.push(token as u32);
        Some(connection)
    }

    /// Takes out all of them.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Connection> + '_ {
        self.free.clear();
        self.places.drain(..).filter_map(|place| place.connection)
    }

    fn place(&mut self, token: u64) -> Option<&mut Place> {
        self.places.get_mut(token as u32 as usize).filter(|place| place.generation == (token >> 32) as u32)
    }
}
