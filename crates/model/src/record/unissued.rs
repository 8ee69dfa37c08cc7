//! The end of a run: arrivals that were planned and never issued.

use super::Recorder;
use crate::driver::Driver;
use crate::time::Timestamp;

impl Recorder {
    /// Records all arrivals that `driver` had not issued when the run ended at `ended`: first one by one, then in
    /// blocks ([`Driver::pop_unissued_block`]).
    pub fn record_unissued(&mut self, driver: &mut Driver, ended: Timestamp) {
        let measured_from = self.measured_from();
        while let Some(unissued) = driver.pop_unissued_with_session() {
            self.plan(unissued.arrival.intended_start);
            self.record(&unissued.record(ended));
            while let Some(block) = driver.pop_unissued_block(ended, measured_from) {
                self.record_block_never_issued(&block, ended);
            }
        }
    }
}
