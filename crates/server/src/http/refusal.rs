//! Why the server refuses a request.

/// Why a request is refused, as the status of the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// Not HTTP/1.x.
    Malformed,
    /// A special path with a method that it does not have.
    MethodNotAllowed,
    /// A page of another site asks for what changes the server.
    ForeignPage,
    /// The head did not come within its time.
    TooSlow,
    /// The head is too long or has too many fields.
    TooLarge,
    /// The body is too long to be read as a whole.
    BodyTooLarge,
}

impl Refusal {
    /// Every refusal.
    pub(crate) const ALL: [Refusal; 6] = [
        Refusal::Malformed,
        Refusal::ForeignPage,
        Refusal::MethodNotAllowed,
        Refusal::TooSlow,
        Refusal::TooLarge,
        Refusal::BodyTooLarge,
    ];

    /// The status to answer with.
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
