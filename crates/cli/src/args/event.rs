//! Options of commands that a run starts.

use std::str::FromStr;

use clap::Args;
use truetail_model::time::Nanos;

use super::values::length;

/// Limit on the letters of a command.
const LONGEST: usize = 4_096;

/// Options of commands that a run starts.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct EventArgs {
    /// Start this command during the run, and say how many requests it harmed and when p99 was back; repeatable.
    /// Quotes hold words together as in a shell, but no shell runs: variables, pipes and ~ are plain text
    #[arg(long, value_name = "COMMAND", help_heading = "Traces")]
    pub event: Vec<EventCommand>,
    /// Time after the start of the run at which the command of --event is started; repeatable, in the same order
    #[arg(long, value_name = "TIME", value_parser = length, help_heading = "Traces")]
    pub event_at: Vec<Nanos>,
}

/// Value of `--event`: a program and its arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct EventCommand {
    /// As the user wrote it.
    pub text: String,
    /// At least one word.
    pub words: Vec<String>,
}

impl FromStr for EventCommand {
    type Err = String;

    fn from_str(text: &str) -> Result<EventCommand, String> {
        if text.len() > LONGEST {
            return Err(format!("a command may have {LONGEST} bytes, not {}", text.len()));
        }
        let words = shlex::split(text).ok_or_else(|| format!("'{text}' has a quote that does not end"))?;
        match words.first().is_some_and(|program| !program.is_empty()) {
            true => Ok(EventCommand { text: text.trim().to_owned(), words }),
            false => Err("the command is empty; write one such as 'kubectl rollout restart deployment/app'".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell_without_its_expansions() {
        let words = |text: &str| text.parse::<EventCommand>().map(|command| command.words);
        assert_eq!(words("touch 'a b' $HOME").unwrap(), ["touch", "a b", "$HOME"]);
        assert_eq!(words("  kill -9 7 | cat").unwrap(), ["kill", "-9", "7", "|", "cat"]);
        for text in ["", "  ", "''", "a 'b"] {
            assert!(words(text).is_err(), "{text}");
        }
    }
}
