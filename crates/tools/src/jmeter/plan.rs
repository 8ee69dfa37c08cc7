//! Test plans for JMeter.

use crate::LoadSpec;

/// Returns a plan of `users` threads in a closed loop.
pub(super) fn thread_group(load: &LoadSpec) -> String {
    plan(load, load.users, "")
}

/// Returns a plan of `connections` threads that a timer starts at `rate`.
pub(super) fn precise_throughput(load: &LoadSpec) -> String {
    plan(load, load.connections, &timer(load))
}

/// Returns a plan, a tree of pairs: an element, then a `hashTree` with its children.
fn plan(load: &LoadSpec, threads: u32, timer: &str) -> String {
    let seconds = load.whole_seconds();
    let sampler = sampler(load);
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="load"/>
    <hashTree>
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="users">
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
          <intProp name="LoopController.loops">-1</intProp>
        </elementProp>
        <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
        <stringProp name="ThreadGroup.num_threads">{threads}</stringProp>
        <stringProp name="ThreadGroup.ramp_time">0</stringProp>
        <boolProp name="ThreadGroup.scheduler">true</boolProp>
        <stringProp name="ThreadGroup.duration">{seconds}</stringProp>
        <boolProp name="ThreadGroup.same_user_on_next_iteration">true</boolProp>
      </ThreadGroup>
      <hashTree>
{timer}{sampler}      </hashTree>
    </hashTree>
  </hashTree>
</jmeterTestPlan>
"#
    )
}

/// Returns the sampler. A timeout of 0 means no timeout.
fn sampler(load: &LoadSpec) -> String {
    let url = xml_escaped(&load.url);
    let timeout = load.timeout_millis().unwrap_or(0);
    format!(
        r#"        <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="request">
          <elementProp name="HTTPsampler.Arguments" elementType="Arguments">
            <collectionProp name="Arguments.arguments"/>
          </elementProp>
          <stringProp name="HTTPSampler.path">{url}</stringProp>
          <stringProp name="HTTPSampler.method">GET</stringProp>
          <boolProp name="HTTPSampler.use_keepalive">true</boolProp>
          <stringProp name="HTTPSampler.implementation">HttpClient4</stringProp>
          <stringProp name="HTTPSampler.connect_timeout">{timeout}</stringProp>
          <stringProp name="HTTPSampler.response_timeout">{timeout}</stringProp>
        </HTTPSamplerProxy>
        <hashTree/>
"#
    )
}

/// Returns the timer. Its seed is fixed, so that all runs have the same schedule.
fn timer(load: &LoadSpec) -> String {
    let rate = load.rate.as_per_second();
    let seconds = load.whole_seconds();
    format!(
        r#"        <PreciseThroughputTimer guiclass="TestBeanGUI" testclass="PreciseThroughputTimer" testname="rate">
          <intProp name="exactLimit">10000</intProp>
          <doubleProp><name>allowedThroughputSurplus</name><value>1.0</value><savedValue>0.0</savedValue></doubleProp>
          <doubleProp><name>throughput</name><value>{rate}</value><savedValue>0.0</savedValue></doubleProp>
          <intProp name="throughputPeriod">1</intProp>
          <longProp name="duration">{seconds}</longProp>
          <intProp name="batchSize">1</intProp>
          <intProp name="batchThreadDelay">0</intProp>
          <longProp name="randomSeed">1</longProp>
        </PreciseThroughputTimer>
        <hashTree/>
"#
    )
}

fn xml_escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
