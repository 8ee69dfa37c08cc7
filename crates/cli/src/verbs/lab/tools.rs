//! `truetail lab tools`: lists the installed load tools, and how to install the missing ones.

use serde::Serialize;
use truetail_model::workload::LoadModelKind;
use truetail_report::league::{ToolListing, tools_table};
use truetail_report::pretty_json;
use truetail_tools::{SearchPath, Tool};

use crate::args::lab::ToolsArgs;
use crate::error::{ExitCode, Result};
use crate::output;

#[derive(Serialize)]
struct ToolsJson<'a> {
    tools: &'a [ToolJson],
}

#[derive(Serialize)]
struct ToolJson {
    tool: &'static str,
    /// `here` or `missing`.
    state: &'static str,
    version: Option<String>,
    path: Option<String>,
    tested_version: &'static str,
    label_model: LoadModelKind,
    latency_from: &'static str,
    origin: &'static str,
    install: &'static str,
    install_macos: Option<&'static str>,
    message: Option<String>,
}

pub(super) fn tools(args: ToolsArgs) -> Result<ExitCode> {
    let lookup = SearchPath::from_env();
    let lines: Vec<ToolJson> = truetail_tools::all().iter().map(|tool| line(*tool, &lookup)).collect();
    let text = if args.json { pretty_json(&ToolsJson { tools: &lines }) } else { table(&lines) };
    output::print(&text).map(|()| ExitCode::Success)
}

fn line(tool: &dyn Tool, lookup: &SearchPath) -> ToolJson {
    let install = tool.info().install;
    let (state, version, path, message) = match tool.locate(lookup) {
        Ok(found) => ("here", Some(found.version), Some(found.path.display().to_string()), None),
        Err(missing) => ("missing", None, None, Some(missing.to_string())),
    };
    ToolJson {
        tool: tool.name(),
        state,
        version,
        path,
        tested_version: tool.info().tested_version,
        label_model: tool.info().label_model,
        latency_from: tool.info().clock,
        origin: install.origin,
        install: install.debian,
        install_macos: install.macos,
        message,
    }
}

fn table(lines: &[ToolJson]) -> String {
    let lines: Vec<ToolListing<'_>> = lines
        .iter()
        .map(|line| ToolListing {
            tool: line.tool,
            version: line.version.as_deref(),
            model: line.label_model.name(),
            origin: line.origin,
            install: if cfg!(target_os = "macos") { line.install_macos.unwrap_or(line.install) } else { line.install },
        })
        .collect();
    tools_table(&lines, output::stdout_style())
}
