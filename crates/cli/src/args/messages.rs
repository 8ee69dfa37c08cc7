//! Options of messages on channels.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use truetail_engine::{Framing, Matching};
use truetail_model::time::Nanos;
use truetail_run::StampUnit;

/// Messages to a tcp, tls, ws or redis URL.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct MessageArgs {
    /// End of each message on a tcp:// or tls:// channel: line, crlf, nul, delimiter:HEX, length:4be (a length of 1, 2,
    /// 4 or 8 bytes, be or le, before the message), fixed:64, or fix: fields such as '35=1|112=' in tags 8, 9 and 10
    #[arg(long, value_name = "FRAMING", help_heading = "Messages")]
    pub framing: Option<Framing>,
    /// The message that a reply belongs to: order, json:/id (the same value in both), bytes:OFFSET:LENGTH (the same
    /// bytes in both), fix:TAG (the same field of FIX), or none: there are no replies, and a message ends when it is
    /// sent [default: order]
    #[arg(long = "match", value_name = "RULE", help_heading = "Messages")]
    pub matching: Option<Matching>,
    /// Content of each message, in hexadecimal, in place of --data; on a ws:// channel a binary message
    #[arg(long, value_name = "HEX", help_heading = "Messages")]
    pub data_hex: Option<String>,
    /// Command for a redis:// channel, in words as a shell splits them: 'GET key:{{id}}'
    #[arg(long = "command", value_name = "WORDS", help_heading = "Messages")]
    pub redis_command: Option<String>,
    /// File with the exchange that opens each channel, such as a login: lines 'send TEXT', 'expect TEXT' (the next
    /// message must contain it), 'await TEXT' (others may come before) and 'within 5s'. Part of the connect time
    #[arg(long, value_name = "FILE", help_heading = "Messages")]
    pub hello: Option<PathBuf>,
    /// File with an exchange like that of --hello, which follows it and asks for pushes. What comes afterwards without
    /// a match is a push, and the pushes of each channel are a stream: gaps, longest gap, and with --stall stalls
    #[arg(long, value_name = "FILE", help_heading = "Messages")]
    pub subscribe: Option<PathBuf>,
    /// On ws:// and wss:// channels, offer to compress messages (permessage-deflate, RFC 7692). They are compressed if
    /// the server agrees
    #[arg(long, help_heading = "Messages")]
    pub permessage_deflate: bool,
    /// The sender's time in each push, such as json:/ts, in --stamp-unit since 1970: the delay from then to its
    /// arrival. Needs --subscribe, and a sender on this machine or --clock-bound
    #[arg(long, value_name = "PLACE", help_heading = "Messages")]
    pub stamp: Option<StampPlace>,
    /// Unit of --stamp: ns, us, ms or s [default: ms]
    #[arg(long, value_name = "UNIT", help_heading = "Messages")]
    pub stamp_unit: Option<UnitName>,
    /// The clock of the sender differs from that of this machine by at most this: each delay is known to this, and one
    /// step of --stamp. 0s says that it is the same clock
    #[arg(long, value_name = "TIME", help_heading = "Messages")]
    pub clock_bound: Option<Nanos>,
}

/// `--stamp`: a pointer into JSON.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StampPlace(pub(crate) String);

impl FromStr for StampPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<StampPlace, String> {
        let pointer = text.strip_prefix("json:").filter(|pointer| pointer.is_empty() || pointer.starts_with('/'));
        let problem = || format!("'{text}' is no place of a time; write json:/ts for the member ts");
        pointer.map(|pointer| StampPlace(pointer.to_owned())).ok_or_else(problem)
    }
}

/// `--stamp-unit`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum UnitName {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

impl UnitName {
    pub(crate) fn unit(self) -> StampUnit {
        match self {
            UnitName::Ns => StampUnit::Ns,
            UnitName::Us => StampUnit::Us,
            UnitName::Ms => StampUnit::Ms,
            UnitName::S => StampUnit::S,
        }
    }
}

impl MessageArgs {
    /// Returns the options that were given, by their names.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> {
        let options = [
            ("--framing", self.framing.is_some()),
            ("--match", self.matching.is_some()),
            ("--data-hex", self.data_hex.is_some()),
            ("--command", self.redis_command.is_some()),
            ("--hello", self.hello.is_some()),
            ("--subscribe", self.subscribe.is_some()),
            ("--permessage-deflate", self.permessage_deflate),
            ("--stamp", self.stamp.is_some()),
            ("--stamp-unit", self.stamp_unit.is_some()),
            ("--clock-bound", self.clock_bound.is_some()),
        ];
        options.into_iter().filter(|(_, given)| *given).map(|(name, _)| name)
    }
}
