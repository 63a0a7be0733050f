//! Rules by the folders their paths are in.

use hashbrown::HashMap;

use super::lengths::Lengths;
use crate::pattern::PathPattern;
use crate::question::PathForms;

/// Rules by the folders their paths are in; looking a path up costs as many steps as it has
/// folders.
#[derive(Debug, Default)]
pub(super) struct Folders {
    folders: HashMap<String, Folder>,
    lengths: Lengths,
}

#[derive(Debug, Default)]
struct Folder {
    all: Vec<u32>,
    named: HashMap<String, Vec<u32>>,
}

impl Folders {
    /// Files a rule; called in order of rank.
    pub(super) fn file(&mut self, paths: &[PathPattern], rank: u32) {
        for (folder, name) in paths.iter().flat_map(PathPattern::keys) {
            self.lengths.note(&folder);
            let folder = self.folders.entry(folder).or_default();
            let ranks = match name {
                Some(name) => folder.named.entry(name).or_default(),
                None => &mut folder.all,
            };
            if ranks.last() != Some(&rank) {
                ranks.push(rank);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// Shows every place where rules about a path can be.
    pub(super) fn visit(&self, path: &PathForms<'_>, look: &mut impl FnMut(&[u32])) {
        self.visit_one(&path.requested_folded, look);
        if path.resolved_folded != path.requested_folded {
            self.visit_one(&path.resolved_folded, look);
        }
    }

    fn visit_one(&self, path: &str, look: &mut impl FnMut(&[u32])) {
        for folder in self.lengths.beginnings(path, b'/') {
            let Some(found) = self.folders.get(folder) else { continue };
            let below = path.get(folder.len()..).unwrap_or_default();
            look(&found.all);
            if !found.named.is_empty() {
                for name in below.split('/') {
                    found.named.get(name).into_iter().for_each(|ranks| look(ranks));
                }
            }
        }
    }
}
