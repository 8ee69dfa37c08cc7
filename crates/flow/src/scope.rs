use crate::value::Value;

/// The number of a variable among the variables of a flow.
pub(crate) type VariableId = usize;

/// The variables of a session, and its source of random numbers.
#[derive(Clone, Default, Debug)]
pub(crate) struct Scope {
    pub(crate) values: Vec<Option<Value>>,
    pub(crate) random: u64,
}

impl Scope {
    /// Returns the next random number.
    pub(crate) fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        truetail_model::random::mix64(self.random)
    }
}

/// Returns a random UUID, version 4 (RFC 9562).
pub(crate) fn uuid(scope: &mut Scope) -> String {
    let high = scope.draw() & !0xf000 | 0x4000;
    let low = scope.draw() & !(0b11 << 62) | (0b10 << 62);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}
