//! Job of a load, built from the command line.

use std::ffi::OsString;
use std::time::SystemTime;

use truetail_cluster::{Job, JobFile, Resources, Start};
use truetail_flow::Flows;
use truetail_model::arrival::{Profile, Trace};
use truetail_model::time::{NANOS_PER_SECOND, Nanos};
use truetail_model::workload::Workload;

use crate::args::k8s::JobArgs;
use crate::args::run_options::parse_run;
use crate::error::{Result, usage_error};
use crate::output_folder::utc_stamp;
use crate::resolve::{flow, load, messages, prompts, replay, stream, stripe};
use crate::{output, setup};

use super::carried::Carried;

/// Load that the pods share, checked, with the words for each pod.
pub(super) struct SharedLoad {
    pub(super) words: Vec<String>,
    /// Files that the words name.
    files: Vec<JobFile>,
    pub(super) workload: Workload,
    pub(super) flows: Option<Flows>,
}

impl SharedLoad {
    /// Checks everything that can be checked without the image: each option, the load, and that it can be dealt out.
    pub(super) fn resolve(job: &JobArgs, options: Vec<OsString>) -> Result<SharedLoad> {
        let words: Vec<OsString> = job.url.iter().map(OsString::from).chain(options).collect();
        let of_first = [OsString::from(format!("--stripe=1/{}", job.shards)), "--pack".into()];
        let mut args = parse_run(words.iter().cloned().chain(of_first).collect())?;
        if args.url.is_none() && args.targets.is_none() && args.curl.is_none() && args.flow.flow.is_empty() {
            return Err(usage_error(
                "no URL given; write the URL that the pods request, such as http://api.shop:8080/items",
            ));
        }
        setup::stand_in(&mut args)?;
        let flows = flow::flows_without_schema(&mut args)?;
        let recorded = replay::replay(&args)?.map(|replay| replay.trace).or(prompts::arrivals(&args)?);
        let workload = load::workload(&args, recorded.as_ref())?;
        stripe::stripe(&args, &workload)?;
        messages::read_pushes(&mut args);
        stream::options(args.streams, args.gates.per_request(), flows.as_ref(), false)?;
        let carried = Carried::read(words)?;
        for file in &carried.elsewhere {
            output::note(&format!("{file} is not here; the pods read it in their image"));
        }
        let text = |word: OsString| {
            word.into_string().map_err(|word| usage_error(format!("'{}' is not UTF-8", word.display())))
        };
        let words = carried.words.into_iter().map(text).collect::<Result<_>>()?;
        Ok(SharedLoad { words, files: carried.files, workload, flows })
    }

    /// Returns the recorded arrivals of the load, if it is a trace.
    pub(super) fn recording(&self) -> Option<Trace> {
        match &self.workload.model.schedule()?.profile {
            Profile::Trace(trace) => Some(trace.clone()),
            _ => None,
        }
    }

    /// Returns the length of the load, if it is known.
    pub(super) fn length(&self) -> Option<Nanos> {
        self.workload.model.horizon().duration
    }

    /// Returns the longest time from the last arrival to the end of a pod.
    pub(super) fn end_within(&self) -> Nanos {
        self.workload.limits.drain + Nanos::from_secs(20)
    }

    pub(super) fn job(self, args: &JobArgs, start: Start, deadline: Option<Nanos>) -> Job {
        let grace_s = self.workload.limits.drain.0.div_ceil(NANOS_PER_SECOND) + 5;
        Job {
            name: args
                .name
                .clone()
                .unwrap_or_else(|| format!("truetail-{}", utc_stamp(SystemTime::now()).to_ascii_lowercase())),
            namespace: args.namespace.clone(),
            image: args.image.clone(),
            shards: args.shards,
            words: self.words,
            files: self.files,
            start,
            resources: Resources {
                cpu: args.cpu.clone().unwrap_or_else(|| "1".to_owned()),
                memory: args.memory.clone().unwrap_or_else(|| "512Mi".to_owned()),
                cpu_limit: args.cpu_limit.clone(),
            },
            deadline_s: deadline.map(|deadline| deadline.0.div_ceil(NANOS_PER_SECOND)),
            grace_s,
        }
    }
}
