//! Apache JMeter: threads in a closed loop, or held to a Poisson schedule by its Precise Throughput Timer.

mod parse;
mod plan;

use std::path::Path;

use truetail_model::workload::LoadModelKind;

use crate::jars::{find_jars, java};
use crate::{CommandError, Found, Install, Invocation, Load, Lookup, Missing, Output, ParseError, Report, Tool};

/// JMeter, in one of two ways.
pub enum JMeter {
    /// `users` threads, each in a closed loop.
    ThreadGroup,
    /// `connections` threads that take their turns from a Poisson schedule at `rate`.
    PreciseThroughput,
}

pub(super) const TESTED: &str = "5.6.3";
pub(super) const SAMPLES: &str = "samples.csv";

impl Tool for JMeter {
    fn name(&self) -> &'static str {
        match self {
            JMeter::ThreadGroup => "jmeter-thread-group",
            JMeter::PreciseThroughput => "jmeter-precise-throughput",
        }
    }

    fn label_model(&self) -> LoadModelKind {
        match self {
            JMeter::ThreadGroup => LoadModelKind::Closed,
            JMeter::PreciseThroughput => LoadModelKind::Open,
        }
    }

    fn says_of_its_clock(&self) -> &'static str {
        match self {
            JMeter::ThreadGroup => {
                "from the start of a sample, connecting included, in whole milliseconds; failures count with the time \
                 they took"
            }
            JMeter::PreciseThroughput => {
                "from the start of a sample, after the timer and without the wait for a free thread, connecting included, \
                 in whole milliseconds; failures count with the time they took; what was due before its threads were up \
                 is sent at once"
            }
        }
    }

    fn install(&self) -> Install {
        let debian = "tools/install.sh jmeter";
        Install { origin: "Maven Central", debian, macos: Some(debian) }
    }

    fn tested_version(&self) -> &'static str {
        TESTED
    }

    fn find(&self, lookup: &Lookup) -> Result<Found, Missing> {
        let parts = ["bin/ApacheJMeter.jar", "bin/saveservice.properties"];
        find_jars(lookup, "jmeter", "lib/ext", "ApacheJMeter_core", &parts)
    }

    fn command(&self, found: &Found, load: &Load, _folder: &Path) -> Result<Invocation, CommandError> {
        let plan = match self {
            JMeter::ThreadGroup => plan::thread_group(load),
            JMeter::PreciseThroughput => plan::precise_throughput(load),
        };
        Ok(invocation(found, plan))
    }

    fn parse(&self, output: &Output, _load: &Load) -> Result<Report, ParseError> {
        parse::parse(self.name(), output)
    }
}

/// The heap and the collector are those of JMeter's own start script. Whether a timestamp is a sample's start or its end
/// is a setting that the file does not tell, so it is set. Port 0 keeps it from listening for a shutdown by UDP.
fn invocation(found: &Found, plan: String) -> Invocation {
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
