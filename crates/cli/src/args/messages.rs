//! Options of messages on channels.

use clap::Args;
use truetail_engine::{Framing, Matching};

/// Messages to a tcp, tls, ws or redis URL.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct MessageArgs {
    /// End of each message on a tcp:// or tls:// channel: line, crlf, nul, delimiter:HEX, length:4be (a length of 1, 2,
    /// 4 or 8 bytes, be or le, before the message), or fixed:64
    #[arg(long, value_name = "FRAMING", help_heading = "Messages")]
    pub framing: Option<Framing>,
    /// The message that a reply belongs to: order, json:/id (the same value in both), bytes:OFFSET:LENGTH (the same
    /// bytes in both), or none: there are no replies, and a message ends when it is sent [default: order]
    #[arg(long = "match", value_name = "RULE", help_heading = "Messages")]
    pub matching: Option<Matching>,
    /// Content of each message, in hexadecimal, in place of --data; on a ws:// channel a binary message
    #[arg(long, value_name = "HEX", help_heading = "Messages")]
    pub data_hex: Option<String>,
    /// Command for a redis:// channel, in words as a shell splits them: 'GET key:{{id}}'
    #[arg(long = "command", value_name = "WORDS", help_heading = "Messages")]
    pub redis_command: Option<String>,
}

impl MessageArgs {
    /// Returns the options that were given, by their names.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> {
        let options = [
            ("--framing", self.framing.is_some()),
            ("--match", self.matching.is_some()),
            ("--data-hex", self.data_hex.is_some()),
            ("--command", self.redis_command.is_some()),
        ];
        options.into_iter().filter(|(_, given)| *given).map(|(name, _)| name)
    }
}
