//! What the books know of a flow: its steps, and the order in which a session goes through them.

/// A flow as its books see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Itinerary {
    /// What the flow is called.
    pub name: String,
    /// How many sessions follow it, in proportion to those of the other flows of a run.
    pub weight: u32,
    /// The place of its first step among those of all flows of a run.
    pub first_step: u32,
    /// Its steps.
    pub steps: Vec<Place>,
    /// The step of each request of a session, one after the other; `None`: each session chooses, and may leave steps out or do
    /// one several times.
    pub moves: Option<Vec<u32>>,
}

/// One step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// What it is called.
    pub name: String,
    /// Where it stands in the flow.
    pub line: usize,
    /// An answer may lead to a further request in the same pass through it.
    pub asks_again: bool,
}

impl Itinerary {
    /// The step that a session comes to first, or, where it chooses, the one that is taken for it before anybody knows.
    pub(crate) fn first_move(&self) -> u32 {
        self.moves.as_ref().map_or(0, |moves| moves[0])
    }
}
