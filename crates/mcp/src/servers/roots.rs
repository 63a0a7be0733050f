//! Folders as servers are told of them.

use std::path::PathBuf;

use serde_json::{Value, json};

/// Folders as servers are told of them. Those whose names are no addresses are left out.
pub(super) fn shown(folders: &[PathBuf]) -> Vec<Value> {
    let shown = folders.iter().filter_map(|folder| {
        let uri = url::Url::from_directory_path(folder).ok()?;
        let uri = uri.as_str().trim_end_matches('/');
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        Some(json!({ "uri": uri, "name": name.unwrap_or_default() }))
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_an_address() {
        let folders = [PathBuf::from("/work/my project"), PathBuf::from("relative")];
        assert_eq!(
            shown(&folders),
            [json!({ "uri": "file:///work/my%20project", "name": "my project" })]
        );
    }
}
