//! What tools need from outside: a memory, settings, a way to the web.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// One service of each kind, a kind being a trait or a type.
///
/// ```
/// use std::sync::Arc;
/// use toolgate_core::services::Services;
///
/// trait Greeter: Send + Sync {
///     fn greet(&self) -> String;
/// }
/// struct Kind;
/// impl Greeter for Kind {
///     fn greet(&self) -> String {
///         "hello".to_owned()
///     }
/// }
///
/// let mut services = Services::default();
/// services.add::<dyn Greeter>(Arc::new(Kind));
/// assert_eq!(services.get::<dyn Greeter>().unwrap().greet(), "hello");
/// ```
#[derive(Clone, Default)]
pub struct Services {
    /// An `Arc` of each kind, in a box that remembers it.
    kinds: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
}

impl Services {
    /// Adds a service, in place of one of its kind.
    pub fn add<T: ?Sized + Send + Sync + 'static>(&mut self, service: Arc<T>) {
        self.kinds.insert(TypeId::of::<T>(), Arc::new(service));
    }

    /// The service of a kind, if there is one.
    pub fn get<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.kinds.get(&TypeId::of::<T>())?.downcast_ref::<Arc<T>>().cloned()
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Services").field("kinds", &self.kinds.len()).finish()
    }
}
