//! Folders that sandboxes treat like any other place of the machine.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// Places for folders of tests besides the target folder.
const PLACES: [&str; 3] = ["/var/lib", "/opt", "/srv"];

/// Returns a folder to make others in that is neither temporary nor in a home folder: `target`, or
/// another place that this user may write in. Sandboxes have temporary folders of their own, and
/// hide home folders.
pub fn elsewhere(target: &Path) -> Option<PathBuf> {
    let homes = env::var_os("HOME").map(PathBuf::from).into_iter();
    let homes: Vec<PathBuf> = homes.chain(["/root".into(), "/home".into()]).collect();
    let is_plain = |path: &Path| {
        let is_temporary = path.starts_with("/tmp") || path.starts_with("/var/tmp");
        !is_temporary && !homes.iter().any(|home| path.starts_with(home))
    };
    let mut places = [target].into_iter().chain(PLACES.iter().map(Path::new));
    places.find_map(|place| {
        place.canonicalize().ok().filter(|place| is_plain(place) && is_writable(place))
    })
}

fn is_writable(folder: &Path) -> bool {
    let probe = folder.join(format!(".toolgate-test-{}", std::process::id()));
    fs::create_dir(&probe).and_then(|()| fs::remove_dir(&probe)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_folders_and_homes_are_passed_over() {
        for wrong in ["/tmp", "/root", "/home"] {
            let found = elsewhere(Path::new(wrong));
            assert!(!found.is_some_and(|found| found.starts_with(wrong)), "{wrong}");
        }
    }
}
