//! Hosts in settings files and remotes, and whether a file holds credentials.

use url::Url;

/// Hosts that one settings file may name; more are not read.
const MOST_HOSTS: usize = 40;

/// Returns the hosts of all web addresses in a text, each `name` or `name:port`.
pub(super) fn hosts_in(text: &str) -> Vec<String> {
    let uncommented = text.lines().filter(|line| !line.trim_start().starts_with(['#', ';']));
    let starts = uncommented.flat_map(|line| {
        line.match_indices("://").filter_map(|(at, _)| {
            let scheme = line.get(..at)?;
            let begin = if scheme.ends_with("https") {
                at - "https".len()
            } else if scheme.ends_with("http") {
                at - "http".len()
            } else {
                return None;
            };
            let rest = line.get(begin..)?;
            let end = rest.find([' ', '"', '\'', ',', '<', '>', '|', ')', ']', '\t']);
            rest.get(..end.unwrap_or(rest.len()))
        })
    });
    starts.filter_map(remote_host).take(MOST_HOSTS).collect()
}

/// Returns the host of a remote: a URL, or `user@host:path` as ssh takes it.
///
/// The port is part of it where it is not the usual one of the web.
pub(super) fn remote_host(remote: &str) -> Option<String> {
    if let Ok(url) = Url::parse(remote) {
        let usual = match url.scheme() {
            "http" => 80,
            "https" => 443,
            "git" => 9418,
            "ssh" | "git+ssh" | "ssh+git" => 22,
            _ => return None,
        };
        let host = url.host_str()?.trim_matches(['[', ']']);
        let port = url.port().unwrap_or(usual);
        return Some(match port {
            80 | 443 => host.to_owned(),
            _ if host.contains(':') => format!("[{host}]:{port}"),
            _ => format!("{host}:{port}"),
        });
    }
    let (before, path) = remote.split_once(':')?;
    let (_, host) = before.split_once('@')?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let is_host = !host.is_empty() && host.bytes().all(is_name);
    (is_host && !path.is_empty()).then(|| format!("{host}:22"))
}

/// Returns `true` if a settings file may hold a password or token.
pub(super) fn holds_credentials(text: &str) -> bool {
    const TELLING: &[&str] =
        &["_auth", "_password", "password", "token", "secret", "credential", "username", "apikey"];
    let lower = text.to_lowercase();
    let in_address = || {
        lower.match_indices("://").any(|(at, _)| {
            let rest = lower.get(at + 3..).unwrap_or_default();
            let end = rest.find(['/', ' ', '"', '\'', '\n']).unwrap_or(rest.len());
            rest.get(..end).is_some_and(|authority| authority.contains('@'))
        })
    };
    TELLING.iter().any(|word| lower.contains(word)) || in_address()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_in_settings_of_every_kind() {
        let npm =
            "registry=https://npm.corp.example/repo/\n@x:registry = \"http://127.0.0.1:4873/\"";
        assert_eq!(hosts_in(npm), ["npm.corp.example", "127.0.0.1:4873"]);
        let cargo = "[source.m]\nregistry = \"sparse+https://crates.corp.example:8443/index/\"";
        assert_eq!(hosts_in(cargo), ["crates.corp.example:8443"]);
        let maven = "<url>https://maven.corp.example/m2</url>";
        assert_eq!(hosts_in(maven), ["maven.corp.example"]);
        let go = "https://a.example|https://user:pass@b.example,direct";
        assert_eq!(hosts_in(go), ["a.example", "b.example"]);
        assert_eq!(hosts_in("# https://old.example\n; http://older.example\n"), [""; 0]);
    }

    #[test]
    fn remotes_are_read_as_git_does() {
        let host = |remote| remote_host(remote);
        assert_eq!(host("https://github.com/a/b.git").as_deref(), Some("github.com"));
        assert_eq!(host("http://127.0.0.1:8080/x").as_deref(), Some("127.0.0.1:8080"));
        assert_eq!(host("git@github.com:a/b.git").as_deref(), Some("github.com:22"));
        assert_eq!(host("ssh://git@host:2222/x").as_deref(), Some("host:2222"));
        assert_eq!(host("git://127.0.0.1/x").as_deref(), Some("127.0.0.1:9418"));
        for other in ["../x.git", "/srv/x.git", "file:///srv/x", "ext::sh -c x", "origin", "a:b"] {
            assert_eq!(host(other), None, "{other}");
        }
    }

    #[test]
    fn credentials_are_noticed() {
        for text in ["//r/:_authToken=x", "index-url = https://u:p@h/simple", "password: x"] {
            assert!(holds_credentials(text), "{text}");
        }
        for text in ["registry=https://h/", "[global]\ncert = /etc/ca.crt", "fund=false"] {
            assert!(!holds_credentials(text), "{text}");
        }
    }
}
