use std::sync::Arc;

/// What the targets of a run ask for.
#[derive(Clone, Default, Debug)]
pub(crate) struct Asking {
    /// By target: whether it asks for a stream. `None` means that all targets do.
    pub(crate) streams: Option<Arc<[bool]>>,
    /// By target: whether it asks the server to repeat the prompt. `None` means that no target does.
    pub(crate) echoes: Option<Arc<[bool]>>,
}

impl Asking {
    pub(crate) fn asks_for_stream(&self, target: u32) -> bool {
        self.streams.as_ref().is_none_or(|streams| streams.get(target as usize) == Some(&true))
    }

    pub(crate) fn asks_for_echo(&self, target: u32) -> bool {
        self.echoes.as_ref().is_some_and(|echoes| echoes.get(target as usize) == Some(&true))
    }
}
