//! The hosts that were asked for in vain.

use std::sync::{Mutex, PoisonError};

use toolgate_core::visible;

/// How many are kept: enough to tell a person, too few to fill a memory with.
const KEPT: usize = 50;

/// Hosts in the order they were first refused.
#[derive(Debug, Default)]
pub(super) struct Refused(Mutex<Vec<String>>);

impl Refused {
    pub(super) fn note(&self, host: &str) {
        let host = visible::line(host);
        let mut hosts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.len() < KEPT && !hosts.iter().any(|noted| *noted == host) {
            hosts.push(host.into_owned());
        }
    }

    pub(super) fn list(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_kept_once_and_not_too_many_of_them() {
        let refused = Refused::default();
        for host in 0..1000 {
            refused.note(&format!("{}.example", host / 2));
        }
        assert_eq!(refused.list().len(), KEPT);
        assert_eq!(refused.list()[1], "1.example");
    }
}
