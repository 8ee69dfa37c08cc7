//! Values that can be shared, but not compared.

use std::any::type_name;
use std::fmt;
use std::sync::Arc;

/// A shared value that cannot be compared itself. Equal to its clones only.
pub(crate) struct Opaque<T: ?Sized>(pub(crate) Arc<T>);

impl<T: ?Sized> Clone for Opaque<T> {
    fn clone(&self) -> Opaque<T> {
        Opaque(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> PartialEq for Opaque<T> {
    fn eq(&self, other: &Opaque<T>) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T: ?Sized> Eq for Opaque<T> {}

impl<T: ?Sized> fmt::Debug for Opaque<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(type_name::<T>())
    }
}
