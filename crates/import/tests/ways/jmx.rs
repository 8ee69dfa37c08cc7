//! Test plans of JMeter as flows, which truetail's parser reads.

use truetail_flow::Flow;
use truetail_import::ways::load_of_jmx;

use super::file;

fn strings(pairs: &[(&str, &str)]) -> String {
    pairs.iter().map(|(name, value)| format!("<stringProp name=\"{name}\">{value}</stringProp>")).collect()
}

/// An element with its properties, and the elements below it.
fn element(class: &str, name: &str, properties: &str, children: &str) -> String {
    format!("<{class} testname=\"{name}\" enabled=\"true\">{properties}</{class}><hashTree>{children}</hashTree>")
}

fn arguments(name: &str, pairs: &[(&str, &str)]) -> String {
    let encode = "<boolProp name=\"HTTPArgument.always_encode\">true</boolProp>";
    written_arguments(name, encode, pairs)
}

fn written_arguments(name: &str, property: &str, pairs: &[(&str, &str)]) -> String {
    let arguments = pairs.iter().map(|(name, value)| {
        let strings = strings(&[("Argument.name", name), ("Argument.value", value)]) + property;
        format!("<elementProp name=\"{name}\" elementType=\"HTTPArgument\">{strings}</elementProp>")
    });
    format!(
        "<elementProp name=\"{name}\" elementType=\"Arguments\"><collectionProp name=\"Arguments.arguments\">{}\
         </collectionProp></elementProp>",
        arguments.collect::<String>()
    )
}

fn plan(children: &str) -> String {
    let variables = arguments("TestPlan.user_defined_variables", &[("host", "127.0.0.1"), ("size", "3")]);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><jmeterTestPlan version=\"1.2\"><hashTree>{}</hashTree></jmeterTestPlan>",
        element("TestPlan", "plan", &variables, children)
    )
}

fn group() -> String {
    let header = strings(&[("Header.name", "X-Team"), ("Header.value", "a &amp; b")]);
    let header = format!(
        "<collectionProp name=\"HeaderManager.headers\"><elementProp name=\"\" elementType=\"Header\">{header}</elementProp>\
         </collectionProp>"
    );
    let login = strings(&[("HTTPSampler.path", "/login"), ("HTTPSampler.method", "POST")])
        + "<boolProp name=\"HTTPSampler.postBodyRaw\">true</boolProp>\
           <boolProp name=\"HTTPSampler.follow_redirects\">true</boolProp>"
        + &arguments("HTTPsampler.Arguments", &[("", "{\"user\": \"${user}\", \"n\": ${__Random(1,6)}}")]);
    let status = strings(&[("Assertion.test_field", "Assertion.response_code")])
        + "<intProp name=\"Assertion.test_type\">8</intProp><collectionProp name=\"Asserion.test_strings\">\
           <stringProp name=\"49586\">200</stringProp></collectionProp>";
    let token = strings(&[
        ("JSONPostProcessor.referenceNames", "token"),
        ("JSONPostProcessor.jsonPathExprs", "$.data['token']"),
        ("JSONPostProcessor.match_numbers", "1"),
    ]);
    let login_children = element("ResponseAssertion", "ok", &status, "")
        + &element("JSONPostProcessor", "take", &token, "")
        + &element("JSR223PostProcessor", "groovy", "", "");
    let items = strings(&[("HTTPSampler.path", "/items"), ("HTTPSampler.method", "GET")])
        + &arguments("HTTPsampler.Arguments", &[("q", "a b"), ("token", "${token}")]);
    let timer = strings(&[("ConstantTimer.delay", "1000"), ("RandomTimer.range", "500")]);
    let transaction = element("HTTPSamplerProxy", "items", &items, &element("UniformRandomTimer", "t", &timer, ""));
    let children = element("HeaderManager", "headers", &header, "")
        + &element("HTTPSamplerProxy", "login", &login, &login_children)
        + &element("TransactionController", "shop", "", &transaction)
        + &element("IfController", "sometimes", "", &element("HTTPSamplerProxy", "rare", &items, ""))
        + "<HTTPSamplerProxy testname=\"off\" enabled=\"false\"/><hashTree/>";
    let schedule = strings(&[("OpenModelThreadGroup.schedule", "rate(${size}/s) random_arrivals(10 s)")]);
    element("OpenModelThreadGroup", "Main group", &schedule, &children)
}

#[test]
fn a_plan_becomes_a_flow_with_its_load() {
    let defaults = strings(&[("HTTPSampler.domain", "${host}"), ("HTTPSampler.port", "8080")]);
    let text = plan(&(element("ConfigTestElement", "defaults", &defaults, "") + &group()));
    let load = load_of_jmx(text.as_bytes(), "plan.jmx").unwrap_or_else(|error| panic!("{error}"));
    let wanted = r#"# truetail: name login
# not read: JSR223PostProcessor 'groovy'
POST http://{{host}}:8080/login
X-Team: a & b
[Options]
location: true
max-redirs: 20
`{"user": "{{user}}", "n": {{randomInt 1 6}}}`
HTTP 200
[Captures]
token: jsonpath "$.data['token']"

# truetail: name shop/items
# truetail: delay uniform 1s..1500ms
GET http://{{host}}:8080/items?q=a%20b&token={{token}}
X-Team: a & b
HTTP *

# not read: IfController 'sometimes' (requests in it: 1)
"#;
    let name = "plan-Main_group.hurl";
    let flow = file(&load, name);
    assert_eq!(flow, wanted, "{flow}");
    let toml = file(&load, "truetail.toml");
    let wanted = "[run.Main_group]\nflow = \"plan-Main_group.hurl\"\nrate = \"3/s\"\nduration = \"10s\"\n\
        spacing = \"poisson\"\nvariable = [\"host=127.0.0.1\"]\n# give a value: --variable user=VALUE\n";
    assert_eq!(toml.split_once("\n\n").expect("an entry").1, wanted, "{toml}");
    let variables = ["host", "user"].map(|name| (name.to_owned(), "127.0.0.1".to_owned()));
    let flow = Flow::parse(name, flow, &variables, &|_| Err("no file".to_owned()));
    assert_eq!(flow.unwrap_or_else(|error| panic!("{}: {}", error.line, error.problem)).requests_per_session(), 2);
}

#[test]
fn threads_that_repeat_one_request_are_a_closed_run() {
    let sampler = strings(&[("HTTPSampler.domain", "127.0.0.1"), ("HTTPSampler.path", "/a")]);
    let threads = strings(&[("ThreadGroup.num_threads", "${__P(threads,10)}"), ("ThreadGroup.duration", "60")])
        + "<boolProp name=\"ThreadGroup.scheduler\">true</boolProp>";
    let text = plan(&element("ThreadGroup", "t", &threads, &element("HTTPSamplerProxy", "a", &sampler, "")));
    let load = load_of_jmx(text.as_bytes(), "plan.jmx").unwrap_or_else(|error| panic!("{error}"));
    let entry = file(&load, "truetail.toml").split_once("\n\n").expect("an entry").1;
    let wanted = "[run.t]\nurl = \"http://127.0.0.1/a\"\nmodel = \"closed\"\nusers = 10\nduration = \"60s\"\n";
    assert_eq!((entry, load.files.len()), (wanted, 1));
}

/// A ramp-up is a stage, unless a number of loops ends the threads: then it stays a remark.
#[test]
fn threads_that_begin_over_time_are_users_over_time() {
    let sampler = strings(&[("HTTPSampler.domain", "127.0.0.1"), ("HTTPSampler.path", "/a")]);
    let entry_of = |numbers: &[(&str, &str)], more: &str| {
        let threads = strings(numbers) + more;
        let text = plan(&element("ThreadGroup", "t", &threads, &element("HTTPSamplerProxy", "a", &sampler, "")));
        let load = load_of_jmx(text.as_bytes(), "plan.jmx").unwrap_or_else(|error| panic!("{error}"));
        file(&load, "truetail.toml").split_once("\n\n").expect("an entry").1.to_owned()
    };
    let ramp = [("ThreadGroup.num_threads", "10"), ("ThreadGroup.ramp_time", "5"), ("ThreadGroup.duration", "60")];
    let scheduler = "<boolProp name=\"ThreadGroup.scheduler\">true</boolProp>";
    let wanted =
        "[run.t]\nurl = \"http://127.0.0.1/a\"\nmodel = \"closed\"\nusers = \"0..10/5s\"\nduration = \"60s\"\n";
    assert_eq!(entry_of(&ramp, scheduler), wanted);
    let endless = entry_of(&ramp, "");
    assert!(
        endless.contains("# not read: 10 users, then beginning over 5 s. ") && !endless.contains("users ="),
        "{endless}"
    );
}

#[test]
fn what_is_sent_unencoded_and_headers_without_a_name_are_not_changed_silently() {
    let header = strings(&[("Header.name", "X Team"), ("Header.value", "a")]);
    let header = format!(
        "<collectionProp name=\"HeaderManager.headers\"><elementProp name=\"\" elementType=\"Header\">{header}\
         </elementProp></collectionProp>"
    );
    let arguments = written_arguments("HTTPsampler.Arguments", "", &[("q", "a%20b/c"), ("n", "1")]);
    let of = |path: &str, method: &str| {
        let domain = ("HTTPSampler.domain", "127.0.0.1");
        strings(&[domain, ("HTTPSampler.path", path), ("HTTPSampler.method", method)]) + &arguments
    };
    let children = element("HeaderManager", "h", &header, "")
        + &element("HTTPSamplerProxy", "get", &of("/a", "GET"), "")
        + &element("HTTPSamplerProxy", "form", &of("/b", "POST"), "");
    let groups = element("ThreadGroup", "t", "", &children) + &element("ThreadGroup", "t", "", &children);
    let load = load_of_jmx(plan(&groups).as_bytes(), "plan.jmx").unwrap_or_else(|error| panic!("{error}"));
    let flow = file(&load, "plan-t.hurl");
    assert!(flow.contains("GET http://127.0.0.1/a?q=a%20b/c&n=1\n"), "{flow}");
    assert_eq!(flow.matches("# not read: the header X Team\n").count(), 2, "{flow}");
    assert_eq!(flow.matches("without being encoded").count(), 1, "{flow}");
    let toml = file(&load, "truetail.toml");
    assert!(toml.contains("[run.t]\n") && toml.contains("[run.t_2]\n"), "{toml}");
    assert_eq!(file(&load, "plan-t_2.hurl"), flow);
}

#[test]
fn what_is_no_plan_is_told_in_a_line() {
    let deep = "<a>".repeat(300);
    for (text, says) in [
        ("", "it is no test plan"),
        ("<a/>", "it is no test plan"),
        ("<jmeterTestPlan><hashTree></jmeterTestPlan>", "it is not XML"),
        (deep.as_str(), "levels"),
        (&plan(""), "none of its requests"),
    ] {
        let error = load_of_jmx(text.as_bytes(), "a.jmx").unwrap_err().to_string();
        assert!(error.contains(says) && !error.contains('\n'), "{text}: {error}");
    }
}
