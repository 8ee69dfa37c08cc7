//! Routes: paths with their own work and faults.

use truetail_model::service::{Action, Fault, Gate, Route, Selector, Service, ServiceState};
use truetail_model::time::{Nanos, Timestamp};

const MS: u64 = 1_000_000;

fn at(millis: u64) -> Timestamp {
    Timestamp(millis * MS)
}

/// Returns a service of 10 ms with faults `all`, and a route of 30 ms with faults `own`.
fn routed(own: Vec<Fault>, all: Vec<Fault>) -> Service {
    let route = Route { path: "/login".to_owned(), baseline: Nanos(30 * MS), faults: own };
    Service { routes: vec![route], faults: all, ..Service::healthy(Nanos(10 * MS)) }
}

/// Returns when the answers to requests for these paths leave, in milliseconds, and their actions.
fn answers(service: &Service, asked: &[(u64, &str)]) -> Vec<(f64, Action)> {
    let mut state = ServiceState::new(service.clone());
    let admit = |(millis, path): &(u64, &str)| state.admit_on(service.route_of(path), at(*millis));
    asked.iter().map(admit).map(|plan| (plan.due.0 as f64 / 1e6, plan.action)).collect()
}

#[test]
fn a_route_has_its_own_work_and_faults_besides_the_services() {
    let good = Action::Answer { status: 200 };
    let refuse = |status, every| {
        let select = Selector { every: Some(every), ..Selector::default() };
        Fault::ErrorStatus { status, immediately: false, select }
    };
    let stall = |ms, length| Fault::Stall { at: at(ms), length: Nanos(length * MS), gate: Gate::Answers };
    let asked = [(0, "/login"), (0, "/"), (90, "/login?a=b"), (90, "/login/"), (190, "/login"), (190, "/")];
    let service = routed(vec![stall(100, 50)], vec![stall(200, 20)]);
    let leaves: Vec<f64> = answers(&service, &asked).into_iter().map(|(leaves, _)| leaves).collect();
    assert_eq!(leaves, [30.0, 10.0, 150.0, 100.0, 220.0, 220.0]);
    // The second login is the third request, and each fault counts its own requests.
    let service = routed(vec![refuse(503, 2)], vec![refuse(500, 4)]);
    let actions: Vec<Action> = answers(&service, &asked).into_iter().map(|(_, action)| action).collect();
    let error = |status| Action::Answer { status };
    assert_eq!(actions, [good, good, error(503), error(500), good, good]);
}

#[test]
fn routes_share_one_queue() {
    let service = Service { concurrency: Some(1), ..routed(vec![], vec![]) };
    let leaves: Vec<f64> =
        answers(&service, &[(0, "/login"), (0, "/"), (0, "/login")]).iter().map(|one| one.0).collect();
    assert_eq!(leaves, [30.0, 40.0, 70.0]);
}
