//! Objects and arrays whose parts are handed on as they are read.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Reader of the parts of an object.
pub(super) trait Parts {
    /// Begins an object.
    fn begin(&mut self) {}

    /// Reads the value of `name`. If the value is not needed, returns false and reads nothing.
    fn part<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error>;

    /// Ends an object.
    fn end(&mut self) {}
}

/// An object; `null` is one without parts.
pub(super) struct Object<'p, P>(pub &'p mut P);

impl<'de, P: Parts> DeserializeSeed<'de> for Object<'_, P> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de, P: Parts> Visitor<'de> for Object<'_, P> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.0.begin();
        while let Some(name) = map.next_key::<String>()? {
            if !self.0.part(&name, &mut map)? {
                map.next_value::<IgnoredAny>()?;
            }
        }
        self.0.end();
        Ok(())
    }
}

/// An array of objects; `null` is an empty one.
pub(super) struct Objects<'p, P>(pub &'p mut P);

impl<'de, P: Parts> DeserializeSeed<'de> for Objects<'_, P> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de, P: Parts> Visitor<'de> for Objects<'_, P> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<(), A::Error> {
        while all.next_element_seed(Object(self.0))?.is_some() {}
        Ok(())
    }
}

/// An array of values, each of which is handed on; `null` is an empty one.
pub(super) struct Each<T, F>(F, PhantomData<T>);

impl<T, F: FnMut(T)> Each<T, F> {
    pub(super) fn new(take: F) -> Each<T, F> {
        Each(take, PhantomData)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T)> DeserializeSeed<'de> for Each<T, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T)> Visitor<'de> for Each<T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut all: A) -> Result<(), A::Error> {
        while let Some(value) = all.next_element()? {
            (self.0)(value);
        }
        Ok(())
    }
}
