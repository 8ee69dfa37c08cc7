//! Recorded conversations with a language model as a flow: a session asks what a user asked, turn by turn, and sends
//! back what the model answers now.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserializer;
use serde::de::{SeqAccess, Visitor};
use serde_json::{Value, json};

use crate::ImportError;
use crate::ways::{LoadFiles, counted};
use crate::whole::file::place_of;

/// Limit on the turns of a conversation that are taken.
pub const MAX_TURNS: usize = 64;
/// Limit on the bytes of the rows.
const MAX_ROWS: usize = 256 << 20;
const FLOW: &str = "conversations.hurl";
const ROWS: &str = "conversations.jsonl";

/// Options of a flow that is made from conversations.
#[derive(Clone, Copy, Debug)]
pub struct ConversationOptions<'a> {
    /// Limit on the turns of each, at most [`MAX_TURNS`]. Longer ones end there.
    pub turns: usize,
    /// Think time before each turn but the first, as a flow has it: `5s` or `exponential 5s`.
    pub think: Option<&'a str>,
}

/// Makes a flow with its rows and a truetail.toml from conversations: ShareGPT, or messages of OpenAI's API, also in
/// requests of its batches; as a JSON list, or one object per line.
///
/// # Errors
/// [`ImportError`], if it is not JSON, has no conversation that can be sent, or makes rows of more than 256 MiB.
pub fn load_of_conversations(
    bytes: &[u8],
    name: &str,
    options: ConversationOptions<'_>,
) -> Result<LoadFiles, ImportError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut made = Made { most: options.turns.clamp(1, MAX_TURNS), ..Made::default() };
    let read = each(bytes, &mut made);
    read.map_err(|(at, error)| {
        let form = "write ShareGPT's \"conversations\" or \"messages\", as a JSON list or one object per line";
        ImportError::content(place_of(bytes, at), format!("these are no conversations: {error}; {form}"))
    })?;
    let wrong = |what: String| ImportError::content(place_of(bytes, 0), what);
    if made.rows.is_empty() {
        let causes = made.left_out().unwrap_or_else(|| "it has none".to_owned());
        return Err(wrong(format!("no conversation of it can be sent: {causes}")));
    }
    made.files(name, options.think).map_err(wrong)
}

/// Takes each conversation of a list, or of an object in each line. An error has its place in `bytes`.
fn each(bytes: &[u8], made: &mut Made) -> Result<(), (usize, serde_json::Error)> {
    if bytes.trim_ascii_start().starts_with(b"[") {
        let mut list = serde_json::Deserializer::from_slice(bytes);
        return list.deserialize_seq(made).and_then(|()| list.end()).map_err(|error| (0, error));
    }
    let mut stream = serde_json::Deserializer::from_slice(bytes).into_iter();
    while let Some(recorded) = stream.next() {
        made.take(recorded.map_err(|error| (stream.byte_offset(), error))?);
    }
    Ok(())
}

/// One after the other, because a list may be large.
impl<'de> Visitor<'de> for &mut Made {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of conversations")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(recorded) = list.next_element()? {
            self.take(recorded);
        }
        Ok(())
    }
}

/// Who speaks.
enum Speaker {
    User,
    System,
    Model,
}

impl Speaker {
    fn of(role: &str) -> Option<Speaker> {
        match role {
            "user" | "human" => Some(Speaker::User),
            "system" | "developer" => Some(Speaker::System),
            "assistant" | "gpt" | "chatgpt" | "bard" | "bing" | "model" => Some(Speaker::Model),
            _ => None,
        }
    }
}

#[derive(Default)]
struct Made {
    most: usize,
    /// By conversation: the messages of each turn.
    rows: Vec<Vec<String>>,
    cut: u64,
    left_out: BTreeMap<&'static str, u64>,
}

impl Made {
    fn take(&mut self, recorded: Value) {
        let lists = [&recorded, &recorded["body"]].map(|of| ["conversations", "messages"].map(|name| &of[name]));
        let messages = lists.into_iter().flatten().filter_map(Value::as_array).find(|list| !list.is_empty());
        match messages.map_or(Err("without messages"), |messages| turns(messages)) {
            Ok(mut turns) => {
                self.cut += u64::from(turns.len() > self.most);
                turns.truncate(self.most);
                self.rows.push(turns);
            }
            Err(cause) => *self.left_out.entry(cause).or_default() += 1,
        }
    }

    fn left_out(&self) -> Option<String> {
        let causes: Vec<String> = self.left_out.iter().map(|(cause, count)| format!("{count} {cause}")).collect();
        (!causes.is_empty()).then(|| causes.join(", "))
    }

    fn files(self, name: &str, think: Option<&str>) -> Result<LoadFiles, String> {
        let longest = self.rows.iter().map(Vec::len).max().unwrap_or(1);
        let all: usize = self.rows.iter().map(Vec::len).sum();
        let mean = all as f64 / self.rows.len() as f64;
        let mut notes = vec![format!(
            "{} of {mean:.1} turns on average, {longest} at most; recorded answers are left out: each turn sends what the \
             model said in this run",
            counted(self.rows.len() as u64, "conversation")
        )];
        match self.cut {
            0 => {}
            1 => notes.push("1 conversation was longer and was cut there".to_owned()),
            cut => notes.push(format!("{cut} conversations were longer and were cut there")),
        }
        notes.extend(self.left_out().map(|causes| format!("left out: {causes}")));
        notes.push("set host, model and max_tokens in truetail.toml, and choose a rate".to_owned());
        let mut rows = String::new();
        for turns in &self.rows {
            rows += &(row(turns, longest) + "\n");
            if rows.len() > MAX_ROWS {
                let limit = MAX_ROWS >> 20;
                return Err(format!(
                    "its rows take more than {limit} MiB, the limit; take fewer of them, or fewer --turns"
                ));
            }
        }
        let files = vec![
            (FLOW.to_owned(), flow(longest, think)),
            (ROWS.to_owned(), rows),
            ("truetail.toml".to_owned(), toml(name)),
        ];
        Ok(LoadFiles { files, notes })
    }
}

/// Returns the messages that each turn adds, as JSON without the brackets of a list: all that came before the model
/// answered. An answer belongs to a turn only if it came before the first question, because the model gives the others.
fn turns(messages: &[Value]) -> Result<Vec<String>, &'static str> {
    let mut turns: Vec<Vec<Value>> = Vec::new();
    let mut before: Vec<Value> = Vec::new();
    let mut is_answered = true;
    for message in messages {
        let text = |name: &str| message[name].as_str();
        let speaker = text("role").or(text("from")).and_then(Speaker::of).ok_or("with a tool or an unknown role")?;
        if ["tool_calls", "function_call"].iter().any(|name| !message[name].is_null()) {
            return Err("with a tool or an unknown role");
        }
        let content = if message["content"].is_null() { &message["value"] } else { &message["content"] };
        match content {
            Value::String(text) if !text.is_empty() => {}
            Value::Array(parts) if !parts.is_empty() => {}
            _ => return Err("with an empty message"),
        }
        let of = |role: &str| json!({"role": role, "content": content});
        match speaker {
            Speaker::Model if turns.is_empty() => before.push(of("assistant")),
            Speaker::Model => is_answered = true,
            Speaker::System if is_answered => before.push(of("system")),
            Speaker::User if is_answered => {
                before.push(of("user"));
                turns.push(std::mem::take(&mut before));
                is_answered = false;
            }
            // What follows a question before its answer belongs to the same turn.
            Speaker::System => turns.last_mut().expect("an unanswered turn").push(of("system")),
            Speaker::User => turns.last_mut().expect("an unanswered turn").push(of("user")),
        }
    }
    if turns.is_empty() {
        return Err("without a message of a user");
    }
    let text = |turn: &Vec<Value>| turn.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
    Ok(turns.iter().map(text).collect())
}

/// Returns the row of a conversation. Turns that it does not have are empty.
fn row(turns: &[String], longest: usize) -> String {
    let pair = |nth: usize| {
        let turn = turns.get(nth).map_or("", String::as_str);
        format!("\"turn_{}\": {}", nth + 1, Value::from(turn))
    };
    format!("{{{}}}", (0..longest).map(pair).collect::<Vec<_>>().join(", "))
}

fn flow(turns: usize, think: Option<&str>) -> String {
    let mut out =
        "# Conversations: each turn sends what the model said in this session. It has no step for a turn that its row \
                   has no text for.\n"
            .to_owned();
    let mut messages = String::new();
    for turn in 1..=turns {
        out.push_str(&format!("\n# truetail: name turn {turn}\n# truetail: stream\n"));
        if turn > 1 {
            messages.push_str(&format!(
                ",\n    {{\"role\": \"assistant\", \"content\": \"{{{{said_{}}}}}\"}},\n    ",
                turn - 1
            ));
            out.push_str(&format!("# truetail: while turn_{turn}\n"));
            if let Some(think) = think {
                out.push_str(&format!("# truetail: delay {think}\n"));
            }
        }
        messages.push_str(&format!("{{{{turn_{turn}}}}}"));
        out.push_str(&format!(
            "POST {{{{host}}}}/v1/chat/completions\n\
             {{\"model\": \"{{{{model}}}}\", \"max_tokens\": {{{{max_tokens}}}}, \"stream\": true, \
             \"stream_options\": {{\"include_usage\": true}}, \"messages\": [\n    {messages}]}}\nHTTP 200\n"
        ));
        if turn < turns {
            out.push_str(&format!("[Captures]\nsaid_{turn}: deltas\n"));
        }
    }
    out
}

fn toml(name: &str) -> String {
    let name = super::shown(name);
    format!(
        "# From {name}. In this folder: truetail run conversations -r 1 -d 60s, with a rate of sessions.\n\
         [run.conversations]\nflow = \"{FLOW}\"\ndata-from = \"{ROWS}\"\nllm = \"openai-chat\"\n\
         variable = [\"host=http://127.0.0.1:8000\", \"model=m\", \"max_tokens=256\"]\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, turns: usize) -> Result<LoadFiles, String> {
        let options = ConversationOptions { turns, think: Some("exponential 5s") };
        load_of_conversations(text.as_bytes(), "a.json", options).map_err(|error| error.to_string())
    }

    fn file<'a>(load: &'a LoadFiles, name: &str) -> &'a str {
        &load.files.iter().find(|(known, _)| known == name).unwrap().1
    }

    #[test]
    fn each_form_gives_the_same_rows() {
        let share = r#"[{"id": "x", "conversations": [{"from": "human", "value": "a \"b\""}, {"from": "gpt", "value": "c"},
            {"from": "human", "value": "d"}]}, {"conversations": [{"from": "human", "value": "e"}]}]"#;
        let messages = r#"{"messages": [{"role": "user", "content": "a \"b\""}, {"role": "assistant", "content": "c"}, {"role": "user", "content": "d"}]}
            {"messages": [{"role": "user", "content": "e"}, {"role": "assistant", "content": "f"}]}"#;
        let batch =
            messages.replace("{\"messages\"", "{\"custom_id\": \"1\", \"body\": {\"messages\"").replace("]}", "]}}");
        let rows = r#"{"turn_1": "{\"content\":\"a \\\"b\\\"\",\"role\":\"user\"}", "turn_2": "{\"content\":\"d\",\"role\":\"user\"}"}
{"turn_1": "{\"content\":\"e\",\"role\":\"user\"}", "turn_2": ""}
"#;
        for text in [share, messages, &batch] {
            let load = of(text, 8).unwrap();
            assert_eq!(file(&load, ROWS), rows);
            assert!(
                load.notes[0].starts_with("2 conversations of 1.5 turns on average, 2 at most"),
                "{:?}",
                load.notes
            );
            assert_eq!(load.notes.len(), 2);
        }
    }

    #[test]
    fn a_turn_has_all_that_comes_before_its_answer() {
        let text = r#"{"messages": [{"role": "system", "content": "s"}, {"role": "assistant", "content": "hello"}, {"role": "user", "content": "a"},
            {"role": "system", "content": "t"}, {"role": "user", "from": "web", "content": [{"type": "text", "text": "b"}]},
            {"role": "assistant", "content": "c"}, {"role": "user", "content": "d"}], "conversations": []}"#;
        let load = of(text, 8).unwrap();
        let row: BTreeMap<String, String> = serde_json::from_str(file(&load, ROWS).trim()).unwrap();
        let roles = |turn: &str| {
            let list: Vec<Value> = serde_json::from_str(&format!("[{}]", row[turn])).unwrap();
            list.iter().map(|message| message["role"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(roles("turn_1"), ["system", "assistant", "user", "system", "user"]);
        assert_eq!(roles("turn_2"), ["user"]);
    }

    #[test]
    fn what_cannot_be_sent_is_counted_by_cause() {
        let text = r#"{"messages": [{"role": "user", "content": "a"}, {"role": "tool", "content": "b"}]}
            {"messages": [{"role": "user", "content": ""}]}
            {"messages": [{"role": "assistant", "content": "b"}]}
            {"prompt": "x"}
            {"messages": [{"role": "assistant", "content": null, "tool_calls": [{}]}]}
            {"messages": [{"from": "human"}, 3]}
            {"body": "text", "messages": "text"}
            {"messages": [{"content": "a"}]}
            {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]}"#;
        let load = of(text, 1).unwrap();
        assert_eq!(load.notes[1], "1 conversation was longer and was cut there");
        assert_eq!(
            load.notes[2],
            "left out: 3 with a tool or an unknown role, 2 with an empty message, 1 without a message of a user, 2 without \
             messages"
        );
        assert!(!file(&load, FLOW).contains("turn_2"));
        for (text, wanted) in [
            ("{", "line 1: these are no conversations"),
            ("[3, {]", "line 1: these are no conversations"),
            ("[3]", "no conversation of it can be sent: 1 without messages"),
            ("[]", "no conversation of it can be sent: it has none"),
            ("{\"prompt\": 3}", "no conversation of it can be sent: 1 without messages"),
        ] {
            let error = of(text, 8).unwrap_err();
            assert!(error.contains(wanted) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
