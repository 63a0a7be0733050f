//! Addresses that say whose they are.

/// Begins addresses that say whose they are: `toolgate://SERVER/` and the server's own.
pub(super) const PREFIX: &str = "toolgate://";

/// An address of a server that says whose it is.
pub(super) fn of_server(server: &str, own: &str) -> String {
    format!("{PREFIX}{server}/{own}")
}

/// The server and its own address, of an address that says whose it is.
pub(super) fn split(uri: &str) -> Option<(&str, String)> {
    let (server, own) = uri.strip_prefix(PREFIX)?.split_once('/')?;
    Some((server, own.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_say_whose_it_is() {
        assert_eq!(of_server("a", "file:///x"), "toolgate://a/file:///x");
        assert_eq!(split("toolgate://a/file:///x"), Some(("a", "file:///x".to_owned())));
        assert_eq!(split("file:///x"), None);
    }
}
