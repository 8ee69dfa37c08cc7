//! Several tools, one after the other.

use std::io;
use std::path::{Path, PathBuf};

use truetail_analysis::league::{LeagueRow, ObservationWindow, ToolState, ToolUnderTest, rank, row, window};
use truetail_model::time::Nanos;
use truetail_tools::{Found, Lookup, Missing, Tool};

use crate::setting::USERS;
use crate::trial::{check_own, perform};
use crate::{Ran, Reading, Setting, Stop};

/// Starting a tool and tidying up, in an estimate of the time left.
const OVERHEAD: Nanos = Nanos::from_secs(3);

/// What to run, and where results are kept.
#[derive(Clone, Debug)]
pub struct Survey<'a> {
    /// What every tool is asked to do.
    pub setting: &'a Setting,
    /// The folder of the scenario: a folder a tool in it.
    pub folder: &'a Path,
    /// Run even those whose results are there.
    pub force: bool,
}

/// One tool of a survey.
pub struct Entry {
    /// The tool.
    pub tool: &'static dyn Tool,
    /// Whether it is here.
    pub found: Result<Found, Missing>,
    /// What it left; `None` where it was never run here.
    pub reading: Option<Reading>,
}

/// How a survey stands.
#[derive(Debug)]
pub enum Event<'a> {
    /// A tool is about to run.
    Starts {
        /// Its name.
        tool: &'static str,
        /// Its version.
        version: &'a str,
        /// Which of those that are to run, from 1.
        number: usize,
        /// How many are to run.
        of: usize,
        /// About how long until all are done.
        left: Nanos,
    },
    /// A tool has run.
    Ended {
        /// Its name.
        tool: &'static str,
        /// What it left; `None` where the user ended it.
        reading: Option<&'a Reading>,
    },
    /// The result of an earlier run is kept.
    Kept {
        /// Its name.
        tool: &'static str,
        /// What it had left.
        reading: &'a Reading,
    },
    /// A tool is not here.
    Missing {
        /// Its name.
        tool: &'static str,
        /// What was looked for.
        missing: &'a Missing,
        /// The line that installs it.
        install: &'static str,
    },
}

impl Survey<'_> {
    /// The folder of a tool.
    pub fn folder_of(&self, tool: &dyn Tool) -> PathBuf {
        self.folder.join(tool.name())
    }

    /// Runs `tools` in turn, each against a server of its own, and reads what they left. Those whose results are there,
    /// of the same scenario and version, are read only. `stop` ends the one that runs, and begins no other.
    ///
    /// # Errors
    /// Before any is run, where the folder of one of them holds what is somebody else's: see [`check_own`]. When no server
    /// can be had or a folder cannot be written.
    pub fn run(
        &self,
        tools: &[&'static dyn Tool],
        lookup: &Lookup,
        stop: &Stop,
        tell: &mut dyn FnMut(Event<'_>),
    ) -> io::Result<Vec<Entry>> {
        let mut entries: Vec<Entry> = tools.iter().map(|tool| self.entry(*tool, lookup)).collect();
        let due: Vec<usize> = (0..entries.len()).filter(|i| is_due(&entries[*i])).collect();
        for index in &due {
            check_own(&self.folder_of(entries[*index].tool))?;
        }
        for entry in &entries {
            self.tell_of(entry, tell);
        }
        for (number, index) in due.iter().enumerate() {
            let entry = &mut entries[*index];
            let Ok(found) = &entry.found else { continue };
            let left = Nanos((due.len() - number) as u64 * (self.setting.duration + OVERHEAD).0);
            tell(Event::Starts {
                tool: entry.tool.name(),
                version: &found.version,
                number: number + 1,
                of: due.len(),
                left,
            });
            let ran = perform(entry.tool, found, self.setting, &self.folder_of(entry.tool), stop)?;
            entry.reading = self.read(entry.tool)?;
            let reading = entry.reading.as_ref().filter(|_| !ran.was_interrupted());
            tell(Event::Ended { tool: entry.tool.name(), reading });
            if stop.wanted() {
                break;
            }
        }
        Ok(entries)
    }

    /// The tools among `tools` that have results here although nobody asked for them now.
    pub fn earlier(&self, tools: &[&'static dyn Tool], lookup: &Lookup) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for tool in tools {
            if self.kept(*tool, None).is_some() {
                entries.push(Entry { tool: *tool, found: tool.find(lookup), reading: self.read(*tool)? });
            }
        }
        Ok(entries)
    }

    fn entry(&self, tool: &'static dyn Tool, lookup: &Lookup) -> Entry {
        let found = tool.find(lookup);
        let kept = self.kept(tool, found.as_ref().ok()).filter(|_| !self.force || found.is_err());
        let reading = kept.and_then(|_| self.read(tool).ok().flatten());
        Entry { tool, found, reading }
    }

    fn tell_of(&self, entry: &Entry, tell: &mut dyn FnMut(Event<'_>)) {
        match (&entry.reading, &entry.found) {
            (Some(reading), _) => tell(Event::Kept { tool: entry.tool.name(), reading }),
            (None, Err(missing)) => {
                tell(Event::Missing { tool: entry.tool.name(), missing, install: entry.tool.about().install.debian });
            }
            (None, Ok(_)) => {}
        }
    }

    /// An earlier run of the same scenario, and of the same version where that is known.
    fn kept(&self, tool: &dyn Tool, found: Option<&Found>) -> Option<Ran> {
        let ran = Ran::read(&self.folder_of(tool))?;
        let same_version = found.is_none_or(|found| found.version == ran.version);
        (ran.scenario == self.setting.scenario.to_toml() && same_version).then_some(ran)
    }

    fn read(&self, tool: &dyn Tool) -> io::Result<Option<Reading>> {
        let folder = self.folder_of(tool);
        let reading = Reading::of(tool, &folder);
        if let Some(reading) = &reading {
            reading.write_report(&folder)?;
        }
        Ok(reading)
    }

    /// The table, best first.
    pub fn league(&self, entries: &[Entry]) -> Vec<LeagueRow> {
        let window = self.window();
        let mut rows: Vec<LeagueRow> = entries.iter().filter_map(|entry| self.row(entry, &window)).collect();
        rank(&mut rows);
        rows
    }

    /// Where in the scenario the model of a tool shows.
    pub fn window(&self) -> ObservationWindow {
        window(&self.setting.scenario, USERS)
    }

    /// The row of a tool; `None` where it is here and was not run, because the user ended it all.
    fn row(&self, entry: &Entry, window: &ObservationWindow) -> Option<LeagueRow> {
        if let Some(reading) = &entry.reading {
            return Some(reading.row(entry.tool, self.setting, window));
        }
        let missing = entry.found.as_ref().err()?;
        let message = format!("{missing}; {}", entry.tool.about().install.debian);
        let subject = ToolUnderTest {
            tool: entry.tool.name(),
            version: None,
            label_model: entry.tool.about().label_model,
            state: ToolState::Missing,
            message: Some(&message),
            server_view: None,
            report: None,
            cpu_seconds: None,
            peak_memory_bytes: None,
        };
        Some(row(&subject, &self.setting.truth, self.setting.rate, window))
    }
}

fn is_due(entry: &Entry) -> bool {
    entry.reading.is_none() && entry.found.is_ok()
}
