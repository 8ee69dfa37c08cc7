//! The end of a run: arrivals that were planned and never issued.

use super::{Recorder, RequestRecord};
use crate::driver::Driver;
use crate::time::Timestamp;

impl Recorder {
    /// Records all arrivals that `driver` had not issued when the run ended at `ended`: first one by one, then in
    /// blocks ([`Driver::unissued_block`]).
    pub fn count_out(&mut self, driver: &mut Driver, ended: Timestamp) {
        let measured_from = self.measured_from();
        while let Some(arrival) = driver.unissued() {
            self.plan(arrival.intended_start);
            self.record(&RequestRecord::never_issued(arrival, ended));
            while let Some(block) = driver.unissued_block(ended, measured_from) {
                self.never_issued(&block, ended);
            }
        }
    }
}
