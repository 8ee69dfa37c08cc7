//! Workloads that would take hours, or all of the memory.

use truetail_model::scenario::Scenario;
use truetail_sim::{SimOptions, simulate};

fn refused(workload: &str, service: &str) -> String {
    let text = format!("name = \"x\"\n[workload]\n{workload}\n[service]\nbaseline = \"1ms\"\n{service}");
    let scenario = Scenario::parse(&text, "x.toml").unwrap_or_else(|error| panic!("{error}"));
    simulate(&scenario, SimOptions::default()).map(drop).expect_err("it is absurd").to_string()
}

#[test]
fn what_is_absurd_is_refused_with_its_numbers() {
    let help = "are more than can be simulated, which is 100000000: lower the rate or shorten the duration";
    for (workload, service, says) in [
        ("rate = 1000000000\nduration = \"60s\"", "", "60000000000 requests"),
        ("rate = 1000000000\nduration = \"60s\"\nspacing = \"poisson\"", "", " requests"),
        ("rate = 1000\nduration = \"10h\"", "[service.stream]\nevents = 50\n", "36000000 requests of 50 events each"),
        ("model = \"closed\"\nusers = 4000000000\nduration = \"1s\"", "", "4000000000 requests"),
    ] {
        let refused = refused(workload, service);
        assert!(refused.contains(says) && refused.ends_with(help) && !refused.contains('\n'), "{refused}");
    }
}
