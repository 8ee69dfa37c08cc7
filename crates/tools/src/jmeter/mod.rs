//! Apache JMeter: threads in a closed loop, or held to a Poisson schedule by its Precise Throughput Timer.

mod parse;
mod plan;

use std::path::Path;

use truetail_model::workload::LoadModelKind;

use crate::jars::{find_jars, java};
use crate::{CommandError, Found, Install, Invocation, Load, Lookup, Missing, Output, ParseError, Report, Tool};

/// JMeter with `users` threads, each in a closed loop.
pub struct ThreadGroup;

/// JMeter with `connections` threads that take their turns from a Poisson schedule at `rate`.
pub struct PreciseThroughput;

pub(super) const TESTED: &str = "5.6.3";
pub(super) const SAMPLES: &str = "samples.csv";

const INSTALL: Install =
    Install { origin: "Maven Central", debian: "tools/install.sh jmeter", macos: Some("tools/install.sh jmeter") };

impl Tool for ThreadGroup {
    fn name(&self) -> &'static str {
        "jmeter-thread-group"
    }

    fn label_model(&self) -> LoadModelKind {
        LoadModelKind::Closed
    }

    fn says_of_its_clock(&self) -> &'static str {
        "from the start of a sample, connecting included, in whole milliseconds; failures count with the time they took"
    }

    fn install(&self) -> Install {
        INSTALL
    }

    fn tested_version(&self) -> &'static str {
        TESTED
    }

    fn find(&self, lookup: &Lookup) -> Result<Found, Missing> {
        find(lookup)
    }

    fn command(&self, found: &Found, load: &Load, _folder: &Path) -> Result<Invocation, CommandError> {
        Ok(invocation(found, plan::thread_group(load)))
    }

    fn parse(&self, output: &Output, _load: &Load) -> Result<Report, ParseError> {
        parse::parse(self.name(), output)
    }
}

impl Tool for PreciseThroughput {
    fn name(&self) -> &'static str {
        "jmeter-precise-throughput"
    }

    fn label_model(&self) -> LoadModelKind {
        LoadModelKind::Open
    }

    fn says_of_its_clock(&self) -> &'static str {
        "from the start of a sample, after the timer and without the wait for a free thread, connecting included, in \
         whole milliseconds; failures count with the time they took; what was due before its threads were up is sent at \
         once"
    }

    fn install(&self) -> Install {
        INSTALL
    }

    fn tested_version(&self) -> &'static str {
        TESTED
    }

    fn find(&self, lookup: &Lookup) -> Result<Found, Missing> {
        find(lookup)
    }

    fn command(&self, found: &Found, load: &Load, _folder: &Path) -> Result<Invocation, CommandError> {
        Ok(invocation(found, plan::precise_throughput(load)))
    }

    fn parse(&self, output: &Output, _load: &Load) -> Result<Report, ParseError> {
        parse::parse(self.name(), output)
    }
}

fn find(lookup: &Lookup) -> Result<Found, Missing> {
    find_jars(lookup, "jmeter", "lib/ext", "ApacheJMeter_core", &["bin/ApacheJMeter.jar", "bin/saveservice.properties"])
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
