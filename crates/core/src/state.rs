//! What tools keep as long as a session lasts.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// One value of each type that somebody asked for.
#[derive(Default)]
pub(crate) struct State {
    values: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl State {
    /// The value of a type, made when it is first asked for.
    pub(crate) fn get<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let value = values.entry(TypeId::of::<T>()).or_insert_with(|| Arc::<T>::default());
        // INVARIANT: what stands under a type is of that type.
        Arc::clone(value).downcast().unwrap_or_default()
    }
}

impl fmt::Debug for State {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("State").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn each_type_has_one_value() {
        let state = State::default();
        state.get::<AtomicUsize>().fetch_add(1, Ordering::Relaxed);
        assert_eq!(state.get::<AtomicUsize>().load(Ordering::Relaxed), 1);
        assert_eq!(*state.get::<String>(), "");
    }
}
