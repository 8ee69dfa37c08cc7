//! The opening of a channel before the load.

use std::time::{Duration, Instant};

use truetail_model::record::Cause;
use truetail_model::time::Timestamp;

use super::stream::{Problem, Received, Stream};
use crate::placement::Placement;
use crate::protocol::choice::WithProtocol;
use crate::protocol::http1::shown_line;
use crate::protocol::{Conversation, Events, Flow, Protocol};

/// Bytes of the peer's first answer that an error may quote.
const QUOTED: usize = 120;

/// Exchanges what a protocol sends before its first request.
pub(super) struct OpenChannel(pub(super) Stream);

impl WithProtocol for OpenChannel {
    type Output = Result<(), Problem>;

    fn with<P: Protocol, L: Placement<P>>(self, mut protocol: P) -> Result<(), Problem> {
        let OpenChannel(mut stream) = self;
        let mut conversation = protocol.conversation();
        let mut events = Events::default();
        let began = Instant::now();
        let now = || Timestamp::ZERO + began.elapsed().into();
        let mut buffer = [0; 16 * 1024];
        let mut first = Vec::new();
        while !conversation.is_open() {
            stream.send_all(&mut conversation, &protocol, now(), &mut events);
            let deadline = conversation.next_deadline();
            let wait = (deadline != Timestamp::NEVER).then(|| began + Duration::from(deadline.since(Timestamp::ZERO)));
            let flow = match stream.receive_until(wait, &mut buffer)? {
                Some(Received::Bytes(count)) => {
                    first.extend_from_slice(&buffer[..count.min(QUOTED.saturating_sub(first.len()))]);
                    conversation.receive(&mut protocol, &buffer[..count], now(), &mut events)
                }
                Some(Received::End | Received::CutOff) => Flow::Close(Cause::ClosedBeforeAnswer),
                None => conversation.on_deadline(&mut protocol, now(), &mut events),
            };
            if let Flow::Close(cause) = flow {
                let line = first.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
                let said = conversation.complaint().or((!line.is_empty()).then(|| shown_line(line)));
                return Err(Problem::NoAnswer(cause, said));
            }
        }
        Ok(())
    }
}
