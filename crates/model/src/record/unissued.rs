//! The end of a run: arrivals that were planned and never issued.

use super::{Recorder, RequestRecord};
use crate::driver::Driver;
use crate::time::Timestamp;

impl Recorder {
    /// Records everything that `driver` never issued by `ended`, the end of the run; after a while in blocks.
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
