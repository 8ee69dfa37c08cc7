//! Conversations as ShareGPT has them: the first human turn is the prompt, and the answer to it says how long an answer
//! may be.

use std::fmt;

use serde::Deserializer;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde_json::Value;

use super::left_out::LeftOut;
use super::requests::{FilePrompts, FileRequests};
use super::values::{MAX_REQUESTS, MAX_TEXT_LINE, lines, tokens_of, without_place};
use crate::{InputError, Location};

pub(super) fn read(text: &str, file: &str) -> Result<FilePrompts, InputError> {
    let mut taken = Taken::default();
    let help = "write a list of {\"conversations\": [{\"from\": \"human\", \"value\": \"…\"}, {\"from\": \"gpt\", \"value\": \"…\"}]}";
    if text.trim_start().starts_with('[') {
        let mut list = serde_json::Deserializer::from_str(text);
        let read = list.deserialize_seq(&mut taken).and_then(|()| list.end());
        read.map_err(|error| {
            let location = Location::at(file, error.line() as u64);
            location.invalid(format!("no list of conversations: {}; {help}", without_place(&error)))
        })?;
    } else {
        for line in lines(text, file, MAX_TEXT_LINE) {
            let (location, line) = line?;
            let recorded: Value = serde_json::from_str(line)
                .map_err(|error| location.invalid(format!("no conversation: {}; {help}", without_place(&error))))?;
            if let Err(reason) = taken.take(&recorded) {
                taken.left_out.in_line(reason, location.line);
            }
        }
    }
    Ok(FilePrompts::new(FileRequests::Texts(taken.texts), taken.left_out))
}

#[derive(Default)]
struct Taken {
    texts: Vec<(String, u32)>,
    left_out: LeftOut,
}

impl Taken {
    fn take(&mut self, recorded: &Value) -> Result<(), &'static str> {
        let lists = ["conversations", "conversation", "messages"].map(|name| recorded[name].as_array());
        let turns = lists.into_iter().flatten().next().ok_or("without turns")?;
        let text = |turn: &Value| ["value", "content"].iter().find_map(|name| Some(turn[*name].as_str()?.to_owned()));
        let is_of = |turn: &Value, speakers: &[&str]| {
            let speaker = turn["from"].as_str().or(turn["role"].as_str());
            speaker.is_some_and(|speaker| speakers.contains(&speaker))
        };
        let mut turns = turns.iter().skip_while(|turn| !is_of(turn, &["human", "user"]));
        let prompt = turns.next().and_then(text).filter(|text| !text.is_empty()).ok_or("without a human turn")?;
        let answer = turns.next().filter(|turn| !is_of(turn, &["human", "user", "system"])).and_then(text);
        let answer = answer.filter(|text| !text.is_empty()).ok_or("without an answer to the first human turn")?;
        self.texts.push((prompt, tokens_of(&answer)));
        Ok(())
    }
}

/// One after the other, because a list may be large.
impl<'de> Visitor<'de> for &mut Taken {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of conversations")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut number = 0;
        while let Some(recorded) = list.next_element::<Value>()? {
            number += 1;
            if number > MAX_REQUESTS as u64 {
                return Err(A::Error::custom(format!("more than {MAX_REQUESTS} conversations")));
            }
            if let Err(reason) = self.take(&recorded) {
                self.left_out.in_list(reason, number);
            }
        }
        Ok(())
    }
}
