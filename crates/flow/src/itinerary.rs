/// A flow as its books see it: its steps, and their order in a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Itinerary {
    /// The name of the flow.
    pub name: String,
    /// Share of the sessions that follow it, relative to the weights of the other flows of a run.
    pub weight: u32,
    /// Index of its first step among the steps of all flows of a run.
    pub first_step: u32,
    /// Its steps.
    pub steps: Vec<ItineraryStep>,
    /// The step of each request of a session, in order. `None` if sessions choose, skip and repeat steps.
    pub moves: Option<Vec<u32>>,
}

/// One step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ItineraryStep {
    /// Its name.
    pub name: String,
    /// Its line in the flow.
    pub line: usize,
    /// An answer may lead to a further request in the same pass.
    pub asks_again: bool,
}

impl Itinerary {
    /// Returns the first step of a session. For sessions that choose their steps, this is a guess.
    pub(crate) fn first_move(&self) -> u32 {
        self.moves.as_ref().map_or(0, |moves| moves[0])
    }
}
