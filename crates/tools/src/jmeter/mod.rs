//! Apache JMeter: threads in a closed loop, or held to a Poisson schedule by its Precise Throughput Timer.

mod parse;
mod plan;

use truetail_model::workload::LoadModelKind;

use self::parse::{SAMPLES, TESTED};
use crate::jars::{java, locate_jars};
use crate::known_tool::KnownTool;
use crate::{InstallHint, InstalledTool, Invocation, SearchPath, ToolInfo, ToolNotFound};

const CLOSED: &str = "jmeter-thread-group";
const OPEN: &str = "jmeter-precise-throughput";
const INSTALL: InstallHint = InstallHint::anywhere("Maven Central", "tools/install.sh jmeter");

/// `users` threads, each in a closed loop.
pub(crate) static THREAD_GROUP: KnownTool = KnownTool::new(
    ToolInfo {
        name: CLOSED,
        label_model: LoadModelKind::Closed,
        clock: "from the start of a sample, connecting included, in whole milliseconds; failures count with the time \
                until they failed",
        install: INSTALL,
        tested_version: TESTED,
    },
    locate,
    |found, load, _| Ok(invocation(found, plan::thread_group(load))),
    |output, _| parse::parse(CLOSED, output),
);

/// `connections` threads that start their requests on a Poisson schedule at `rate`.
pub(crate) static PRECISE_THROUGHPUT: KnownTool = KnownTool::new(
    ToolInfo {
        name: OPEN,
        label_model: LoadModelKind::Open,
        clock: "from the start of a sample, after the timer and the wait for a free thread, connecting included, in \
                whole milliseconds; failures count with the time until they failed; requests that were due before its \
                threads were up are sent at once",
        install: INSTALL,
        tested_version: TESTED,
    },
    locate,
    |found, load, _| Ok(invocation(found, plan::precise_throughput(load))),
    |output, _| parse::parse(OPEN, output),
);

fn locate(search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
    let parts = ["bin/ApacheJMeter.jar", "bin/saveservice.properties"];
    locate_jars(search_path, "jmeter", "lib/ext", "ApacheJMeter_core", &parts)
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
