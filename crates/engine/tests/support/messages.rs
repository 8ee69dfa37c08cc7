//! Messages with a number, and replies that are compared with them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use truetail_engine::{
    AnswerHead, AnswerReader, EndedRequest, MakeRequest, ObserverFactory, Plan, RequestId, RequestParts, RunOutput,
};

use super::run;

/// Makes messages with the index of their arrival.
pub struct Numbered;

impl MakeRequest for Numbered {
    fn make(&self, _: RequestId, index: u64, request: &mut RequestParts) -> bool {
        request.message_buffer().extend_from_slice(format!("{{\"id\":{index}}}").as_bytes());
        true
    }
}

/// Compares each reply with the message that it ended.
#[derive(Clone, Default)]
struct Compared {
    /// Bytes of a reply before its content.
    prefix: usize,
    bodies: Arc<Mutex<Vec<Vec<u8>>>>,
    /// Indices of the messages that were answered, each by its own reply.
    right: Arc<Mutex<BTreeSet<u64>>>,
}

impl AnswerReader for Compared {
    fn head(&mut self, request: u32, _: AnswerHead<'_>) {
        let mut bodies = self.bodies.lock().unwrap();
        let length = bodies.len().max(request as usize + 1);
        bodies.resize(length, Vec::new());
        bodies[request as usize].clear();
    }

    fn body(&mut self, request: u32, part: &[u8]) {
        self.bodies.lock().unwrap()[request as usize].extend_from_slice(part);
    }

    fn end(&mut self, request: u32, ended: EndedRequest) {
        if ended.outcome.is_response() {
            let wanted = format!("{{\"id\":{}}}", ended.arrival.index);
            let body = std::mem::take(&mut self.bodies.lock().unwrap()[request as usize]);
            assert_eq!(String::from_utf8_lossy(&body[self.prefix..]), wanted);
            assert!(self.right.lock().unwrap().insert(ended.arrival.index), "two ends for one message");
        }
    }
}

/// Runs a plan with messages of [`Numbered`], whose replies are the same after `prefix` bytes. Returns the indices of
/// the messages that were answered.
pub fn compared(mut plan: Plan, prefix: usize) -> (RunOutput, BTreeSet<u64>) {
    let compared = Compared { prefix, ..Compared::default() };
    let observer = compared.clone();
    plan.observe(ObserverFactory::new(move || Box::new(observer.clone())));
    let output = run(&plan);
    let right = compared.right.lock().unwrap().clone();
    (output, right)
}
