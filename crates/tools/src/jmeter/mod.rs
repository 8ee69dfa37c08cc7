//! Apache JMeter: threads in a closed loop, or held to a Poisson schedule by its Precise Throughput Timer.

mod parse;
mod plan;

use std::path::Path;

use truetail_model::workload::LoadModelKind;

use self::parse::{SAMPLES, TESTED};
use crate::jars::{java, locate_jars};
use crate::{
    CommandError, InstallHint, InstalledTool, Invocation, LoadSpec, ParseError, SearchPath, Tool, ToolInfo,
    ToolNotFound, ToolOutput, ToolReport,
};

/// JMeter in one of two modes.
pub enum JMeter {
    /// `users` threads, each in a closed loop.
    ThreadGroup,
    /// `connections` threads that start their requests on a Poisson schedule at `rate`.
    PreciseThroughput,
}

const THREAD_GROUP: ToolInfo = ToolInfo {
    name: "jmeter-thread-group",
    label_model: LoadModelKind::Closed,
    clock: "from the start of a sample, connecting included, in whole milliseconds; failures count with the time \
            until they failed",
    install: INSTALL,
    tested_version: TESTED,
};

const PRECISE_THROUGHPUT: ToolInfo = ToolInfo {
    name: "jmeter-precise-throughput",
    label_model: LoadModelKind::Open,
    clock: "from the start of a sample, after the timer and the wait for a free thread, connecting included, in \
            whole milliseconds; failures count with the time until they failed; requests that were due before its \
            threads were up are sent at once",
    install: INSTALL,
    tested_version: TESTED,
};

const INSTALL: InstallHint = InstallHint::anywhere("Maven Central", "tools/install.sh jmeter");

impl Tool for JMeter {
    fn info(&self) -> &ToolInfo {
        match self {
            JMeter::ThreadGroup => &THREAD_GROUP,
            JMeter::PreciseThroughput => &PRECISE_THROUGHPUT,
        }
    }

    fn locate(&self, search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
        let parts = ["bin/ApacheJMeter.jar", "bin/saveservice.properties"];
        locate_jars(search_path, "jmeter", "lib/ext", "ApacheJMeter_core", &parts)
    }

    fn command(&self, found: &InstalledTool, load: &LoadSpec, _folder: &Path) -> Result<Invocation, CommandError> {
        let plan = match self {
            JMeter::ThreadGroup => plan::thread_group(load),
            JMeter::PreciseThroughput => plan::precise_throughput(load),
        };
        Ok(invocation(found, plan))
    }

    fn parse(&self, output: &ToolOutput, _load: &LoadSpec) -> Result<ToolReport, ParseError> {
        parse::parse(self.name(), output)
    }
}

/// Heap and garbage collector are as in JMeter's start script. The timestamp is set to a sample's start, because the
/// file does not distinguish start from end. Port 0 prevents JMeter from listening for shutdown messages by UDP.
fn invocation(found: &InstalledTool, plan: String) -> Invocation {
    let java = java("-Xms1g -Xmx1g -XX:+UseG1GC -XX:MaxGCPauseMillis=100 -jar");
    let jar = found.path.join("bin/ApacheJMeter.jar").display().to_string();
    let files = "-n -t plan.jmx -l samples.csv -j jmeter.log";
    let settings = "-Jsampleresult.timestamp.start=true -Jjmeter.save.saveservice.output_format=csv \
                    -Jjmeter.save.saveservice.timestamp_format=ms -Jjmeterengine.nongui.port=0";
    Invocation {
        inputs: vec![("plan.jmx".to_owned(), plan)],
        outputs: vec![(SAMPLES, SAMPLES.to_owned())],
        ..java.arg(jar).words(files).words(settings)
    }
}
