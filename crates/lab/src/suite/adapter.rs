//! Adapter files: how to start a tool, and the places of its figures.

use serde::Deserialize;
use truetail_model::toml_file::{TomlError, TomlFile};
use truetail_tools::{Tool, by_name};

use super::adapted::{AdaptedCommand, WithOptions};
use super::figures::Figures;
use super::passage::Subject;
use crate::command_template::CommandTemplate;

/// An adapter as its file has it.
#[derive(Clone, PartialEq, Eq, Deserialize, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Adapter {
    /// Name of the tool in the report.
    name: Option<String>,
    /// A tool of `truetail lab tools`.
    tool: Option<String>,
    /// The command line, if it is no such tool, with `{url}`, `{rate}` and others.
    #[serde(default)]
    command: Vec<String>,
    /// Options after those that the laboratory gives the tool.
    #[serde(default)]
    options: Vec<String>,
    /// Options that make the tool use HTTP/2.
    #[serde(default)]
    http2_options: Vec<String>,
    /// The command line for HTTP/2.
    #[serde(default)]
    http2_command: Vec<String>,
    /// The mode of the tool in `truetail lab tools` that measures streams.
    stream_tool: Option<String>,
    /// Places of the figures in the output of `command`.
    figures: Option<Figures>,
}

impl Adapter {
    /// Returns the adapter of a tool of `truetail lab tools`.
    pub fn of_tool(name: &str) -> Adapter {
        let is_truetail = name == "truetail";
        let http2_options = if is_truetail { vec!["--http2".to_owned()] } else { Vec::new() };
        let stream_tool = is_truetail.then(|| "truetail-llm".to_owned());
        Adapter { http2_options, stream_tool, tool: Some(name.to_owned()), ..Adapter::of_command(Vec::new()) }
    }

    /// Returns the adapter of a command whose output a parser of truetail reads.
    pub fn of_command(command: Vec<String>) -> Adapter {
        Adapter {
            name: None,
            tool: None,
            command,
            options: Vec::new(),
            http2_options: Vec::new(),
            http2_command: Vec::new(),
            stream_tool: None,
            figures: None,
        }
    }

    /// Reads a file with this name.
    ///
    /// # Errors
    /// The first problem, with its place.
    pub fn parse(text: &str, file: &str) -> Result<Adapter, TomlError> {
        let file = TomlFile { name: file, text };
        let adapter: Adapter = toml::from_str(text)
            .map_err(|error| file.error(error.span().map_or(0, |span| span.start), error.message()))?;
        adapter.problem().map_or(Ok(adapter), |problem| Err(file.error(0, problem)))
    }

    fn problem(&self) -> Option<String> {
        match (&self.tool, self.command.is_empty()) {
            (None, true) => Some("it names neither a 'tool' nor a 'command'".to_owned()),
            (Some(_), false) => Some("it names both a 'tool' and a 'command'; leave one out".to_owned()),
            (Some(_), true) if self.figures.is_some() => {
                Some("[figures] belongs to a 'command'; truetail reads the output of a 'tool' itself".to_owned())
            }
            (None, false) if !self.options.is_empty() => {
                Some("'options' belongs to a 'tool'; write the options of a 'command' in it".to_owned())
            }
            _ => self.figures.as_ref().and_then(Figures::problem),
        }
    }

    /// Returns the tool that goes through the suite.
    ///
    /// # Errors
    /// If there is no tool of a name, or a command does not name the server.
    pub fn subject(&self) -> Result<Subject, String> {
        let known =
            |name: &String| by_name(name).ok_or_else(|| format!("there is no tool '{name}'; see truetail lab tools"));
        let tool = self.tool.as_ref().map(known).transpose()?;
        let streams = self.stream_tool.as_ref().map(known).transpose()?;
        let plain: Box<dyn Tool> = match tool {
            Some(tool) => Box::new(WithOptions::new(tool, &self.options)),
            None => self.command(&self.command)?,
        };
        let http2: Option<Box<dyn Tool>> = match (tool, &self.http2_options[..], &self.http2_command[..]) {
            (_, [], []) => None,
            (Some(tool), options, []) => Some(Box::new(WithOptions::new(tool, &[&self.options[..], options].concat()))),
            (None, options, []) => Some(self.command(&[&self.command[..], options].concat())?),
            (_, _, command) => Some(self.command(command)?),
        };
        let program = self.command.first().map(|program| program.rsplit('/').next().unwrap_or(program).to_owned());
        let name = self.name.clone().or_else(|| self.tool.clone()).or(program).unwrap_or_default();
        Ok(Subject { name, plain, http2, streams })
    }

    fn command(&self, argv: &[String]) -> Result<Box<dyn Tool>, String> {
        let template = CommandTemplate::new(argv.to_vec());
        if !template.names_the_server() {
            return Err("a command has no {url}, so it would not reach the server; write {url} where the URL belongs"
                .to_owned());
        }
        Ok(match &self.figures {
            Some(figures) => Box::new(AdaptedCommand::new(template, figures.clone())),
            None => Box::new(template),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_names_a_tool_or_a_command() {
        let parse = |text: &str| {
            let adapter = Adapter::parse(text, "a.toml").map_err(|error| error.to_string())?;
            adapter.subject().map_err(|problem| format!("a.toml: {problem}"))
        };
        let tool = parse("tool = 'ab'").unwrap();
        assert_eq!((tool.name.as_str(), tool.http2.is_none(), tool.streams.is_none()), ("ab", true, true));
        let own = parse("command = ['/opt/gun', '{url}']\nhttp2-options = ['-2']\n[figures]\np99 = '/p99'").unwrap();
        assert!(own.name == "gun" && own.http2.is_some());
        for (text, part) in [
            ("", "neither"),
            ("tool = 'ab'\ncommand = ['ab', '{url}']", "both"),
            ("tool = 'gun'", "lab tools"),
            ("tool = 'ab'\n[figures]\np99 = '/p99'", "belongs to a 'command'"),
            ("command = ['gun', '{url}']\noptions = ['-x']", "belongs to a 'tool'"),
            ("command = ['gun']", "{url}"),
            ("command = ['gun', '{url}']\n[figures]\np99 = 'p99'", "no place"),
            ("command = ['gun', '{url}']\n\nspeed = 3", "a.toml:3:1"),
            ("tool = ", "a.toml:1:"),
        ] {
            let error = parse(text).err().unwrap_or_else(|| panic!("{text}"));
            assert!(error.starts_with("a.toml:") && error.contains(part) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
