//! The reason that the server refuses a request.

/// Reason of a refusal; it determines the status of the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// Not HTTP/1.x.
    Malformed,
    /// A special path with a method that it does not support.
    MethodNotAllowed,
    /// A page of another site requests a change of the server's state.
    ForeignPage,
    /// The head was not complete in time.
    TooSlow,
    /// The head is too long or has too many fields.
    TooLarge,
    /// The body is too long to keep in memory.
    BodyTooLarge,
}

impl Refusal {
    pub(crate) const ALL: [Refusal; 6] = [
        Refusal::Malformed,
        Refusal::ForeignPage,
        Refusal::MethodNotAllowed,
        Refusal::TooSlow,
        Refusal::TooLarge,
        Refusal::BodyTooLarge,
    ];

    pub(crate) const fn status(self) -> u16 {
        match self {
            Refusal::Malformed => 400,
            Refusal::ForeignPage => 403,
            Refusal::MethodNotAllowed => 405,
            Refusal::TooSlow => 408,
            Refusal::TooLarge => 431,
            Refusal::BodyTooLarge => 413,
        }
    }
}
