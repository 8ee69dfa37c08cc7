//! Names of the parts of a response time.

/// Parts that the client sees, in their order in time.
pub const PARTS: [&str; 6] =
    ["generator lag", "connection wait", "connecting", "to the first byte", "from the first byte", "service"];

/// Number of the parts before the request is sent.
pub(crate) const BEFORE: usize = 3;

/// The part of the service time that no reported time explains.
pub const UNATTRIBUTED: &str = "unattributed";
