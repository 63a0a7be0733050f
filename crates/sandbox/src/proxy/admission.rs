//! Who may use the proxy, where several programs can reach it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::head::Head;
use super::refusal::Refusal;

/// Makes sure that a request gives the password, if there is one. The user's name does not count.
pub(super) fn check(head: &Head<'_>, login: Option<&str>) -> Result<(), Refusal> {
    let Some(login) = login else { return Ok(()) };
    let given = head.single("proxy-authorization")?.and_then(|value| value.split_once(' '));
    let given = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"));
    let given = given.and_then(|(_, code)| STANDARD.decode(code.trim()).ok());
    let password = given.as_deref().and_then(|text| {
        let colon = text.iter().position(|byte| *byte == b':')?;
        text.get(colon + 1..)
    });
    if password.is_some_and(|password| is_right(password, login)) {
        Ok(())
    } else {
        Err(Refusal::NotAdmitted)
    }
}

/// Returns `true` if a password is the right one. An empty one never is.
pub(super) fn is_right(password: &[u8], login: &str) -> bool {
    !login.is_empty() && password == login.as_bytes()
}
