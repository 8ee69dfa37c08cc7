//! The channels of a connection, a stream for each.

use crate::answer_queue::AnswerQueue;
use crate::close_reason::CloseReason;
use crate::messages::MessageConnection;
use crate::shared_state::SharedState;
use crate::truth::Ending;

#[derive(Default, Debug)]
pub(super) struct Channels {
    open: Vec<MessageConnection>,
    /// True if channels have ended whose last frames h2 has not written yet.
    have_ended: bool,
}

impl Channels {
    pub(super) fn push(&mut self, channel: MessageConnection) {
        self.open.push(channel);
    }

    /// Returns true if h2 may have frames to write for channels. Channels that have ended are reported once.
    pub(super) fn take_activity(&mut self) -> bool {
        std::mem::take(&mut self.have_ended) || !self.open.is_empty()
    }

    /// Returns true if bytes of a channel were left unread, and there is room for its messages now.
    pub(super) fn want_reading(&self) -> bool {
        self.open.iter().any(MessageConnection::wants_reading)
    }

    /// Reads what the clients sent, through `buffer`, and lets blocked answers continue.
    pub(super) fn read(&mut self, shared: &mut SharedState, buffer: &mut [u8]) {
        self.each(shared, |channel, shared| {
            while channel.read(shared, buffer)? {}
            channel.answers.on_writable(shared)
        });
    }

    /// Lets answers continue that waited for room. Returns true if one did.
    pub(super) fn go_on(&mut self, shared: &mut SharedState) -> bool {
        let mut has_sent = false;
        self.each_queue(shared, |answers, shared| {
            let before = answers.position();
            let over = answers.on_writable(shared);
            has_sent |= answers.position() != before;
            over
        });
        has_sent
    }

    /// Lets the answers of each channel act. A channel that is over ends with its stream.
    pub(super) fn each_queue(
        &mut self,
        shared: &mut SharedState,
        mut act: impl FnMut(&mut AnswerQueue, &mut SharedState) -> Result<(), CloseReason>,
    ) {
        self.each(shared, |channel, shared| act(&mut channel.answers, shared));
    }

    fn each(
        &mut self,
        shared: &mut SharedState,
        mut act: impl FnMut(&mut MessageConnection, &mut SharedState) -> Result<(), CloseReason>,
    ) {
        let before = self.open.len();
        self.open.retain_mut(|channel| match act(channel, shared) {
            Ok(()) => true,
            Err(over) => {
                let ending = if over == CloseReason::ClientGone { Ending::ClientGone } else { Ending::Dropped };
                channel.answers.abandon(shared, ending);
                false
            }
        });
        self.have_ended |= self.open.len() < before;
    }

    /// Ends every unanswered message with `ending`.
    pub(super) fn abandon(&mut self, shared: &mut SharedState, ending: Ending) {
        self.open.iter_mut().for_each(|channel| channel.answers.abandon(shared, ending));
    }
}
