//! Events of a session.

use truetail_mcp::JobOutput;

/// Something that the session hears of.
pub(super) enum Event {
    /// A line of the client, without its end. One that is too long is cut, but is still too long.
    Line(Vec<u8>),
    /// Standard input has ended, or a signal asks this program to end.
    End,
    /// The command has ended.
    JobEnded(JobOutput),
}
